/*
 * screen.c - the text after a run: device, counts, speedups, rows by shape, A/A, what to know. Relies on screen_*.c,
 * each with one part. Called by `run` and by `report` without a format.
 */
#include "report/screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/dataset.h"
#include "report/outcome.h"
#include "report/screen_activity.h"
#include "report/screen_counts.h"
#include "report/screen_device.h"
#include "report/screen_estimates.h"
#include "report/screen_rows.h"
#include "report/table.h"
#include "record/record.h"
#include "base/tree.h"
#include "stats/interval.h"

static void print_table(struct screen *screen, struct table *table)
{
    if (table_rows(table) > 0) {
        table_print_text(&screen->text, table, screen->options->colour);
        text_add(&screen->text, "\n");
    }
    table_free(table);
}

static bool is_suffix(const char *name, const char *suffix)
{
    size_t a = strlen(name);
    size_t b = strlen(suffix);
    return a > b && strcmp(name + a - b, suffix) == 0;
}

/* The -max of a family and what has no layouts: one column or line for each library. */
static bool is_whole(const char *name)
{
    return !is_suffix(name, "-nn") && !is_suffix(name, "-tn");
}

static void summary_columns(struct table *s)
{
    table_column(s, "timing", "timing", true);
    table_column(s, "candidate", "candidate", true);
    table_column(s, "against", "reference", true);
    table_column(s, "trimmed", "geomean", false);
    table_column(s, "wins", "wins", false);
    table_column(s, "median", "median", false);
    table_column(s, "paper", "mean", false);
}

/* One pair over the shapes of a group: first the trimmed estimate, which each shape's interval belongs to; the paper's
 * own mean of ratios beside it. `means` false: too noisy for a mean. */
static void summary_row(struct table *s, const char *const names[3], const struct aggregate *over, bool means)
{
    for (size_t i = 0; i < 3; i++)
        table_add(s, NAN, "%s", names[i]);
    table_add(s, over->geomean, "%+.1f%%", 100 * over->geomean);
    table_add(s, (double)over->wins, "%zu/%zu", over->wins, over->n);
    table_add(s, over->median, "%+.1f%%", 100 * over->median);
    if (means)
        table_add(s, over->mean, "%+.1f%%", 100 * over->mean);
    else
        table_add(s, NAN, "-");
}

/* Of a cell or a summary row. */
static const char *timing_of(const struct screen *screen, const cJSON *at, const char *timing)
{
    return overlap_timing(screen->dataset.rows, tree_text(at, "mode"), timing);
}

static void result_row(const struct screen *screen, struct table *s, const cJSON *row, bool means)
{
    const char *const names[] = {timing_of(screen, row, tree_text(row, "timing")), tree_text(row, "candidate"),
                                 tree_text(row, "reference")};
    const struct aggregate over = {.n = tree_whole(row, "n"),
                                   .wins = tree_whole(row, "wins"),
                                   .mean = tree_number(row, "mean"),
                                   .geomean = tree_number(row, "geomean"),
                                   .median = tree_number(row, "median")};
    summary_row(s, names, &over, means);
}

/* The least of each shape's leads over whole baselines; a result has no such line of its own. */
static void add_fastest(const struct screen *screen, struct table *s, const cJSON *cell, bool means)
{
    const struct dataset *d = &screen->dataset;
    for (size_t i = 0; i < d->n; i++) {
        const struct line *line = &d->lines[i];
        if (strcmp(line->reference, DATASET_FASTEST) != 0 || strcmp(line->mode, tree_text(cell, "mode")) != 0 ||
            strcmp(line->dtype, tree_text(cell, "dtype")) != 0 ||
            strcmp(line->accumulate, tree_text(cell, "accumulate")) != 0)
            continue;
        const char *const names[] = {line->timing, line->candidate, line->reference};
        struct aggregate over;
        line_aggregate(line, &over);
        summary_row(s, names, &over, means);
    }
}

/* Rows of one timing; the headline's show every reference, the others one line for each library. */
static void add_summary(const struct screen *screen, struct table *s, const cJSON *cell, const char *timing, bool means)
{
    const cJSON *row;
    bool headline = strcmp(timing, tree_text(cell, "headline")) == 0;
    cJSON_ArrayForEach(row, tree_member(tree_member(screen->result, "summary"), "speedups"))
    {
        bool wanted = outcome_same_group(row, cell) && strcmp(tree_text(row, "timing"), timing) == 0;
        bool shown = is_whole(tree_text(row, "candidate")) && (headline || is_whole(tree_text(row, "reference")));
        if (wanted && shown)
            result_row(screen, s, row, means);
    }
    if (headline)
        add_fastest(screen, s, cell, means);
}

static struct outcome outcome_like(const struct screen *screen, const cJSON *cell)
{
    return outcome_of(screen->result, tree_text(cell, "mode"), tree_text(cell, "dtype"), tree_text(cell, "accumulate"));
}

/* The title is a line of its own; what comes after it must fit the terminal too. */
static void add_outcome(char *title, size_t capacity, struct outcome outcome)
{
    char words[128];
    size_t used = strlen(title);
    outcome_say(outcome, words, sizeof words);
    if (words[0])
        snprintf(title + used, capacity - used, "\n%s", words);
}

static void print_summary(struct screen *screen, const cJSON *cell)
{
    static const char *const timings[] = {"device", "event", "wall", NULL};
    const char *headline = tree_text(cell, "headline");
    struct table s = {0};
    snprintf(s.title, sizeof s.title, "%s, %s accumulated in %s: speedup over each baseline (headline: %s time)",
             tree_text(cell, "mode"), tree_text(cell, "dtype"), tree_text(cell, "accumulate"),
             timing_of(screen, cell, headline));
    struct outcome outcome = outcome_like(screen, cell);
    bool means = outcome_allows_mean(outcome);
    add_outcome(s.title, sizeof s.title, outcome);
    summary_columns(&s);
    snprintf(s.note, sizeof s.note, "trimmed: of the estimates that intervals belong to; paper: its mean of ratios");
    add_summary(screen, &s, cell, headline, means);
    for (int t = 0; timings[t]; t++)
        if (strcmp(timings[t], headline) != 0)
            add_summary(screen, &s, cell, timings[t], means);
    print_table(screen, &s);
}

/* Event and wall leads with the launch path made equal: what is left is GPU work. */
static void print_equal_path(struct screen *screen, const cJSON *cell)
{
    const cJSON *row;
    bool means = outcome_allows_mean(outcome_like(screen, cell));
    struct table s = {.title = "Equal launch path: both launched as captured graphs of one"};
    summary_columns(&s);
    cJSON_ArrayForEach(row, tree_member(tree_member(screen->result, "summary"), "equal_path"))
    {
        if (outcome_same_group(row, cell))
            result_row(screen, &s, row, means);
    }
    print_table(screen, &s);
}

static void add_tflops(struct table *s, double tflops)
{
    table_add(s, tflops, "%.*f", tflops < 10 ? 3 : 1, tflops);
}

static void print_rates(struct screen *screen, const cJSON *cell)
{
    const cJSON *row;
    struct table s = {0};
    table_column(&s, "contender", "contender", true);
    table_column(&s, "shapes", "n", false);
    table_column(&s, "median TFLOPS", "median_tflops", false);
    table_column(&s, "best TFLOPS", "max_tflops", false);
    table_column(&s, "median % of roofline", "median_percent_of_roofline", false);
    cJSON_ArrayForEach(row, tree_member(tree_member(screen->result, "summary"), "rates"))
    {
        double roof = tree_number(row, "median_percent_of_roofline");
        if (!outcome_same_group(row, cell) || strcmp(tree_text(row, "role"), "copy") == 0)
            continue;
        table_add(&s, NAN, "%s", tree_text(row, "contender"));
        table_add(&s, tree_number(row, "n"), "%.0f", tree_number(row, "n"));
        add_tflops(&s, tree_number(row, "median_tflops"));
        add_tflops(&s, tree_number(row, "max_tflops"));
        if (isnan(roof))
            table_add(&s, NAN, "-");
        else
            table_add(&s, roof, "%.1f", roof);
    }
    print_table(screen, &s);
}

static bool is_headline(const cJSON *row, const cJSON *cell)
{
    return strcmp(tree_text(row, "timing"), tree_text(cell, "headline")) == 0;
}

static void print_aa_of(struct screen *screen, const cJSON *row)
{
    double excluded = tree_number(row, "excludes_one"), sd = tree_number(row, "sd_log_ratio");
    double mean = tree_number(row, "mean_log_ratio");
    if (isnan(mean))
        text_add(&screen->text, "unknown on average");
    else
        text_add(&screen->text, "%+.3f%% on average", 100 * mean);
    if (!isnan(sd))
        text_add(&screen->text, " (std %.2g%%)", 100 * sd);
    if (!isnan(excluded))
        text_add(&screen->text, ", %.0f interval%s exclude%s 0", excluded, excluded == 1 ? "" : "s",
                 excluded == 1 ? "s" : "");
    text_add(&screen->text, "\n");
}

/* The copy by the other timings, whose scatter raises their means of ratios. */
static void print_other_aa(struct screen *screen, const cJSON *headline, const cJSON *cell)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, tree_member(tree_member(screen->result, "summary"), "aa"))
    {
        bool same = strcmp(tree_text(row, "contender"), tree_text(headline, "contender")) == 0;
        if (!same || !outcome_same_group(row, cell) || is_headline(row, cell))
            continue;
        text_add(&screen->text, "  by %s ", tree_text(row, "timing"));
        print_aa_of(screen, row);
    }
}

static void print_aa(struct screen *screen, const cJSON *cell)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, tree_member(tree_member(screen->result, "summary"), "aa"))
    {
        if (!outcome_same_group(row, cell) || !is_headline(row, cell))
            continue;
        double n = tree_number(row, "n");
        const char *name = tree_text(row, "contender");
        text_add(&screen->text, "A/A: a copy of %s over %s on %.0f shape%s: ", name, name, n, n == 1 ? "" : "s");
        print_aa_of(screen, row);
        print_other_aa(screen, row, cell);
        text_add(&screen->text, "\n");
    }
}

static bool first_of_its_group(const cJSON *cells, const cJSON *cell)
{
    const cJSON *earlier;
    if (cell != cells->child && outcome_same_group(cell->prev, cell)) /* groups mostly lie together */
        return false;
    cJSON_ArrayForEach(earlier, cells)
    {
        if (earlier == cell)
            return true;
        if (outcome_same_group(earlier, cell))
            return false;
    }
    return true;
}

static size_t list_group(const cJSON *cells, const cJSON *first, const cJSON **out)
{
    const cJSON *cell;
    size_t n = 0;
    cJSON_ArrayForEach(cell, cells) if (outcome_same_group(cell, first)) out[n++] = cell;
    return n;
}

/* A launch from idle is timed with the start of its graph: so much of every device time is nobody's. */
static void print_empty_graph(struct screen *screen, const cJSON *const *group, size_t n)
{
    double *ns = strcmp(tree_text(group[0], "mode"), "server") == 0 ? calloc(n, sizeof *ns) : NULL;
    size_t known = 0;
    for (size_t i = 0; ns && i < n; i++) {
        double median = tree_number(tree_member(group[i], "null_graph"), "median_ns");
        if (median > 0)
            ns[known++] = median;
    }
    if (known > 0)
        text_add(&screen->text, "From idle an empty graph takes %.2f µs, which is in every device time above\n\n",
                 stats_median(ns, known) / 1e3);
    free(ns);
}

static void print_group(struct screen *screen, const cJSON *cells, const cJSON *first)
{
    size_t capacity = (size_t)cJSON_GetArraySize(cells);
    const cJSON **group = malloc((capacity + 1) * sizeof *group);
    if (!group) {
        screen->text.failed = true;
        return;
    }
    size_t n = list_group(cells, first, group);
    bool many = n > SCREEN_MANY_SHAPES;
    if (many)
        print_summary(screen, first);
    screen_rows(screen, group, n);
    if (!many)
        print_summary(screen, first);
    screen_estimates(screen, group, n);
    print_equal_path(screen, first);
    print_rates(screen, first);
    print_aa(screen, first);
    print_empty_graph(screen, group, n);
    free(group);
}

/* Cells in which the contender of this name was launched early. */
static unsigned count_early(const cJSON *cells, const char *name)
{
    const cJSON *cell;
    unsigned n = 0;
    cJSON_ArrayForEach(cell, cells) n += tree_true(tree_member(tree_member(cell, "contenders"), name), "early");
    return n;
}

/* Contenders have the names that they have in the cell where each is met first. */
static void print_early(struct screen *screen, const cJSON *cells)
{
    const cJSON *cell, *contender;
    const char *seen[RECORD_MAX_CONTENDERS] = {NULL};
    size_t n = 0;
    cJSON_ArrayForEach(cell, cells)
    {
        tree_each(contender, tree_member(cell, "contenders"))
        {
            bool known = !tree_true(contender, "early") || n == RECORD_MAX_CONTENDERS;
            for (size_t i = 0; i < n && !known; i++)
                known = strcmp(seen[i], contender->string) == 0;
            if (known)
                continue;
            unsigned count = count_early(cells, contender->string);
            text_add(&screen->text, "%s%s in %u cell%s", n == 0 ? "Launched early: " : ", ", contender->string, count,
                     count == 1 ? "" : "s");
            seen[n++] = contender->string;
        }
    }
    if (n > 0)
        text_add(&screen->text, "\n  %s\n",
                 screen->dataset.rows[MODE_OFFLINE]
                     ? "Back-to-back launches of these overlap: device-row is a claim of throughput, not of a launch "
                       "alone (--overlap none)"
                     : "They are made so that back-to-back launches overlap; each was timed alone all the same "
                       "(--overlap)");
}

/* Skips with their reasons, one line for each kind. */
static void print_left_out(struct screen *screen)
{
    const cJSON *row;
    const cJSON *list = tree_member(tree_member(screen->result, "summary"), "left_out");
    if (cJSON_GetArraySize(list) > 0)
        text_add(&screen->text, "Left out:\n");
    cJSON_ArrayForEach(row, list)
    {
        const char *reason = tree_text(row, "reason");
        double cells = tree_number(row, "cells");
        text_add(&screen->text, "  %s: %s%s%s (%.0f cell%s)\n", tree_text(row, "contender"), tree_text(row, "status"),
                 reason[0] ? ": " : "", reason, cells, cells == 1 ? "" : "s");
    }
}

static void print_skipped_cells(struct screen *screen, const cJSON *cells)
{
    const cJSON *cell;
    unsigned shown = 0;
    cJSON_ArrayForEach(cell, cells)
    {
        bool skipped = strcmp(tree_text(cell, "status"), "skipped") == 0;
        if ((skipped || strcmp(tree_text(cell, "status"), "failed") == 0) && shown++ < SCREEN_LISTED)
            text_add(&screen->text, "  %s %s: %s\n", tree_text(cell, "key"), tree_text(cell, "status"),
                     tree_text(cell, "reason"));
    }
    if (shown > SCREEN_LISTED)
        text_add(&screen->text, "  and %u more\n", shown - SCREEN_LISTED);
}

/* A cell whose time ran out before its first look has no interval to speak of. */
static void add_unconverged(struct text *text, const cJSON *row)
{
    double half_width = tree_number(row, "half_width");
    if (isnan(half_width))
        text_add(text, "  %s: no interval in the time it had\n", tree_text(row, "cell"));
    else
        /* Near the wanted 0.5% a third digit tells 0.504 from it. */
        text_add(text, "  %s ±%.*f%%: %s\n", tree_text(row, "cell"), half_width < 0.01 ? 3 : 1, 100 * half_width,
                 tree_text(row, "pair"));
}

static double width_of(const cJSON *row)
{
    double half_width = tree_number(row, "half_width");
    return isnan(half_width) ? HUGE_VAL : half_width;
}

/* Where only some are shown, they are the worst. */
static const cJSON *widest_below(const cJSON *list, const cJSON *last)
{
    const cJSON *row, *widest = NULL;
    bool behind = !last; /* of rows as wide as the last one shown, those that come after it are left */
    cJSON_ArrayForEach(row, list)
    {
        bool left = !last || width_of(row) < width_of(last) || (behind && width_of(row) <= width_of(last));
        behind |= row == last;
        if (left && (!widest || width_of(row) > width_of(widest)))
            widest = row;
    }
    return widest;
}

static void print_not_converged(struct screen *screen)
{
    const cJSON *convergence = tree_member(tree_member(screen->result, "summary"), "convergence");
    const cJSON *list = tree_member(convergence, "not_converged"), *row = NULL;
    int n = cJSON_GetArraySize(list);
    if (n > 0)
        text_add(&screen->text, "Ended before the wanted precision (%s in the result):\n",
                 n > SCREEN_LISTED ? "the widest intervals; all" : "all");
    for (int shown = 0; shown < SCREEN_LISTED && (row = widest_below(list, row)); shown++)
        add_unconverged(&screen->text, row);
    if (n > SCREEN_LISTED)
        text_add(&screen->text, "  and %d more\n", n - SCREEN_LISTED);
}

/* What no interval says: where times fall on one or two steps of the clock, none of them is as certain as it looks. */
static void print_coarse(struct screen *screen, const cJSON *cells)
{
    const cJSON *cell, *first = NULL;
    unsigned n = 0;
    cJSON_ArrayForEach(cell, cells)
    {
        n += tree_true(cell, "coarse");
        first = !first && tree_true(cell, "coarse") ? cell : first;
    }
    if (n > 0)
        text_add(
            &screen->text,
            "The clock is too coarse in %u cell%s%s%s: times there fall on one or two of its steps,\n  and an interval "
            "narrower than a step (of width 0, even) is no certainty (docs/method.md, section 5)\n",
            n, n == 1 ? "" : "s", n == 1 ? ", " : ", the first ", tree_text(first, "key"));
}

static void print_all(struct screen *screen, const cJSON *cells)
{
    const cJSON *cell;
    screen_device(screen);
    screen_counts(screen);
    cJSON_ArrayForEach(cell, cells) if (first_of_its_group(cells, cell)) print_group(screen, cells, cell);
    screen_activity(screen);
    print_early(screen, cells);
    print_coarse(screen, cells);
    print_not_converged(screen);
    print_left_out(screen);
    print_skipped_cells(screen, cells);
}

int screen_report(const cJSON *result, const struct screen_options *options, char **out, struct error *err)
{
    struct screen screen = {.result = result, .options = options};
    const cJSON *cells = tree_member(result, "cells");
    if (!cJSON_IsArray(cells) || !cJSON_IsObject(tree_member(result, "summary")))
        return error_set(err, EXIT_CODE_DATA, "not a result: \"cells\" or \"summary\" is missing");
    int code = dataset_add_result(&screen.dataset, result, NULL, err);
    if (code == 0)
        print_all(&screen, cells);
    if (code == 0 && screen.text.failed)
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    if (code == 0)
        *out = screen.text.bytes;
    else
        text_free(&screen.text);
    dataset_free(&screen.dataset);
    return code;
}
