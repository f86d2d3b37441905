/*
 * offenders.c - counts who cost a worker, in how many cells, and adds exclusions to a request. Relies on records only,
 * so a resumed run counts on. Called by measuring.c and ledger.c.
 */
#include "run/offenders.h"

#include <stdio.h>
#include <string.h>

#include "model/verdict.h"

static const struct {
    enum verdict verdict;
    const char *plural;
} offences[OFFENCE_COUNT] = {
    [OFFENCE_HANG] = {VERDICT_HANG, "hangs"},
    [OFFENCE_CRASH] = {VERDICT_CRASH, "crashes"},
    [OFFENCE_EXIT] = {VERDICT_EARLY_EXIT, "early exits"},
    [OFFENCE_DEVICE] = {VERDICT_CUDA_ERROR, "lost devices"},
    [OFFENCE_TAMPER] = {VERDICT_TAMPER_SUSPECTED, "suspected tamperings"},
    [OFFENCE_KILL] = {VERDICT_KILLED, "kills from outside"},
    [OFFENCE_STATE] = {VERDICT_DEVICE_STATE_CHANGED, "changed states"},
};

static int offence_of(enum verdict verdict)
{
    for (int i = 0; i < OFFENCE_COUNT; i++)
        if (offences[i].verdict == verdict)
            return i;
    return -1;
}

/* The entry of this name, made if need be; NULL when the list is full. */
static struct offender *find(struct offenders *o, const char *name)
{
    for (size_t i = 0; i < o->n; i++)
        if (strcmp(o->list[i].name, name) == 0)
            return &o->list[i];
    if (o->n == RECORD_MAX_CONTENDERS)
        return NULL;
    struct offender *new = &o->list[o->n++];
    snprintf(new->name, sizeof new->name, "%s", name);
    return new;
}

static bool took_part(enum verdict v)
{
    return v != VERDICT_UNAVAILABLE && v != VERDICT_UNSUPPORTED && v != VERDICT_LEFT_OUT && v != VERDICT_SKIPPED;
}

void offenders_count(struct offenders *o, const struct cell_record *record)
{
    for (size_t i = 0; i < record->n_contenders; i++) {
        enum verdict verdict = record->contenders[i].verdict;
        struct offender *offender = took_part(verdict) ? find(o, record->contenders[i].name) : NULL;
        int offence = offence_of(verdict);
        if (!offender)
            continue;
        offender->tried++;
        if (offence >= 0)
            offender->cells[offence]++;
    }
}

static unsigned total(const struct offender *offender)
{
    unsigned sum = 0;
    for (int i = 0; i < OFFENCE_COUNT; i++)
        sum += offender->cells[i];
    return sum;
}

static const char *kind(const struct offender *offender)
{
    for (int i = 0; i < OFFENCE_COUNT; i++)
        if (offender->cells[i] == total(offender))
            return offences[i].plural;
    return "lost workers"; /* of several kinds */
}

static bool is_out(const struct offender *offender)
{
    unsigned cells = total(offender);
    return cells >= OFFENDER_CELLS &&
           (offender->cells[OFFENCE_HANG] >= OFFENDER_CELLS || cells * OFFENDER_SHARE >= offender->tried);
}

void offenders_exclude(const struct offenders *o, struct cell_request *request)
{
    for (size_t i = 0; i < o->n && request->n_exclusions < CELL_MAX_EXCLUSIONS; i++) {
        const struct offender *offender = &o->list[i];
        if (!is_out(offender))
            continue;
        struct exclusion *e = &request->exclusions[request->n_exclusions++];
        snprintf(e->name, sizeof e->name, "%s", offender->name);
        e->verdict = VERDICT_LEFT_OUT;
        snprintf(e->stage, sizeof e->stage, "probe");
        snprintf(e->reason, sizeof e->reason, "left out after %u %s", total(offender), kind(offender));
    }
    for (size_t i = 0; i < o->n_variants && request->n_exclusions < CELL_MAX_EXCLUSIONS; i++)
        request->exclusions[request->n_exclusions++] = o->variants[i];
}

static bool is_excluded(const struct cell_request *request, const struct exclusion *blamed)
{
    const char *tag = strchr(blamed->stage, ':');
    for (size_t i = 0; i < request->n_exclusions; i++) {
        const struct exclusion *e = &request->exclusions[i];
        const char *theirs = strchr(e->stage, ':');
        if (strcmp(e->name, blamed->name) == 0 && (!theirs || (tag && strcmp(tag, theirs) == 0)))
            return true;
    }
    return false;
}

bool offenders_blame(struct offenders *o, struct cell_request *request, const struct exclusion *blamed)
{
    if (is_excluded(request, blamed) || request->n_exclusions == CELL_MAX_EXCLUSIONS)
        return false;
    struct exclusion *e = &request->exclusions[request->n_exclusions++];
    *e = *blamed;
    char *tag = strchr(e->stage, ':');
    if (tag && request->n_exclusions == CELL_MAX_EXCLUSIONS)
        *tag = '\0'; /* in the last place the contender answers for all of its variants */
    else if (tag && o->n_variants < OFFENDER_MAX_VARIANTS)
        o->variants[o->n_variants++] = *blamed;
    return true;
}
