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
#include "report/screen_borrowed.h"
#include "report/screen_counts.h"
#include "report/screen_device.h"
#include "report/screen_estimates.h"
#include "report/screen_energy.h"
#include "report/screen_errors.h"
#include "report/screen_known.h"
#include "report/screen_invariance.h"
#include "report/screen_left_out.h"
#include "report/screen_races.h"
#include "report/screen_uneven.h"
#include "report/screen_rotation.h"
#include "report/screen_seen.h"
#include "report/screen_rows.h"
#include "report/time_tables.h"
#include "report/table.h"
#include "record/record.h"
#include "stats/interval.h"

static void print_table(struct screen *screen, struct table *table)
{
    if (table_rows(table) > 0) {
        table_wrap_note(table, screen->options->columns);
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

#define SUMMARY_COLUMNS 7 /* and those of what is left out, where some row has shapes that its means do not count */

static void summary_columns(struct table *s, bool left_out)
{
    table_column(s, "timing", "timing", true);
    table_column(s, "candidate", "candidate", true);
    table_column(s, "against", "reference", true);
    table_column(s, "trimmed", "geomean", false);
    table_column(s, "wins", "wins", false);
    table_column(s, "median", "median", false);
    table_column(s, "paper", "mean", false);
    if (left_out)
        screen_left_out_columns(s);
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

/* What a timing is called in the group's mode. */
static const char *timing_of(const struct screen *screen, const struct result_group *group, enum timing timing)
{
    return overlap_timing(screen->dataset.rows, group->mode, result_timing_name(timing));
}

/* Whole counts of a row; 0 for one that is not known. */
static size_t whole(double n)
{
    return n > 0 ? (size_t)n : 0;
}

static void result_row(const struct screen *screen, struct table *s, const struct result_speedup_row *row, bool means)
{
    const char *const names[] = {timing_of(screen, &row->group, row->timing), row->candidate, row->reference};
    const struct aggregate over = {.n = whole(row->n),
                                   .wins = whole(row->wins),
                                   .mean = row->mean,
                                   .geomean = row->geomean,
                                   .median = row->median};
    summary_row(s, names, &over, means);
    if (s->n_columns > SUMMARY_COLUMNS)
        screen_left_out_cells(s, row);
}

/* Rows of one timing; the headline's show every reference, the others one line for each library. */
static void add_summary(const struct screen *screen, struct table *s, const struct result_cell *cell,
                        enum timing timing, bool means)
{
    const struct result_summary *summary = &screen->result->summary;
    bool headline = timing == cell->headline;
    for (size_t i = 0; i < summary->n_speedups; i++) {
        const struct result_speedup_row *row = &summary->speedups[i];
        bool wanted = row->timing == timing && result_same_group(&row->group, &cell->group);
        if (wanted && is_whole(row->candidate) && (headline || is_whole(row->reference)))
            result_row(screen, s, row, means);
    }
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

static void print_summary(struct screen *screen, const struct result_cell *cell)
{
    const struct result_group *group = &cell->group;
    struct table s = {0};
    snprintf(s.title, sizeof s.title, "%s, %s accumulated in %s: speedup over each baseline (headline: %s time)",
             group->mode, group->dtype, group->accumulate, timing_of(screen, group, cell->headline));
    struct outcome outcome = outcome_of(screen->result, group);
    bool means = outcome_allows_mean(outcome);
    add_outcome(s.title, sizeof s.title, outcome);
    const struct result_summary *summary = &screen->result->summary;
    bool left_out = screen_leaves_out(summary->speedups, summary->n_speedups, group);
    summary_columns(&s, left_out);
    snprintf(s.note, sizeof s.note, "trimmed: geometric mean without extreme repeats; paper: mean of all ratios%s",
             left_out ? "; " SCREEN_LEFT_OUT : "");
    add_summary(screen, &s, cell, cell->headline, means);
    for (int t = 0; t < TIMING_COUNT; t++)
        if (t != (int)cell->headline)
            add_summary(screen, &s, cell, (enum timing)t, means);
    print_table(screen, &s);
}

/* Event and wall leads with the launch path made equal: what is left is GPU work. */
static void print_equal_path(struct screen *screen, const struct result_cell *cell)
{
    const struct result_summary *summary = &screen->result->summary;
    bool means = outcome_allows_mean(outcome_of(screen->result, &cell->group));
    struct table s = {.title = "Equal launch path: both launched as captured graphs of one"};
    summary_columns(&s, screen_leaves_out(summary->equal_path, summary->n_equal_path, &cell->group));
    for (size_t i = 0; i < summary->n_equal_path; i++)
        if (result_same_group(&summary->equal_path[i].group, &cell->group))
            result_row(screen, &s, &summary->equal_path[i], means);
    print_table(screen, &s);
}

static void add_tflops(struct table *s, double tflops)
{
    table_add(s, tflops, "%.*f", tflops < 10 ? 3 : 1, tflops);
}

static void add_rate(struct table *s, const struct result_rate_row *row)
{
    double roof = row->median_percent_of_roofline;
    table_add(s, NAN, "%s", row->contender);
    if (row->left_out > 0)
        table_add(s, row->n, "%.0f/%.0f", row->n, row->n + row->left_out);
    else
        table_add(s, row->n, "%.0f", row->n);
    add_tflops(s, row->median_tflops);
    add_tflops(s, row->max_tflops);
    if (isnan(roof))
        table_add(s, NAN, "-");
    else
        table_add(s, roof, "%.1f", roof);
}

static void print_rates(struct screen *screen, const struct result_cell *cell)
{
    const struct result_summary *summary = &screen->result->summary;
    struct table s = {0};
    table_column(&s, "contender", "contender", true);
    table_column(&s, "shapes", "n", false);
    table_column(&s, "median TFLOPS", "median_tflops", false);
    table_column(&s, "best TFLOPS", "max_tflops", false);
    table_column(&s, "median % of roofline", "median_percent_of_roofline", false);
    for (size_t i = 0; i < summary->n_rates; i++)
        if (result_same_group(&summary->rates[i].group, &cell->group) && summary->rates[i].role != RESULT_COPY)
            add_rate(&s, &summary->rates[i]);
    print_table(screen, &s);
}

static void print_aa_of(struct screen *screen, const struct result_aa_row *row)
{
    double excluded = row->excludes_one;
    if (isnan(row->mean_log_ratio))
        text_add(&screen->text, "unknown on average");
    else
        text_add(&screen->text, "%+.3f%% on average", 100 * row->mean_log_ratio);
    if (!isnan(row->sd_log_ratio))
        text_add(&screen->text, " (std %.2g%%)", 100 * row->sd_log_ratio);
    if (!isnan(excluded))
        text_add(&screen->text, ", %.0f interval%s exclude%s 0", excluded, excluded == 1 ? "" : "s",
                 excluded == 1 ? "s" : "");
    text_add(&screen->text, "\n");
}

/* The copy by the other timings, whose scatter raises their means of ratios. */
static void print_other_aa(struct screen *screen, const struct result_aa_row *headline)
{
    const struct result_summary *summary = &screen->result->summary;
    for (size_t i = 0; i < summary->n_aa; i++) {
        const struct result_aa_row *row = &summary->aa[i];
        bool same = strcmp(row->contender, headline->contender) == 0;
        if (!same || row->timing == headline->timing || !result_same_group(&row->group, &headline->group))
            continue;
        text_add(&screen->text, "  by %s ", result_timing_name(row->timing));
        print_aa_of(screen, row);
    }
}

static void print_aa(struct screen *screen, const struct result_cell *cell)
{
    const struct result_summary *summary = &screen->result->summary;
    for (size_t i = 0; i < summary->n_aa; i++) {
        const struct result_aa_row *row = &summary->aa[i];
        if (row->timing != cell->headline || !result_same_group(&row->group, &cell->group))
            continue;
        text_add(&screen->text, "A/A: a copy of %s over %s on %.0f shape%s: ", row->contender, row->contender, row->n,
                 row->n == 1 ? "" : "s");
        print_aa_of(screen, row);
        print_other_aa(screen, row);
        text_add(&screen->text, "\n");
    }
}

static size_t list_group(const struct result *r, const struct result_group *group, const struct result_cell **out)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_cells; i++)
        if (result_same_group(&r->cells[i].group, group))
            out[n++] = &r->cells[i];
    return n;
}

/* A launch from idle is timed with the start of its graph: so much of every device time is nobody's. */
static void print_empty_graph(struct screen *screen, const struct result_cell *const *group, size_t n)
{
    bool from_idle = strcmp(group[0]->group.mode, mode_names[MODE_SERVER]) == 0;
    double *ns = from_idle ? calloc(n, sizeof *ns) : NULL;
    size_t known = 0;
    for (size_t i = 0; ns && i < n; i++)
        if (group[i]->null_graph.median_ns > 0)
            ns[known++] = group[i]->null_graph.median_ns;
    if (known > 0)
        text_add(&screen->text, "From idle an empty graph takes %.2f µs, which is in every device time above\n\n",
                 stats_median(ns, known) / 1e3);
    free(ns);
}

typedef void (*table_filler)(const struct result *result, const struct result_cell *like, struct table *out);

static void print_time_table(struct screen *screen, const struct result_cell *first, table_filler fill)
{
    struct table all = {0}, s = {0};
    fill(screen->result, first, &all);
    table_for_terminal(&all, screen->options->columns, &s);
    table_free(&all);
    print_table(screen, &s);
}

static void print_group(struct screen *screen, const struct result_cell *first)
{
    const struct result_cell **group = malloc((screen->result->n_cells + 1) * sizeof(struct result_cell *));
    if (!group) {
        screen->text.failed = true;
        return;
    }
    size_t n = list_group(screen->result, &first->group, group);
    bool many = n > SCREEN_MANY_SHAPES;
    if (many)
        print_summary(screen, first);
    screen_rows(screen, group, n);
    if (!many)
        print_summary(screen, first);
    screen_estimates(screen, group, n);
    print_equal_path(screen, first);
    if (many) /* of few shapes it says nothing that their rows do not */
        print_time_table(screen, first, time_table_hardest);
    print_time_table(screen, first, time_table_launches);
    print_rates(screen, first);
    print_aa(screen, first);
    print_empty_graph(screen, group, n);
    free((void *)group);
}

/* Launched early by itself, or joined in rows by the harness. */
static bool overlaps(const struct result_contender *c, bool joined)
{
    return joined ? c->joined : c->early;
}

/* Cells in which the contender of this name was. */
static unsigned count_early(const struct result *r, const char *name, bool joined)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->n_cells; i++) {
        const struct result_contender *contender = result_contender(&r->cells[i], name);
        n += contender && overlaps(contender, joined);
    }
    return n;
}

static void add_early(struct screen *screen, struct seen *seen, const struct result_contender *c, bool joined)
{
    if (!overlaps(c, joined) || !seen_first(seen, c->name))
        return;
    unsigned count = count_early(screen->result, c->name, joined);
    const char *label = joined ? "Joined in device-row by --join-rows: " : "Launched early: ";
    text_add(&screen->text, "%s%s in %u cell%s", seen->n == 1 ? label : ", ", c->name, count, count == 1 ? "" : "s");
}

/* Contenders have the names that they have in the cell where each is met first. */
static size_t list_early(struct screen *screen, bool joined)
{
    struct seen seen = {.n = 0};
    for (size_t i = 0; i < screen->result->n_cells; i++) {
        const struct result_cell *cell = &screen->result->cells[i];
        for (size_t c = 0; c < cell->n_contenders; c++)
            add_early(screen, &seen, &cell->contenders[c], joined);
    }
    return seen.n;
}

static void print_early(struct screen *screen)
{
    if (list_early(screen, true) > 0)
        text_add(&screen->text, "\n");
    if (list_early(screen, false) > 0)
        text_add(&screen->text, "\n  %s\n",
                 screen->dataset.rows[MODE_OFFLINE]
                     ? "Back-to-back launches of these overlap: device-row is a claim of throughput, not of a launch "
                       "alone (--timing device)"
                     : "They are made so that back-to-back launches overlap; device times each alone (in a row: "
                       "--timing device,device-row)");
}

/* Skips with their reasons, one line for each kind. */
static void print_left_out(struct screen *screen)
{
    const struct result_summary *summary = &screen->result->summary;
    if (summary->n_left_out > 0)
        text_add(&screen->text, "Left out:\n");
    for (size_t i = 0; i < summary->n_left_out; i++) {
        const struct result_left_out *row = &summary->left_out[i];
        text_add(&screen->text, "  %s: %s%s%s (%.0f cell%s)\n", row->contender, row->status, row->reason[0] ? ": " : "",
                 row->reason, row->cells, row->cells == 1 ? "" : "s");
    }
}

static void print_skipped_cells(struct screen *screen)
{
    unsigned shown = 0;
    for (size_t i = 0; i < screen->result->n_cells; i++) {
        const struct result_cell *cell = &screen->result->cells[i];
        if ((cell->outcome == CELL_SKIPPED || cell->outcome == CELL_FAILED) && shown++ < SCREEN_LISTED)
            text_add(&screen->text, "  %s %s: %s\n", cell->key, cell->status, cell->reason);
    }
    if (shown > SCREEN_LISTED)
        text_add(&screen->text, "  and %u more\n", shown - SCREEN_LISTED);
}

/* A cell whose time ran out before its first look has no interval to speak of. */
static void add_unconverged(struct text *text, const struct result_unconverged *row)
{
    if (isnan(row->half_width))
        text_add(text, "  %s: no interval in the time it had\n", row->cell);
    else
        /* Near the wanted 0.5% a third digit tells 0.504 from it. */
        text_add(text, "  %s ±%.*f%%: %s\n", row->cell, row->half_width < 0.01 ? 3 : 1, 100 * row->half_width,
                 row->pair);
}

static double width_of(const struct result_unconverged *row)
{
    return isnan(row->half_width) ? HUGE_VAL : row->half_width;
}

/* Where only some are shown, they are the worst. */
static const struct result_unconverged *widest_below(const struct result_convergence *c,
                                                     const struct result_unconverged *last)
{
    const struct result_unconverged *widest = NULL;
    for (size_t i = 0; i < c->n_not_converged; i++) {
        const struct result_unconverged *row = &c->not_converged[i];
        /* Of rows as wide as the last one shown, those that come after it are left. */
        bool left = !last || width_of(row) < width_of(last) || (row > last && width_of(row) <= width_of(last));
        if (left && (!widest || width_of(row) > width_of(widest)))
            widest = row;
    }
    return widest;
}

static void print_not_converged(struct screen *screen)
{
    const struct result_convergence *c = &screen->result->summary.convergence;
    const struct result_unconverged *row = NULL;
    size_t n = c->n_not_converged;
    if (n > 0)
        text_add(&screen->text, "Ended before the wanted precision (%s in the result):\n",
                 n > SCREEN_LISTED ? "the widest intervals; all" : "all");
    for (int shown = 0; shown < SCREEN_LISTED && (row = widest_below(c, row)); shown++)
        add_unconverged(&screen->text, row);
    if (n > SCREEN_LISTED)
        text_add(&screen->text, "  and %zu more\n", n - SCREEN_LISTED);
}

/* What no interval says: where times fall on one or two steps of the clock, none of them is as certain as it looks. */
static void print_coarse(struct screen *screen)
{
    const struct result_cell *first = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < screen->result->n_cells; i++) {
        const struct result_cell *cell = &screen->result->cells[i];
        n += cell->coarse;
        first = !first && cell->coarse ? cell : first;
    }
    if (n > 0)
        text_add(
            &screen->text,
            "The clock is too coarse in %u cell%s%s%s: times there fall on one or two of its steps,\n  and an interval "
            "narrower than a step (of width 0, even) is no certainty (docs/method.md, section 5)\n",
            n, n == 1 ? "" : "s", n == 1 ? ", " : ", the first ", first->key);
}

static void print_invariance(struct screen *screen)
{
    struct table s = {0};
    screen_invariance(screen->result, &s);
    print_table(screen, &s);
}

static void print_energy(struct screen *screen)
{
    struct table s = {0};
    screen_energy(screen->result, &s);
    print_table(screen, &s);
}

static void print_all(struct screen *screen)
{
    screen_device(screen);
    screen_counts(screen);
    for (size_t i = 0; i < screen->result->n_cells; i++)
        if (result_is_first_of_group(screen->result, i))
            print_group(screen, &screen->result->cells[i]);
    print_energy(screen);
    print_invariance(screen);
    screen_activity(screen);
    print_early(screen);
    screen_errors(screen);
    screen_uneven(screen);
    screen_known(screen);
    screen_borrowed(screen);
    screen_races(screen);
    print_coarse(screen);
    screen_rotation(screen);
    print_not_converged(screen);
    print_left_out(screen);
    print_skipped_cells(screen);
}

int screen_report(const struct result *result, const struct screen_options *options, char **out, struct error *err)
{
    struct screen screen = {.result = result, .options = options};
    int code = dataset_add_result(&screen.dataset, result, NULL, err);
    if (code == 0)
        print_all(&screen);
    if (code == 0 && screen.text.failed)
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    if (code == 0)
        *out = screen.text.bytes;
    else
        text_free(&screen.text);
    dataset_free(&screen.dataset);
    return code;
}
