/*
 * compare.h - `cudal2-bench compare BASE NEW`: which candidates lost speed between two runs.
 *
 * Each candidate of each cell is compared through the reference that was interleaved with it in the same process, so
 * what moves both (clocks, temperature, another host) cancels. The reference is the first baseline that both runs timed
 * beside the candidate. docs/ci.md tells users the rest.
 */
#ifndef CUDAL2_COMPARE_COMPARE_H
#define CUDAL2_COMPARE_COMPARE_H

#include "compare/judge.h"
#include "compare/provenance.h"
#include "compare/side.h"

/* Least loss of speed that counts, by mode, when the A/A copies of the runs show no wider scatter. */
#define COMPARE_DELTA_OFFLINE 0.02
#define COMPARE_DELTA_SERVER 0.05

struct compare_request {
    const char *base, *fresh; /* result.json or journal */
    double delta;             /* 0: by mode and A/A; else the same for both modes, a share of the speed below 1 */
    bool force;               /* compare in spite of provenance differences */
};

/* One candidate in one cell. The strings belong to the row; `trial` points into the sides. */
struct compare_row {
    char key[RECORD_KEY_MAX], candidate[RECORD_NAME_MAX], reference[RECORD_NAME_MAX]; /* reference "" when none */
    struct cudal2_problem problem;
    enum mode mode;
    enum timing timing;
    enum judgement verdict;
    bool tested;                                 /* trial holds figures */
    bool remeasured;                             /* by --confirm: the figures and the verdict are of that run */
    bool other_variant, other_reference_variant; /* than in BASE: which kernel or algorithm was chosen */
    double screened_change;                      /* remeasured: the change that made it a suspect */
    double base_ns, fresh_ns;                    /* tested: the candidate's median in either run */
    struct trial trial;
    char reason[SIDE_WHY_MAX + 160]; /* of MISSING and INVALID */
};

struct compare_runs {
    struct side base, fresh, confirm; /* confirm.path is "" before compare_confirm */
    struct provenance differences;    /* empty unless forced */
    struct compare_row *rows;         /* owned; worst first */
    size_t n_rows;
    size_t counts[JUDGED_COUNT];
    size_t family;                         /* rows tested together */
    size_t without_base;                   /* candidates in cells that NEW has and BASE has not */
    size_t skipped_in_both;                /* cells that neither run began: not compared */
    size_t without_result_in_both;         /* candidates in cells that both runs measured without them */
    const struct side_cell *first_skipped; /* BASE's; NULL when there is none */
    double delta[MODE_COUNT];              /* share of the speed */
    double aa_scatter[MODE_COUNT];         /* median |ln ratio| of the A/A copies of both runs; NaN without any */
    bool delta_given;
};

/* Reads both runs and judges. EXIT_CODE_INCOMPARABLE when provenance differs (one line that names the differences) or a
 * run has no groups (--protocol paper), EXIT_CODE_VERIFICATION instead when a result was wrong in NEW, EXIT_CODE_DATA
 * as side_read. On failure *out needs no compare_free. */
int compare_open(const struct compare_request *request, struct compare_runs *out, struct error *err);
void compare_free(struct compare_runs *c);

/* Least loss that counts in this mode unless copies scatter more. */
double compare_delta_wanted(enum mode mode);

/* Whether anything is to be measured again. */
size_t compare_suspects(const struct compare_runs *c);

/* Whether what a worker has loaded, its `env`, is what NEW was measured with: asked before the suspects are measured
 * again. EXIT_CODE_INCOMPARABLE with what could not be loaded or is another one, EXIT_CODE_DATA for what is no `env`.
 */
int compare_check_again(const struct compare_runs *c, const cJSON *env, struct error *err);

/* Judges the suspects again, BASE against the run at `path`, as a family of their own; a suspect that is not in it
 * becomes INVALID. The run must have been measured like NEW (EXIT_CODE_INCOMPARABLE). */
int compare_confirm(struct compare_runs *c, const char *path, bool force, struct error *err);

/* The exit code, and its line in err: a wrong result in NEW (3), else SLOWER (1), else MISSING or INVALID (2), else 0.
 */
int compare_outcome(const struct compare_runs *c, struct error *err);

#endif
