#include "measure/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/arrivals.h"
#include "measure/segment.h"
#include "stats/interval.h"

#define START_CUT 2.0
#define HEAT_CUT 1.10
#define FINALISTS 8
/* A final of long launches is short: their scatter is the power limit's, which more rounds within a second do not
 * average. */
#define LONG_LAUNCH_NS 1e6
#define LONG_HEATS 2
#define LONG_FINAL_ROUNDS 4
#define LONG_START_CUT 1.3
#define LONG_FINALISTS 4
/* From idle one launch scatters by 5 to 10%: a final in server mode has more rounds, and more reach it. Their gaps are
 * a tenth of the cell's: what wakes the GPU is common to all variants, and only their order is asked for. With 4
 * finalists, 8 rounds and whole gaps the winner read over 1% slower than the first variant in a tenth of the cells. */
#define SERVER_HEAT_CUT 1.15
#define SERVER_FINALISTS 6
#define SERVER_FINAL_FACTOR 2
#define SERVER_GAP_SHARE 0.1
#define HEAT_TARGET_NS 50e3

/* One variant at the start line: an entrant of its own, with a record that is thrown away. */
struct racer {
    struct entrant entrant;
    struct contender_record scratch;
    struct cudal2_variant variant;
    double *ns; /* one per counted round */
    size_t n;
    double median_ns;
};

struct race {
    struct bench *bench;
    struct entrant *owner;
    struct racer *racers;
    size_t n;
    unsigned rounds, discarded, heats; /* heats: rounds on short segments, after which few go on */
    bool eliminate, refill, is_long;
    double fastest_ns;
    enum timing timing;
};

static void racer_open(struct race *race, struct racer *racer)
{
    char why[CUDAL2_WHY];
    struct entrant *e = &racer->entrant;
    *e = *race->owner;
    e->record = &racer->scratch;
    e->segment = NULL;
    e->set_up = false;
    memcpy(racer->scratch.name, race->owner->record->name, sizeof racer->scratch.name);
    snprintf(racer->scratch.status, sizeof racer->scratch.status, "ok");
    memcpy(e->variant, racer->variant.key, sizeof e->variant);
    bench_stage(race->bench, e, "tune", race->bench->config->limits.tune_seconds);
    if (entrant_try_setup(race->bench, e, racer->variant.key, why) != CUDAL2_OK)
        entrant_fail(race->bench, e, "setup_error", "tune", why);
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

/* How many living racers are faster than this one. */
static size_t place_of(const struct race *race, const struct racer *racer)
{
    size_t faster = 0;
    for (size_t i = 0; i < race->n; i++)
        faster += race->racers[i].entrant.alive && race->racers[i].median_ns < racer->median_ns;
    return faster;
}

/* Whether a racer that came in at this place goes on to the final. The first variant always does: it is the library's
 * own choice, and no race should lose against what it started from. */
static bool reaches_final(const struct race *race, const struct racer *racer, size_t place, double best)
{
    bool server = race->bench->mode == MODE_SERVER;
    size_t finalists = server ? SERVER_FINALISTS : race->is_long ? LONG_FINALISTS : FINALISTS;
    double cut = server ? SERVER_HEAT_CUT : HEAT_CUT;
    return racer == race->racers || (racer->median_ns <= cut * best && place < finalists);
}

/* After the heats: few stay, and their times start anew on full segments. */
static int start_final(struct race *race, struct error *err)
{
    double best = least_median(race);
    size_t place[RACE_MAX_VARIANTS];
    int code = 0;
    for (size_t i = 0; i < race->n; i++)
        place[i] = place_of(race, &race->racers[i]);
    for (size_t i = 0; i < race->n && code == 0; i++) {
        struct racer *r = &race->racers[i];
        if (!r->entrant.alive)
            continue;
        if (!reaches_final(race, r, place[i], best)) {
            leave(race, r);
            continue;
        }
        bench_stage(race->bench, &r->entrant, "tune", race->bench->config->limits.tune_seconds);
        code = segment_prepare(race->bench, &r->entrant, SEGMENT_TARGET_NS, race->fastest_ns, err);
        r->n = 0;
    }
    return code;
}

static int time_racer(struct race *race, struct racer *r, unsigned round, struct error *err)
{
    double gap_ns = -1;
    double ns = 0;
    if (race->bench->mode == MODE_SERVER && race->eliminate && round >= race->heats)
        gap_ns = SERVER_GAP_SHARE * arrivals_draw(&race->bench->config->gap, &race->bench->random);
    bench_stage(race->bench, &r->entrant, "tune", race->bench->config->limits.tune_seconds);
    int code = segment_time(race->bench, &r->entrant, race->timing, &gap_ns, &ns, err);
    if (code != 0)
        return entrant_fault(race->bench, &r->entrant, "tune", err);
    race->bench->record->busy_seconds += 1e-9 * ns * (double)(r->scratch.launches + r->scratch.primers);
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
    if (race->refill)
        code = operands_fill(race->bench->device, race->bench->operands, FILL_NORMAL,
                             random_next(&race->bench->random) >> 8, 0, err);
    bench_stage(race->bench, race->owner, "tune", race->bench->config->limits.tune_seconds);
    /* Listing 8's untimed call, so that the first of the order is as warm as the rest. */
    if (code == 0 && race->refill && race->racers[order[race->n - 1]].entrant.alive) {
        struct racer warm = race->racers[order[race->n - 1]];
        double ns;
        double no_gap = -1;
        code = segment_time(race->bench, &warm.entrant, race->timing, &no_gap, &ns, err);
    }
    for (size_t i = 0; i < race->n && code == 0; i++)
        if (race->racers[order[i]].entrant.alive)
            code = time_racer(race, &race->racers[order[i]], round, err);
    return code;
}

/* Sets every variant up, estimates it and prepares one common length of segment for those not far behind. */
static int line_up(struct race *race, struct error *err)
{
    int code = 0;
    race->fastest_ns = INFINITY;
    for (size_t i = 0; i < race->n && code == 0; i++) {
        struct racer *r = &race->racers[i];
        racer_open(race, r);
        if (r->entrant.alive)
            code = segment_estimate(race->bench, &r->entrant, err);
        if (r->entrant.alive)
            race->fastest_ns = fmin(race->fastest_ns, r->entrant.estimate_ns);
    }
    race->is_long = race->eliminate && race->fastest_ns > LONG_LAUNCH_NS;
    if (race->is_long && race->rounds > LONG_HEATS + LONG_FINAL_ROUNDS) {
        race->heats = LONG_HEATS;
        race->rounds = LONG_HEATS + LONG_FINAL_ROUNDS;
    }
    double cut = race->is_long ? LONG_START_CUT : START_CUT;
    double target = race->heats > 0 ? HEAT_TARGET_NS : SEGMENT_TARGET_NS;
    for (size_t i = 0; i < race->n && code == 0; i++) {
        struct racer *r = &race->racers[i];
        if (!r->entrant.alive)
            continue;
        r->median_ns = r->entrant.estimate_ns;
        if (race->eliminate && r->median_ns > cut * race->fastest_ns)
            leave(race, r);
        else
            code = segment_prepare(race->bench, &r->entrant, target, race->fastest_ns, err);
    }
    return code;
}

static int run_all(struct race *race, struct error *err)
{
    int code = line_up(race, err);
    for (unsigned round = 0; round < race->rounds && code == 0; round++) {
        if (race->heats > 0 && round == race->heats)
            code = start_final(race, err);
        if (code == 0)
            code = run_round(race, round, err);
    }
    least_median(race);
    return code;
}

static int by_median(const void *a, const void *b)
{
    const struct racer *const *x = a;
    const struct racer *const *y = b;
    /* Those that stayed to the end first, then by median. */
    if ((*x)->entrant.alive != (*y)->entrant.alive)
        return (*x)->entrant.alive ? -1 : 1;
    return ((*x)->median_ns > (*y)->median_ns) - ((*x)->median_ns < (*y)->median_ns);
}

/* Those that left early keep the time they left with: when the winner turns out wrong, they are still there to follow.
 */
static bool was_timed(const struct racer *r)
{
    return strcmp(r->scratch.status, "ok") == 0 && isfinite(r->median_ns);
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
        if (strcmp(r->scratch.status, "ok") != 0)
            describe_rejected(tuning, i, r->scratch.reason);
    }
}

static int rank(struct race *race, struct race_result *out, struct error *err)
{
    struct racer *order[RACE_MAX_VARIANTS];
    out->ranked = calloc(race->n, sizeof *out->ranked);
    if (out->ranked == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a ranking");
    for (size_t i = 0; i < race->n; i++)
        order[i] = &race->racers[i];
    qsort(order, race->n, sizeof *order, by_median);
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

static int race_open(struct race *race, const struct cudal2_variant *variants, size_t n, struct error *err)
{
    const struct config *config = race->bench->config;
    bool paper = config->protocol == PROTOCOL_PAPER;
    race->rounds = paper ? config->paper.tune_warmup_rounds + config->paper.tune_rounds : config->tune_rounds;
    race->discarded = paper ? config->paper.tune_warmup_rounds : 0;
    race->heats = paper ? 0 : (race->rounds + 2) / 3;
    if (!paper && race->bench->mode == MODE_SERVER)
        race->rounds = race->heats + SERVER_FINAL_FACTOR * (race->rounds - race->heats);
    race->eliminate = !paper;
    race->refill = paper;
    race->timing = race->bench->headline;
    race->racers = calloc(n, sizeof *race->racers);
    race->n = race->racers == NULL ? 0 : n;
    bool failed = race->racers == NULL;
    for (size_t i = 0; i < race->n; i++) {
        race->racers[i].variant = variants[i];
        race->racers[i].median_ns = INFINITY;
        race->racers[i].ns = calloc(race->rounds, sizeof(double));
        failed = failed || race->racers[i].ns == NULL;
    }
    return failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for a race") : 0;
}

static int race_variants(struct bench *bench, struct entrant *entrant, const struct cudal2_variant *variants, size_t n,
                         struct race_result *out, struct error *err)
{
    struct race race = {.bench = bench, .owner = entrant};
    int code = race_open(&race, variants, n, err);
    if (code == 0)
        code = run_all(&race, err);
    if (code == 0)
        code = rank(&race, out, err);
    if (code == 0)
        describe_race(&race, entrant->record->tuning);
    race_close(&race);
    return code;
}

int race_run(struct bench *bench, struct entrant *entrant, struct race_result *out, struct error *err)
{
    char why[CUDAL2_WHY] = "no variant could be set up";
    struct cudal2_variant *variants = calloc(RACE_MAX_VARIANTS, sizeof *variants);
    int code = 0;
    *out = (struct race_result){0};
    if (variants == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for variants");
    int n = variants_gather(bench, entrant, variants, why);
    if (n == 1) {
        out->ranked = variants;
        out->n = 1;
        return 0;
    }
    if (n > 1)
        code = race_variants(bench, entrant, variants, (size_t)n, out, err);
    free(variants);
    if (code == 0 && out->n == 0)
        entrant_fail(bench, entrant, n == 0 ? "unsupported" : "setup_error", "tune", why);
    return code;
}
