/*
 * screen_rows.c - the best and worst shapes, or all, with times and speedups by reference; columns are left out until
 * a row fits. Relies on table.c. Called by screen.c.
 */
#include "report/screen_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "report/dataset.h"
#include "report/estimates.h"
#include "report/screen_cells.h"
#include "report/screen_contenders.h"
#include "report/screen_rotation.h"
#include "report/table.h"
#include "result/left_out.h"

#define REFERENCES_MAX 8
#define FLAG "*" /* where the paper's mean lies outside the interval */

/* The wanted form of the table, from roomy to narrow. */
struct form {
    bool intervals, baseline_name, long_heads;
    size_t references; /* how many, the last ones of the config kept */
};

struct rows {
    const struct result_cell *const *cells;
    size_t n;
    const char *reference[REFERENCES_MAX]; /* names, in the config's order */
    size_t n_references;
};

/* ---- one cell ---- */

/* In this cell: the fastest contender that does (or does not) belong to a candidate. */
static const struct result_contender *fastest(const struct result_cell *cell, const char *candidate, bool belonging)
{
    const struct result_contender *best = NULL;
    double best_ns = INFINITY;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        double ns = screen_median_ns(cell, c);
        bool other_role = c->role == RESULT_COPY || (!belonging && c->role != RESULT_BASELINE);
        if (c->verdict != VERDICT_OK || other_role || result_stands_for(c, candidate) != belonging || !(ns < best_ns))
            continue;
        best_ns = ns;
        best = c;
    }
    return best;
}

/* The candidate (family or without layouts) whose fastest contender is the fastest of all; "" when there is none. */
static const char *best_candidate(const struct result_cell *cell)
{
    const char *best = "";
    double best_ns = INFINITY;
    for (size_t i = 0; i < cell->n_speedups; i++) {
        const char *name = cell->speedups[i].candidate;
        if (dataset_has_layout(name) || strcmp(name, best) == 0 || cell->speedups[i].timing != cell->headline)
            continue;
        const struct result_contender *contender = fastest(cell, name, true);
        double ns = contender ? screen_median_ns(cell, contender) : NAN;
        if (ns < best_ns) {
            best_ns = ns;
            best = name;
        }
    }
    return best;
}

static double geomean_of(const struct result_pair *speedup)
{
    return speedup ? speedup->geomean : (double)NAN;
}

/* ---- the table ---- */

static void add_reference(struct rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->n_references; i++)
        if (strcmp(rows->reference[i], name) == 0)
            return;
    if (rows->n_references < REFERENCES_MAX)
        rows->reference[rows->n_references++] = name;
}

/* In the order of the contenders, which is the config's: ours go from simple to tuned libraries. */
static void collect_references(struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct result_cell *cell = rows->cells[i];
        for (size_t p = 0; p < cell->n_speedups; p++) {
            const struct result_pair *s = &cell->speedups[p];
            if (!dataset_has_layout(s->reference) && s->timing == cell->headline)
                add_reference(rows, s->reference);
        }
    }
}

static void add_speedup(struct table *s, const struct result_pair *speedup, bool interval)
{
    double geomean = geomean_of(speedup);
    const char *flag = estimates_differ(speedup) ? FLAG : "";
    if (isnan(geomean))
        table_add(s, NAN, "-");
    else if (interval && !isnan(speedup->ci95.low))
        table_add(s, geomean, "%+.1f%% ±%.1f%s", 100 * geomean, 50 * (speedup->ci95.high - speedup->ci95.low), flag);
    else
        table_add(s, geomean, "%+.1f%%%s", 100 * geomean, flag);
}

/* "cublaslt-autotuning-max" is wider than any number under it: without -max, and lt for cublaslt. */
static void short_head(const char *name, char out[64])
{
    const char *rest = strncmp(name, "cublaslt-", 9) == 0 ? name + 9 : NULL;
    int length = (int)strlen(rest ? rest : name) - (text_ends_with(name, "-max") ? 4 : 0);
    snprintf(out, 64, "%s%.*s", rest ? "lt-" : "", length, rest ? rest : name);
}

static void set_columns(const struct rows *rows, const struct form *form, struct table *s)
{
    table_column(s, "shape", "shape", true);
    table_column(s, "candidate", "candidate", true);
    table_column(s, "time", "candidate_ns", false);
    table_column(s, "baseline", "baseline_ns", false);
    if (form->baseline_name)
        table_column(s, "(fastest)", "baseline", true);
    table_column(s, "TFLOPS", "tflops", false);
    table_column(s, "roof", "percent_of_roofline", false);
    for (size_t i = rows->n_references - form->references; i < rows->n_references; i++) {
        char head[64];
        short_head(rows->reference[i], head);
        table_column(s, form->long_heads ? rows->reference[i] : head, rows->reference[i], false);
    }
}

/* Of nobody, too: NULL. */
static void add_rates(struct table *s, const struct result_contender *contender)
{
    double tflops = contender ? contender->tflops : NAN;
    double roof = contender ? contender->percent_of_roofline : NAN;
    if (isnan(tflops))
        table_add(s, NAN, "-");
    else
        table_add(s, tflops, "%.*f", tflops < 1 ? 3 : 1, tflops);
    if (isnan(roof))
        table_add(s, NAN, "-");
    else
        table_add(s, roof, "%.*f%%", roof < 10 ? 1 : 0, roof);
}

/* The first candidate of the cell, measured or not; NULL in a run of baselines alone. */
static const struct result_contender *first_candidate(const struct result_cell *cell)
{
    for (size_t i = 0; i < cell->n_contenders; i++)
        if (cell->contenders[i].role == RESULT_CANDIDATE)
            return &cell->contenders[i];
    return NULL;
}

/* In a cell without anything to compare: the fastest of the candidates that were measured, or of all where there is no
 * candidate. A baseline never stands in for candidates that failed. */
static const struct result_contender *only_one(const struct result_cell *cell)
{
    const struct result_contender *best = NULL;
    double best_ns = INFINITY;
    bool baselines_only = first_candidate(cell) == NULL;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        double ns = screen_median_ns(cell, c);
        bool wanted = baselines_only || c->role == RESULT_CANDIDATE;
        if (!wanted || c->verdict != VERDICT_OK || !(ns < best_ns))
            continue;
        best_ns = ns;
        best = c;
    }
    return best;
}

/* Whose time the row shows, or how its candidate ended. */
static void add_whose(struct table *s, const struct result_cell *cell, const struct result_contender *ours)
{
    const struct result_contender *failed = ours ? NULL : first_candidate(cell);
    if (ours)
        table_add(s, NAN, "%s", ours->name);
    else if (failed)
        table_add(s, NAN, "none: %s", failed->status);
    else
        table_add(s, NAN, "-");
}

static void add_row(const struct rows *rows, const struct form *form, struct table *s, const struct result_cell *cell)
{
    const char *candidate = best_candidate(cell);
    const struct result_contender *ours = candidate[0] ? fastest(cell, candidate, true) : only_one(cell);
    bool raced = candidate[0] || first_candidate(cell);
    const struct result_contender *theirs = raced ? fastest(cell, candidate, false) : NULL;
    screen_add_shape(s, cell);
    add_whose(s, cell, ours);
    screen_add_time(s, ours ? screen_median_ns(cell, ours) : NAN);
    screen_add_time(s, theirs ? screen_median_ns(cell, theirs) : NAN);
    if (form->baseline_name)
        table_add(s, NAN, "%s", theirs ? theirs->name : "-");
    add_rates(s, ours);
    for (size_t i = rows->n_references - form->references; i < rows->n_references; i++)
        add_speedup(s, result_speedup(cell, cell->headline, candidate, rows->reference[i]), form->intervals);
}

static void fill(const struct rows *rows, const struct form *form, struct table *s)
{
    set_columns(rows, form, s);
    for (size_t i = 0; i < rows->n; i++)
        add_row(rows, form, s, rows->cells[i]);
}

/* ---- fitting it ---- */

/* The next narrower form; false when there is none. The last reference stays: it is what Best and Worst are by. */
static bool narrow(struct form *form)
{
    if (form->baseline_name)
        form->baseline_name = false;
    else if (form->long_heads)
        form->long_heads = false;
    else if (form->intervals)
        form->intervals = false;
    else if (form->references > 1)
        form->references--;
    else
        return false;
    return true;
}

static size_t width_in(const struct rows *rows, const struct form *form)
{
    struct table s = {0};
    fill(rows, form, &s);
    size_t width = table_total_width(&s);
    table_free(&s);
    return width;
}

static bool fits(const struct rows *parts, size_t n, const struct form *form, unsigned columns)
{
    for (size_t i = 0; i < n; i++)
        if (width_in(&parts[i], form) > columns)
            return false;
    return true;
}

/* The roomiest form in which every part fits: first the baseline's name goes, then long heads, intervals, references
 * from the first on. Where few references are left, intervals may fit again. */
static struct form form_to_fit(const struct rows *parts, size_t n, unsigned columns)
{
    struct form form = {true, true, true, parts->n_references};
    while (columns && !fits(parts, n, &form, columns) && narrow(&form))
        continue;
    struct form wider = form;
    wider.intervals = true;
    return columns && !form.intervals && fits(parts, n, &wider, columns) ? wider : form;
}

/* ---- what must be known of it ---- */

__attribute__((format(printf, 2, 3))) static void add_note(struct table *s, const char *format, ...)
{
    size_t used = strlen(s->note);
    va_list args;
    va_start(args, format);
    vsnprintf(s->note + used, sizeof s->note - used, format, args);
    va_end(args);
}

static void note_left_out(struct table *s, const struct rows *rows, const struct form *form, unsigned columns)
{
    size_t left_out = rows->n_references - form->references;
    const char *comma = "";
    if (form->baseline_name && form->intervals && left_out == 0)
        return;
    add_note(s, "%sLeft out to fit %u columns: ", s->note[0] ? "\n" : "", columns);
    if (!form->baseline_name)
        add_note(s, "(fastest)"), comma = ", ";
    if (!form->intervals)
        add_note(s, "%sintervals", comma), comma = ", ";
    for (size_t i = 0; i < left_out; i++)
        add_note(s, "%s%s", comma, rows->reference[i]), comma = ", ";
}

/* A lead that shows in the table, to either side. */
static int side_of(double lead)
{
    return (lead > 0.0005) - (lead < -0.0005);
}

/* Whether the times of a row say faster where a speedup beside them says slower, or the other way round. */
static bool is_at_odds(const struct rows *rows, const struct form *form, const struct result_cell *cell)
{
    const char *candidate = best_candidate(cell);
    const struct result_contender *ours = fastest(cell, candidate, true);
    const struct result_contender *theirs = fastest(cell, candidate, false);
    int by_time = ours && theirs ? side_of(screen_median_ns(cell, theirs) / screen_median_ns(cell, ours) - 1) : 0;
    for (size_t i = rows->n_references - form->references; i < rows->n_references && by_time; i++) {
        const char *reference = rows->reference[i];
        int by_pairs = side_of(geomean_of(result_speedup(cell, cell->headline, candidate, reference)));
        /* Slower than the fastest baseline may well be faster than another. */
        if (by_pairs == -by_time && (by_time > 0 || result_stands_for(theirs, reference)))
            return true;
    }
    return false;
}

static bool is_flagged(const struct rows *rows, const struct form *form, const struct result_cell *cell)
{
    const char *candidate = best_candidate(cell);
    bool flagged = false;
    for (size_t i = rows->n_references - form->references; i < rows->n_references && !flagged; i++)
        flagged = estimates_differ(result_speedup(cell, cell->headline, candidate, rows->reference[i]));
    return flagged;
}

static void note_flags(struct table *s, const struct rows *rows, const struct form *form)
{
    bool any = false;
    for (size_t i = 0; i < rows->n && !any; i++)
        any = is_flagged(rows, form, rows->cells[i]);
    if (any)
        add_note(s, "%s" FLAG " the paper's mean of ratios lies outside the interval, which is of the trimmed estimate",
                 s->note[0] ? "\n" : "");
}

static void note_odds(struct table *s, const struct rows *rows, const struct form *form)
{
    bool any = false;
    for (size_t i = 0; i < rows->n && !any; i++)
        any = is_at_odds(rows, form, rows->cells[i]);
    if (any)
        add_note(s, "Signs may differ: times are medians of layouts picked afterwards, speedups come from pairs");
}

static void note_rotation(struct table *s, const struct rows *rows)
{
    char note[256];
    screen_rotation_note(rows->cells, rows->n, note, sizeof note);
    if (note[0])
        add_note(s, "%s%s", s->note[0] ? "\n" : "", note);
}

/* ---- printing it ---- */

static void print_contenders(struct screen *screen, const struct rows *parts, size_t n)
{
    size_t total = 0, used = 0;
    for (size_t i = 0; i < n; i++)
        total += parts[i].n;
    const struct result_cell **cells = malloc((total + 1) * sizeof *cells);
    for (size_t i = 0; i < n && cells; used += parts[i].n, i++)
        memcpy(cells + used, parts[i].cells, parts[i].n * sizeof *cells);
    if (cells)
        screen_contenders(screen, cells, total);
    screen->text.failed |= !cells;
    free(cells);
}

/* A table of rows, or two of both ends, which have the same columns. */
static void print_parts(struct screen *screen, const struct rows *parts, char titles[][200], size_t n)
{
    unsigned columns = screen->options->columns;
    const struct form form = form_to_fit(parts, n, columns);
    for (size_t i = 0; i < n; i++) {
        struct table s = {0};
        snprintf(s.title, sizeof s.title, "%s", titles[i]);
        fill(&parts[i], &form, &s);
        note_odds(&s, &parts[i], &form);
        note_flags(&s, &parts[i], &form);
        note_rotation(&s, &parts[i]);
        if (i == n - 1)
            note_left_out(&s, &parts[i], &form, columns);
        table_print_text(&screen->text, &s, screen->options->colour);
        text_add(&screen->text, "\n");
        table_free(&s);
    }
    print_contenders(screen, parts, n);
}

/* A cell and its speedup over the last reference, AutoTuning-max where it is there, to sort by. */
struct scored {
    const struct result_cell *cell;
    double score;
};

static int by_score(const void *a, const void *b)
{
    double x = ((const struct scored *)a)->score;
    double y = ((const struct scored *)b)->score;
    return (x < y) - (x > y);
}

/* Best first; cells without a speedup are left out. */
static size_t sort_by_speedup(const struct rows *rows, struct scored *scored)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n && rows->n_references > 0; i++) {
        const struct result_cell *cell = rows->cells[i];
        double score = geomean_of(
            result_speedup(cell, cell->headline, best_candidate(cell), rows->reference[rows->n_references - 1]));
        if (!isnan(score))
            scored[n++] = (struct scored){cell, score};
    }
    qsort(scored, n, sizeof *scored, by_score);
    return n;
}

static void print_ends(struct screen *screen, const struct rows *rows)
{
    struct scored *scored = malloc((rows->n + 1) * sizeof *scored);
    if (!scored) {
        screen->text.failed = true;
        return;
    }
    size_t n = sort_by_speedup(rows, scored);
    size_t count = n < SCREEN_ENDS ? n : SCREEN_ENDS;
    const struct result_cell *ends[2][SCREEN_ENDS];
    struct rows parts[2] = {*rows, *rows};
    char titles[2][200];
    for (int worst = 0; worst < 2 && count > 0; worst++) {
        for (size_t i = 0; i < count; i++)
            ends[worst][i] = scored[worst ? n - count + i : i].cell;
        parts[worst].cells = ends[worst];
        parts[worst].n = count;
        snprintf(titles[worst], sizeof titles[worst], "%s %zu of %zu shapes by speedup over %s",
                 worst ? "Worst" : "Best", count, n, rows->reference[rows->n_references - 1]);
    }
    if (count > 0)
        print_parts(screen, parts, titles, 2);
    free(scored);
}

void screen_rows(struct screen *screen, const struct result_cell *const *cells, size_t n)
{
    struct rows rows = {.cells = cells, .n = n};
    char title[1][200];
    if (n == 0)
        return;
    collect_references(&rows);
    snprintf(title[0], sizeof title[0], "%s, %s accumulated in %s, %s time; speedup over each baseline",
             cells[0]->group.mode, cells[0]->group.dtype, cells[0]->group.accumulate,
             result_timing_name(cells[0]->headline));
    if (n > SCREEN_MANY_SHAPES && !screen->options->all)
        print_ends(screen, &rows);
    else
        print_parts(screen, &rows, title, 1);
}
