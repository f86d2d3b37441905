/*
 * named.c - who was named on the command line or in the config and measured nowhere, with the reason that their
 * records give. Called by ledger.c for the verdict of a run.
 */
#include "run/named.h"

#include <stdio.h>
#include <string.h>

static struct named_tally *find(const struct named *named, const char *name)
{
    for (size_t i = 0; i < named->n; i++)
        if (strcmp(named->list[i].name, name) == 0)
            return (struct named_tally *)&named->list[i];
    return NULL;
}

static struct named_tally *find_or_add(struct named *named, const char *name)
{
    struct named_tally *tally = find(named, name);
    if (tally || named->n == NAMED_MAX)
        return tally;
    tally = &named->list[named->n++];
    *tally = (struct named_tally){0};
    snprintf(tally->name, sizeof tally->name, "%s", name);
    return tally;
}

/* How much a status says about why somebody was not measured; what is none of these is a fault, and says most. */
static int weight(enum verdict verdict)
{
    static const enum verdict slight[] = {VERDICT_OK,      VERDICT_UNAVAILABLE, VERDICT_UNSUPPORTED,
                                          VERDICT_SKIPPED, VERDICT_UNKNOWN,     VERDICT_LEFT_OUT};
    int n = sizeof slight / sizeof *slight;
    for (int i = 0; i < n; i++)
        if (slight[i] == verdict)
            return i;
    return n;
}

static bool is_fault(enum verdict verdict)
{
    return weight(verdict) >= weight(VERDICT_UNKNOWN);
}

void named_count(struct named *named, const struct cell_record *record)
{
    for (size_t i = 0; i < record->n_contenders; i++) {
        const struct contender_record *c = &record->contenders[i];
        char root[RECORD_NAME_MAX];
        bool ok = c->verdict == VERDICT_OK, placed = strchr(c->name, '+') != NULL;
        snprintf(root, sizeof root, "%.*s", (int)strcspn(c->name, "+"), c->name);
        struct named_tally *tally = c->copy_of[0] ? NULL : find_or_add(named, root);
        if (!tally)
            continue;
        tally->measured += ok;
        if (ok || placed || weight(c->verdict) <= weight(tally->verdict))
            continue;
        tally->verdict = c->verdict;
        snprintf(tally->word, sizeof tally->word, "%s", record_verdict(c));
        snprintf(tally->stage, sizeof tally->stage, "%s", c->stage);
        snprintf(tally->reason, sizeof tally->reason, "%s", c->reason);
    }
}

/* Of those that a name brought, the one that tells best why it is missed; NULL when it is not. */
static const struct named_tally *find_missed(const struct named *named, const cJSON *brought, bool optional)
{
    const struct named_tally *worst = NULL;
    const cJSON *one;
    bool measured = false;
    cJSON_ArrayForEach(one, brought)
    {
        const struct named_tally *tally = cJSON_IsString(one) ? find(named, one->valuestring) : NULL;
        if (!tally)
            continue;
        measured |= tally->measured > 0;
        if (tally->measured == 0 && (!worst || weight(tally->verdict) > weight(worst->verdict)))
            worst = tally;
    }
    return worst && (is_fault(worst->verdict) || (!measured && !optional)) ? worst : NULL;
}

/* "a/mine.so (mine-nn): crash in verify: killed by signal 11" */
static void describe(const char *name, const struct named_tally *why, char *out, size_t capacity)
{
    bool same = strcmp(name, why->name) == 0;
    snprintf(out, capacity, "%.200s%s%s%s was measured in no cell: %s%s%s%s%s", name, same ? "" : " (",
             same ? "" : why->name, same ? "" : ")", why->word[0] ? why->word : "it was not tried",
             is_fault(why->verdict) && why->stage[0] ? " in " : "", is_fault(why->verdict) ? why->stage : "",
             why->reason[0] ? ": " : "", why->reason);
}

int named_verdict(const struct named *named, const cJSON *origins, const struct config *config, struct error *err)
{
    char first[600] = "";
    size_t missed = 0;
    const cJSON *brought;
    cJSON_ArrayForEach(brought, origins)
    {
        const struct named_tally *why = find_missed(named, brought, config_is_optional(config, brought->string));
        if (why && missed++ == 0)
            describe(brought->string, why, first, sizeof first);
    }
    if (missed == 0)
        return 0;
    if (missed == 1)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "%s", first);
    return error_set(err, EXIT_CODE_INCOMPARABLE, "%s; and %zu more of those named; the table says why", first,
                     missed - 1);
}
