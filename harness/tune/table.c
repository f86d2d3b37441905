#include "tune/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "contender/tuned.h"
#include "result/journal.h"
#include "result/record.h"
#include "stats/interval.h"

/* One line of the table in the making. Strings are owned by the gathered records. */
struct line {
    const struct cell_record *record;
    const char *family;
    enum cudal2_layout layout;
    const char *variant, *runner_up, *reference;
    double time_ns, low_ns, high_ns, runner_up_ns, reference_ns;
};

struct gathered {
    cJSON *env, *run; /* the first environment; what `run` says of the build */
    struct cell_record **records;
    size_t n_records;
    struct line *lines;
    size_t n_lines, without, rejected;
};

/* ---- reading ---- */

static int keep_record(struct gathered *g, struct json_at data, struct error *err)
{
    struct cell_record **grown = realloc(g->records, (g->n_records + 1) * sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning journal");
    g->records = grown;
    if (record_from_json(data, &g->records[g->n_records], err))
        return err->code;
    g->n_records++;
    return 0;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct gathered *g = context;
    if (strcmp(kind, "cell") == 0)
        return keep_record(g, data, err);
    cJSON **place = strcmp(kind, "env") == 0 ? &g->env : strcmp(kind, "run") == 0 ? &g->run : NULL;
    if (place && !*place)
        *place = cJSON_Duplicate(data.node, true);
    return 0;
}

static const char *member(const cJSON *object, const char *a, const char *b)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(object, a), b);
    return cJSON_IsString(node) ? node->valuestring : "unknown";
}

/* ---- times ---- */

struct half {
    double *logs; /* log times of the healthy blocks whose group is even (or odd) */
    unsigned *groups;
    size_t n;
};

static void fill_half(const struct cell_record *r, const struct series *s, unsigned parity, struct half *h)
{
    h->n = 0;
    for (size_t i = 0; i < s->n; i++) {
        unsigned group = r->group_of[s->block[i]];
        if (group % 2 != parity || record_block_dropped(r, s->block[i]))
            continue;
        h->logs[h->n] = log(s->ns[i]);
        h->groups[h->n++] = group;
    }
}

struct timed {
    double ns, low_ns, high_ns; /* NaN: unknown */
};

static struct timed time_of_half(const struct half *h)
{
    struct interval interval;
    stats_interval(h->logs, h->groups, h->n, &interval);
    struct timed out = {exp(interval.valid ? interval.estimate : stats_median(h->logs, h->n)), NAN, NAN};
    if (interval.valid) {
        out.low_ns = exp(interval.estimate - interval.half_width);
        out.high_ns = exp(interval.estimate + interval.half_width);
    }
    return out;
}

/* Of one half of the groups; of the other one where this is empty. */
static struct timed time_of(const struct cell_record *r, const struct contender_record *c, unsigned parity)
{
    const struct series *s = &c->timings[r->headline];
    struct timed out = {NAN, NAN, NAN};
    struct half h = {malloc((s->n + 1) * sizeof *h.logs), malloc((s->n + 1) * sizeof *h.groups), 0};
    if (h.logs && h.groups) {
        fill_half(r, s, parity, &h);
        if (h.n == 0)
            fill_half(r, s, 1 - parity, &h);
    }
    if (h.n > 0)
        out = time_of_half(&h);
    free(h.logs);
    free(h.groups);
    return out;
}

/* ---- choosing ---- */

static const char *variant_of(const struct contender_record *c)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(c->tuning, "variant");
    return cJSON_IsString(node) ? node->valuestring : NULL;
}

static double attribute(const struct contender_record *c, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(c->attributes, key);
    return cJSON_IsNumber(node) ? node->valuedouble : 0;
}

/* A finalist that may win: right, timed, and without local memory. */
static bool may_win(const struct contender_record *c)
{
    return strcmp(c->status, "ok") == 0 && variant_of(c) && attribute(c, "spill_bytes") <= 0 &&
           attribute(c, "local_bytes") <= 0;
}

/* The fastest on the even groups: of the line's finalists or of the baselines, but not `except`. NULL: none. */
static const struct contender_record *fastest(const struct cell_record *r, const struct line *line, bool finalists,
                                              const struct contender_record *except)
{
    const struct contender_record *best = NULL;
    double best_ns = INFINITY;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        bool is_finalist = c->candidate && strcmp(c->family, line->family) == 0 && c->layout == line->layout;
        bool wanted = finalists ? is_finalist && may_win(c) : !c->candidate && strcmp(c->status, "ok") == 0;
        double ns = wanted && c != except ? time_of(r, c, 0).ns : (double)NAN;
        if (ns < best_ns) {
            best_ns = ns;
            best = c;
        }
    }
    return best;
}

static bool fill_line(struct line *line)
{
    const struct cell_record *r = line->record;
    const struct contender_record *winner = fastest(r, line, true, NULL);
    if (!winner)
        return false;
    const struct contender_record *runner_up = fastest(r, line, true, winner),
                                  *reference = fastest(r, line, false, NULL);
    struct timed time = time_of(r, winner, 1);
    line->variant = variant_of(winner);
    line->time_ns = time.ns;
    line->low_ns = time.low_ns;
    line->high_ns = time.high_ns;
    line->runner_up = runner_up ? variant_of(runner_up) : NULL;
    line->runner_up_ns = runner_up ? time_of(r, runner_up, 1).ns : (double)NAN;
    line->reference = reference ? reference->name : NULL;
    line->reference_ns = reference ? time_of(r, reference, 1).ns : (double)NAN;
    return isfinite(line->time_ns);
}

/* Whether this is the contender that was searched; the places behind its winner have no source of their own. */
static bool opens_line(const struct cell_record *r, size_t at)
{
    const struct contender_record *c = &r->contenders[at];
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(c->tuning, "source");
    return c->candidate && cJSON_IsString(source) && strcmp(source->valuestring, "search") == 0;
}

static size_t count_rejected(const struct contender_record *c)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(c->tuning, "rejected");
    return c->candidate ? (size_t)cJSON_GetArraySize(list) : 0;
}

static int add_lines(struct gathered *g, const struct cell_record *r, struct error *err)
{
    for (size_t i = 0; i < r->n_contenders; i++) {
        struct line line = {.record = r, .family = r->contenders[i].family, .layout = r->contenders[i].layout};
        g->rejected += count_rejected(&r->contenders[i]);
        if (!opens_line(r, i))
            continue;
        if (!fill_line(&line)) {
            g->without++;
            continue;
        }
        struct line *grown = realloc(g->lines, (g->n_lines + 1) * sizeof *grown);
        if (!grown)
            return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
        g->lines = grown;
        g->lines[g->n_lines++] = line;
    }
    return 0;
}

/* The order of the table, whatever the order in which the cells were measured. */
static int by_place(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const struct cudal2_problem *p = &x->record->problem, *q = &y->record->problem;
    int family = strcmp(x->family, y->family);
    const int64_t left[] = {p->m, p->n, p->k, (int64_t)x->layout}, right[] = {q->m, q->n, q->k, (int64_t)y->layout};
    for (int i = 0; family == 0 && i < 4; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return family;
}

/* ---- writing ---- */

/* The place of a text in a JSON array of texts, added at its end if need be. */
static int index_of(cJSON *list, const char *text)
{
    int n = 0;
    const cJSON *node;
    cJSON_ArrayForEach(node, list)
    {
        if (strcmp(node->valuestring, text) == 0)
            return n;
        n++;
    }
    cJSON_AddItemToArray(list, cJSON_CreateString(text));
    return n;
}

static double tenths(double ns)
{
    return round(10 * ns) / 10;
}

static void put_ns(cJSON *o, const char *key, double ns)
{
    if (isfinite(ns))
        cJSON_AddNumberToObject(o, key, tenths(ns));
}

static cJSON *line_to_json(const struct line *line, cJSON *families, cJSON *variants)
{
    const struct cudal2_problem *p = &line->record->problem;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "m", (double)p->m);
    cJSON_AddNumberToObject(o, "n", (double)p->n);
    cJSON_AddNumberToObject(o, "k", (double)p->k);
    cJSON_AddNumberToObject(o, "family", index_of(families, line->family));
    cJSON_AddStringToObject(o, "layout", layout_names[line->layout]);
    cJSON_AddNumberToObject(o, "variant", index_of(variants, line->variant));
    put_ns(o, "time_ns", line->time_ns);
    put_ns(o, "low_ns", line->low_ns);
    put_ns(o, "high_ns", line->high_ns);
    if (line->runner_up) {
        cJSON_AddNumberToObject(o, "runner_up", index_of(variants, line->runner_up));
        put_ns(o, "runner_up_ns", line->runner_up_ns);
    }
    if (line->reference) {
        cJSON_AddStringToObject(o, "reference", line->reference);
        put_ns(o, "reference_ns", line->reference_ns);
    }
    return o;
}

static cJSON *head_to_json(const struct gathered *g, const cJSON *families)
{
    const struct cell_record *first = g->lines[0].record;
    const cJSON *libraries = cJSON_GetObjectItemCaseSensitive(g->env, "libraries"), *family;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "schema", TUNED_SCHEMA);
    cJSON_AddNumberToObject(o, "schema_version", TUNED_SCHEMA_VERSION);
    cJSON_AddStringToObject(o, "device", member(g->env, "device", "name"));
    cJSON_AddStringToObject(o, "driver", member(g->env, "device", "driver"));
    cJSON_AddStringToObject(o, "dtype", dtype_names[first->problem.dtype]);
    cJSON_AddStringToObject(o, "accumulate", accumulate_names[first->problem.accumulate]);
    cJSON_AddStringToObject(o, "mode", mode_names[first->mode]);
    cJSON_AddStringToObject(o, "timing", timing_names[first->headline]);
    cJSON_AddStringToObject(o, "cache", cache_state_names[first->cache]);
    cJSON_AddStringToObject(o, "commit", member(g->run, "build", "commit"));
    cJSON *kept = cJSON_AddObjectToObject(o, "libraries");
    cJSON_ArrayForEach(family, families)
    {
        const cJSON *versions = cJSON_GetObjectItemCaseSensitive(libraries, family->valuestring);
        if (versions)
            cJSON_AddItemToObject(kept, family->valuestring, cJSON_Duplicate(versions, true));
    }
    return o;
}

/* Each element on a line of its own. */
static void put_list(struct text *t, const char *key, const cJSON *list, const char *end)
{
    const cJSON *node;
    text_add(t, " \"%s\": [", key);
    cJSON_ArrayForEach(node, list)
    {
        char *one = json_print(node, false);
        text_add(t, "%s\n  %s", node == list->child ? "" : ",", one ? one : "null");
        t->failed |= one == NULL;
        free(one);
    }
    text_add(t, "\n ]%s\n", end);
}

static char *print(const struct gathered *g)
{
    struct text t = {0};
    cJSON *families = cJSON_CreateArray(), *variants = cJSON_CreateArray(), *entries = cJSON_CreateArray();
    for (size_t i = 0; i < g->n_lines; i++)
        cJSON_AddItemToArray(entries, line_to_json(&g->lines[i], families, variants));
    cJSON *head = head_to_json(g, families);
    text_add(&t, "{\n");
    const cJSON *node;
    cJSON_ArrayForEach(node, head)
    {
        char *one = json_print(node, false);
        text_add(&t, " \"%s\": %s,\n", node->string, one ? one : "null");
        t.failed |= one == NULL;
        free(one);
    }
    put_list(&t, "families", families, ",");
    put_list(&t, "variants", variants, ",");
    put_list(&t, "entries", entries, "");
    text_add(&t, "}\n");
    cJSON_Delete(head);
    cJSON_Delete(families);
    cJSON_Delete(variants);
    cJSON_Delete(entries);
    if (t.failed)
        text_free(&t);
    return t.bytes;
}

/* ---- the whole ---- */

static void summarise(const struct gathered *g, struct table_summary *s)
{
    const struct cell_record *first = g->lines[0].record;
    struct device_info device = {0};
    double sum = 0;
    size_t n = 0;
    *s = (struct table_summary){
        .cells = g->n_records, .entries = g->n_lines, .without = g->without, .rejected = g->rejected};
    for (size_t i = 0; i < g->n_lines; i++) {
        const struct line *line = &g->lines[i];
        if (!isfinite(line->reference_ns))
            continue;
        s->ahead += line->time_ns < line->reference_ns;
        sum += log(line->reference_ns / line->time_ns);
        n++;
    }
    s->geomean = n > 0 ? exp(sum / (double)n) : (double)NAN;
    snprintf(device.name, sizeof device.name, "%s", member(g->env, "device", "name"));
    tuned_name(&device, &first->problem, first->mode, s->name);
}

static void release(struct gathered *g)
{
    for (size_t i = 0; i < g->n_records; i++)
        record_free(g->records[i]);
    free(g->records);
    free(g->lines);
    cJSON_Delete(g->env);
    cJSON_Delete(g->run);
}

int table_from_journal(const char *journal_path, char **text, struct table_summary *summary, struct error *err)
{
    struct gathered g = {0};
    *text = NULL;
    int code = journal_read(journal_path, visit, &g, NULL, err);
    for (size_t i = 0; i < g.n_records && !code; i++)
        code = add_lines(&g, g.records[i], err);
    if (!code && g.n_lines == 0)
        code = error_set(err, EXIT_CODE_DATA,
                         "%s: no problem has a variant that was measured (candidates without variants cannot be tuned)",
                         journal_path);
    if (!code) {
        qsort(g.lines, g.n_lines, sizeof *g.lines, by_place);
        summarise(&g, summary);
        *text = print(&g);
        code = *text ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
    }
    release(&g);
    return code;
}
