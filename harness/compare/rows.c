/*
 * rows.c - pairs each candidate of BASE with NEW's, cell by cell, and says why where that cannot be. Relies on side.h.
 * Called by compare.c.
 */
#include "compare/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static void give_up(struct compare_row *row, enum judgement verdict,
                                                          const char *format, ...)
{
    va_list arguments;
    row->verdict = verdict;
    row->tested = row->remeasured = false;
    va_start(arguments, format);
    vsnprintf(row->reason, sizeof row->reason, format, arguments);
    va_end(arguments);
}

static bool is_ok(const struct side_candidate *candidate)
{
    return candidate && candidate->verdict == VERDICT_OK;
}

/* Its cell was never begun: verdict skipped, with the bytes as its reason. */
static bool is_skipped(const struct side_candidate *candidate)
{
    return candidate && candidate->verdict == VERDICT_SKIPPED;
}

/* Two runs' figures of the same pair. */
struct match {
    const struct side_pair *base, *fresh;
};

static bool is_usable(const struct match *m)
{
    return m->fresh && m->base->comparable && m->fresh->comparable && m->base->n >= JUDGE_GROUPS_MIN &&
           m->fresh->n >= JUDGE_GROUPS_MIN;
}

/* Of the baselines that both have, the first that will do; else the one that comes nearest, for the reason. */
static struct match choose_reference(const struct side_candidate *base, const struct side_candidate *fresh)
{
    struct match nearest = {NULL, NULL};
    for (size_t i = 0; i < base->n_pairs; i++) {
        struct match m = {&base->pairs[i], side_find_pair(fresh, base->pairs[i].reference)};
        if (is_usable(&m))
            return m;
        if (m.fresh && !nearest.base)
            nearest = m;
    }
    return nearest;
}

static void match_pair(struct compare_row *row, const struct match *m)
{
    if (!m->base) {
        give_up(row, JUDGED_INVALID, "no baseline was timed beside it in both runs");
        return;
    }
    snprintf(row->reference, sizeof row->reference, "%s", m->base->reference);
    if (!m->base->comparable || !m->fresh->comparable)
        give_up(row, JUDGED_INVALID, "timed in another way than its reference (rung of the ladder)");
    else if (!is_usable(m))
        give_up(row, JUDGED_INVALID, "%zu and %zu groups without slowdown, the test needs %d on each side", m->base->n,
                m->fresh->n, JUDGE_GROUPS_MIN);
    else
        row->tested = true;
    row->other_reference_variant = strcmp(m->base->variant, m->fresh->variant) != 0;
    row->base_ns = m->base->candidate_ns;
    row->fresh_ns = m->fresh->candidate_ns;
    row->trial.base = (struct sample){m->base->values, m->base->n};
    row->trial.fresh = (struct sample){m->fresh->values, m->fresh->n};
}

/* As far as NEW's record says why. */
static void tell_missing(struct compare_row *row, const struct side_cell *base, const struct side_cell *fresh)
{
    char why[SIDE_WHY_MAX];
    side_tell_absent(base, fresh, row->candidate, why);
    give_up(row, JUDGED_MISSING, "NEW has no such candidate here%s%s", why[0] ? "; " : "", why);
}

static void match_candidates(struct compare_row *row, const struct side_candidate *base,
                             const struct side_candidate *fresh)
{
    if (!is_ok(fresh)) {
        give_up(row, JUDGED_INVALID, "%s%s%s", fresh->word, fresh->reason[0] ? ": " : "", fresh->reason);
    } else if (strcmp(base->rung, fresh->rung) != 0) {
        give_up(row, JUDGED_INVALID, "timed as %s in BASE and as %s in NEW", base->rung[0] ? base->rung : "nothing",
                fresh->rung[0] ? fresh->rung : "nothing");
    } else {
        struct match m = choose_reference(base, fresh);
        row->other_variant = strcmp(base->variant, fresh->variant) != 0;
        match_pair(row, &m);
    }
}

static void fill_row(struct compare_row *row, const struct side_cell *base, const struct side_candidate *candidate,
                     const struct side_cell *fresh)
{
    *row = (struct compare_row){.problem = base->problem, .mode = base->mode, .timing = base->headline};
    memcpy(row->key, base->key, sizeof row->key);
    memcpy(row->candidate, candidate->name, sizeof row->candidate);
    if (is_skipped(candidate))
        give_up(row, JUDGED_MISSING, "BASE skipped this cell: %s", candidate->reason);
    else if (fresh && is_skipped(side_find_candidate(fresh, candidate->name)))
        give_up(row, JUDGED_MISSING, "NEW skipped this cell: %s", fresh->reason);
    else if (!fresh)
        give_up(row, JUDGED_MISSING, "NEW has not measured this cell");
    else if (fresh->headline != base->headline)
        give_up(row, JUDGED_INVALID, "headline timing %s in BASE, %s in NEW", timing_names[base->headline],
                timing_names[fresh->headline]);
    else if (side_find_candidate(fresh, candidate->name))
        match_candidates(row, candidate, side_find_candidate(fresh, candidate->name));
    else
        tell_missing(row, base, fresh);
}

/* What BASE measured; and what it skipped where NEW did not. */
static bool has_row(const struct side_candidate *base, const struct side_cell *fresh)
{
    const struct side_candidate *theirs = fresh ? side_find_candidate(fresh, base->name) : NULL;
    return is_ok(base) || (is_skipped(base) && theirs && !is_skipped(theirs));
}

/* Cells that neither run began, although both were asked to. */
static void note_skipped(struct compare_runs *c)
{
    for (size_t i = 0; i < c->base.n_cells; i++) {
        const struct side_cell *cell = &c->base.cells[i];
        const struct side_cell *fresh = side_find_cell(&c->fresh, cell->key);
        if (cell->outcome != CELL_SKIPPED || !fresh || fresh->outcome != CELL_SKIPPED)
            continue;
        if (c->skipped_in_both++ == 0)
            c->first_skipped = cell;
    }
}

static size_t count_candidates(const struct side *side)
{
    size_t n = 0;
    for (size_t i = 0; i < side->n_cells; i++)
        n += side->cells[i].n_candidates;
    return n;
}

static bool is_covered(const struct side_candidate *base)
{
    return is_ok(base) || is_skipped(base);
}

static size_t count_without_base(const struct compare_runs *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->fresh.n_cells; i++) {
        const struct side_cell *cell = &c->fresh.cells[i];
        const struct side_cell *base = side_find_cell(&c->base, cell->key);
        for (size_t j = 0; j < cell->n_candidates; j++)
            n += is_ok(&cell->candidates[j]) && !is_covered(side_find_candidate(base, cell->candidates[j].name));
    }
    return n;
}

static bool has_none(const struct side_candidate *candidate)
{
    return candidate && !is_ok(candidate) && !is_skipped(candidate);
}

/* Where both runs say the same of a candidate there is no row: a mean over rows would not tell. */
static size_t count_without_result(const struct compare_runs *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->base.n_cells; i++) {
        const struct side_cell *cell = &c->base.cells[i];
        const struct side_cell *fresh = side_find_cell(&c->fresh, cell->key);
        for (size_t j = 0; j < cell->n_candidates && fresh; j++)
            n += has_none(&cell->candidates[j]) && has_none(side_find_candidate(fresh, cell->candidates[j].name));
    }
    return n;
}

int rows_make(struct compare_runs *c)
{
    c->rows = malloc((count_candidates(&c->base) + 1) * sizeof *c->rows);
    if (!c->rows)
        return -1;
    for (size_t i = 0; i < c->base.n_cells; i++) {
        const struct side_cell *cell = &c->base.cells[i];
        const struct side_cell *fresh = side_find_cell(&c->fresh, cell->key);
        for (size_t j = 0; j < cell->n_candidates; j++)
            if (has_row(&cell->candidates[j], fresh))
                fill_row(&c->rows[c->n_rows++], cell, &cell->candidates[j], fresh);
    }
    c->without_base = count_without_base(c);
    c->without_result_in_both = count_without_result(c);
    note_skipped(c);
    return 0;
}

/* A suspect of which the second look has no figures. */
static void tell_not_again(struct compare_row *row, const struct side_cell *base, const struct side_cell *again)
{
    char why[SIDE_WHY_MAX] = "";
    if (again && !side_find_candidate(again, row->candidate))
        side_tell_absent(base, again, row->candidate, why);
    give_up(row, JUDGED_INVALID, "a suspect, but not measured again beside %s in %d groups or more%s%s", row->reference,
            JUDGE_GROUPS_MIN, why[0] ? "; " : "", why);
}

void row_take_second_look(struct compare_row *row, const struct side *base, const struct side *confirm)
{
    const struct side_cell *cell = side_find_cell(base, row->key), *again = side_find_cell(confirm, row->key);
    const struct side_candidate *candidate = side_find_candidate(again, row->candidate);
    const struct side_pair *pair = side_find_pair(candidate, row->reference);
    row->screened_change = row->trial.change;
    if (candidate && !is_ok(candidate))
        give_up(row, JUDGED_INVALID, "measured again: %s%s%s", candidate->word, candidate->reason[0] ? ": " : "",
                candidate->reason);
    else if (!pair || !pair->comparable || pair->n < JUDGE_GROUPS_MIN)
        tell_not_again(row, cell, again);
    else
        row->remeasured = true;
    if (!row->remeasured)
        return;
    const struct side_candidate *then = side_find_candidate(cell, row->candidate);
    row->other_variant = strcmp(then->variant, candidate->variant) != 0;
    row->other_reference_variant = strcmp(side_find_pair(then, row->reference)->variant, pair->variant) != 0;
    row->fresh_ns = pair->candidate_ns;
    row->trial.fresh = (struct sample){pair->values, pair->n};
}

/* ---- order ---- */

static int rank(const struct compare_row *row)
{
    static const int ranks[JUDGED_COUNT] = {[JUDGED_SLOWER] = 0,    [JUDGED_INVALID] = 1, [JUDGED_MISSING] = 2,
                                            [JUDGED_AMBIGUOUS] = 3, [JUDGED_SAME] = 4,    [JUDGED_FASTER] = 4};
    return ranks[row->verdict];
}

static int worst_first(const void *a, const void *b)
{
    const struct compare_row *x = a;
    const struct compare_row *y = b;
    if (rank(x) != rank(y))
        return rank(x) - rank(y);
    bool figures = x->tested && y->tested;
    if (figures && (x->trial.change < y->trial.change || x->trial.change > y->trial.change))
        return x->trial.change < y->trial.change ? -1 : 1;
    int order = strcmp(x->key, y->key);
    return order ? order : strcmp(x->candidate, y->candidate);
}

void rows_arrange(struct compare_runs *c)
{
    memset(c->counts, 0, sizeof c->counts);
    for (size_t i = 0; i < c->n_rows; i++)
        c->counts[c->rows[i].verdict]++;
    qsort(c->rows, c->n_rows, sizeof *c->rows, worst_first);
}
