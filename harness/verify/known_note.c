/*
 * known_note.c - the ratio of times on new inputs to those on known ones, by ranks of pairs. Relies on interval.h.
 * Called by replay_check.c.
 */
#include "verify/known_note.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "stats/interval.h"

#define MEMBER "known"

bool known_note_wanted(const struct entrant *entrant)
{
    const char *asked = entrant->contender->asked;
    return entrant->record->candidate && asked && text_is_contender_file(asked) &&
           !cJSON_GetObjectItemCaseSensitive(entrant->record->verification, MEMBER);
}

void known_add(struct known_times *times, double fresh_ns, double known_ns)
{
    if (times->n < KNOWN_PAIRS && fresh_ns > 0 && known_ns > 0)
        times->log_ratio[times->n++] = log(fresh_ns / known_ns);
}

/* Three digits tell a ratio. */
static void add(cJSON *list, double log_ratio)
{
    cJSON_AddItemToArray(list, cJSON_CreateNumber(round(1000 * exp(log_ratio)) / 1000));
}

void known_note(struct entrant *entrant, const struct known_times *times)
{
    double sorted[KNOWN_PAIRS];
    size_t rank = stats_median_rank(times->n);
    cJSON **v = &entrant->record->verification;
    *v = *v ? *v : cJSON_CreateObject();
    if (rank == 0) {
        cJSON_AddNullToObject(*v, MEMBER);
        return;
    }
    memcpy(sorted, times->log_ratio, times->n * sizeof *sorted);
    stats_sort(sorted, times->n);
    cJSON *list = cJSON_AddArrayToObject(*v, MEMBER);
    add(list, stats_median(sorted, times->n));
    add(list, sorted[rank - 1]);
    add(list, sorted[times->n - rank]);
}
