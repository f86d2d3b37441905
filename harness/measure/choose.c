/*
 * choose.c - gathers what races for a problem without a table entry, from neighbours, the model and the contender's
 * own list, in turns, and gives compilers and races their time. Relies on choice/rank.h. Called by variants.c.
 */
#include "measure/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choice/rank.h"
#include "measure/variants.h"

#define NEIGHBOURS_TRIED 64
#define RACE_LAUNCHES 75 /* in a layout's race (measured with 23 variants of 3 and 10 ms) */
#define MOST (CHOOSE_NEIGHBOURS + CHOOSE_RANKED + RACE_MAX_VARIANTS)

struct proposal {
    char key[sizeof(((struct cudal2_variant *)0)->key)];
    enum choose_origin origin;
    const struct tuned_match *match; /* of a neighbour */
};

struct choosing {
    struct bench *bench;
    struct entrant *entrant;
    const struct tuned_table *table;
    struct tuned_match matches[NEIGHBOURS_TRIED];
    struct proposal lists[CHOOSE_ORIGINS][RACE_MAX_VARIANTS]; /* each best first */
    size_t n_of[CHOOSE_ORIGINS];
    bool others;               /* another layout is still to choose */
    struct proposal all[MOST]; /* in the order in which they are compiled and raced, no key twice */
    size_t n;
};

bool choose_fits(struct bench *bench, const struct entrant *entrant, const char *key)
{
    char why[CUDAL2_WHY];
    struct entrant trial = *entrant;
    bench_stage(bench, entrant, "tune", bench->config->limits.tune_seconds);
    bool good = entrant_try_setup(bench, &trial, key, why) == CUDAL2_OK;
    entrant_teardown(bench, &trial);
    return good;
}

/* ---- who proposes what ---- */

static bool is_in(const struct proposal *list, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].key, key) == 0)
            return true;
    return false;
}

static void propose(struct choosing *c, enum choose_origin origin, const char *key, const struct tuned_match *match)
{
    struct proposal *list = c->lists[origin];
    size_t *n = &c->n_of[origin];
    if (*n == RACE_MAX_VARIANTS || is_in(list, *n, key))
        return;
    struct proposal *p = &list[(*n)++];
    *p = (struct proposal){.origin = origin, .match = match};
    snprintf(p->key, sizeof p->key, "%s", key);
}

static bool ranks(const struct choosing *c)
{
    return module_set_of(c->entrant->contender) != NULL && c->bench->ranker != NULL;
}

/* Launches back to back of which none begins before the one ahead has ended. */
static bool is_alone(const struct bench *bench)
{
    return bench->mode == MODE_OFFLINE && !timing_table[bench->headline].overlaps;
}

/* A table may leave out parameters that the ranker names: one kernel has one key here. */
static const char *whole_key(const struct choosing *c, const char *key, struct cudal2_variant *whole)
{
    const struct module_set *set = module_set_of(c->entrant->contender);
    return set && module_set_key(set, key, whole) ? whole->key : key;
}

static void propose_neighbours(struct choosing *c, const struct rank_query *ranked)
{
    const struct tuned_query query = {c->entrant->contender->family, c->entrant->contender->is.layout,
                                      c->bench->problem};
    size_t n = c->table ? tuned_nearest(c->table, &query, c->matches, NEIGHBOURS_TRIED) : 0;
    struct cudal2_variant whole;
    for (size_t i = 0; i < n; i++) {
        const char *key = whole_key(c, c->table->variants[c->matches[i].entry->variant].key, &whole);
        if (!ranks(c) || ranker_takes(c->bench->ranker, ranked, key))
            propose(c, CHOOSE_BY_NEIGHBOUR, key, &c->matches[i]);
    }
}

static struct rank_query rank_query_of(const struct choosing *c)
{
    return (struct rank_query){.set = module_set_of(c->entrant->contender),
                               .problem = c->bench->problem,
                               .layout = c->entrant->contender->is.layout,
                               .workspace_bytes = c->bench->config->workspace_bytes,
                               .breadth = CHOOSE_RANKED,
                               .idle = c->bench->mode == MODE_SERVER,
                               .alone = is_alone(c->bench)};
}

static void propose_ranked(struct choosing *c, const struct rank_query *query)
{
    struct cudal2_variant keys[CHOOSE_RANKED];
    size_t n = ranks(c) ? ranker_choose(c->bench->ranker, query, keys) : 0;
    for (size_t i = 0; i < n; i++)
        propose(c, CHOOSE_BY_RANKER, keys[i].key, NULL);
}

static void propose_own(struct choosing *c)
{
    struct cudal2_setup setup = bench_setup(c->bench, c->entrant, NULL);
    struct cudal2_variant *own = calloc(RACE_MAX_VARIANTS, sizeof *own);
    const struct contender *contender = c->entrant->contender;
    char why[CUDAL2_WHY];
    int n = own ? contender->ops->list_variants(contender, &setup, own, RACE_MAX_VARIANTS, why) : 0;
    for (int i = 0; i < n; i++)
        if (!is_in(c->lists[CHOOSE_BY_RANKER], c->n_of[CHOOSE_BY_RANKER], own[i].key) &&
            !is_in(c->lists[CHOOSE_BY_NEIGHBOUR], c->n_of[CHOOSE_BY_NEIGHBOUR], own[i].key))
            propose(c, CHOOSE_BY_CONTENDER, own[i].key, NULL);
    free(own);
}

/* ---- in one order ---- */

static size_t most_neighbours(const struct choosing *c)
{
    return c->bench->config->choice == CHOICE_TABLE ? CHOOSE_OF_TABLE : CHOOSE_NEIGHBOURS;
}

/* Without a ranker nobody knows yet which of the neighbours' winners take this problem. */
static size_t most_of(const struct choosing *c, enum choose_origin origin)
{
    size_t neighbours = ranks(c) ? most_neighbours(c) : NEIGHBOURS_TRIED;
    bool others = c->n_of[CHOOSE_BY_RANKER] + c->n_of[CHOOSE_BY_NEIGHBOUR] > 0;
    /* A table of the other mode knows what kernels do, not what they do from idle. */
    bool all = c->table && c->table->mode != c->bench->mode;
    size_t own = !others || all ? RACE_MAX_VARIANTS : CHOOSE_OWN;
    return origin == CHOOSE_BY_CONTENDER ? own : origin == CHOOSE_BY_RANKER ? CHOOSE_RANKED : neighbours;
}

/* Kernels that no space has: nobody ranks them, and the set's entry says when they are worth it. They come first. */
static void put_unranked(struct choosing *c, const struct rank_query *query)
{
    for (size_t i = 0; ranks(c) && i < c->n_of[CHOOSE_BY_CONTENDER] && c->n < CHOOSE_UNRANKED; i++) {
        const struct proposal *p = &c->lists[CHOOSE_BY_CONTENDER][i];
        if (!ranker_knows(c->bench->ranker, query, p->key))
            c->all[c->n++] = *p;
    }
}

/* In turn, so that what time cuts off is everybody's last. */
static void interleave(struct choosing *c)
{
    for (size_t rank = 0; rank < RACE_MAX_VARIANTS; rank++)
        for (int origin = 0; origin < CHOOSE_ORIGINS && c->n < MOST; origin++) {
            const struct proposal *p = &c->lists[origin][rank];
            if (rank < c->n_of[origin] && rank < most_of(c, (enum choose_origin)origin) && !is_in(c->all, c->n, p->key))
                c->all[c->n++] = *p;
        }
}

/* Where the i-th of an entrant's own stands when others are dealt out between them, one by one. */
static size_t place_of(size_t i, size_t others)
{
    return i < others ? 2 * i : i + others;
}

static size_t list_keys(struct choosing *c, const struct choose_member *others, size_t n_others,
                        struct precompile_key *keys)
{
    const char *family = module_set_name(module_set_of(c->entrant->contender));
    const enum cudal2_accumulate accumulate = c->bench->problem.accumulate;
    for (size_t i = 0; i < c->n; i++)
        keys[place_of(i, n_others)] =
            (struct precompile_key){family, c->all[i].key, c->entrant->contender->is.layout, accumulate};
    for (size_t i = 0; i < n_others; i++)
        keys[i < c->n ? 2 * i + 1 : i + c->n] =
            (struct precompile_key){family, others[i].variant.key, others[i].layout, accumulate};
    return c->n + n_others;
}

/* Of this cell's candidates, up to now. */
static double spent_seconds(const struct bench *bench)
{
    double now = (double)bench->device->ops->now(bench->device);
    return 1e-9 * (bench->choice_ns + now - bench->choice_since_ns);
}

/* About what a layout's race takes: some launches of each variant, and more of the fastest. */
static double race_seconds(const struct bench *bench)
{
    const struct device_info *info = &bench->device->info;
    double m = (double)bench->problem.m, n = (double)bench->problem.n, k = (double)bench->problem.k;
    double flops = info->peak_flops > 0 ? info->peak_flops : INFINITY;
    double bytes = info->peak_bytes_per_s > 0 ? info->peak_bytes_per_s : INFINITY;
    return 0.05 + RACE_LAUNCHES * fmax(2 * m * n * k / (0.55 * flops), 2 * (m * k + n * k + m * n) / (0.7 * bytes));
}

/* Half of a contender's own limit at most: the rest is for the race. */
static struct module_patience patience_of(const struct choosing *c)
{
    double limit = c->bench->config->race_seconds, spent = spent_seconds(c->bench);
    double left = CHOOSE_CALL - (c->others ? 2 : 1) * race_seconds(c->bench);
    double until = fmax(CHOOSE_LEAST, fmin(CHOOSE_WAIT, left)) - spent;
    double begin = fmin(CHOOSE_SECONDS - spent, limit > 0 ? limit / 2 : CHOOSE_SECONDS);
    return (struct module_patience){begin, until};
}

double choose_race_seconds(double spent, bool others)
{
    return fmax((CHOOSE_CALL - spent) / (others ? 2 : 1), CHOOSE_RACE);
}

/* In server mode gaps take their time. */
static void limit_race(const struct choosing *c)
{
    struct bench *bench = c->bench;
    double seconds = choose_race_seconds(spent_seconds(bench), c->others);
    if (bench->mode == MODE_OFFLINE && ranks(c))
        bench->race_until_ns = (double)bench->device->ops->now(bench->device) + 1e9 * seconds;
}

/* Leaves those whose machine code is there; all of a contender that has none to compile. */
static void compile(struct choosing *c)
{
    struct precompile_key keys[MOST + CHOOSE_OTHERS];
    struct choose_member *others = calloc(CHOOSE_OTHERS, sizeof *others);
    bool ready[MOST + CHOOSE_OTHERS];
    size_t kept = 0;
    if (ranks(c) && others) {
        size_t n_others = choose_others(c->bench, c->entrant, c->table, others, CHOOSE_OTHERS);
        c->others = n_others > 0;
        const struct precompile_request request = {.dtype = c->bench->problem.dtype,
                                                   .threads = ranker_threads(c->bench->ranker),
                                                   .keys = keys,
                                                   .n_keys = list_keys(c, others, n_others, keys)};
        bench_stage(c->bench, c->entrant, "tune", c->bench->config->limits.tune_seconds);
        const struct module_patience patience = patience_of(c);
        module_set_compile_keys(module_set_of(c->entrant->contender), &request, &patience, ready);
        for (size_t i = 0; i < c->n; i++)
            if (ready[place_of(i, n_others)])
                c->all[kept++] = c->all[i];
        c->n = kept;
    }
    free(others);
}

/* ---- what is taken ---- */

static void say(struct choosing *c, const struct proposal *p, size_t taken[CHOOSE_ORIGINS])
{
    char key[80];
    cJSON *tuning = c->entrant->record->tuning, *list = cJSON_GetObjectItemCaseSensitive(tuning, "neighbours");
    taken[p->origin]++;
    if (p->origin != CHOOSE_BY_NEIGHBOUR)
        return;
    if (!list) {
        cJSON_AddStringToObject(tuning, "table", c->table->name);
        json_put_number(tuning, "distance", round(100 * p->match->distance) / 100);
        list = cJSON_AddArrayToObject(tuning, "neighbours");
    }
    tuned_entry_key(p->match->entry, key);
    cJSON_AddItemToArray(list, cJSON_CreateString(key));
}

/* A source is said where a table or the model had a part. */
static void say_sources(struct choosing *c, const size_t taken[CHOOSE_ORIGINS])
{
    cJSON *tuning = c->entrant->record->tuning;
    if (taken[CHOOSE_BY_RANKER] + taken[CHOOSE_BY_NEIGHBOUR] == 0)
        return;
    cJSON_AddStringToObject(tuning, "source", taken[CHOOSE_BY_NEIGHBOUR] > 0 ? "neighbour" : "ranked");
    if (taken[CHOOSE_BY_RANKER] > 0)
        json_put_number(tuning, "ranked", (double)taken[CHOOSE_BY_RANKER]);
    if (taken[CHOOSE_BY_CONTENDER] > 0)
        json_put_number(tuning, "own", (double)taken[CHOOSE_BY_CONTENDER]);
}

static size_t take(struct choosing *c, size_t most, struct cudal2_variant *out)
{
    size_t taken[CHOOSE_ORIGINS] = {0}, n = 0;
    for (size_t i = 0; i < c->n && n < most; i++) {
        const struct proposal *p = &c->all[i];
        bool enough = p->origin == CHOOSE_BY_NEIGHBOUR && taken[CHOOSE_BY_NEIGHBOUR] == most_neighbours(c);
        if (enough || !choose_fits(c->bench, c->entrant, p->key))
            continue;
        memcpy(out[n++].key, p->key, sizeof p->key);
        say(c, p, taken);
    }
    say_sources(c, taken);
    return n;
}

/* Everybody's proposals in one order, none where nobody but the contender has any. */
static void gather(struct choosing *c)
{
    enum choice choice = c->bench->config->choice;
    const struct rank_query query = rank_query_of(c);
    propose_neighbours(c, &query);
    if (choice != CHOICE_TABLE)
        propose_ranked(c, &query);
    if (c->n_of[CHOOSE_BY_NEIGHBOUR] + c->n_of[CHOOSE_BY_RANKER] == 0)
        return;
    if (choice != CHOICE_TABLE || c->table->mode != c->bench->mode)
        propose_own(c);
    if (c->n_of[CHOOSE_BY_RANKER] > 0)
        put_unranked(c, &query);
    interleave(c);
}

static struct choosing *choosing_new(struct bench *bench, struct entrant *entrant, const struct tuned_table *table)
{
    struct choosing *c = calloc(1, sizeof *c);
    if (c)
        *c = (struct choosing){.bench = bench, .entrant = entrant, .table = table};
    return c;
}

size_t choose_members(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                      struct choose_member *out, size_t most)
{
    struct choosing *c = choosing_new(bench, entrant, table);
    size_t n = 0;
    if (c)
        gather(c);
    for (; c && n < c->n && n < most; n++) {
        out[n].origin = c->all[n].origin;
        out[n].layout = entrant->contender->is.layout;
        memcpy(out[n].variant.key, c->all[n].key, sizeof out[n].variant.key);
    }
    free(c);
    return n;
}

/* Of the same set, and not asked yet: whoever has chosen has a tuning object. What a table has of this very problem is
 * no choice. */
static bool is_still_to_choose(const struct bench *bench, const struct entrant *e, const struct module_set *set,
                               const struct tuned_table *table)
{
    if (e->contender->role != ROLE_CANDIDATE || module_set_of(e->contender) != set || e->shares_ranking > 0 ||
        e->record->tuning)
        return false;
    const struct tuned_query query = {e->contender->family, e->contender->is.layout, bench->problem};
    return !table || !tuned_exact(table, &query);
}

size_t choose_others(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                     struct choose_member *out, size_t most)
{
    const struct module_set *set = module_set_of(entrant->contender);
    size_t n = 0;
    for (size_t i = 0; set && i < bench->n_entrants; i++) {
        struct entrant *e = &bench->entrants[i];
        if (e != entrant && is_still_to_choose(bench, e, set, table))
            n += choose_members(bench, e, table, out + n, most - n);
    }
    return n;
}

size_t choose_unknown(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                      struct cudal2_variant *out)
{
    struct choosing *c = choosing_new(bench, entrant, table);
    enum choice choice = bench->config->choice;
    size_t n = 0;
    if (!c)
        return 0;
    gather(c);
    if (choice_races(choice))
        compile(c);
    n = take(c, choice == CHOICE_ZERO ? 1 : RACE_MAX_VARIANTS, out);
    if (choice_races(choice))
        limit_race(c);
    free(c);
    return n;
}

void choose_begin(struct bench *bench)
{
    bench->choice_since_ns = (double)bench->device->ops->now(bench->device);
    bench->race_until_ns = 0;
}

void choose_end(struct bench *bench, struct entrant *entrant)
{
    double ns = (double)bench->device->ops->now(bench->device) - bench->choice_since_ns;
    if (entrant->contender->role == ROLE_CANDIDATE)
        bench->choice_ns += ns;
    bench->race_until_ns = 0;
    json_put_number(entrant->record->tuning, "whole_seconds", round(1e-6 * ns) / 1e3);
}

void choose_settle(struct bench *bench)
{
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct module_set *set = module_set_of(bench->entrants[i].contender);
        if (set)
            module_set_settle(set);
    }
}
