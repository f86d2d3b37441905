/*
 * judge.c - compares an output with the true product by projections, single elements and rows, in units of the
 * rounding that a contender may have. Relies on the cell's bounds. Called by timed.c and by trials.
 */
#include "measure/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SCATTER 3.0
/* Numbers below 2^-14 may be lost in fp16; those of the other dtypes are lost below what a sum of products can be. */
#define HALF_LOST 0x1p-14

double judge_allowed(const struct entrant *entrant)
{
    return entrant->error_allowed > 0 ? entrant->error_allowed : JUDGE_GROSS;
}

double judge_floor(enum cudal2_dtype dtype, double allowed)
{
    return dtype == CUDAL2_F16 ? HALF_LOST / allowed : 0x1p-120;
}

double judge_scatter(double elements)
{
    return 1 + SCATTER / sqrt(elements);
}

/* The RMS and the largest of errors, `n` of them different ones; the negation takes NaN for wrong. */
static enum verdict judge(double rms, double largest, double n, const double limits[2], char *why)
{
    double rms_limit = limits[0] * judge_scatter(n);
    if (!(rms <= rms_limit)) {
        snprintf(why, CUDAL2_WHY, "RMS error %.3g of the output, allowed is %.3g", rms, rms_limit);
        return VERDICT_WRONG_RESULT;
    }
    if (!(largest <= limits[1])) {
        snprintf(why, CUDAL2_WHY, "largest error %.3g of the output, allowed is %.3g", largest, limits[1]);
        return VERDICT_WRONG_RESULT;
    }
    return VERDICT_OK;
}

enum verdict judge_product(const struct probe_difference *difference, int64_t rows, double allowed, char *why)
{
    const double limits[2] = {allowed, JUDGE_LARGEST_ROW * allowed};
    if (difference->nan_rows > 0) {
        snprintf(why, CUDAL2_WHY, "%" PRIu64 " of %" PRId64 " rows unwritten or NaN", difference->nan_rows, rows);
        return VERDICT_WRONG_RESULT;
    }
    return judge(sqrt(difference->sum_sq_scaled / (double)rows), difference->largest, (double)rows, limits, why);
}

enum verdict judge_band(const struct probe_difference *difference, double elements, double allowed, char *why)
{
    const double limits[2] = {allowed, JUDGE_LARGEST_ELEMENT * allowed};
    if (difference->nan_rows > 0) {
        snprintf(why, CUDAL2_WHY, "%" PRIu64 " of %.0f elements looked at are unwritten or NaN", difference->nan_rows,
                 elements);
        return VERDICT_WRONG_RESULT;
    }
    return judge(sqrt(difference->sum_sq_scaled / elements), difference->largest, elements, limits, why);
}

/* Of a small output elements are drawn more than once. */
static size_t count_different(const struct probe_spot *spots, size_t n)
{
    size_t different = 0;
    for (size_t i = 0; i < n; i++) {
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = spots[j].row == spots[i].row && spots[j].column == spots[i].column;
        different += !again;
    }
    return different;
}

enum verdict judge_spots(const struct probe_spot *spots, const double *found, size_t n, double allowed, char *why)
{
    const double limits[2] = {allowed, JUDGE_LARGEST_ELEMENT * allowed};
    double sum_sq = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (spots[i].mutated) {
            snprintf(why, CUDAL2_WHY, "row %" PRIu64 " of A or column %" PRIu64 " of B is not what it was before",
                     spots[i].row, spots[i].column);
            return VERDICT_INPUT_MUTATED;
        }
        double scaled = fabs(found[i] - spots[i].expected) / spots[i].scale;
        if (!isfinite(scaled)) {
            snprintf(why, CUDAL2_WHY, "row %" PRIu64 " column %" PRIu64 " is %g and should be %.6g", spots[i].row,
                     spots[i].column, found[i], spots[i].expected);
            return VERDICT_WRONG_RESULT;
        }
        sum_sq += scaled * scaled;
        largest = fmax(largest, scaled);
    }
    if (n == 0)
        return VERDICT_OK;
    return judge(sqrt(sum_sq / (double)n), largest, (double)count_different(spots, n), limits, why);
}
