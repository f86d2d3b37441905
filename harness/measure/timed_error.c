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

/* The fewer elements of the two. */
static double fewest(const struct entrant *entrant)
{
    return fmin(entrant->timed.errors, entrant->error_shown_of);
}

/* What all together may err by. */
static double allowed(const struct entrant *entrant)
{
    double most = TIMED_ERROR_WRONG * entrant->error_bound;
    double shown = judge_scatter(fewest(entrant)) * entrant->error_shown;
    double other = fmax(TIMED_ERROR_OTHER * shown, TIMED_ERROR_OTHER_SHARE * entrant->error_bound);
    if (entrant->timed.alone >= TIMED_ERROR_WRONG_LAUNCHES)
        other = fmin(other, TIMED_ERROR_ALONE * shown);
    return shown > 0 ? fmin(most, other) : most;
}

/* A row that is cut short is judged behind a launch of its own, and only segments have them. */
static bool enough_launches(const struct timed_counts *counts)
{
    unsigned least = counts->rows > 0 ? TIMED_ERROR_WRONG_SEGMENTS : TIMED_ERROR_WRONG_LAUNCHES;
    return counts->judged + counts->rows >= least;
}

enum verdict timed_error_judge(const struct entrant *entrant, char *why)
{
    const struct timed_counts *counts = &entrant->timed;
    double rms = rms_of(counts), limit = allowed(entrant);
    bool enough = counts->errors >= TIMED_ERROR_WRONG_LEAST && enough_launches(counts) &&
                  entrant->error_shown_of >= TIMED_ERROR_LEAST;
    if (entrant->error_bound <= 0 || !enough || rms <= limit)
        return VERDICT_OK;
    if (limit < TIMED_ERROR_WRONG * entrant->error_bound)
        snprintf(why, CUDAL2_WHY,
                 "RMS error %.3g over all that were judged, allowed is %.3g: it was %.3g when verified", rms, limit,
                 entrant->error_shown);
    else
        snprintf(why, CUDAL2_WHY, "RMS error %.3g over all that were judged, allowed is %.3g", rms, limit);
    return VERDICT_WRONG_RESULT;
}

bool timed_error_changes(const struct entrant *entrant)
{
    double few = fewest(entrant);
    double ratio = timed_error_ratio(entrant), limit = TIMED_ERROR_CHANGES * judge_scatter(few);
    return few >= TIMED_ERROR_LEAST && (ratio > limit || ratio < 1 / limit);
}
