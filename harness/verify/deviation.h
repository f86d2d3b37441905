/*
 * deviation.h - baseline-bounded deviation (paper 2.3.2) and the accumulator class, on FILL_SPREAD inputs rounded to
 * the dtype. Every entrant computes the same product; its largest deviation from the fp32 reference (the paper's
 * measure) and its RMS are taken over all elements, its error profile over bands of rows against fp64. Candidates are
 * held against the baselines of the cell, times the margins of model.h; the profile says whether a kernel billed as
 * accumulating in fp32 does.
 */
#ifndef CUDAL2_VERIFY_DEVIATION_H
#define CUDAL2_VERIFY_DEVIATION_H

#include "measure/bench.h"
#include "verify/bands.h"
#include "verify/model.h"

/* What one entrant showed. */
struct deviation {
    bool measured;        /* false: the launch said no, with the reason in why */
    double largest;       /* absolute */
    double rms;           /* deviation_relative; infinite when elements are NaN */
    double profile;       /* the same against fp64, on bands of the cell's problem; NaN when not taken */
    bool classed;         /* whether `wide` is known */
    bool wide;            /* its profile is that of fp32 accumulation */
    char why[CUDAL2_WHY]; /* what the class was told by, or why it is not known */
};

/* What the entrants of a cell are held against. Figures in pairs: largest, RMS. */
struct yardstick {
    size_t n_baselines;
    double baselines[2]; /* the worst of them; 0 without any */
    double honest[2];    /* of the model */
    double bound[2];     /* for candidates */
    double threshold;    /* profile from which accumulation counts as 16-bit; 0: cannot be told on this problem */
    struct model_calibration calibration;
};

/* Inputs on the device and both references. */
struct normal_case {
    float *reference;
    struct bands bands;
    size_t set; /* of an entrant's sets */
};

/* Fills the operands of every set and computes the references. normal_release frees them. */
int normal_prepare(struct bench *bench, uint64_t seed, struct normal_case *out, struct error *err);
void normal_release(struct bench *bench, struct normal_case *normal);

/* RMS of the error over that of the reference, or over what the model expects of it where that is more: the few
 * elements of a small output may all lie near 0. */
double deviation_relative(const struct cudal2_problem *problem, const struct comparison *cmp, double elements);

/* Poisons C, launches once, compares. Non-zero only for device errors (the caller asks entrant_fault). */
int normal_measure(struct bench *bench, struct entrant *entrant, const struct normal_case *normal,
                   struct deviation *out, struct error *err);

/* The bounds, from the deviations (one for each entrant) of the living baselines billed like the cell: one that claims
 * to accumulate wider counts in f32 cells alone. */
void yardstick_take(const struct bench *bench, const struct deviation *deviations,
                    const struct model_calibration *calibration, struct yardstick *out);

/* Puts the deviation into its class by the profile `profile` at K k and this threshold; a threshold of 0 leaves it
 * unclassed. */
void deviation_class(struct deviation *deviation, double profile, double k, double threshold);

/* Ok when the deviation passes, else wrong_result or precision_class with the reason in why[CUDAL2_WHY]. A baseline
 * is held against MODEL_GROSS alone. */
enum verdict deviation_judge(const struct cudal2_problem *problem, bool baseline, const struct deviation *deviation,
                             const struct yardstick *yardstick, char *why);
/* Whether a candidate that was called wrong_result is so near to its bounds (MODEL_FAR, MODEL_RMS_NEAR) that an honest
 * one may show this on one set of inputs in a hundred: only several sets prove it wrong. */
bool deviation_is_doubtful(const struct cudal2_problem *problem, const struct deviation *deviation,
                           const struct yardstick *yardstick);

/* [largest, RMS], with the profile behind them where it differs from the RMS by more than DEVIATION_ALIKE, to three
 * digits, for the record; owned by the caller. */
#define DEVIATION_ALIKE 0.02
cJSON *deviation_to_json(const struct deviation *deviation);
/* The yardstick for the cell's record; owned by the caller. */
cJSON *yardstick_to_json(const struct yardstick *yardstick);

#endif
