/*
 * race.c - runs a race: first looks, heats, final, the move to another allocation, and the ranking with what was
 * rejected. race_plan.c says who leaves. Called by worker/cell.c for contenders with variants.
 */
#include "measure/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/arrivals.h"
#include "measure/choose.h"
#include "measure/prescreen.h"
#include "measure/race_plan.h"
#include "measure/segment.h"
#include "stats/interval.h"

#define HEAT_TARGET_NS 50e3
/* Fastest looks that are taken again, at most. */
#define DOUBTED 2

/* One variant at the start line: an entrant of its own, with a record that is thrown away. */
struct racer {
    struct entrant entrant;
    struct contender_record scratch;
    struct cudal2_variant variant;
    double *ns; /* one per counted round */
    size_t n;
    unsigned lasted; /* rounds it was in */
    double median_ns;
};

struct race {
    struct bench *bench;
    struct entrant *owner;
    struct racer *racers;
    size_t n;
    struct race_terms terms;
    struct race_plan plan;
    double began_ns;      /* listing and compiling included */
    double raced_ns;      /* when they were done */
    unsigned discarded;   /* first rounds, not counted */
    size_t n_unsupported; /* racers whose setup said that the problem is not for them */
    double fastest_ns;    /* look */
    enum timing timing;
};

/* Of a limited race (tune.seconds): from here on no further variant is looked at, and the rest goes to the rounds. */
#define LOOKS_SHARE 0.5

static double now_ns(const struct bench *bench)
{
    return (double)bench->device->ops->now(bench->device);
}

/* Whether a share of the time that the config gives each contender is over, or of what a first call has left. */
static bool is_spent(const struct race *race, double share)
{
    const struct bench *bench = race->bench;
    double limit_ns = 1e9 * bench->config->race_seconds, until_ns = bench->race_until_ns;
    if (race->terms.paper)
        return false;
    return (limit_ns > 0 && now_ns(bench) >= race->began_ns + share * limit_ns) ||
           (until_ns > 0 && now_ns(bench) >= race->raced_ns + share * (until_ns - race->raced_ns));
}

static void racer_set_up(struct race *race, struct racer *racer)
{
    char why[CUDAL2_WHY];
    struct entrant *e = &racer->entrant;
    bench_stage(race->bench, e, "tune", race->bench->config->limits.tune_seconds);
    int status = entrant_try_setup(race->bench, e, racer->variant.key, why);
    race->n_unsupported += status == CUDAL2_UNSUPPORTED;
    if (status != CUDAL2_OK)
        entrant_fail(race->bench, e, VERDICT_SETUP_ERROR, "tune", why);
}

static void racer_open(struct race *race, struct racer *racer)
{
    struct entrant *e = &racer->entrant;
    *e = *race->owner;
    e->record = &racer->scratch;
    e->row.segment = NULL;
    memset(e->beside, 0, sizeof e->beside);
    memset(e->chains, 0, sizeof e->chains);
    e->set_up = false;
    memcpy(racer->scratch.name, race->owner->record->name, sizeof racer->scratch.name);
    racer->scratch.verdict = VERDICT_OK;
    memcpy(e->variant, racer->variant.key, sizeof e->variant);
    e->blame_variant |= e->contender->role == ROLE_BASELINE; /* a library's list is long, and nobody answers for it */
    racer_set_up(race, racer);
}

static double least_median(struct race *race)
{
    double best = INFINITY;
    for (size_t i = 0; i < race->n; i++) {
        struct racer *r = &race->racers[i];
        if (!r->entrant.alive)
            continue;
        r->median_ns = r->n == 0 ? INFINITY : stats_median(r->ns, r->n);
        best = fmin(best, r->median_ns);
    }
    return best;
}

static void leave(struct race *race, struct racer *racer)
{
    entrant_teardown(race->bench, &racer->entrant);
    racer->entrant.alive = false;
}

/* How many living racers are faster than each. */
static void find_places(const struct race *race, size_t place[RACE_MAX_VARIANTS])
{
    for (size_t i = 0; i < race->n; i++) {
        place[i] = 0;
        for (size_t j = 0; j < race->n; j++)
            place[i] += race->racers[j].entrant.alive && race->racers[j].median_ns < race->racers[i].median_ns;
    }
}

static size_t count_living(const struct race *race)
{
    size_t n = 0;
    for (size_t i = 0; i < race->n; i++)
        n += race->racers[i].entrant.alive;
    return n;
}

/* After a round: who is too far behind leaves. */
static void sort_out(struct race *race, unsigned round)
{
    double best = least_median(race);
    size_t place[RACE_MAX_VARIANTS];
    find_places(race, place);
    for (size_t i = 0; i < race->n; i++) {
        struct racer *r = &race->racers[i];
        const struct race_standing standing = {round, i == 0, place[i], r->median_ns / best, r->n};
        if (r->entrant.alive && !race_goes_on(&race->plan, &standing))
            leave(race, r);
    }
}

/* The times of those who are left start anew, unless their segments are what they were. */
static void forget_heats(struct race *race)
{
    for (size_t i = 0; i < race->n && !race->plan.keeps_times; i++)
        if (race->racers[i].entrant.alive)
            race->racers[i].n = 0;
}

/* Full segments for those who are left. */
static int start_final(struct race *race, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < race->n && code == 0; i++)
        if (race->racers[i].entrant.alive)
            code = prescreen_prepare(race->bench, &race->racers[i].entrant, SEGMENT_TARGET_NS, race->fastest_ns, err);
    return code;
}

static int run_untimed(struct race *race, struct racer *r, struct error *err)
{
    double no_gap = -1, ns = 0;
    return segment_time(race->bench, &r->entrant, race->timing, &no_gap, &ns, err);
}

/* A graph's first replay is not like the others where launches are short, and the round after a move decides. */
static int replay_once(struct race *race, struct racer *r, struct error *err)
{
    if (race->fastest_ns >= SEGMENT_SETTLED_FROM_NS)
        return 0;
    int code = run_untimed(race, r, err);
    return code == 0 ? 0 : entrant_fault(race->bench, &r->entrant, "tune", err);
}

/* New places for all matrices, and everyone who is left set up and prepared on them, on full segments. */
static int move_all(struct race *race, struct error *err)
{
    struct bench *bench = race->bench;
    for (size_t i = 0; i < race->n; i++)
        entrant_teardown(bench, &race->racers[i].entrant);
    bench_stage(bench, NULL, "operands", bench->config->limits.setup_seconds);
    int code = bench_move(bench, random_next(&bench->random), err);
    if (code == 0) /* while the host sets up and captures, as in blocks */
        code = bench_begin_fill(bench, "tune", 0, err);
    for (size_t i = 0; i < race->n && code == 0; i++) {
        struct racer *r = &race->racers[i];
        if (r->entrant.alive)
            racer_set_up(race, r);
        if (r->entrant.alive)
            code = prescreen_prepare(bench, &r->entrant, SEGMENT_TARGET_NS, race->fastest_ns, err);
        if (r->entrant.alive && code == 0)
            code = replay_once(race, r, err);
    }
    return code == 0 ? bench->device->ops->sync(bench->device, err) : code;
}

static int time_racer(struct race *race, struct racer *r, unsigned round, struct error *err)
{
    double gap_ns = -1;
    double ns = 0;
    if (race->plan.gap_share > 0 && (race->plan.heats_rest || round >= race->plan.heats))
        gap_ns = race->plan.gap_share * arrivals_draw(&race->bench->config->gap, &race->bench->random);
    bench_stage(race->bench, &r->entrant, "tune", race->bench->config->limits.tune_seconds);
    int code = segment_time(race->bench, &r->entrant, race->timing, &gap_ns, &ns, err);
    if (code != 0)
        return entrant_fault(race->bench, &r->entrant, "tune", err);
    r->lasted = round + 1;
    if (round >= race->discarded)
        r->ns[r->n++] = ns;
    return 0;
}

static int run_round(struct race *race, unsigned round, struct error *err)
{
    unsigned order[RACE_MAX_VARIANTS];
    int code = 0;
    for (unsigned i = 0; i < race->n; i++)
        order[i] = i;
    random_shuffle(&race->bench->random, order, race->n);
    if (race->terms.paper)
        code = operands_fill(race->bench->device, race->bench->operands, FILL_SPREAD,
                             random_next(&race->bench->random) >> 8, 0, err);
    bench_stage(race->bench, race->owner, "tune", race->bench->config->limits.tune_seconds);
    /* Listing 8's untimed call, so that the first of the order is as warm as the rest. */
    if (code == 0 && race->terms.paper && race->racers[order[race->n - 1]].entrant.alive)
        code = run_untimed(race, &race->racers[order[race->n - 1]], err);
    for (size_t i = 0; i < race->n && code == 0; i++)
        if (race->racers[order[i]].entrant.alive)
            code = time_racer(race, &race->racers[order[i]], round, err);
    return code;
}

/* NULL when nobody lives; also writes race->fastest_ns. */
static struct racer *find_fastest(struct race *race)
{
    struct racer *fastest = NULL;
    race->fastest_ns = INFINITY;
    for (size_t i = 0; i < race->n; i++) {
        struct racer *r = &race->racers[i];
        if (!r->entrant.alive || r->entrant.estimate_ns >= race->fastest_ns)
            continue;
        fastest = r;
        race->fastest_ns = r->entrant.estimate_ns;
    }
    return fastest;
}

/* The first long launches run at clocks that the power limit takes away from those behind them: who seems the fastest
 * is looked at again. */
static int doubt_fastest(struct race *race, struct error *err)
{
    struct racer *fastest = find_fastest(race), *doubted = NULL;
    int code = 0;
    for (int i = 0; i < DOUBTED && code == 0 && fastest != NULL && fastest != doubted; i++) {
        if (race->fastest_ns < SEGMENT_TARGET_NS)
            break;
        code = prescreen_again(race->bench, &fastest->entrant, err);
        doubted = fastest;
        fastest = find_fastest(race);
    }
    return code;
}

/* Those from here on do not race. */
static void cut_off(struct race *race, size_t n)
{
    for (size_t i = n; i < race->n; i++)
        free(race->racers[i].ns);
    race->n = n;
}

/* Sets every variant up and looks at it: the first ones, where time is short. */
static int look_at_all(struct race *race, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < race->n && code == 0; i++) {
        if (i > 0 && is_spent(race, LOOKS_SHARE))
            cut_off(race, i);
        if (i == race->n)
            break;
        racer_open(race, &race->racers[i]);
        if (race->racers[i].entrant.alive)
            code = prescreen_first(race->bench, &race->racers[i].entrant, err);
    }
    if (code == 0 && !race->terms.paper)
        code = doubt_fastest(race, err);
    find_fastest(race);
    return code;
}

/* Prepares one common length of segment for those not far behind. The first is the library's own choice, and stays. */
static int line_up(struct race *race, struct error *err)
{
    int code = look_at_all(race, err);
    race->plan = race_plan(&race->terms, race->fastest_ns);
    double target = race->plan.heats > 0 ? HEAT_TARGET_NS : SEGMENT_TARGET_NS;
    for (size_t i = 0; i < race->n && code == 0; i++) {
        struct racer *r = &race->racers[i];
        if (!r->entrant.alive)
            continue;
        r->median_ns = r->entrant.estimate_ns;
        if (i > 0 && r->median_ns > race->plan.start_cut * race->fastest_ns)
            leave(race, r);
        else
            code = prescreen_prepare(race->bench, &r->entrant, target, race->fastest_ns, err);
    }
    return code;
}

static int run_all(struct race *race, struct error *err)
{
    int code = line_up(race, err);
    unsigned rounds = race->plan.heats + race->plan.finals;
    for (unsigned round = 0; round < rounds && code == 0 && (round == 0 || !is_spent(race, 1)); round++) {
        bool moves = round > 0 && round == race->plan.moves_at,
             final = race->plan.heats > 0 && round == race->plan.heats;
        if (final)
            forget_heats(race);
        if (moves)
            code = move_all(race, err);
        else if (final)
            code = start_final(race, err);
        if (code == 0)
            code = run_round(race, round, err);
        if (code == 0 && !race->terms.paper && round + 1 < rounds)
            sort_out(race, round);
        if (!race->terms.paper && count_living(race) < 2)
            break;
    }
    least_median(race);
    return code;
}

/* Those that stayed longer first, then by median. */
static int by_merit(const void *a, const void *b)
{
    const struct racer *const *x = a;
    const struct racer *const *y = b;
    if ((*x)->lasted != (*y)->lasted)
        return (*x)->lasted > (*y)->lasted ? -1 : 1;
    return ((*x)->median_ns > (*y)->median_ns) - ((*x)->median_ns < (*y)->median_ns);
}

/* Those that left early keep the time they left with: when the winner turns out wrong, they are still there to follow.
 */
static bool was_timed(const struct racer *r)
{
    return r->scratch.verdict == VERDICT_OK && isfinite(r->median_ns);
}

static void describe_rejected(cJSON *tuning, size_t variant, const char *reason)
{
    cJSON *rejected = cJSON_GetObjectItemCaseSensitive(tuning, "rejected");
    if (!rejected)
        rejected = cJSON_AddArrayToObject(tuning, "rejected");
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddNumberToObject(entry, "variant", (double)variant);
    cJSON_AddStringToObject(entry, "reason", reason);
    cJSON_AddItemToArray(rejected, entry);
}

/* Whole nanoseconds: the race is over, and its figures tell no more than who won and by about how much. */
static void describe_race(const struct race *race, cJSON *tuning)
{
    cJSON *list = cJSON_AddArrayToObject(tuning, "race_ns");
    for (size_t i = 0; i < race->n; i++) {
        const struct racer *r = &race->racers[i];
        cJSON_AddItemToArray(list, json_number(was_timed(r) ? round(r->median_ns) : NAN));
        if (r->scratch.verdict != VERDICT_OK)
            describe_rejected(tuning, i, r->scratch.reason);
    }
}

/* What raced, in the order of race_ns: for a candidate, whose list is of its tuner's or its table's making and is not
 * to be had from a library. */
static void describe_keys(const struct race *race, cJSON *tuning)
{
    cJSON *list = cJSON_AddArrayToObject(tuning, "keys");
    for (size_t i = 0; i < race->n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(race->racers[i].variant.key));
}

static int rank(struct race *race, struct race_result *out, struct error *err)
{
    struct racer *order[RACE_MAX_VARIANTS];
    out->ranked = calloc(race->n, sizeof *out->ranked);
    if (out->ranked == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a ranking");
    for (size_t i = 0; i < race->n; i++)
        order[i] = &race->racers[i];
    qsort(order, race->n, sizeof *order, by_merit);
    for (size_t i = 0; i < race->n; i++)
        if (was_timed(order[i]))
            out->ranked[out->n++] = order[i]->variant;
    return 0;
}

static void race_close(struct race *race)
{
    for (size_t i = 0; i < race->n; i++) {
        entrant_teardown(race->bench, &race->racers[i].entrant);
        free(race->racers[i].ns);
    }
    free(race->racers);
}

static struct race_terms terms_of(const struct bench *bench)
{
    const struct config *config = bench->config;
    bool paper = config->protocol == PROTOCOL_PAPER;
    bool flushed = config->cache[bench->mode] == CACHE_FLUSH;
    return (struct race_terms){.paper = paper,
                               .server = bench->mode == MODE_SERVER,
                               .segments = bench->mode != MODE_SERVER && timing_is_segment(bench->headline) && !flushed,
                               .rounds = paper ? config->paper.tune_warmup_rounds + config->paper.tune_rounds
                                               : config->tune_rounds};
}

static int race_open(struct race *race, const struct cudal2_variant *variants, size_t n, struct error *err)
{
    race->terms = terms_of(race->bench);
    race->discarded = race->terms.paper ? race->bench->config->paper.tune_warmup_rounds : 0;
    race->timing = race->bench->headline;
    race->racers = calloc(n, sizeof *race->racers);
    race->n = race->racers == NULL ? 0 : n;
    bool failed = race->racers == NULL;
    for (size_t i = 0; i < race->n; i++) {
        race->racers[i].variant = variants[i];
        race->racers[i].median_ns = INFINITY;
        race->racers[i].ns = calloc(race_most_rounds(&race->terms), sizeof(double));
        failed = failed || race->racers[i].ns == NULL;
    }
    return failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for a race") : 0;
}

/* What it cost, for both sides: how many raced, in how long, and how much of it was their launches. */
static void describe_cost(const struct race *race, double seconds, double busy_seconds)
{
    cJSON *tuning = race->owner->record->tuning;
    json_put_number(tuning, "raced", (double)race->n);
    json_put_number(tuning, "seconds", round(1e3 * seconds) / 1e3);
    json_put_number(tuning, "busy_seconds", round(1e6 * busy_seconds) / 1e6);
}

static int race_variants(struct race *race, const struct cudal2_variant *variants, size_t n, struct race_result *out,
                         struct error *err)
{
    struct bench *bench = race->bench;
    struct entrant *entrant = race->owner;
    double began = race->raced_ns = now_ns(bench), busy = bench->record->busy_seconds;
    int code = race_open(race, variants, n, err);
    if (code == 0)
        code = run_all(race, err);
    if (code == 0)
        code = rank(race, out, err);
    if (code == 0)
        describe_race(race, entrant->record->tuning);
    if (code == 0)
        describe_cost(race, 1e-9 * (now_ns(bench) - began), bench->record->busy_seconds - busy);
    if (code == 0 && entrant->contender->role == ROLE_CANDIDATE)
        describe_keys(race, entrant->record->tuning);
    race_close(race);
    return code;
}

int race_run(struct bench *bench, struct entrant *entrant, struct race_result *out, struct error *err)
{
    char why[CUDAL2_WHY] = "no variant could be set up";
    struct cudal2_variant *variants = calloc(RACE_MAX_VARIANTS, sizeof *variants);
    struct race race = {.bench = bench, .owner = entrant, .began_ns = now_ns(bench)};
    int code = 0;
    *out = (struct race_result){0};
    if (variants == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for variants");
    choose_begin(bench);
    int n = variants_gather(bench, entrant, variants, why);
    if (n == 1) {
        choose_end(bench, entrant);
        out->ranked = variants;
        out->n = 1;
        return 0;
    }
    if (n > 1)
        code = race_variants(&race, variants, (size_t)n, out, err);
    choose_end(bench, entrant);
    free(variants);
    if (code == 0 && out->n == 0)
        entrant_fail(bench, entrant, variants_refused(n > 0 && race.n_unsupported == (size_t)n ? 0 : n), "tune", why);
    return code;
}
