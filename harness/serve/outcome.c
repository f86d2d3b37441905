/*
 * outcome.c - from a run's result to a reward with its interval and terms. Relies on result/result.h for reading what
 * this program wrote. Called by evaluate.c, compiling.c and server_work.c.
 */
#include "serve/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/tree.h"
#include "serve/verdict.h"

#define ELEMENTS_SHOWN 8

/* ---- who stands for the candidate and the baseline ---- */

/* Whether a name of a pair is the family's, in a layout or over both. */
static bool is_named(const char *name, const char *family)
{
    size_t length = family ? strlen(family) : 0;
    const char *layout = name + length;
    return !family ||
           (strncmp(name, family, length) == 0 && (!layout[0] || (layout[0] == '-' && !strchr(layout + 1, '-'))));
}

/* The pair of the headline timing; one that is over layouts (-max) before one of a single layout. */
static const struct result_pair *find_pair(const struct outcome_input *in, const struct result_cell *cell)
{
    const struct result_pair *best = NULL;
    int best_rank = -1;
    for (size_t i = 0; i < cell->n_speedups; i++) {
        const struct result_pair *pair = &cell->speedups[i];
        int rank = 2 * text_ends_with(pair->candidate, "-max") + text_ends_with(pair->reference, "-max");
        if (pair->timing != cell->headline || rank <= best_rank || !is_named(pair->candidate, in->family))
            continue;
        best = pair;
        best_rank = rank;
    }
    return best;
}

/* How bad a status is for the whole: a refuted layout outweighs one that is merely not there, and a good one outweighs
 * that. */
static int weight(const struct result_contender *c)
{
    if (verdict_is_refuted(c->verdict))
        return 4;
    if (c->verdict == VERDICT_OK)
        return 2;
    return c->verdict == VERDICT_UNSUPPORTED ? 0 : verdict_is_earned(c->verdict) ? 3 : 1;
}

/* Whether it is in this role, and of several candidates the one that is asked for. */
static bool is_in_role(const struct outcome_input *in, const struct result_contender *c, enum result_role role)
{
    return c->role == role && (role != RESULT_CANDIDATE || is_named(c->name, in->family));
}

/* The contender whose verdict is the candidate's or the baseline's; NULL where there is none. */
static const struct result_contender *find_spokesman(const struct outcome_input *in, const struct result_cell *cell,
                                                     enum result_role role)
{
    const struct result_contender *best = NULL;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        if (is_in_role(in, c, role) && (!best || weight(c) > weight(best)))
            best = c;
    }
    return best;
}

/* The fastest layout; NULL where none has times. */
static const struct result_contender *find_fastest(const struct outcome_input *in, const struct result_cell *cell,
                                                   enum result_role role)
{
    const struct result_contender *best = NULL;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        double median = result_headline(cell, c)->median_ns;
        if (is_in_role(in, c, role) && isfinite(median) && !(best && median >= result_headline(cell, best)->median_ns))
            best = c;
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
static void put_elements(struct tree *t, const struct result_contender *c)
{
    const cJSON *wrong = tree_member(tree_member(c->json, "verification"), "wrong");
    const cJSON *elements = tree_member(wrong, "elements");
    if (strcmp(c->stage, "verify") != 0 || !cJSON_IsArray(elements))
        return;
    cJSON *some = cJSON_Duplicate(elements, true);
    while (some && cJSON_GetArraySize(some) > ELEMENTS_SHOWN)
        cJSON_DeleteItemFromArray(some, ELEMENTS_SHOWN);
    tree_put(t, "wrong_elements", some);
}

static void put_failure(struct tree *t, const struct outcome_input *in, const struct outcome_failure *failure)
{
    tree_put_text(t, "verdict", verdict_name(failure->verdict));
    tree_put_text(t, "stage", failure->stage);
    put_error(t, in, failure);
}

/* The largest deviation from the fp32 reference. */
static double deviation_of(const struct result_contender *c)
{
    const cJSON *deviation = tree_member(c->json, "deviation");
    const cJSON *largest = cJSON_IsArray(deviation) ? cJSON_GetArrayItem(deviation, 0) : NULL;
    return cJSON_IsNumber(largest) ? largest->valuedouble : NAN;
}

static void put_times(struct tree *t, const struct outcome_input *in, const struct result_cell *cell)
{
    const struct result_contender *candidate = find_fastest(in, cell, RESULT_CANDIDATE);
    const struct result_contender *baseline = find_fastest(in, cell, RESULT_BASELINE);
    tree_put_text(t, "timing", result_timing_name(cell->headline));
    if (candidate) {
        tree_put_text(t, "contender", candidate->name);
        tree_put_text(t, "variant", candidate->tuning.variant);
        tree_put_number(t, "candidate_ns", result_headline(cell, candidate)->median_ns);
        tree_put_number(t, "diff", deviation_of(candidate));
        tree_put_number(t, "tflops", candidate->tflops);
        tree_put_number(t, "percent_of_floor", candidate->percent_of_roofline);
    }
    if (baseline)
        tree_put_number(t, "baseline_ns", result_headline(cell, baseline)->median_ns);
    tree_put_number(t, "blocks", cell->blocks);
    tree_put_number(t, "groups", cell->groups);
    tree_put(t, "converged", cJSON_CreateBool(cell->converged));
}

/* A ratio t_baseline / t_candidate, to six digits behind the point. */
static double ratio_of(double speedup)
{
    return round_to(1 + speedup, 1e6);
}

static void put_pair(struct tree *t, const struct result_pair *pair)
{
    tree_put_text(t, "verdict", verdict_name(VERDICT_OK));
    tree_put_text(t, "candidate", pair->candidate);
    tree_put_text(t, "baseline", pair->reference);
    tree_put_number(t, "ratio", ratio_of(pair->geomean));
    tree_put_number(t, "ratio_low", ratio_of(pair->ci95.low));
    tree_put_number(t, "ratio_high", ratio_of(pair->ci95.high));
    tree_put_number(t, "mean_of_ratios", ratio_of(pair->mean_of_ratios));
}

static void put_contender_failure(struct tree *t, const struct outcome_input *in, const struct result_contender *c)
{
    enum verdict verdict = c->verdict < VERDICT_COUNT ? c->verdict : VERDICT_FAILED;
    const struct outcome_failure failure = {verdict, c->stage, c->reason};
    put_failure(t, in, &failure);
    put_elements(t, c);
}

/* Somebody else's fault: the cell's, or the baseline's. */
static void put_no_pair(struct tree *t, const struct outcome_input *in, const struct result_cell *cell)
{
    char reason[1024];
    const struct result_contender *baseline = find_spokesman(in, cell, RESULT_BASELINE);
    const char *why = !cell->reason[0] && baseline ? baseline->reason : cell->reason;
    snprintf(reason, sizeof reason, "no time of both the candidate and %s%s%.700s", in->submission->baseline,
             why[0] ? ": " : "", why);
    enum verdict verdict = cell->outcome == CELL_SKIPPED ? VERDICT_SKIPPED : VERDICT_FAILED;
    const struct outcome_failure failure = {verdict, "measure", reason};
    put_failure(t, in, &failure);
}

static cJSON *problem_outcome(const struct outcome_input *in, const struct result_cell *cell)
{
    struct tree t = tree_begin();
    char name[80];
    const struct result_pair *pair = find_pair(in, cell);
    const struct result_contender *candidate = find_spokesman(in, cell, RESULT_CANDIDATE);
    snprintf(name, sizeof name, "%.0fx%.0fx%.0f", cell->m, cell->n, cell->k);
    tree_put_text(&t, "problem", name);
    if (candidate && candidate->verdict != VERDICT_OK) {
        put_contender_failure(&t, in, candidate);
    } else if (!pair) {
        put_no_pair(&t, in, cell);
    } else {
        put_pair(&t, pair);
        put_times(&t, in, cell);
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
    bool written = s->format == SOURCE_CUDA || s->format == SOURCE_PTX;
    return s->source && written ? (double)strlen(s->source) : 0;
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

static void put_no_reward(struct tree *t, enum verdict verdict)
{
    tree_put(t, "reward", verdict_is_earned(verdict) ? reward_tree(0, 0, 0) : cJSON_CreateNull());
}

/* ---- what it is made of ---- */

/* Where there is no code to count in, the field says why: its absence could mean anything. */
static cJSON *no_code(const struct submission *s)
{
    struct tree t = tree_begin(), mix = tree_begin();
    tree_put_text(&mix, "unavailable",
                  s->kind == CANDIDATE_NAMED
                      ? "the machine code of an installed candidate is not read"
                      : "no machine code was read: it does not compile or fit its manifest, or was not begun with");
    tree_put(&t, "instruction_mix", tree_finish(&mix));
    return tree_finish(&t);
}

static void put_code(struct tree *t, const struct outcome_input *in)
{
    if (in->code)
        tree_put_copy(t, "code", in->code);
    else
        tree_put(t, "code", no_code(in->submission));
}

/* ---- the whole ---- */

/* Whether a launch of the candidate was watched under CUPTI, for whichever problem. */
static bool is_watched(const struct outcome_input *in)
{
    const struct result *result = in->result;
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t j = 0; j < result->cells[i].n_contenders; j++) {
            const struct result_contender *c = &result->cells[i].contenders[j];
            if (is_in_role(in, c, RESULT_CANDIDATE) && c->activity.json && !c->activity.unavailable[0])
                return true;
        }
    return false;
}

/* The problem that decides the verdict: one that failed by the candidate's fault, else any that failed; NULL: all are
 * ok. */
static const cJSON *find_worst(const cJSON *problems)
{
    const cJSON *problem, *worst = NULL;
    cJSON_ArrayForEach(problem, problems)
    {
        enum verdict verdict = verdict_of_outcome(problem);
        if (verdict == VERDICT_OK)
            continue;
        if (!worst || (verdict_is_earned(verdict) && !verdict_is_earned(verdict_of_outcome(worst))))
            worst = problem;
    }
    return worst;
}

static void put_verdict(struct tree *t, const struct outcome_input *in, const cJSON *problems)
{
    const cJSON *worst = find_worst(problems);
    enum verdict verdict = worst ? verdict_of_outcome(worst) : VERDICT_OK;
    tree_put_text(t, "verdict", verdict_name(verdict));
    if (worst) {
        tree_put_text(t, "stage", tree_text(worst, "stage"));
        tree_put_text(t, "error", tree_text(worst, "error"));
        put_no_reward(t, verdict);
    } else {
        put_reward(t, in, problems);
    }
}

cJSON *outcome_of_result(const struct outcome_input *in)
{
    const struct outcome_failure short_of = {VERDICT_FAILED, "measure",
                                             "the run ended before every problem was measured"};
    if (in->result->n_cells != in->submission->n_problems)
        return outcome_of_failure(in, &short_of);
    struct tree t = tree_begin();
    cJSON *problems = cJSON_CreateArray();
    for (size_t i = 0; i < in->result->n_cells; i++)
        if (problems && !tree_append(problems, problem_outcome(in, &in->result->cells[i])))
            problems = NULL;
    put_verdict(&t, in, problems);
    tree_put(&t, "problems", problems);
    put_code(&t, in);
    tree_put_text(&t, "watched", is_watched(in) ? OUTCOME_WATCHED_NOW : OUTCOME_WATCHED_NO);
    tree_put_text(&t, "device", result_device(in->result, 0)->name);
    return tree_finish(&t);
}

cJSON *outcome_of_failure(const struct outcome_input *in, const struct outcome_failure *failure)
{
    struct tree t = tree_begin();
    put_failure(&t, in, failure);
    put_no_reward(&t, failure->verdict);
    put_code(&t, in);
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
