/* timed_note.c - writes how many of a cell's timed launches were judged, and how, into each entrant's record. Relies on
 * the counts that timed.c keeps. Called by worker/cell.c once a cell. */
#include "measure/timed.h"

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
    }
}
