/*
 * borrowed_note.c - collects what a candidate's process has mapped, and the kernels that its graphs were made of.
 * Relies on contender/mapped.h. Called by worker/cell.c.
 */
#include "verify/borrowed_note.h"

#include <string.h>

#include "base/json.h"
#include "contender/mapped.h"

#define MEMBER "borrowed"

void borrowed_add(struct contender_record *record, const char *text)
{
    const cJSON *one;
    cJSON *v = record_verification(record), *list = cJSON_GetObjectItemCaseSensitive(v, MEMBER);
    cJSON_ArrayForEach(one, list) if (cJSON_IsString(one) && strcmp(one->valuestring, text) == 0) return;
    cJSON_AddItemToArray(list ? list : cJSON_AddArrayToObject(v, MEMBER), cJSON_CreateString(text));
}

static void note_mapped(const struct bench *bench, struct entrant *e)
{
    struct mapped found = {.n = 0};
    if (e->contender->ops->mapped == NULL)
        return;
    bench_stage(bench, e, "measure", bench->config->limits.launch_seconds);
    e->contender->ops->mapped(e->contender, &found);
    bench_stage(bench, NULL, "measure", bench->config->limits.launch_seconds);
    for (size_t i = 0; i < found.n; i++)
        borrowed_add(e->record, found.list[i]);
}

void borrowed_note(struct bench *bench)
{
    for (size_t i = 0; i < bench->n_entrants; i++) {
        struct entrant *e = &bench->entrants[i];
        if (!entrant_is_strangers(e) || e->contender->ops->device_only)
            continue;
        note_mapped(bench, e);
        if (e->borrowed[0] != '\0')
            borrowed_add(e->record, e->borrowed);
    }
}
