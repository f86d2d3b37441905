/* timed_note.c - writes how many of a cell's timed launches were judged, and how, into each entrant's record. Relies on
 * the counts that timed.c keeps. Called by worker/cell.c once a cell. */
#include "measure/timed.h"

#include <math.h>

#include "measure/timed_error.h"

/* Two digits tell a change. */
static double round_ratio(double ratio)
{
    return round(100 * ratio) / 100;
}

static void note_error(const struct entrant *e, cJSON *timed)
{
    double ratio = timed_error_ratio(e);
    if (isfinite(ratio))
        json_put_number(timed, "error", round_ratio(ratio));
    if (timed_error_changes(e))
        cJSON_AddBoolToObject(timed, "error_changes", true);
}

void timed_note(struct bench *bench)
{
    for (size_t i = 0; i < bench->n_entrants; i++) {
        struct entrant *e = &bench->entrants[i];
        if (e->timed.launches == 0)
            continue;
        if (e->record->verification == NULL)
            e->record->verification = cJSON_CreateObject();
        cJSON *timed = cJSON_AddObjectToObject(e->record->verification, "timed");
        json_put_number(timed, "launches", (double)e->timed.launches);
        json_put_number(timed, "judged", (double)e->timed.judged);
        json_put_number(timed, "projections", (double)e->timed.products);
        json_put_number(timed, "bands", (double)e->timed.bands);
        json_put_number(timed, "rows", (double)e->timed.rows);
        note_error(e, timed);
    }
}
