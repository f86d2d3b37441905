/*
 * verified.c - remembers on disk that a baseline or a device-only module passed, under everything that its verdict
 * depends on. Relies on the cache of base/file.h. Called by stage.c; plugins are never remembered.
 */
#include "verify/verified.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"

#define KIND "verified"
#define RULES "verified 1" /* a new number when what passing means has changed */
#define MAX_BYTES 4096

static bool is_remembered(const struct bench *bench, const struct entrant *entrant)
{
    bool host_code = entrant->contender->is.launch != NULL;
    return bench->config->verify_cache && (entrant->contender->role == ROLE_BASELINE || !host_code);
}

static void make_key(const struct bench *bench, const struct entrant *entrant, char hex[DIGEST_HEX])
{
    char problem[PROBLEM_KEY_MAX], text[PROBLEM_KEY_MAX + 80];
    struct digest d;
    problem_key(&bench->problem, problem);
    snprintf(text, sizeof text, "%s %llu %u %zu", problem, (unsigned long long)bench->config->workspace_bytes,
             bench->config->verify_seeds, bench->sets_each);
    digest_start(&d);
    digest_add_string(&d, RULES);
    digest_add_string(&d, bench_identity(bench, entrant->contender));
    digest_add_string(&d, entrant->contender->name);
    digest_add_string(&d, entrant->variant);
    digest_add_string(&d, text);
    digest_finish(&d, hex);
}

static double number_at(const cJSON *array, int index)
{
    const cJSON *item = cJSON_GetArrayItem(array, index);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* What was written by verified_remember; anything else counts as nothing. */
static cJSON *parse(const char *bytes, size_t length)
{
    cJSON *tree = NULL;
    struct error ignored;
    if (json_parse(bytes, length, MAX_BYTES, KIND, &tree, &ignored) != 0)
        return NULL;
    const cJSON *verification = cJSON_GetObjectItemCaseSensitive(tree, "verification");
    const cJSON *deviation = cJSON_GetObjectItemCaseSensitive(tree, "deviation");
    if (cJSON_IsObject(verification) && cJSON_GetArraySize(deviation) >= 2 && !isnan(number_at(deviation, 1)))
        return tree;
    cJSON_Delete(tree);
    return NULL;
}

static cJSON *read_entry(const struct bench *bench, const struct entrant *entrant)
{
    char key[DIGEST_HEX];
    char *bytes = NULL;
    size_t length = 0;
    bool found = false;
    struct error ignored;
    make_key(bench, entrant, key);
    if (file_cache_get(KIND, key, &bytes, &length, &found, &ignored) != 0 || !found)
        return NULL;
    cJSON *tree = parse(bytes, length);
    free(bytes);
    return tree;
}

bool verified_recall(const struct bench *bench, struct entrant *entrant, struct deviation *out)
{
    cJSON *tree = is_remembered(bench, entrant) ? read_entry(bench, entrant) : NULL;
    if (tree == NULL)
        return false;
    struct contender_record *r = entrant->record;
    cJSON_Delete(r->verification);
    cJSON_Delete(r->deviation);
    r->verification = cJSON_DetachItemFromObjectCaseSensitive(tree, "verification");
    r->deviation = cJSON_DetachItemFromObjectCaseSensitive(tree, "deviation");
    cJSON_AddBoolToObject(r->verification, "cached", true);
    *out = (struct deviation){.measured = true,
                              .largest = number_at(r->deviation, 0),
                              .rms = number_at(r->deviation, 1),
                              .profile = number_at(r->deviation, cJSON_GetArraySize(r->deviation) > 2 ? 2 : 1)};
    cJSON_Delete(tree);
    return true;
}

void verified_remember(const struct bench *bench, const struct entrant *entrant, const struct deviation *deviation)
{
    char key[DIGEST_HEX];
    struct error ignored;
    if (!is_remembered(bench, entrant) || !deviation->measured || !isfinite(deviation->rms))
        return;
    cJSON *tree = cJSON_CreateObject();
    cJSON_AddItemToObject(tree, "verification", cJSON_Duplicate(entrant->record->verification, true));
    cJSON_AddItemToObject(tree, "deviation", cJSON_Duplicate(entrant->record->deviation, true));
    char *text = json_print(tree, false);
    make_key(bench, entrant, key);
    if (text != NULL)
        file_cache_put(KIND, key, text, strlen(text), &ignored);
    free(text);
    cJSON_Delete(tree);
}
