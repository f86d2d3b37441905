/*
 * known_note.c - the ratio of times on new inputs to those on known ones, by ranks of pairs. Relies on interval.h.
 * Called by replay_check.c.
 */
#include "verify/known_note.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "stats/interval.h"

#define MEMBER "known"

/* 22 contenders on an H200, honest ones and others that remember nothing, were within 0.8%, and no interval's end over
 * 1.5%. */
#define REMEMBERS_RATIO 1.10
#define REMEMBERS_NS 1e3

bool known_note_wanted(const struct entrant *entrant)
{
    return entrant_is_strangers(entrant) && !cJSON_GetObjectItemCaseSensitive(entrant->record->verification, MEMBER);
}

void known_add(struct known_times *times, double fresh_ns, double known_ns)
{
    if (times->n == KNOWN_AGAIN || !(fresh_ns > 0) || !(known_ns > 0))
        return;
    times->more_ns[times->n] = fresh_ns - known_ns;
    times->log_ratio[times->n++] = log(fresh_ns / known_ns);
}

/* Of the median's interval. Below six values -infinity. */
static double lower_end(const double *values, size_t n)
{
    double sorted[KNOWN_AGAIN];
    size_t rank = stats_median_rank(n);
    memcpy(sorted, values, n * sizeof *sorted);
    stats_sort(sorted, n);
    return rank > 0 ? sorted[rank - 1] : -INFINITY;
}

bool known_remembers(const struct known_times *times)
{
    return lower_end(times->log_ratio, times->n) > log(REMEMBERS_RATIO) &&
           lower_end(times->more_ns, times->n) >= REMEMBERS_NS;
}

double known_ratio(const struct known_times *times)
{
    return exp(stats_median(times->log_ratio, times->n));
}

/* Three digits tell a ratio. */
static void add(cJSON *list, double log_ratio)
{
    cJSON_AddItemToArray(list, cJSON_CreateNumber(round(1000 * exp(log_ratio)) / 1000));
}

void known_note(struct entrant *entrant, const struct known_times *times)
{
    double sorted[KNOWN_AGAIN];
    size_t rank = stats_median_rank(times->n);
    cJSON *v = record_verification(entrant->record);
    if (rank == 0) {
        cJSON_AddNullToObject(v, MEMBER);
        return;
    }
    memcpy(sorted, times->log_ratio, times->n * sizeof *sorted);
    stats_sort(sorted, times->n);
    cJSON *list = cJSON_AddArrayToObject(v, MEMBER);
    add(list, stats_median(sorted, times->n));
    add(list, sorted[rank - 1]);
    add(list, sorted[times->n - rank]);
}
