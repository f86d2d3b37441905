/*
 * timed_error.c - adds up the errors of timed outputs and holds their RMS against verification's. Relies on judge.h's
 * scatter. Called by timed.c behind each judged output and by timed_note.c.
 */
#include "measure/timed_error.h"

#include <math.h>
#include <stdio.h>

#include "measure/judge.h"

double timed_error_independent(const struct cudal2_problem *p, double elements)
{
    return fmin(elements, (double)p->k * (double)(p->m < p->n ? p->m : p->n));
}

void timed_error_add(struct timed_counts *counts, const struct probe_difference *difference, double elements)
{
    counts->errors += elements;
    counts->error_sq += difference->sum_sq_scaled;
}

void timed_error_add_spots(struct timed_counts *counts, const struct probe_spot *spots, const double *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        counts->errors++;
        counts->error_sq += pow((found[i] - spots[i].expected) / spots[i].scale, 2);
    }
}

static double rms_of(const struct timed_counts *counts)
{
    return sqrt(counts->error_sq / counts->errors);
}

double timed_error_ratio(const struct entrant *entrant)
{
    const struct timed_counts *counts = &entrant->timed;
    double rms = rms_of(counts);
    return counts->errors > 0 && entrant->error_shown > 0 && rms > 0 && isfinite(rms) ? rms / entrant->error_shown
                                                                                      : NAN;
}

enum verdict timed_error_judge(const struct entrant *entrant, char *why)
{
    const struct timed_counts *counts = &entrant->timed;
    double rms = rms_of(counts), limit = TIMED_ERROR_WRONG * entrant->error_bound;
    bool enough = counts->errors >= TIMED_ERROR_WRONG_LEAST && counts->judged >= TIMED_ERROR_WRONG_LAUNCHES &&
                  entrant->error_shown_of >= TIMED_ERROR_LEAST;
    if (entrant->error_bound <= 0 || !enough || rms <= limit)
        return VERDICT_OK;
    snprintf(why, CUDAL2_WHY, "RMS error %.3g over all that were judged, allowed is %.3g", rms, limit);
    return VERDICT_WRONG_RESULT;
}

bool timed_error_changes(const struct entrant *entrant)
{
    double few = fmin(entrant->timed.errors, entrant->error_shown_of);
    double ratio = timed_error_ratio(entrant), limit = TIMED_ERROR_CHANGES * judge_scatter(few);
    return few >= TIMED_ERROR_LEAST && (ratio > limit || ratio < 1 / limit);
}
