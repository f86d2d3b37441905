/*
 * model.c - rounding theory: the RMS error of an honest kernel by output format, accumulator and K, and the threshold
 * between classes. Pure. Called by deviation.c, stage.c and worker/audit.c.
 */
#include "verify/model.h"

#include <math.h>

/* Products that a tensor core adds before it rounds. */
#define STEP_LARGEST 16.0
#define STEP_USUAL 8.0

/* Calibration counts when the classes are this far apart, and a threshold when half stands this far above it. */
#define CLEAR_RATIO 3.0
#define CLEAR_MARGIN 1.4

static int significant_bits(enum cudal2_dtype dtype)
{
    static const int bits[] = {[CUDAL2_F16] = 11, [CUDAL2_BF16] = 8, [CUDAL2_F32] = 24};
    return bits[dtype];
}

/* Error of rounding x is uniform over one unit in the last place, 2^(1-bits) * 2^e for x in [2^e, 2^(e+1)). */
static double rounding_to(int bits, double k)
{
    double sigma = sqrt(k), mean_square = 0;
    for (int e = -14; e < 16; e++) {
        double low = ldexp(1, e) / sigma, share = erf(2 * low / sqrt(2)) - erf(low / sqrt(2));
        double unit = ldexp(1, e + 1 - bits);
        mean_square += share * unit * unit / 12;
    }
    return sqrt(mean_square) / sigma;
}

double model_rounding(enum cudal2_dtype dtype, double k)
{
    return rounding_to(significant_bits(dtype), k);
}

/* Accumulated in a format of `bits` in steps of `step`, but for the last rounding, which is that of storing; relative
 * to the output. */
static double accumulated(int bits, double k, double step)
{
    return rounding_to(bits, k) * sqrt(fmax(k / step - 1, 0) / 2);
}

double model_wide(enum cudal2_dtype dtype, double k)
{
    return hypot(model_rounding(dtype, k), accumulated(significant_bits(CUDAL2_F32), k, 1));
}

static double narrow(enum cudal2_dtype dtype, double k, double step)
{
    int bits = significant_bits(dtype == CUDAL2_F32 ? CUDAL2_F16 : dtype);
    return hypot(model_rounding(dtype, k), accumulated(bits, k, step));
}

double model_narrow(enum cudal2_dtype dtype, double k)
{
    return narrow(dtype, k, STEP_LARGEST);
}

double model_output(const struct cudal2_problem *p)
{
    return hypot(problem_alpha(p) * sqrt((double)p->k), p->beta);
}

double model_honest(const struct cudal2_problem *p)
{
    double k = (double)p->k;
    return p->accumulate == CUDAL2_ACC_F16 ? narrow(p->dtype, k, STEP_USUAL) : model_wide(p->dtype, k);
}

/* The tail of m*n normal deviates, and half a unit of the largest output: near that one, storing alone costs more than
 * the RMS suggests. */
double model_largest(const struct cudal2_problem *p)
{
    double sigma = model_output(p), tail = sqrt(2 * log(2 * (double)p->m * (double)p->n));
    double half_unit = ldexp(1, ilogb(sigma * tail) - significant_bits(p->dtype));
    return sigma * tail * model_honest(p) + half_unit;
}

/* One level of Strassen's algorithm has half of its elements with 1.5 times the mean squared error, and half with 0.5
 * times. */
#define UNEVEN 1.2247

/* The share of an honest kernel's RMS error that accumulating makes. */
static double accumulating_share(const struct cudal2_problem *p)
{
    double stored = model_rounding(p->dtype, (double)p->k), all = model_honest(p);
    return sqrt(fmax(1 - stored * stored / (all * all), 0));
}

double model_tail(const struct cudal2_problem *p)
{
    double wanted = log((double)p->m * (double)p->n / MODEL_CHANCE), t = wanted;
    for (int i = 0; i < 20; i++)
        t = wanted - log(acos(-1) * t / 2) / 2;
    return UNEVEN * accumulating_share(p) * t;
}

double model_class_threshold(enum cudal2_dtype dtype, double k, const struct model_calibration *calibration,
                             double baselines)
{
    double wide = model_wide(dtype, k), half = model_narrow(dtype, k);
    if (calibration->wide > 0 && calibration->narrow > CLEAR_RATIO * calibration->wide) {
        wide *= calibration->wide / model_wide(dtype, MODEL_PROBE_K);
        half *= calibration->narrow / model_narrow(dtype, MODEL_PROBE_K);
    }
    double threshold = fmax(sqrt(wide * half), MODEL_CLASS_FLOOR * model_wide(dtype, k));
    threshold = fmax(threshold, MODEL_CLASS_BASELINES * baselines);
    return half >= CLEAR_MARGIN * threshold ? threshold : 0;
}
