/*
 * judge.c - a verdict for each candidate by a shifted rank test, and Benjamini-Hochberg over all. Relies on
 * stats/shift.c. Called by compare.c.
 */
#include "compare/judge.h"

#include <stdlib.h>

#include "stats/interval.h"

const char *const judgement_names[] = {"SAME", "FASTER", "SLOWER", "AMBIGUOUS", "MISSING", "INVALID", NULL};

static bool screens_out(const struct trial *t)
{
    return t->change < -t->delta && stats_below_p(t->fresh, t->base, 0) <= JUDGE_ALPHA;
}

static void test(struct trial *t)
{
    t->change = stats_median(t->fresh.values, t->fresh.n) - stats_median(t->base.values, t->base.n);
    t->p_slower = stats_below_p(t->fresh, t->base, t->delta);
    t->p_faster = stats_below_p(t->base, t->fresh, t->delta);
    t->resolution = stats_below_resolution(t->fresh, t->base, JUDGE_ALPHA);
}

static enum judgement verdict_of(const struct trial *t, bool slower, bool faster)
{
    if (slower)
        return JUDGED_SLOWER;
    if (faster)
        return JUDGED_FASTER;
    return screens_out(t) ? JUDGED_AMBIGUOUS : JUDGED_SAME;
}

int judge_trials(struct trial *trials, size_t n)
{
    int failed = -1;
    double *p_slower = malloc((n + 1) * sizeof *p_slower);
    double *p_faster = malloc((n + 1) * sizeof *p_faster);
    bool *slower = calloc(n + 1, sizeof *slower);
    bool *faster = calloc(n + 1, sizeof *faster);
    if (!p_slower || !p_faster || !slower || !faster)
        goto out;
    for (size_t i = 0; i < n; i++) {
        test(&trials[i]);
        p_slower[i] = trials[i].p_slower;
        p_faster[i] = trials[i].p_faster;
    }
    if (stats_discoveries(p_slower, n, JUDGE_RATE, slower) || stats_discoveries(p_faster, n, JUDGE_RATE, faster))
        goto out;
    for (size_t i = 0; i < n; i++)
        trials[i].verdict = verdict_of(&trials[i], slower[i], faster[i]);
    failed = 0;
out:
    free(faster);
    free(slower);
    free(p_faster);
    free(p_slower);
    return failed;
}

bool judge_suspects(enum judgement verdict)
{
    return verdict == JUDGED_SLOWER || verdict == JUDGED_AMBIGUOUS;
}

bool judge_is_blunt(const struct trial *t)
{
    return t->verdict == JUDGED_SAME && t->resolution > t->delta;
}
