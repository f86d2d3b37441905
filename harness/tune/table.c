/*
 * table.c - from a search's journal to a table: winner and runner-up on one half of the groups, times from the other.
 * Pure but for reading. Called by tune.c at the end and by tests.
 */
#include "tune/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contender/tuned.h"
#include "record/journal.h"
#include "record/record.h"
#include "stats/interval.h"
#include "tune/lines.h"

struct table {
    cJSON *env, *run; /* the first environment; what `run` says of the build */
    struct cell_record **records;
    size_t n_records;
    const struct cell_record *measured; /* the first with a line: all cells are of one mode, timing and cache state */
    struct table_lines lines;           /* texts: the records' and those of `kept` */
    struct tuned_table *kept;           /* by table_merge */
    cJSON *head;
    struct table_summary summary;
};

/* ---- reading ---- */

static int keep_record(struct table *t, struct json_at data, struct error *err)
{
    struct cell_record **grown = realloc(t->records, (t->n_records + 1) * sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning journal");
    t->records = grown;
    if (record_from_json(data, &t->records[t->n_records], err))
        return err->code;
    t->n_records++;
    return 0;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct table *t = context;
    if (strcmp(kind, "cell") == 0)
        return keep_record(t, data, err);
    cJSON **place = strcmp(kind, "env") == 0 ? &t->env : strcmp(kind, "run") == 0 ? &t->run : NULL;
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
    return c->verdict == VERDICT_OK && variant_of(c) && attribute(c, "spill_bytes") <= 0 &&
           attribute(c, "local_bytes") <= 0;
}

static bool is_finalist(const struct contender_record *c, const struct table_line *line)
{
    return c->candidate && strcmp(c->family, line->family) == 0 && c->layout == line->layout;
}

/* The fastest on the even groups: of the line's finalists or of the baselines, but not `except`. NULL: none. */
static const struct contender_record *fastest(const struct cell_record *r, const struct table_line *line,
                                              bool finalists, const struct contender_record *except)
{
    const struct contender_record *best = NULL;
    double best_ns = INFINITY;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        bool wanted = finalists ? is_finalist(c, line) && may_win(c) : !c->candidate && c->verdict == VERDICT_OK;
        double ns = wanted && c != except ? time_of(r, c, 0).ns : (double)NAN;
        if (ns < best_ns) {
            best_ns = ns;
            best = c;
        }
    }
    return best;
}

static bool fill_line(const struct cell_record *r, struct table_line *line)
{
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

static int add_lines(struct table *t, const struct cell_record *r, struct error *err)
{
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        struct table_line line = {.problem = r->problem, .layout = c->layout, .family = c->family};
        t->summary.rejected += count_rejected(c);
        if (!opens_line(r, i))
            continue;
        if (!fill_line(r, &line)) {
            t->summary.without++;
            continue;
        }
        if (lines_add(&t->lines, &line, err))
            return err->code;
        if (!t->measured)
            t->measured = r;
    }
    return 0;
}

/* ---- what the search says of an older entry's variant ---- */

struct verdicts {
    const struct table *table;
    const struct key_sets *keys;
};

static const struct cell_record *record_of(const struct table *t, const struct cudal2_problem *p)
{
    for (size_t i = 0; i < t->n_records; i++) {
        const struct cudal2_problem *q = &t->records[i]->problem;
        if (q->m == p->m && q->n == p->n && q->k == p->k)
            return t->records[i];
    }
    return NULL;
}

/* A race names what it struck off by its place among what raced, verification and lost workers by its key. */
static const char *rejected_key(const struct contender_record *c, const cJSON *rejected)
{
    const cJSON *key = cJSON_GetObjectItemCaseSensitive(rejected, "key"),
                *place = cJSON_GetObjectItemCaseSensitive(rejected, "variant");
    if (cJSON_IsNumber(place))
        key = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(c->tuning, "keys"), place->valueint);
    return cJSON_IsString(key) ? key->valuestring : NULL;
}

static bool is_same(const struct key_sets *keys, const char *family, const char *text, const char *written)
{
    struct cudal2_variant own;
    return text && keys_write(keys, family, text, &own) && strcmp(own.key, written) == 0;
}

/* Whether the contender was measured as this variant, or it was struck off. */
static bool tells_of(const struct contender_record *c, const struct key_sets *keys, const char *written)
{
    const cJSON *rejected, *list = cJSON_GetObjectItemCaseSensitive(c->tuning, "rejected");
    bool tells = is_same(keys, c->family, variant_of(c), written);
    cJSON_ArrayForEach(rejected, list)
    {
        tells = tells || is_same(keys, c->family, rejected_key(c, rejected), written);
    }
    return tells;
}

/* For merge_search. What no kernel knows is no use to keep: `run` passes it over. */
static bool missed(const void *context, const struct table_line *line, const char *variant)
{
    const struct verdicts *v = context;
    const struct cell_record *r = record_of(v->table, &line->problem);
    struct cudal2_variant written;
    bool silent = r && keys_write(v->keys, line->family, variant, &written);
    for (size_t i = 0; silent && i < r->n_contenders; i++)
        silent = !is_finalist(&r->contenders[i], line) || !tells_of(&r->contenders[i], v->keys, written.key);
    return silent;
}

/* ---- the head ---- */

/* Of the families that were searched. */
static cJSON *versions_to_json(const struct table *t)
{
    const cJSON *libraries = cJSON_GetObjectItemCaseSensitive(t->env, "libraries");
    cJSON *o = cJSON_CreateObject();
    for (size_t i = 0; i < t->lines.n; i++) {
        const char *family = t->lines.items[i].family;
        const cJSON *versions = cJSON_GetObjectItemCaseSensitive(libraries, family);
        if (versions && !cJSON_GetObjectItemCaseSensitive(o, family))
            cJSON_AddItemToObject(o, family, cJSON_Duplicate(versions, true));
    }
    return o;
}

/* What devices of one class have in common; whatever the environment does not know is left out. */
static void put_class(cJSON *o, const cJSON *env)
{
    static const char *const keys[] = {"cc", "sm_count"};
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(env, "device");
    for (int i = 0; i < 2; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(device, keys[i]);
        if (cJSON_IsNumber(value) && value->valuedouble >= 1)
            cJSON_AddNumberToObject(o, keys[i], value->valuedouble);
    }
}

static cJSON *head_to_json(const struct table *t)
{
    const struct cell_record *r = t->measured;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "schema", TUNED_SCHEMA);
    cJSON_AddNumberToObject(o, "schema_version", TUNED_SCHEMA_VERSION);
    cJSON_AddStringToObject(o, "device", member(t->env, "device", "name"));
    put_class(o, t->env);
    cJSON_AddStringToObject(o, "driver", member(t->env, "device", "driver"));
    cJSON_AddStringToObject(o, "dtype", dtype_names[r->problem.dtype]);
    cJSON_AddStringToObject(o, "accumulate", accumulate_names[r->problem.accumulate]);
    cJSON_AddStringToObject(o, "mode", mode_names[r->mode]);
    cJSON_AddStringToObject(o, "timing", timing_names[r->headline]);
    cJSON_AddStringToObject(o, "cache", cache_state_names[r->cache]);
    cJSON_AddStringToObject(o, "commit", member(t->run, "build", "commit"));
    cJSON_AddItemToObject(o, "libraries", versions_to_json(t));
    return o;
}

/* ---- the whole ---- */

static void summarise(struct table *t)
{
    struct table_summary *s = &t->summary;
    struct device_info device = {0};
    double sum = 0;
    size_t n = 0;
    s->cells = t->n_records;
    s->entries = t->lines.n;
    for (size_t i = 0; i < t->lines.n; i++) {
        const struct table_line *line = &t->lines.items[i];
        if (!isfinite(line->reference_ns))
            continue;
        s->ahead += line->time_ns < line->reference_ns;
        sum += log(line->reference_ns / line->time_ns);
        n++;
    }
    s->geomean = n > 0 ? exp(sum / (double)n) : (double)NAN;
    snprintf(device.name, sizeof device.name, "%s", member(t->env, "device", "name"));
    tuned_name(&device, &t->measured->problem, t->measured->mode, s->name);
}

int table_open(const char *journal_path, struct table **out, struct error *err)
{
    struct table *t = calloc(1, sizeof *t);
    *out = t;
    if (!t)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
    int code = journal_read(journal_path, visit, t, NULL, err);
    for (size_t i = 0; i < t->n_records && !code; i++)
        code = add_lines(t, t->records[i], err);
    if (!code && !t->measured)
        code = error_set(err, EXIT_CODE_DATA,
                         "%s: no problem has a variant that was measured (candidates without variants cannot be tuned)",
                         journal_path);
    if (!code) {
        lines_sort(&t->lines);
        summarise(t);
        t->head = head_to_json(t);
    }
    return code;
}

int table_merge(struct table *t, const char *path, const struct key_sets *keys, struct error *err)
{
    const struct cell_record *r = t->measured;
    const struct merge_kind kind = {.device = member(t->env, "device", "name"),
                                    .dtype = r->problem.dtype,
                                    .accumulate = r->problem.accumulate,
                                    .mode = r->mode,
                                    .timing = r->headline,
                                    .cache = r->cache};
    if (merge_read(path, &kind, &t->kept, err))
        return error_wrap(err, "--update");
    const struct verdicts verdicts = {t, keys};
    const struct merge_search search = {member(t->run, "build", "commit"), missed, &verdicts};
    t->summary.merged = true;
    return merge_keep(t->kept, &search, &t->lines, &t->summary.counts, err);
}

int table_text(const struct table *t, char **text, struct error *err)
{
    return lines_print(&t->lines, t->head, text, err);
}

const struct table_summary *table_summary(const struct table *t)
{
    return &t->summary;
}

void table_close(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_records; i++)
        record_free(t->records[i]);
    free(t->records);
    lines_free(&t->lines);
    tuned_free(t->kept);
    cJSON_Delete(t->head);
    cJSON_Delete(t->env);
    cJSON_Delete(t->run);
    free(t);
}
