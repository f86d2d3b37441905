/*
 * judge.h - the verdict on one candidate in one cell, and on all of them together. Pure functions of group values.
 *
 * The unit is the value of a group: the trimmed mean of ln(t_reference / t_candidate) over its blocks
 * (stats/interval.h). A claim of SLOWER rejects "the loss of speed is at most delta" by a one-sided Mann-Whitney test
 * on the group values shifted by delta, with Benjamini-Hochberg over the whole family; FASTER the other way round. Why
 * not the plain test: two runs of the same program differ by a few tenths of a percent in every cell, and a test that
 * asks "any difference?" is right to see it in a quarter of them.
 */
#ifndef CUDAL2_COMPARE_JUDGE_H
#define CUDAL2_COMPARE_JUDGE_H

#include "stats/shift.h"

#define JUDGE_ALPHA 0.05   /* of the screen */
#define JUDGE_RATE 0.05    /* false discovery rate of the verdicts */
#define JUDGE_GROUPS_MIN 4 /* a side; with fewer the screen could hardly ever speak */

/* SAME also says "not shown to differ by more than delta". AMBIGUOUS: the plain test sees a loss and its median is over
 * delta, but it is not shown to be; `--confirm` decides it. MISSING and INVALID carry no test. */
enum judgement {
    JUDGED_SAME,
    JUDGED_FASTER,
    JUDGED_SLOWER,
    JUDGED_AMBIGUOUS,
    JUDGED_MISSING,
    JUDGED_INVALID,
    JUDGED_COUNT
};
extern const char *const judgement_names[]; /* "SAME", "FASTER", ...; NULL-terminated */

struct trial {
    struct sample base, fresh; /* group values, log units */
    double delta;              /* log units, > 0 */
    /* what judge_trials fills in */
    double change; /* median of fresh minus median of base: below 0 the candidate lost speed */
    double p_slower, p_faster;
    double resolution; /* log units: groups that scatter like these show no smaller loss, it comes out SAME */
    enum judgement verdict;
};

/* Judges the family. -1 out of memory. */
int judge_trials(struct trial *trials, size_t n);

/* SAME, with groups that scatter so much that a loss which counts could not have been told: it says little. */
bool judge_is_blunt(const struct trial *t);

/* True for a verdict that --confirm measures again. */
bool judge_suspects(enum judgement verdict);

#endif
