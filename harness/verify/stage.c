#include "verify/stage.h"

#include <stdio.h>
#include <string.h>

#include "verify/exact.h"

/* The next variant to try; NULL when there is none. An A/A copy has no ranking of its own: it follows its original,
 * which comes before it and may just have fallen back from the same variant. */
static const char *next_variant(const struct bench *bench, const struct entrant *entrant, struct race_result *race)
{
    if (race->next < race->n)
        return race->ranked[race->next++].key;
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        bool original = strcmp(e->record->name, entrant->record->copy_of) == 0;
        if (original && e->alive && strcmp(e->variant, entrant->variant) != 0)
            return e->variant;
    }
    return NULL;
}

/* True when another variant took over and must be checked from the first seed. */
static bool fall_back(struct bench *bench, struct entrant *entrant, struct race_result *race, const char *verdict,
                      const char *reason)
{
    if (!entrant->has_variants) {
        entrant_fail(bench, entrant, verdict, "verify", reason);
        return false;
    }
    entrant_reject_variant(entrant, entrant->variant, reason);
    entrant_teardown(bench, entrant);
    const char *next = next_variant(bench, entrant, race);
    if (next == NULL) {
        entrant_fail(bench, entrant, verdict, "verify", reason);
        return false;
    }
    snprintf(entrant->variant, sizeof entrant->variant, "%s", next);
    return entrant_setup(bench, entrant);
}

static int check_seed(struct bench *bench, struct race_result *races, bool *wanted, uint64_t seed, struct error *err)
{
    struct exact_case exact;
    int code = exact_prepare(bench, seed, &exact, err);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        char why[CUDAL2_WHY] = "";
        const char *verdict = NULL;
        if (!e->alive || !wanted[i])
            continue;
        code = exact_check(bench, e, &exact, &verdict, why, err);
        if (code != 0)
            code = entrant_fault(bench, e, "verify", err);
        else if (verdict)
            wanted[i] = fall_back(bench, e, &races[e->shares_ranking > 0 ? e->shares_ranking - 1 : i], verdict, why);
    }
    exact_release(bench, &exact);
    return code;
}

static bool any(const bool *flags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (flags[i])
            return true;
    return false;
}

/* Only a winner that passed may skip the race of the next run; one that was cached and failed would do so for ever. */
static void settle_cache(const struct bench *bench, const struct entrant *entrant)
{
    bool cached = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entrant->record->tuning, "cached"));
    if (entrant->alive && entrant->has_variants)
        race_remember(bench, entrant);
    else if (cached)
        race_forget(bench, entrant);
}

int verify_entrants(struct bench *bench, struct race_result *races, struct error *err)
{
    bool wanted[RECORD_MAX_CONTENDERS] = {false};
    char before[RECORD_MAX_CONTENDERS][sizeof bench->entrants[0].variant];
    int code = 0;
    for (size_t i = 0; i < bench->n_entrants; i++)
        wanted[i] = bench->entrants[i].alive;
    /* Each pass checks the wanted entrants on every seed; those whose variant changed on the way are wanted again. */
    for (uint64_t pass = 0; any(wanted, bench->n_entrants) && code == 0; pass++) {
        for (size_t i = 0; i < bench->n_entrants; i++)
            memcpy(before[i], bench->entrants[i].variant, sizeof before[i]);
        for (unsigned s = 0; s < bench->config->verify_seeds && code == 0; s++)
            code = check_seed(bench, races, wanted, random_derive(bench->seed, "verify", pass * 1000 + s) >> 8, err);
        for (size_t i = 0; i < bench->n_entrants; i++)
            wanted[i] = bench->entrants[i].alive && strcmp(before[i], bench->entrants[i].variant) != 0;
    }
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++)
        settle_cache(bench, &bench->entrants[i]);
    return code;
}
