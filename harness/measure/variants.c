/*
 * variants.c - where a contender's racing variants come from: the search, the tuning table, the cached winner, or its
 * own list, in that order. Relies on contender/tuned.h and the disk cache. Called by race.c and entrants.c.
 */
#include "measure/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "contender/module.h"
#include "measure/choose.h"

static void say_source(struct entrant *entrant, const char *source)
{
    cJSON_AddStringToObject(entrant->record->tuning, "source", source);
}

/* ---- the winner of an earlier race ---- */

static void cache_key(const struct bench *bench, const struct entrant *entrant, char hex[DIGEST_HEX])
{
    char text[192];
    char problem[PROBLEM_KEY_MAX];
    struct digest d;
    problem_key(&bench->problem, problem);
    snprintf(text, sizeof text, "%s %s %s %s %s %llu %d", problem, mode_names[bench->mode],
             timing_names[bench->headline], cache_state_names[bench->config->cache[bench->mode]],
             overlap_names[timing_table[bench->headline].overlaps], (unsigned long long)bench->config->workspace_bytes,
             (int)bench->config->protocol);
    digest_start(&d);
    digest_add_string(&d, bench_identity(bench, entrant->contender));
    digest_add_string(&d, entrant->contender->name);
    digest_add_string(&d, text);
    if (bench->config->race_seconds > 0) { /* another limit, another race */
        snprintf(text, sizeof text, "%.9g s", bench->config->race_seconds);
        digest_add_string(&d, text);
    }
    if (bench->config->choice == CHOICE_PORTFOLIO)
        digest_add_string(&d, "portfolio");
    /* What a candidate's variants were chosen from: without a table, or with another, it is another choice. */
    bool asks = bench->tuned != NULL && entrant->contender->role == ROLE_CANDIDATE;
    for (size_t i = 0; asks && i < bench->tuned->n; i++)
        digest_add_string(&d, bench->tuned->tables[i]->hash);
    digest_finish(&d, hex);
}

static bool has_source(const struct entrant *entrant)
{
    return cJSON_GetObjectItemCaseSensitive(entrant->record->tuning, "source") != NULL;
}

/* What a search or a table's own entry gave is known without a race of ours. */
static bool was_given(const struct entrant *entrant)
{
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(entrant->record->tuning, "source");
    return cJSON_IsString(source) &&
           (strcmp(source->valuestring, "search") == 0 || strcmp(source->valuestring, "tuned") == 0);
}

/* An entry is "<how many variants it beat, itself included> <its key>": a later run says how many there were. */
void race_remember(const struct bench *bench, const struct entrant *entrant)
{
    char key[DIGEST_HEX];
    char entry[sizeof entrant->variant + 16];
    const cJSON *variants = cJSON_GetObjectItemCaseSensitive(entrant->record->tuning, "variants");
    struct error ignored; /* a cache that cannot be written costs time on the next run, nothing else */
    if (!cJSON_IsNumber(variants) || was_given(entrant) || !choice_races(bench->config->choice))
        return; /* a copy: its original is remembered */
    cache_key(bench, entrant, key);
    int length = snprintf(entry, sizeof entry, "%d %s", variants->valueint, entrant->variant);
    file_cache_put("winner", key, entry, (size_t)length, &ignored);
}

/* An empty entry counts as none. */
void race_forget(const struct bench *bench, const struct entrant *entrant)
{
    char key[DIGEST_HEX];
    struct error ignored;
    cache_key(bench, entrant, key);
    file_cache_put("winner", key, "", 0, &ignored);
}

/* Reads an entry; how many variants there were, or 0 when it is not one (another version's, a forgotten winner's). */
static int read_entry(const char *bytes, size_t length, struct cudal2_variant *out)
{
    char entry[sizeof out->key + 16] = "";
    int variants = 0, at = 0;
    if (length >= sizeof entry)
        return 0;
    memcpy(entry, bytes, length);
    if (sscanf(entry, "%d %n", &variants, &at) != 1 || variants < 1 || entry[at] == '\0' ||
        strlen(entry + at) >= sizeof out->key)
        return 0;
    strcpy(out->key, entry + at);
    return variants;
}

/* The remembered winner, and how many variants it was chosen from; 0 when none is remembered. */
static int recall(const struct bench *bench, const struct entrant *entrant, struct cudal2_variant *out)
{
    char key[DIGEST_HEX];
    char *bytes = NULL;
    size_t length = 0;
    bool found = false;
    struct error ignored;
    cache_key(bench, entrant, key);
    if (file_cache_get("winner", key, &bytes, &length, &found, &ignored) != 0)
        found = false;
    int variants = found ? read_entry(bytes, length, out) : 0;
    free(bytes);
    return variants;
}

/* ---- what the tuner asks for ---- */

/* The contender's own entry; any other candidate's is "*". */
static const cJSON *asked(const struct bench *bench, const struct entrant *entrant)
{
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(bench->search, entrant->contender->name);
    bool other = !own && entrant->contender->role == ROLE_CANDIDATE;
    return other ? cJSON_GetObjectItemCaseSensitive(bench->search, "*") : own;
}

bool variants_searched(const struct bench *bench, const struct entrant *entrant)
{
    return asked(bench, entrant) != NULL;
}

static int take_listed(const cJSON *list, struct cudal2_variant *out)
{
    int n = 0;
    const cJSON *key;
    cJSON_ArrayForEach(key, list)
    {
        if (n < RACE_MAX_VARIANTS && cJSON_IsString(key))
            snprintf(out[n++].key, sizeof out->key, "%s", key->valuestring);
    }
    return n;
}

static int list_own(struct bench *bench, struct entrant *entrant, struct cudal2_variant *out, char *why)
{
    struct cudal2_setup setup = bench_setup(bench, entrant, NULL);
    return entrant->contender->ops->list_variants(entrant->contender, &setup, out, RACE_MAX_VARIANTS, why);
}

/* Leaves out those that cost an earlier try of this cell its worker, and says so. */
static int drop_skipped(const struct bench *bench, struct entrant *entrant, struct cudal2_variant *variants, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        char tag[VARIANT_TAG_MAX];
        variant_tag(variants[i].key, tag);
        const struct skipped_variant *s = bench_skipped(bench, entrant, tag);
        if (s)
            entrant_reject_variant(entrant, variants[i].key, s->reason);
        else if (kept++ != i)
            variants[kept - 1] = variants[i];
    }
    return kept;
}

static int gather_search(struct bench *bench, struct entrant *entrant, struct cudal2_variant *out, char *why)
{
    const cJSON *list = asked(bench, entrant);
    int n = cJSON_IsArray(list) ? take_listed(list, out) : list_own(bench, entrant, out, why);
    say_source(entrant, "search");
    return n > 0 ? drop_skipped(bench, entrant, out, n) : n;
}

/* ---- the tuning table ---- */

static bool known(const struct cudal2_variant *variants, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(variants[i].key, key) == 0)
            return true;
    return false;
}

/* The winner of the problem's own entry, and a runner-up that is nearly as good. Both must fit. */
static size_t gather_exact(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                           const struct tuned_entry *entry, struct cudal2_variant *out)
{
    const char *keys[2];
    size_t n_keys = tuned_keys(table, entry, keys), n = 0;
    for (size_t i = 0; i < n_keys; i++)
        if (!known(out, n, keys[i]) && choose_fits(bench, entrant, keys[i]))
            snprintf(out[n++].key, sizeof out->key, "%s", keys[i]);
    if (n == 0)
        return 0;
    say_source(entrant, "tuned");
    cJSON_AddStringToObject(entrant->record->tuning, "table", table->name);
    return n;
}

/* A table of the other mode knows what the kernels do, not what they do from idle: what the contender lists itself
 * races beside its choice. */
static size_t add_own(struct bench *bench, struct entrant *entrant, struct cudal2_variant *out, size_t n)
{
    struct cudal2_variant *own = calloc(RACE_MAX_VARIANTS, sizeof *own);
    char why[CUDAL2_WHY];
    size_t before = n;
    int n_own = own ? list_own(bench, entrant, own, why) : 0;
    for (int i = 0; i < n_own && n < RACE_MAX_VARIANTS; i++)
        if (!known(out, n, own[i].key))
            out[n++] = own[i];
    json_put_number(entrant->record->tuning, "own", (double)(n - before));
    free(own);
    return n;
}

/* What the table has of this very problem; 0: nothing that fits. */
static size_t gather_tuned(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                           struct cudal2_variant *out)
{
    const struct tuned_query query = {entrant->contender->family, entrant->contender->is.layout, bench->problem};
    const struct tuned_entry *entry = table ? tuned_exact(table, &query) : NULL;
    size_t n = entry ? gather_exact(bench, entrant, table, entry, out) : 0;
    if (n > 0 && bench->config->choice == CHOICE_ZERO)
        return 1;
    return n > 0 && table->mode != bench->mode ? add_own(bench, entrant, out, n) : n;
}

static const struct tuned_table *table_for(const struct bench *bench, const struct entrant *entrant)
{
    const struct tuned_query query = {entrant->contender->family, entrant->contender->is.layout, bench->problem};
    return bench->tuned ? tuned_tables_find(bench->tuned, &query, bench->mode) : NULL;
}

/* What no table has of a candidate: what was chosen for it before, else a choice. *remembered: from how many that was.
 */
static size_t gather_unknown(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                             int *remembered, struct cudal2_variant *out)
{
    bool chooses = table != NULL || (bench->ranker != NULL && module_set_of(entrant->contender) != NULL);
    if (!chooses)
        return 0;
    *remembered = choice_races(bench->config->choice) ? recall(bench, entrant, &out[0]) : 0;
    return *remembered > 0 ? 1 : choose_unknown(bench, entrant, table, out);
}

/* ---- all together ---- */

enum verdict variants_refused(int n)
{
    return n == 0 || n == -CUDAL2_UNSUPPORTED ? VERDICT_UNSUPPORTED : VERDICT_SETUP_ERROR;
}

int variants_gather(struct bench *bench, struct entrant *entrant, struct cudal2_variant *out, char *why)
{
    const struct tuned_table *table = table_for(bench, entrant);
    int n = 0, remembered = 0;
    entrant->record->tuning = cJSON_CreateObject();
    bench_stage(bench, entrant, "tune", bench->config->limits.tune_seconds);
    if (variants_searched(bench, entrant))
        n = gather_search(bench, entrant, out, why);
    else
        n = (int)gather_tuned(bench, entrant, table, out);
    if (n == 0 && !has_source(entrant))
        n = (int)gather_unknown(bench, entrant, table, &remembered, out);
    if (n == 0 && !has_source(entrant)) {
        remembered = recall(bench, entrant, &out[0]);
        n = remembered > 0 ? 1 : list_own(bench, entrant, out, why);
        if (remembered == 0 && n > 0)
            n = drop_skipped(bench, entrant, out, n);
    }
    cJSON_AddNumberToObject(entrant->record->tuning, "variants", remembered > 0 ? remembered : n > 0 ? n : 0);
    if (remembered > 0)
        cJSON_AddTrueToObject(entrant->record->tuning, "cached");
    return n;
}
