/*
 * outcome.h - the answer to a submission: the reward of the paper's Eq. 3 with each of its terms, made from a run's
 * result, or the verdict that it failed by. Pure functions of trees. Form: docs/serve.md.
 *
 *     r = mean over problems of (t_ref / t_custom - alpha * diff) - beta * L
 *
 * t_ref / t_custom is the trimmed geometric mean of the paired blocks' ratios, whose 95% interval becomes the reward's.
 * The paper's mean of ratios stands beside it and is not in the reward: noise raises it, so that a policy would be paid
 * for noise. diff is the largest deviation from the fp32 reference on N(0,1) inputs, L the bytes of submitted source or
 * PTX.
 */
#ifndef CUDAL2_SERVE_OUTCOME_H
#define CUDAL2_SERVE_OUTCOME_H

#include "model/verdict.h"
#include "result/result.h"
#include "serve/submission.h"

struct outcome_input {
    const struct submission *submission;
    const struct result *result; /* of result_from_journal */
    const cJSON *code;           /* what the compiler said of it, or NULL */
    const char *family;          /* of the candidate, where the cells have others' too; NULL: any */
    const char *hide[2];         /* directories that no text may name; NULL: none */
};

/* Member "watched": a launch of the candidate was watched under CUPTI in this job, or of the same line of parameters in
 * an earlier one, or none was. */
#define OUTCOME_WATCHED_NOW "now"
#define OUTCOME_WATCHED_BEFORE "before"
#define OUTCOME_WATCHED_NO "no"

/* Owned by the caller; NULL out of memory. */
cJSON *outcome_of_result(const struct outcome_input *in);

/* Of what ended before there was a result. `reason` may have several lines. */
struct outcome_failure {
    enum verdict verdict;
    const char *stage, *reason;
};
cJSON *outcome_of_failure(const struct outcome_input *in, const struct outcome_failure *failure);

/* Whether a quick look rules out, with the intervals of all problems, that the candidate reaches this ratio. */
bool outcome_is_hopeless(const cJSON *outcome, double ratio);

#endif
