#include "measure/variants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"

#define NEIGHBOURS 3
#define NEIGHBOURS_TRIED 48

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
             overlap_names[bench->config->overlap], (unsigned long long)bench->config->workspace_bytes,
             (int)bench->config->protocol);
    digest_start(&d);
    digest_add_string(&d, bench->identity);
    digest_add_string(&d, entrant->contender->name);
    digest_add_string(&d, text);
    digest_finish(&d, hex);
}

static bool has_source(const struct entrant *entrant)
{
    return cJSON_GetObjectItemCaseSensitive(entrant->record->tuning, "source") != NULL;
}

/* An entry is "<how many variants it beat, itself included> <its key>": a later run says how many there were. */
void race_remember(const struct bench *bench, const struct entrant *entrant)
{
    char key[DIGEST_HEX];
    char entry[sizeof entrant->variant + 16];
    const cJSON *variants = cJSON_GetObjectItemCaseSensitive(entrant->record->tuning, "variants");
    struct error ignored; /* a cache that cannot be written costs time on the next run, nothing else */
    if (!cJSON_IsNumber(variants) || has_source(entrant)) /* a copy: its original is remembered */
        return;
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

/* Whether the contender sets itself up with this variant here: its own constraints decide. */
static bool fits(struct bench *bench, const struct entrant *entrant, const char *key)
{
    char why[CUDAL2_WHY];
    struct entrant trial = *entrant;
    bench_stage(bench, entrant, "tune", bench->config->limits.tune_seconds);
    bool good = entrant_try_setup(bench, &trial, key, why) == CUDAL2_OK;
    entrant_teardown(bench, &trial);
    return good;
}

/* What is gathered from a table. */
struct gathering {
    struct bench *bench;
    struct entrant *entrant;
    const struct tuned_table *table;
    struct cudal2_variant *out;
    size_t n;
};

/* Adds the keys of one entry worth racing: its winner, for the very problem also a runner-up that is nearly as good. */
static void add_entry(struct gathering *g, const struct tuned_match *match)
{
    const struct tuned_entry *e = match->entry;
    const char *keys[2];
    size_t n = tuned_keys(g->table, e, keys);
    for (size_t i = 0; i < (match->distance <= 0 ? n : 1); i++)
        if (!known(g->out, g->n, keys[i]) && fits(g->bench, g->entrant, keys[i]))
            snprintf(g->out[g->n++].key, sizeof g->out->key, "%s", keys[i]);
}

static void say_table(struct entrant *entrant, const struct tuned_table *table, bool exact)
{
    say_source(entrant, exact ? "tuned" : "neighbour");
    cJSON_AddStringToObject(entrant->record->tuning, "table", table->name);
}

static void say_neighbour(struct entrant *entrant, const struct tuned_match *match)
{
    char key[80];
    cJSON *tuning = entrant->record->tuning;
    cJSON *list = cJSON_GetObjectItemCaseSensitive(tuning, "neighbours");
    if (!list) {
        json_put_number(tuning, "distance", round(100 * match->distance) / 100);
        list = cJSON_AddArrayToObject(tuning, "neighbours");
    }
    tuned_entry_key(match->entry, key);
    cJSON_AddItemToArray(list, cJSON_CreateString(key));
}

static void gather_matches(struct gathering *g, const struct tuned_query *query)
{
    struct tuned_match matches[NEIGHBOURS_TRIED];
    size_t n_matches = tuned_nearest(g->table, query, matches, NEIGHBOURS_TRIED);
    bool exact = false;
    for (size_t i = 0; i < n_matches && g->n < NEIGHBOURS && !exact; i++) {
        size_t before = g->n;
        add_entry(g, &matches[i]);
        if (g->n == before)
            continue;
        exact = matches[i].distance <= 0;
        if (before == 0)
            say_table(g->entrant, g->table, exact);
        if (!exact)
            say_neighbour(g->entrant, &matches[i]);
    }
}

/* A table of the other mode knows what the kernels do, not what they do from idle: what the contender lists itself
 * races beside its choice. */
static void add_own(struct gathering *g)
{
    struct cudal2_variant own[RACE_MAX_VARIANTS];
    char why[CUDAL2_WHY];
    size_t before = g->n;
    int n = list_own(g->bench, g->entrant, own, why);
    for (int i = 0; i < n && g->n < RACE_MAX_VARIANTS; i++)
        if (!known(g->out, g->n, own[i].key))
            g->out[g->n++] = own[i];
    json_put_number(g->entrant->record->tuning, "own", (double)(g->n - before));
}

static size_t gather_tuned(struct bench *bench, struct entrant *entrant, struct cudal2_variant *out)
{
    const struct tuned_query query = {entrant->contender->family, entrant->contender->is.layout, bench->problem};
    const struct tuned_table *table = bench->tuned ? tuned_tables_find(bench->tuned, &query, bench->mode) : NULL;
    struct gathering g = {.bench = bench, .entrant = entrant, .table = table, .out = out};
    if (table)
        gather_matches(&g, &query);
    if (g.n > 0 && table->mode != bench->mode)
        add_own(&g);
    return g.n;
}

/* ---- all together ---- */

int variants_gather(struct bench *bench, struct entrant *entrant, struct cudal2_variant *out, char *why)
{
    int n = 0, remembered = 0;
    entrant->record->tuning = cJSON_CreateObject();
    bench_stage(bench, entrant, "tune", bench->config->limits.tune_seconds);
    if (variants_searched(bench, entrant))
        n = gather_search(bench, entrant, out, why);
    else
        n = (int)gather_tuned(bench, entrant, out);
    if (n == 0 && !has_source(entrant)) {
        remembered = recall(bench, entrant, &out[0]);
        n = remembered > 0 ? 1 : list_own(bench, entrant, out, why);
    }
    cJSON_AddNumberToObject(entrant->record->tuning, "variants", remembered > 0 ? remembered : n > 0 ? n : 0);
    if (remembered > 0)
        cJSON_AddTrueToObject(entrant->record->tuning, "cached");
    return n;
}
