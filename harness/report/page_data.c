/* page_data.c - the data of the HTML page: short keys and indices instead of names, so that 1000 shapes stay small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "base/tree.h"

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
    const cJSON *result;
    const cJSON *cells;
    struct names contenders, groups; /* of groups: a cell's key up to the sizes */
    struct list texts, pairs;        /* what candidates chose, worst pairs; who is compared with whom, as JSON */
    bool rows[MODE_COUNT];           /* overlap_find of the result */
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

static void add_string(struct text *out, const char *text)
{
    cJSON string = {.type = cJSON_String, .valuestring = (char *)(uintptr_t)text};
    char *printed = json_print(&string, false);
    if (printed)
        text_add(out, "%s", printed);
    out->failed |= !printed;
    free(printed);
}

static void add_tree(struct text *out, const cJSON *tree)
{
    char *printed = tree ? json_print(tree, false) : strdup("null");
    if (printed)
        text_add_bytes(out, printed, strlen(printed));
    out->failed |= !printed;
    free(printed);
}

static void add_number(struct text *out, double value, int digits)
{
    if (isfinite(value))
        text_add(out, "%.*g", digits, value);
    else
        text_add(out, "null");
}

/* ---- cells ---- */

/* In tenths of a percent from the median: a few bytes each. */
static void add_part(struct text *out, double ns, double median)
{
    text_add(out, ",");
    add_number(out, round(1000 * (ns / median - 1)), 6);
}

/* How the blocks of the headline timing spread. */
static void add_spread(struct text *out, const cJSON *timing)
{
    static const char *const parts[] = {"min_ns", "median_low_ns", "median_high_ns", "p95_ns", "p99_ns"};
    double median = tree_number(timing, "median_ns");
    if (!(median > 0))
        return;
    text_add(out, ",");
    add_number(out, tree_number(timing, "n"), 9);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_part(out, tree_number(timing, parts[i]), median);
}

static void add_times(struct data *d, const cJSON *cell)
{
    static const char *const timings[] = {"device", "event", "wall"};
    const cJSON *contender;
    const char *comma = "";
    text_add(d->out, ",\"t\":[");
    tree_each(contender, tree_member(cell, "contenders"))
    {
        const cJSON *of = tree_member(contender, "timings");
        if (strcmp(tree_text(contender, "status"), "ok") != 0)
            continue;
        text_add(d->out, "%s[%d", comma, name_index(&d->contenders, contender->string));
        for (int i = 0; i < 3; i++) {
            text_add(d->out, ",");
            add_number(d->out, tree_number(tree_member(of, timings[i]), "median_ns"), 6);
        }
        add_spread(d->out, tree_member(of, tree_text(cell, "headline")));
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
static void add_parameters(struct data *d, const cJSON *contenders)
{
    const cJSON *contender;
    bool any = false;
    tree_each(contender, contenders)
    {
        const char *chosen = tree_text(tree_member(contender, "attributes"), "parameters");
        if (!chosen[0])
            continue;
        text_add(d->out, "%s[%d,%d]", any ? "," : ",\"a\":[", name_index(&d->contenders, contender->string),
                 list_index(d, &d->texts, chosen));
        any = true;
    }
    text_add(d->out, any ? "]" : "");
}

static void add_failures(struct data *d, const cJSON *contenders)
{
    const cJSON *contender;
    bool any = false;
    tree_each(contender, contenders)
    {
        if (strcmp(tree_text(contender, "status"), "ok") == 0)
            continue;
        text_add(d->out, "%s[%d,", any ? "," : ",\"x\":[", name_index(&d->contenders, contender->string));
        add_string(d->out, tree_text(contender, "status"));
        text_add(d->out, ",");
        add_string(d->out, tree_text(contender, "reason"));
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
static void add_speedup(struct text *out, const cJSON *s)
{
    const cJSON *ci = tree_member(s, "ci95");
    bool known = cJSON_GetArraySize(ci) == 2;
    double geomean = scaled(tree_number(s, "geomean"));
    const double from[] = {known ? ci->child->valuedouble : NAN, known ? ci->child->next->valuedouble : NAN,
                           tree_number(s, "mean_of_ratios")};
    text_add(out, ",");
    add_number(out, geomean, 12);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        text_add(out, ",");
        add_number(out, scaled(from[i]) - geomean, 12);
    }
}

static bool is_shown(const cJSON *speedup)
{
    return !dataset_has_layout(tree_text(speedup, "candidate"));
}

/* Who is compared with whom, in what time: [[candidate, "device", reference], ...]. */
static void add_pairs(struct data *d, struct text *out, const cJSON *speedups)
{
    const cJSON *s;
    const char *comma = "";
    text_add(out, "[");
    cJSON_ArrayForEach(s, speedups)
    {
        if (!is_shown(s))
            continue;
        text_add(out, "%s[%d,", comma, name_index(&d->contenders, tree_text(s, "candidate")));
        add_string(out, tree_text(s, "timing"));
        text_add(out, ",%d]", name_index(&d->contenders, tree_text(s, "reference")));
        comma = ",";
    }
    text_add(out, "]");
}

/* The pairs are the same in most cells, and stand once: [which of `pairs`, figures of the first, of the second, ...].
 */
static void add_speedups(struct data *d, const cJSON *speedups)
{
    const cJSON *s;
    struct text pairs = {0};
    add_pairs(d, &pairs, speedups);
    d->out->failed |= pairs.failed;
    text_add(d->out, ",\"p\":[%d", pairs.failed ? -1 : list_index(d, &d->pairs, pairs.bytes));
    text_free(&pairs);
    cJSON_ArrayForEach(s, speedups) if (is_shown(s)) add_speedup(d->out, s);
    text_add(d->out, "]");
}

static const char *sizes_of_key(const char *key)
{
    const char *dash = strrchr(key, '-');
    return dash ? dash : key + strlen(key);
}

/* Groups are told apart by what stands before the sizes in a key: "offline/f16-f32". */
static int group_index(struct data *d, const cJSON *cell)
{
    const char *key = tree_text(cell, "key");
    size_t length = (size_t)(sizes_of_key(key) - key);
    for (int i = 0; i < d->groups.n; i++) {
        const char *other = d->groups.text[i];
        if ((size_t)(sizes_of_key(other) - other) == length && strncmp(other, key, length) == 0)
            return i;
    }
    return name_index(&d->groups, key);
}

/* Who was launched early; nothing where nobody was. */
static void add_early(struct data *d, const cJSON *contenders)
{
    const cJSON *contender;
    bool any = false;
    tree_each(contender, contenders)
    {
        if (!tree_true(contender, "early"))
            continue;
        text_add(d->out, "%s%d", any ? "," : ",\"e\":[", name_index(&d->contenders, contender->string));
        any = true;
    }
    text_add(d->out, any ? "]" : "");
}

static void add_cell(struct data *d, const cJSON *cell)
{
    static const struct {
        const char *key, *as;
    } numbers[] = {{"worst_half_width", "w"}, {"floor_ns", "f"}, {"blocks", "b"},
                   {"dropped_blocks", "d"},   {"env", "v"},      {"busy_seconds", "bs"},
                   {"wall_seconds", "ws"}};
    static const struct {
        const char *key, *as, *usual;
    } texts[] = {{"label", "l", ""}, {"status", "s", "ok"}, {"reason", "r", ""}};
    text_add(d->out, "{\"g\":%d,\"m\":%.0f,\"n\":%.0f,\"k\":%.0f,\"c\":%d", group_index(d, cell),
             tree_number(cell, "m"), tree_number(cell, "n"), tree_number(cell, "k"), tree_true(cell, "converged"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double value = tree_number(cell, numbers[i].key);
        if (value == 0)
            continue; /* as model.js takes what is not there */
        text_add(d->out, ",\"%s\":", numbers[i].as);
        add_number(d->out, value, 5);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *value = tree_text(cell, texts[i].key);
        if (!value[0] || strcmp(value, texts[i].usual) == 0)
            continue;
        text_add(d->out, ",\"%s\":", texts[i].as);
        add_string(d->out, value);
    }
    if (tree_text(cell, "worst_pair")[0])
        text_add(d->out, ",\"wp\":%d", list_index(d, &d->texts, tree_text(cell, "worst_pair")));
    const cJSON *contenders = tree_member(cell, "contenders");
    add_times(d, cell);
    add_parameters(d, contenders);
    add_failures(d, contenders);
    add_early(d, contenders);
    add_speedups(d, tree_member(cell, "speedups"));
    text_add(d->out, "}");
}

static void add_cells(struct data *d)
{
    const cJSON *cell;
    text_add(d->out, ",\n\"cells\":[");
    cJSON_ArrayForEach(cell, d->cells)
    {
        text_add(d->out, "%s", cell == d->cells->child ? "\n" : ",\n");
        add_cell(d, cell);
    }
    text_add(d->out, "]");
}

/* ---- the rest ---- */

static void add_names(struct data *d)
{
    text_add(d->out, ",\n\"contenders\":[");
    for (int i = 0; i < d->contenders.n; i++) {
        text_add(d->out, "%s", i ? "," : "");
        add_string(d->out, d->contenders.text[i]);
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
        add_string(d->out, values.bytes);
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
        add_string(d->out, heads.text[i]);
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

/* Each group as its first cell has it. */
static void add_groups(struct data *d)
{
    static const char *const keys[] = {"mode", "dtype", "accumulate", "headline", "cache"};
    const cJSON *cell;
    int added = 0;
    text_add(d->out, ",\n\"groups\":[");
    cJSON_ArrayForEach(cell, d->cells)
    {
        if (added == d->groups.n || strcmp(tree_text(cell, "key"), d->groups.text[added]) != 0)
            continue;
        text_add(d->out, added++ ? ",{" : "{");
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            text_add(d->out, "%s\"%s\":", i ? "," : "", keys[i]);
            add_string(d->out, tree_text(cell, keys[i]));
        }
        const char *mode = tree_text(cell, "mode"), *device = timing_names[TIMING_DEVICE];
        if (strcmp(overlap_timing(d->rows, mode, device), device) != 0)
            text_add(d->out, ",\"row\":1");
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
        add_number(d->out, a.mean, 6);
        text_add(d->out, ",\"reference\":");
        add_string(d->out, line->reference);
        text_add(d->out, ",\"device\":");
        add_string(d->out, line->device);
        text_add(d->out, "}");
        comma = ",";
    }
    text_add(d->out, "]");
}

void page_data(const cJSON *result, const struct dataset *dataset, struct text *out)
{
    struct data d = {.out = out, .result = result, .cells = tree_member(result, "cells")};
    const cJSON *runs = tree_member(result, "runs");
    overlap_find(result, d.rows);
    text_add(out, "{\"runs\":");
    if (!runs)
        text_add(out, "[");
    add_tree(out, runs ? runs : tree_member(result, "run"));
    text_add(out, "%s,\n\"env\":", runs ? "" : "]");
    add_tree(out, tree_member(result, "env"));
    text_add(out, ",\n\"summary\":");
    add_tree(out, tree_member(result, "summary"));
    add_cells(&d);
    add_names(&d);
    add_texts(&d);
    add_pair_lists(&d);
    add_groups(&d);
    add_claimed(&d, dataset);
    text_add(out, "}\n");
    list_free(&d.texts);
    list_free(&d.pairs);
}
