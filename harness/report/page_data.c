/*
 * page_data.c - the data of the HTML page: short keys and indices instead of names, so that 1000 shapes stay small.
 * Relies on the result. Called by page.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "report/page_put.h"

#define NAMES_MAX 256

struct names {
    const char *text[NAMES_MAX]; /* point into the result */
    int n;
};

/* Each text once; owned. */
struct list {
    char **text;
    size_t n;
};

struct data {
    struct text *out;
    const struct result *result;
    struct names contenders, groups; /* of groups: a cell's key up to the sizes */
    struct list texts, pairs;        /* what candidates chose, worst pairs; who is compared with whom, as JSON */
    bool rows[MODE_COUNT];           /* overlap_find of the result */
    bool timings[TIMING_COUNT];      /* that are shown: those taken by default, and others that some cell has */
};

/* Index of text, added when it is new; the last one when the list is full. */
static int name_index(struct names *names, const char *text)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->text[i], text) == 0)
            return i;
    if (names->n == NAMES_MAX)
        return NAMES_MAX - 1;
    names->text[names->n] = text;
    return names->n++;
}

/* ---- cells ---- */

/* In tenths of a percent from the median: a few bytes each. */
static void add_part(struct text *out, double ns, double median)
{
    text_add(out, ",");
    page_put_number(out, round(1000 * (ns / median - 1)), 6);
}

/* How the blocks of the headline timing spread. */
static void add_spread(struct text *out, const struct result_timing *t)
{
    const double parts[] = {t->min_ns, t->median_low_ns, t->median_high_ns, t->p95_ns, t->p99_ns};
    if (!(t->median_ns > 0))
        return;
    text_add(out, ",");
    page_put_number(out, t->n, 9);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_part(out, parts[i], t->median_ns);
}

static void add_times(struct data *d, const struct result_cell *cell)
{
    const char *comma = "";
    text_add(d->out, ",\"t\":[");
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        if (c->verdict != VERDICT_OK)
            continue;
        text_add(d->out, "%s[%d", comma, name_index(&d->contenders, c->name));
        for (int t = 0; t < TIMING_COUNT; t++) {
            if (!d->timings[t])
                continue;
            text_add(d->out, ",");
            page_put_number(d->out, c->timings[t].median_ns, 6);
        }
        add_spread(d->out, result_headline(cell, c));
        text_add(d->out, "]");
        comma = ",";
    }
    text_add(d->out, "]");
}

/* Index of text, added when it is new; -1 out of memory. */
static int list_index(struct data *d, struct list *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->text[i], text) == 0)
            return (int)i;
    char **grown = realloc(list->text, (list->n + 1) * sizeof *grown);
    if (grown)
        list->text = grown;
    if (!grown || !(grown[list->n] = strdup(text))) {
        d->out->failed = true;
        return -1;
    }
    return (int)list->n++;
}

static void list_free(struct list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->text[i]);
    free(list->text);
}

/* What candidates with a choice chose. */
static void add_parameters(struct data *d, const struct result_cell *cell)
{
    bool any = false;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        if (!c->attributes.parameters[0])
            continue;
        text_add(d->out, "%s[%d,%d]", any ? "," : ",\"a\":[", name_index(&d->contenders, c->name),
                 list_index(d, &d->texts, c->attributes.parameters));
        any = true;
    }
    text_add(d->out, any ? "]" : "");
}

static void add_failures(struct data *d, const struct result_cell *cell)
{
    bool any = false;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        if (c->verdict == VERDICT_OK)
            continue;
        text_add(d->out, "%s[%d,", any ? "," : ",\"x\":[", name_index(&d->contenders, c->name));
        page_put_string(d->out, c->status);
        text_add(d->out, ",");
        page_put_string(d->out, c->reason);
        text_add(d->out, "]");
        any = true;
    }
    text_add(d->out, any ? "]" : "");
}

/* In hundred-thousandths, whole: a few bytes each. */
static double scaled(double value)
{
    return round(1e5 * value);
}

/* Estimate, then as distances from it: low, high, mean of ratios. */
static void add_speedup(struct text *out, const struct result_pair *s)
{
    double geomean = scaled(s->geomean);
    const double from[] = {s->ci95.low, s->ci95.high, s->mean_of_ratios};
    text_add(out, ",");
    page_put_number(out, geomean, 12);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        text_add(out, ",");
        page_put_number(out, scaled(from[i]) - geomean, 12);
    }
}

static bool is_shown(const struct result_pair *speedup)
{
    return !dataset_has_layout(speedup->candidate);
}

/* Who is compared with whom, in what time: [[candidate, "device", reference], ...]. */
static void add_pairs(struct data *d, struct text *out, const struct result_cell *cell)
{
    const char *comma = "";
    text_add(out, "[");
    for (size_t i = 0; i < cell->n_speedups; i++) {
        const struct result_pair *s = &cell->speedups[i];
        if (!is_shown(s))
            continue;
        text_add(out, "%s[%d,", comma, name_index(&d->contenders, s->candidate));
        page_put_string(out, result_timing_name(s->timing));
        text_add(out, ",%d]", name_index(&d->contenders, s->reference));
        comma = ",";
    }
    text_add(out, "]");
}

/* The pairs are the same in most cells, and stand once: [which of `pairs`, figures of the first, of the second, ...].
 */
static void add_speedups(struct data *d, const struct result_cell *cell)
{
    struct text pairs = {0};
    add_pairs(d, &pairs, cell);
    d->out->failed |= pairs.failed;
    text_add(d->out, ",\"p\":[%d", pairs.failed ? -1 : list_index(d, &d->pairs, pairs.bytes));
    text_free(&pairs);
    for (size_t i = 0; i < cell->n_speedups; i++)
        if (is_shown(&cell->speedups[i]))
            add_speedup(d->out, &cell->speedups[i]);
    text_add(d->out, "]");
}

static const char *sizes_of_key(const char *key)
{
    const char *sizes = problem_key_sizes(key);
    return sizes > key ? sizes - 1 : key + strlen(key);
}

/* Groups are told apart by what stands before the sizes in a key: "offline/f16-f32". */
static int group_index(struct data *d, const char *key)
{
    size_t length = (size_t)(sizes_of_key(key) - key);
    for (int i = 0; i < d->groups.n; i++) {
        const char *other = d->groups.text[i];
        if ((size_t)(sizes_of_key(other) - other) == length && strncmp(other, key, length) == 0)
            return i;
    }
    return name_index(&d->groups, key);
}

/* Who was launched early; nothing where nobody was. */
static void add_early(struct data *d, const struct result_cell *cell)
{
    bool any = false;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        if (!cell->contenders[i].early)
            continue;
        text_add(d->out, "%s%d", any ? "," : ",\"e\":[", name_index(&d->contenders, cell->contenders[i].name));
        any = true;
    }
    text_add(d->out, any ? "]" : "");
}

/* [[contender, joules, GFLOP a joule], ...]; nothing where nobody was measured. */
static void add_energy(struct data *d, const struct result_cell *cell)
{
    bool any = false;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        if (!c->energy.json || !(c->energy.joules > 0))
            continue;
        text_add(d->out, "%s[%d,", any ? "," : ",\"en\":[", name_index(&d->contenders, c->name));
        page_put_number(d->out, c->energy.joules, 4);
        text_add(d->out, ",");
        page_put_number(d->out, c->energy.gflop_per_joule, 4);
        text_add(d->out, "]");
        any = true;
    }
    text_add(d->out, any ? "]" : "");
}

static void add_cell_numbers(struct text *out, const struct result_cell *cell)
{
    const struct {
        const char *as;
        double value;
    } numbers[] = {{"w", cell->worst_half_width}, {"f", cell->floor_ns}, {"b", cell->blocks},
                   {"d", cell->dropped_blocks},   {"v", cell->env},      {"bs", cell->busy_seconds},
                   {"ws", cell->wall_seconds}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].value == 0)
            continue; /* as model.js takes what is not there */
        text_add(out, ",\"%s\":", numbers[i].as);
        page_put_number(out, numbers[i].value, 5);
    }
}

static void add_cell_texts(struct text *out, const struct result_cell *cell)
{
    char room[RESULT_LABEL_MAX];
    const char *label = result_cell_label(cell, room);
    const struct {
        const char *as, *value, *usual;
    } texts[] = {{"l", label, ""}, {"s", cell->status, "ok"}, {"r", cell->reason, ""}, {"ro", cell->rotation, ""}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i].value[0] || strcmp(texts[i].value, texts[i].usual) == 0)
            continue;
        text_add(out, ",\"%s\":", texts[i].as);
        page_put_string(out, texts[i].value);
    }
}

static void add_cell(struct data *d, const struct result_cell *cell)
{
    text_add(d->out, "{\"g\":%d,\"m\":%.0f,\"n\":%.0f,\"k\":%.0f,\"c\":%d", group_index(d, cell->key), cell->m, cell->n,
             cell->k, cell->converged);
    add_cell_numbers(d->out, cell);
    add_cell_texts(d->out, cell);
    if (cell->worst_pair[0])
        text_add(d->out, ",\"wp\":%d", list_index(d, &d->texts, cell->worst_pair));
    add_times(d, cell);
    add_parameters(d, cell);
    add_failures(d, cell);
    add_early(d, cell);
    add_energy(d, cell);
    add_speedups(d, cell);
    text_add(d->out, "}");
}

static void add_cells(struct data *d)
{
    text_add(d->out, ",\n\"cells\":[");
    for (size_t i = 0; i < d->result->n_cells; i++) {
        text_add(d->out, "%s", i == 0 ? "\n" : ",\n");
        add_cell(d, &d->result->cells[i]);
    }
    text_add(d->out, "]");
}

/* ---- the rest ---- */

static void add_names(struct data *d)
{
    text_add(d->out, ",\n\"contenders\":[");
    for (int i = 0; i < d->contenders.n; i++) {
        text_add(d->out, "%s", i ? "," : "");
        page_put_string(d->out, d->contenders.text[i]);
    }
    text_add(d->out, "]");
}

/* "BM=64,BN=32" as "BM=,BN=" and "64,32". */
static void split_words(const char *words, struct text *heads, struct text *values)
{
    for (;;) {
        size_t length = strcspn(words, ","), head = strcspn(words, "=");
        head = head < length ? head + 1 : 0;
        text_add_bytes(heads, words, head);
        text_add_bytes(values, words + head, length - head);
        if (!words[length])
            return;
        text_add(heads, ",");
        text_add(values, ",");
        words += length + 1;
    }
}

/* What many choices share stands once: [which of `heads`, values]. */
static void add_text(struct data *d, struct list *heads, const char *words)
{
    struct text head = {0}, values = {0};
    text_add(&head, "%s", "");
    text_add(&values, "%s", "");
    split_words(words, &head, &values);
    d->out->failed |= head.failed || values.failed;
    if (!d->out->failed) {
        text_add(d->out, "[%d,", list_index(d, heads, head.bytes));
        page_put_string(d->out, values.bytes);
        text_add(d->out, "]");
    }
    text_free(&head);
    text_free(&values);
}

static void add_texts(struct data *d)
{
    struct list heads = {0};
    text_add(d->out, ",\n\"texts\":[");
    for (size_t i = 0; i < d->texts.n; i++) {
        text_add(d->out, "%s", i ? ",\n" : "");
        add_text(d, &heads, d->texts.text[i]);
    }
    text_add(d->out, "],\n\"heads\":[");
    for (size_t i = 0; i < heads.n; i++) {
        text_add(d->out, "%s", i ? "," : "");
        page_put_string(d->out, heads.text[i]);
    }
    text_add(d->out, "]");
    list_free(&heads);
}

/* Each is JSON already. */
static void add_pair_lists(struct data *d)
{
    text_add(d->out, ",\n\"pairs\":[");
    for (size_t i = 0; i < d->pairs.n; i++) {
        text_add(d->out, "%s", i ? ",\n" : "");
        text_add_bytes(d->out, d->pairs.text[i], strlen(d->pairs.text[i]));
    }
    text_add(d->out, "]");
}

/* What tables of this mode call the timings. */
static void add_called(struct data *d, const char *mode)
{
    text_add(d->out, ",\"called\":{");
    for (int t = 0; t < TIMING_COUNT; t++)
        text_add(d->out, "%s\"%s\":\"%s\"", t ? "," : "", timing_names[t],
                 overlap_timing(d->rows, mode, timing_names[t]));
    text_add(d->out, "}");
}

static void add_timings(struct data *d)
{
    const char *comma = "";
    text_add(d->out, ",\n\"timings\":[");
    for (int t = 0; t < TIMING_COUNT; t++) {
        if (!d->timings[t])
            continue;
        text_add(d->out, "%s{\"name\":\"%s\",\"help\":\"%s\"}", comma, timing_names[t], timing_table[t].help);
        comma = ",";
    }
    text_add(d->out, "]");
}

static void add_group(struct data *d, const struct result_cell *cell)
{
    const struct {
        const char *as, *value;
    } texts[] = {{"mode", cell->group.mode},
                 {"dtype", cell->group.dtype},
                 {"accumulate", cell->group.accumulate},
                 {"headline", result_timing_name(cell->headline)},
                 {"cache", cell->cache}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_add(d->out, "%s\"%s\":", i ? "," : "", texts[i].as);
        page_put_string(d->out, texts[i].value);
    }
    add_called(d, cell->group.mode);
}

/* Each group as its first cell has it. */
static void add_groups(struct data *d)
{
    int added = 0;
    text_add(d->out, ",\n\"groups\":[");
    for (size_t i = 0; i < d->result->n_cells; i++) {
        const struct result_cell *cell = &d->result->cells[i];
        if (added == d->groups.n || strcmp(cell->key, d->groups.text[added]) != 0)
            continue;
        text_add(d->out, added++ ? ",{" : "{");
        add_group(d, cell);
        text_add(d->out, "}");
    }
    text_add(d->out, "]");
}

static void add_claimed(struct data *d, const struct dataset *dataset)
{
    const char *comma = "";
    text_add(d->out, ",\n\"claimed\":[");
    for (size_t i = 0; i < dataset->n; i++) {
        const struct line *line = &dataset->lines[i];
        struct aggregate a;
        if (strcmp(line->source, "claimed") != 0 || line->n == 0)
            continue;
        line_aggregate(line, &a);
        text_add(d->out,
                 "%s{\"mode\":\"%s\",\"dtype\":\"%s\",\"accumulate\":\"%s\",\"n\":%zu,\"wins\":%zu,\"mean\":", comma,
                 line->mode, line->dtype, line->accumulate, a.n, a.wins);
        page_put_number(d->out, a.mean, 6);
        text_add(d->out, ",\"reference\":");
        page_put_string(d->out, line->reference);
        text_add(d->out, ",\"device\":");
        page_put_string(d->out, line->device);
        text_add(d->out, "}");
        comma = ",";
    }
    text_add(d->out, "]");
}

/* A run's own, or those of several that are shown as one. */
static void add_runs(struct data *d)
{
    const struct result *r = d->result;
    text_add(d->out, "{\"runs\":[");
    if (r->n_runs == 0)
        page_put_tree(d->out, r->run.json);
    for (size_t i = 0; i < r->n_runs; i++) {
        text_add(d->out, i ? "," : "");
        page_put_tree(d->out, r->runs[i].json);
    }
    text_add(d->out, "],\n\"env\":[");
    for (size_t i = 0; i < r->n_env; i++) {
        text_add(d->out, i ? "," : "");
        page_put_tree(d->out, r->env[i].json);
    }
    text_add(d->out, "]");
}

void page_data(const struct result *result, const struct dataset *dataset, const char *between, struct text *out)
{
    struct data d = {.out = out, .result = result};
    overlap_find(result, d.rows);
    for (int t = 0; t < TIMING_COUNT; t++)
        d.timings[t] = timing_table[t].by_default || result_has_timing(result, (enum timing)t);
    add_runs(&d);
    text_add(out, ",\n\"summary\":");
    page_put_tree(out, result->summary.json);
    add_cells(&d);
    add_names(&d);
    add_texts(&d);
    add_pair_lists(&d);
    add_timings(&d);
    add_groups(&d);
    add_claimed(&d, dataset);
    page_tables(result, out);
    text_add(out, ",\n\"between\":");
    page_put_string(out, between ? between : "");
    text_add(out, "}\n");
    list_free(&d.texts);
    list_free(&d.pairs);
}
