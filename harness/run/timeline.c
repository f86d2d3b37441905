/*
 * timeline.c - adds up what the slots of a crew spent in each state, part by part, for the journal's last line and for
 * a note. Relies on slot.spent, which crew.c counts. Called by supervisor.c.
 */
#include "run/timeline.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static const struct {
    const char *name;
    enum slot_state state;
} spendings[] = {{"start", SLOT_STARTING}, {"work", SLOT_BUSY}, {"idle", SLOT_IDLE}, {"quit", SLOT_QUITTING}};
#define N_SPENDINGS (sizeof spendings / sizeof spendings[0])

/* To the millisecond. */
static double seconds_between(uint64_t from, uint64_t to)
{
    return (double)((to - from) / 1000000u) / 1000;
}

static double rounded(double seconds)
{
    return (double)(long)(seconds * 1000 + 0.5) / 1000;
}

void timeline_begin(struct timeline *t)
{
    *t = (struct timeline){.began_ns = clock_now_ns()};
    t->marked_ns = t->began_ns;
}

void timeline_mark(struct timeline *t)
{
    t->marked_ns = clock_now_ns();
}

void timeline_add(struct timeline *t, const char *name, struct crew *crew)
{
    cJSON *part = cJSON_CreateObject();
    if (!t->parts)
        t->parts = cJSON_CreateArray();
    cJSON_AddStringToObject(part, "part", name);
    cJSON_AddNumberToObject(part, "seconds", seconds_between(t->marked_ns, clock_now_ns()));
    cJSON *workers = cJSON_AddArrayToObject(part, "workers");
    for (int i = 0; i < crew->n; i++) {
        cJSON *worker = cJSON_CreateObject();
        cJSON_AddStringToObject(worker, "device", crew->slots[i].device);
        for (size_t s = 0; s < N_SPENDINGS; s++)
            cJSON_AddNumberToObject(worker, spendings[s].name, rounded(crew->slots[i].spent[spendings[s].state]));
        cJSON_AddItemToArray(workers, worker);
        memset(crew->slots[i].spent, 0, sizeof crew->slots[i].spent);
    }
    cJSON_AddItemToArray(t->parts, part);
    timeline_mark(t);
}

cJSON *timeline_finish(struct timeline *t)
{
    cJSON *all = t->parts ? cJSON_CreateObject() : NULL;
    if (!all)
        return NULL;
    cJSON_AddNumberToObject(all, "seconds", seconds_between(t->began_ns, clock_now_ns()));
    cJSON_AddItemToObject(all, "parts", t->parts);
    t->parts = NULL;
    return all;
}

/* ---- a line ---- */

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(node) ? node->valuedouble : 0;
}

static double mean_of(const cJSON *part, const char *name)
{
    const cJSON *workers = cJSON_GetObjectItemCaseSensitive(part, "workers"), *worker;
    double sum = 0;
    int n = cJSON_GetArraySize(workers);
    cJSON_ArrayForEach(worker, workers) sum += number_of(worker, name);
    return n > 0 ? sum / n : 0;
}

/* Adds to the line as far as there is room. */
#define SAY(...)                                                                                                       \
    do {                                                                                                               \
        size_t used_ = strlen(line);                                                                                   \
        snprintf(line + used_, capacity - used_, __VA_ARGS__);                                                         \
    } while (0)

void timeline_say(const cJSON *finished, char *line, size_t capacity)
{
    const cJSON *parts = cJSON_GetObjectItemCaseSensitive(finished, "parts"), *part;
    snprintf(line, capacity, "%.1f s", number_of(finished, "seconds"));
    cJSON_ArrayForEach(part, parts)
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(part, "part");
        SAY("%s %s %.1f (", part == parts->child ? ":" : ",", cJSON_IsString(name) ? name->valuestring : "",
            number_of(part, "seconds"));
        for (size_t s = 0; s < N_SPENDINGS; s++)
            SAY("%s%s %.1f", s > 0 ? ", " : "", spendings[s].name, mean_of(part, spendings[s].name));
        SAY(")");
    }
}
