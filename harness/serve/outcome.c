/*
 * outcome.c - from a run's result to a reward with its interval and terms. Relies on base/tree.h for reading what this
 * program wrote. Called by evaluate.c and server.c.
 */
#include "serve/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "record/record.h"
#include "serve/verdict.h"

#define ELEMENTS_SHOWN 8

/* ---- who stands for the candidate and the baseline ---- */

static bool is_candidate(const cJSON *contender)
{
    return strcmp(tree_text(contender, "role"), "candidate") == 0;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* The pair of the headline timing; one that is over layouts (-max) before one of a single layout. */
static const cJSON *find_pair(const cJSON *cell)
{
    const char *headline = tree_text(cell, "headline");
    const cJSON *pair, *best = NULL;
    int best_rank = -1;
    cJSON_ArrayForEach(pair, tree_member(cell, "speedups"))
    {
        int rank =
            2 * has_ending(tree_text(pair, "candidate"), "-max") + has_ending(tree_text(pair, "reference"), "-max");
        if (strcmp(tree_text(pair, "timing"), headline) != 0 || rank <= best_rank)
            continue;
        best = pair;
        best_rank = rank;
    }
    return best;
}

/* How bad a status is for the whole: a refuted layout outweighs one that is merely not there, and a good one outweighs
 * that. */
static int weight(const cJSON *contender)
{
    const char *status = tree_text(contender, "status");
    if (record_is_refuted(status))
        return 4;
    if (strcmp(status, "ok") == 0)
        return 2;
    return strcmp(status, "unsupported") == 0 ? 0 : verdict_is_earned(status) ? 3 : 1;
}

/* The contender whose verdict is the candidate's or the baseline's; NULL where there is none. */
static const cJSON *find_spokesman(const cJSON *cell, bool candidate)
{
    const cJSON *contender, *best = NULL;
    tree_each(contender, tree_member(cell, "contenders"))
    {
        bool baseline = strcmp(tree_text(contender, "role"), "baseline") == 0;
        if (candidate ? !is_candidate(contender) : !baseline)
            continue;
        if (!best || weight(contender) > weight(best))
            best = contender;
    }
    return best;
}

static double median_of(const cJSON *contender, const char *headline)
{
    return tree_number(tree_member(tree_member(contender, "timings"), headline), "median_ns");
}

/* The fastest layout that is ok. */
static const cJSON *find_fastest(const cJSON *cell, bool candidate)
{
    const char *headline = tree_text(cell, "headline");
    const cJSON *contender, *best = NULL;
    tree_each(contender, tree_member(cell, "contenders"))
    {
        const char *role = tree_text(contender, "role");
        bool wanted = strcmp(role, candidate ? "candidate" : "baseline") == 0;
        double median = median_of(contender, headline);
        if (wanted && isfinite(median) && !(best && median >= median_of(best, headline)))
            best = contender;
    }
    return best;
}

/* ---- one problem ---- */

static void put_text_hidden(struct tree *t, const char *key, const struct outcome_input *in, const char *text)
{
    char *copy = strdup(text);
    for (size_t i = 0; copy && i < 2; i++)
        if (in->hide[i])
            verdict_hide(copy, in->hide[i]);
    if (copy)
        tree_put_text(t, key, copy);
    t->failed |= !copy;
    free(copy);
}

static void put_error(struct tree *t, const struct outcome_input *in, const struct outcome_failure *failure)
{
    char text[VERDICT_TEXT];
    verdict_text(failure->verdict, failure->stage, failure->reason, text);
    put_text_hidden(t, "error", in, text);
}

/* [row, column, expected, got], the first few. */
static void put_elements(struct tree *t, const cJSON *contender)
{
    const cJSON *elements = tree_member(tree_member(tree_member(contender, "verification"), "wrong"), "elements");
    if (strcmp(tree_text(contender, "stage"), "verify") != 0 || !cJSON_IsArray(elements))
        return;
    cJSON *some = cJSON_Duplicate(elements, true);
    while (some && cJSON_GetArraySize(some) > ELEMENTS_SHOWN)
        cJSON_DeleteItemFromArray(some, ELEMENTS_SHOWN);
    tree_put(t, "wrong_elements", some);
}

static void put_failure(struct tree *t, const struct outcome_input *in, const struct outcome_failure *failure)
{
    tree_put_text(t, "verdict", failure->verdict);
    tree_put_text(t, "stage", failure->stage);
    put_error(t, in, failure);
}

static void put_times(struct tree *t, const cJSON *cell)
{
    const cJSON *candidate = find_fastest(cell, true), *baseline = find_fastest(cell, false);
    const char *headline = tree_text(cell, "headline");
    const cJSON *deviation = tree_member(candidate, "deviation");
    const cJSON *largest = cJSON_IsArray(deviation) ? cJSON_GetArrayItem(deviation, 0) : NULL;
    tree_put_text(t, "timing", headline);
    tree_put_number(t, "candidate_ns", median_of(candidate, headline));
    tree_put_number(t, "baseline_ns", median_of(baseline, headline));
    tree_put_number(t, "diff", cJSON_IsNumber(largest) ? largest->valuedouble : NAN);
    tree_put_number(t, "tflops", tree_number(candidate, "tflops"));
    tree_put_number(t, "percent_of_floor", tree_number(candidate, "percent_of_roofline"));
    tree_put_number(t, "blocks", tree_number(cell, "blocks"));
    tree_put_number(t, "groups", tree_number(cell, "groups"));
    tree_put(t, "converged", cJSON_CreateBool(tree_true(cell, "converged")));
}

/* A ratio t_baseline / t_candidate, to six digits behind the point. */
static double ratio_of(double speedup)
{
    return round_to(1 + speedup, 1e6);
}

static void put_pair(struct tree *t, const cJSON *pair)
{
    const cJSON *interval = tree_member(pair, "ci95");
    const cJSON *low = cJSON_IsArray(interval) ? cJSON_GetArrayItem(interval, 0) : NULL;
    const cJSON *high = cJSON_IsArray(interval) ? cJSON_GetArrayItem(interval, 1) : NULL;
    tree_put_text(t, "verdict", "ok");
    tree_put_text(t, "candidate", tree_text(pair, "candidate"));
    tree_put_text(t, "baseline", tree_text(pair, "reference"));
    tree_put_number(t, "ratio", ratio_of(tree_number(pair, "geomean")));
    tree_put_number(t, "ratio_low", cJSON_IsNumber(low) ? ratio_of(low->valuedouble) : NAN);
    tree_put_number(t, "ratio_high", cJSON_IsNumber(high) ? ratio_of(high->valuedouble) : NAN);
    tree_put_number(t, "mean_of_ratios", ratio_of(tree_number(pair, "mean_of_ratios")));
}

static void put_contender_failure(struct tree *t, const struct outcome_input *in, const cJSON *contender)
{
    const struct outcome_failure failure = {tree_text(contender, "status"), tree_text(contender, "stage"),
                                            tree_text(contender, "reason")};
    put_failure(t, in, &failure);
    put_elements(t, contender);
}

/* Somebody else's fault: the cell's, or the baseline's. */
static void put_no_pair(struct tree *t, const struct outcome_input *in, const cJSON *cell)
{
    char reason[1024];
    const cJSON *baseline = find_spokesman(cell, false);
    const char *why = tree_text(cell, "reason");
    if (!why[0] && baseline)
        why = tree_text(baseline, "reason");
    snprintf(reason, sizeof reason, "no time of both the candidate and %s%s%.700s", in->submission->baseline,
             why[0] ? ": " : "", why);
    const struct outcome_failure failure = {strcmp(tree_text(cell, "status"), "skipped") == 0 ? "skipped" : "failed",
                                            "measure", reason};
    put_failure(t, in, &failure);
}

static cJSON *problem_outcome(const struct outcome_input *in, const cJSON *cell)
{
    struct tree t = tree_begin();
    char name[80];
    const cJSON *pair = find_pair(cell), *candidate = find_spokesman(cell, true);
    snprintf(name, sizeof name, "%.0fx%.0fx%.0f", tree_number(cell, "m"), tree_number(cell, "n"),
             tree_number(cell, "k"));
    tree_put_text(&t, "problem", name);
    if (candidate && strcmp(tree_text(candidate, "status"), "ok") != 0) {
        put_contender_failure(&t, in, candidate);
    } else if (!pair) {
        put_no_pair(&t, in, cell);
    } else {
        put_pair(&t, pair);
        put_times(&t, cell);
    }
    return tree_finish(&t);
}

/* ---- the reward ---- */

struct sums {
    double ratio, low, high, paper, diff;
    size_t n;
};

static void add_problem(struct sums *s, const cJSON *problem)
{
    double diff = tree_number(problem, "diff");
    s->ratio += tree_number(problem, "ratio");
    s->low += tree_number(problem, "ratio_low");
    s->high += tree_number(problem, "ratio_high");
    s->paper += tree_number(problem, "mean_of_ratios");
    s->diff += isfinite(diff) ? diff : 0;
    s->n++;
}

static cJSON *reward_tree(double value, double low, double high)
{
    struct tree t = tree_begin();
    tree_put_number(&t, "value", round_to(value, 1e6));
    tree_put_number(&t, "low", round_to(low, 1e6));
    tree_put_number(&t, "high", round_to(high, 1e6));
    return tree_finish(&t);
}

static double length_of(const struct submission *s)
{
    return s->source ? (double)strlen(s->source) : 0;
}

static cJSON *terms_tree(const struct submission *s, const struct sums *sums)
{
    struct tree t = tree_begin();
    double n = (double)sums->n;
    tree_put_number(&t, "ratio", round_to(sums->ratio / n, 1e6));
    tree_put_number(&t, "ratio_low", round_to(sums->low / n, 1e6));
    tree_put_number(&t, "ratio_high", round_to(sums->high / n, 1e6));
    tree_put_number(&t, "mean_of_ratios", round_to(sums->paper / n, 1e6));
    tree_put_number(&t, "diff", sums->diff / n);
    tree_put_number(&t, "length", length_of(s));
    tree_put_number(&t, "alpha", s->alpha);
    tree_put_number(&t, "beta", s->beta);
    return tree_finish(&t);
}

static void put_reward(struct tree *t, const struct outcome_input *in, const cJSON *problems)
{
    const struct submission *s = in->submission;
    struct sums sums = {0};
    const cJSON *problem;
    cJSON_ArrayForEach(problem, problems) add_problem(&sums, problem);
    double n = (double)sums.n, penalty = s->alpha * sums.diff / n + s->beta * length_of(s);
    tree_put(t, "reward", reward_tree(sums.ratio / n - penalty, sums.low / n - penalty, sums.high / n - penalty));
    tree_put(t, "terms", terms_tree(s, &sums));
}

static void put_no_reward(struct tree *t, const char *verdict)
{
    tree_put(t, "reward", verdict_is_earned(verdict) ? reward_tree(0, 0, 0) : cJSON_CreateNull());
}

/* ---- the whole ---- */

/* The problem that decides the verdict: one that failed by the candidate's fault, else any that failed; NULL: all are
 * ok. */
static const cJSON *find_worst(const cJSON *problems)
{
    const cJSON *problem, *worst = NULL;
    cJSON_ArrayForEach(problem, problems)
    {
        const char *verdict = tree_text(problem, "verdict");
        if (strcmp(verdict, "ok") == 0)
            continue;
        if (!worst || (verdict_is_earned(verdict) && !verdict_is_earned(tree_text(worst, "verdict"))))
            worst = problem;
    }
    return worst;
}

static void put_verdict(struct tree *t, const struct outcome_input *in, const cJSON *problems)
{
    const cJSON *worst = find_worst(problems);
    tree_put_text(t, "verdict", worst ? tree_text(worst, "verdict") : "ok");
    if (worst) {
        tree_put_text(t, "stage", tree_text(worst, "stage"));
        tree_put_text(t, "error", tree_text(worst, "error"));
        put_no_reward(t, tree_text(worst, "verdict"));
    } else {
        put_reward(t, in, problems);
    }
}

static void put_device(struct tree *t, const cJSON *result)
{
    const cJSON *env = tree_member(result, "env");
    const cJSON *device = tree_member(cJSON_IsArray(env) ? cJSON_GetArrayItem(env, 0) : NULL, "device");
    tree_put_text(t, "device", tree_text(device, "name"));
}

cJSON *outcome_of_result(const struct outcome_input *in)
{
    struct tree t = tree_begin();
    cJSON *problems = cJSON_CreateArray();
    const cJSON *cell, *cells = tree_member(in->result, "cells");
    if ((size_t)cJSON_GetArraySize(cells) != in->submission->n_problems) {
        const struct outcome_failure failure = {"failed", "measure", "the run ended before every problem was measured"};
        cJSON_Delete(problems);
        cJSON_Delete(tree_finish(&t));
        return outcome_of_failure(in, &failure);
    }
    cJSON_ArrayForEach(cell, cells) if (problems && !tree_append(problems, problem_outcome(in, cell))) problems = NULL;
    put_verdict(&t, in, problems);
    tree_put(&t, "problems", problems);
    tree_put_copy(&t, "code", in->code);
    put_device(&t, in->result);
    return tree_finish(&t);
}

cJSON *outcome_of_failure(const struct outcome_input *in, const struct outcome_failure *failure)
{
    struct tree t = tree_begin();
    put_failure(&t, in, failure);
    put_no_reward(&t, failure->verdict);
    tree_put_copy(&t, "code", in->code);
    return tree_finish(&t);
}

bool outcome_is_hopeless(const cJSON *outcome, double ratio)
{
    const cJSON *problem, *problems = tree_member(outcome, "problems");
    bool all = cJSON_GetArraySize(problems) > 0;
    cJSON_ArrayForEach(problem, problems)
    {
        double high = tree_number(problem, "ratio_high");
        all = all && isfinite(high) && high < ratio;
    }
    return all;
}
