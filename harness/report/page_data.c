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

struct data {
    struct text *out;
    const cJSON *result;
    const cJSON *cells;
    struct names contenders, groups; /* of groups: a cell's key up to the sizes */
    const char **chosen;             /* what candidates chose, each once; owned, the words are the result's */
    size_t n_chosen;
    bool rows[MODE_COUNT]; /* overlap_find of the result */
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

static void add_times(struct data *d, const cJSON *contenders)
{
    static const char *const timings[] = {"device", "event", "wall"};
    const cJSON *contender;
    const char *comma = "";
    text_add(d->out, ",\"t\":[");
    tree_each(contender, contenders)
    {
        if (strcmp(tree_text(contender, "status"), "ok") != 0)
            continue;
        text_add(d->out, "%s[%d", comma, name_index(&d->contenders, contender->string));
        for (int i = 0; i < 3; i++) {
            const cJSON *timing = tree_member(tree_member(contender, "timings"), timings[i]);
            text_add(d->out, ",");
            add_number(d->out, tree_number(timing, "median_ns"), 6);
        }
        text_add(d->out, "]");
        comma = ",";
    }
    text_add(d->out, "]");
}

/* In tenths of a percent from the median: a few bytes each. */
static void add_part(struct text *out, double ns, double median)
{
    text_add(out, ",");
    add_number(out, round(1000 * (ns / median - 1)), 6);
}

/* How the blocks of the headline timing spread. */
static void add_spread(struct data *d, const cJSON *cell)
{
    static const char *const parts[] = {"min_ns", "median_low_ns", "median_high_ns", "p95_ns", "p99_ns"};
    const cJSON *contender;
    const char *comma = "";
    text_add(d->out, ",\"q\":[");
    tree_each(contender, tree_member(cell, "contenders"))
    {
        const cJSON *timing = tree_member(tree_member(contender, "timings"), tree_text(cell, "headline"));
        double median = tree_number(timing, "median_ns");
        if (strcmp(tree_text(contender, "status"), "ok") != 0 || !(median > 0))
            continue;
        text_add(d->out, "%s[%d,", comma, name_index(&d->contenders, contender->string));
        add_number(d->out, tree_number(timing, "n"), 9);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            add_part(d->out, tree_number(timing, parts[i]), median);
        text_add(d->out, "]");
        comma = ",";
    }
    text_add(d->out, "]");
}

/* -1 out of memory. */
static int chosen_index(struct data *d, const char *words)
{
    for (size_t i = 0; i < d->n_chosen; i++)
        if (strcmp(d->chosen[i], words) == 0)
            return (int)i;
    const char **grown = realloc(d->chosen, (d->n_chosen + 1) * sizeof *grown);
    if (!grown) {
        d->out->failed = true;
        return -1;
    }
    d->chosen = grown;
    grown[d->n_chosen] = words;
    return (int)d->n_chosen++;
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
                 chosen_index(d, chosen));
        any = true;
    }
    text_add(d->out, any ? "]" : "");
}

static void add_failures(struct data *d, const cJSON *contenders)
{
    const cJSON *contender;
    const char *comma = "";
    text_add(d->out, ",\"x\":[");
    tree_each(contender, contenders)
    {
        if (strcmp(tree_text(contender, "status"), "ok") == 0)
            continue;
        text_add(d->out, "%s[%d,", comma, name_index(&d->contenders, contender->string));
        add_string(d->out, tree_text(contender, "status"));
        text_add(d->out, ",");
        add_string(d->out, tree_text(contender, "reason"));
        text_add(d->out, "]");
        comma = ",";
    }
    text_add(d->out, "]");
}

static void add_speedup(struct data *d, const cJSON *s)
{
    const cJSON *ci = tree_member(s, "ci95");
    bool known = cJSON_GetArraySize(ci) == 2;
    text_add(d->out, ",%d,", name_index(&d->contenders, tree_text(s, "reference")));
    add_number(d->out, tree_number(s, "geomean"), 4);
    text_add(d->out, ",");
    add_number(d->out, known ? ci->child->valuedouble : NAN, 4);
    text_add(d->out, ",");
    add_number(d->out, known ? ci->child->next->valuedouble : NAN, 4);
    text_add(d->out, ",");
    add_number(d->out, tree_number(s, "mean_of_ratios"), 4);
}

/* Runs of one candidate and timing share their head: [candidate, "device", reference, geomean, low, high,
 * mean of ratios, ...]. */
static void add_speedups(struct data *d, const cJSON *speedups)
{
    const cJSON *s;
    const char *candidate = NULL;
    const char *timing = "";
    text_add(d->out, ",\"p\":[");
    cJSON_ArrayForEach(s, speedups)
    {
        if (dataset_has_layout(tree_text(s, "candidate")))
            continue;
        if (!candidate || strcmp(candidate, tree_text(s, "candidate")) != 0 ||
            strcmp(timing, tree_text(s, "timing")) != 0) {
            text_add(d->out, "%s", candidate ? "],[" : "[");
            candidate = tree_text(s, "candidate");
            timing = tree_text(s, "timing");
            text_add(d->out, "%d,", name_index(&d->contenders, candidate));
            add_string(d->out, timing);
        }
        add_speedup(d, s);
    }
    text_add(d->out, "%s", candidate ? "]]" : "]");
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
        const char *key, *as;
    } texts[] = {{"label", "l"}, {"status", "s"}, {"reason", "r"}, {"worst_pair", "wp"}};
    text_add(d->out, "{\"g\":%d,\"m\":%.0f,\"n\":%.0f,\"k\":%.0f,\"c\":%d", group_index(d, cell),
             tree_number(cell, "m"), tree_number(cell, "n"), tree_number(cell, "k"), tree_true(cell, "converged"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        text_add(d->out, ",\"%s\":", numbers[i].as);
        add_number(d->out, tree_number(cell, numbers[i].key), 5);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (tree_text(cell, texts[i].key)[0]) {
            text_add(d->out, ",\"%s\":", texts[i].as);
            add_string(d->out, tree_text(cell, texts[i].key));
        }
    const cJSON *contenders = tree_member(cell, "contenders");
    add_times(d, contenders);
    add_spread(d, cell);
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

static void add_chosen(struct data *d)
{
    text_add(d->out, ",\n\"chosen\":[");
    for (size_t i = 0; i < d->n_chosen; i++) {
        text_add(d->out, "%s", i ? "," : "");
        add_string(d->out, d->chosen[i]);
    }
    text_add(d->out, "]");
    free(d->chosen);
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
    add_chosen(&d);
    add_groups(&d);
    add_claimed(&d, dataset);
    text_add(out, "}\n");
}
