/*
 * timed_check.c - the single trials: launches between which inputs and C are changed. Relies on segment.c.
 * Called by honesty.c and activity.c, one contender at a time.
 */
#include "verify/timed_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/join.h"
#include "measure/judge.h"
#include "measure/rotation.h"
#include "measure/segment.h"
#include "measure/spoil.h"
#include "measure/timed.h"

/* A segment of this many launches tells as much of what a launch leaves out as a longer one. */
#define BETWEEN_LAUNCHES 16u
/* Rows and columns of which one is changed where few are. */
#define FEW_LINES 32u
/* An element may take by chance the value that was put there: one in some hundreds where C was of other inputs, and
 * none where it was right. */
#define KEPT_BY_CHANCE 2u
#define KEPT_SHARE 64u
/* Launches where there is no segment, under wall and event timing: as many, but no more than these take when they are
 * long, and never fewer than a few. */
#define BETWEEN_SINGLE_NS 40e6
#define BETWEEN_SINGLE_LEAST 4u
void timed_check_convict(struct timed_check *t, enum verdict verdict, const char *format, ...)
{
    va_list args;
    if (t->verdict != VERDICT_OK)
        return;
    t->verdict = verdict;
    va_start(args, format);
    vsnprintf(t->reason, sizeof t->reason, format, args);
    va_end(args);
}

bool timed_check_parts(struct timed_check *t, int *code, struct error *err)
{
    bool joined = t->edges == TIMED_CHECK_JOINED || join_is_in(t->bench, t->entrant, t->bench->headline);
    if (!joined || (*code == 0 && t->verdict == VERDICT_OK))
        return false;
    *code = segment_part(t->bench, t->entrant, *code != 0 ? err->text : t->reason, err);
    t->verdict = VERDICT_OK;
    t->edges = TIMED_CHECK_PLAIN;
    return *code == 0;
}

void timed_check_note(struct entrant *entrant)
{
    cJSON *v = record_verification(entrant->record);
    cJSON *count = cJSON_GetObjectItemCaseSensitive(v, "timed_checks");
    if (count == NULL)
        cJSON_AddNumberToObject(v, "timed_checks", 1);
    else
        cJSON_SetNumberValue(count, count->valuedouble + 1);
    cJSON_DeleteItemFromObjectCaseSensitive(v, "threads");
    if (entrant->threads > 0)
        cJSON_AddNumberToObject(v, "threads", entrant->threads);
}

/* ---- inputs ---- */

int timed_check_fill(struct timed_check *t, uint64_t seed, struct error *err)
{
    const struct operands_values values = {bench_inputs(t->bench), seed, 0};
    const struct operands_part part = {t->entrant->first_set + t->set, t->entrant->contender->is.layout};
    return operands_fill_set(t->bench->device, t->bench->operands, &values, &part, err);
}

int timed_check_restore(struct timed_check *t, struct error *err)
{
    unsigned group = t->bench->record->groups > 0 ? t->bench->record->groups - 1 : 0;
    return timed_check_fill(t, bench_values(t->bench, "group", group), err);
}

/* ---- values ---- */

static const struct cudal2_operands *operands_of(const struct timed_check *t, size_t set)
{
    return operands_sets(t->bench->operands, t->entrant->contender->is.layout) + t->entrant->first_set + set;
}

static void *input_of(const struct timed_check *t, size_t set)
{
    return t->bench->operands->input[t->entrant->first_set + set];
}

/* Gaps included, where nothing is NaN. */
static uint64_t elements_of_c(const struct bench *bench)
{
    const struct matrix_extent e = problem_c(&bench->problem);
    return extent_elements(&e);
}

/* Elements of C that an upset changes. */
static uint64_t places_in_c(const struct bench *bench)
{
    return ((uint64_t)bench->problem.m * (uint64_t)bench->problem.n + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE;
}

/* Whether what is timed writes that set. */
static bool is_written(const struct timed_check *t, size_t set)
{
    return timing_is_segment(t->bench->headline) ? device_shape_uses(&t->entrant->row.shape, set) : set == 0;
}

/* Where C is an input nothing in it is NaN, so an element that stayed as it was is found by its sum: in every set.
 * Elsewhere in the one that has fresh inputs. */
static bool is_projected(const struct timed_check *t, size_t set)
{
    return is_written(t, set) && (set == t->set || problem_reads_c(&t->bench->problem));
}

/* In sets that are written and not projected: a projection shows NaN, too. */
static int look_for_unwritten(struct timed_check *t, struct error *err)
{
    const struct probe_ops *probes = t->bench->device->probes;
    char why[CUDAL2_WHY] = "";
    uint64_t nans = 0;
    size_t counted = 0;
    for (size_t s = 0; s < t->entrant->n_sets; s++) {
        if (!is_written(t, s) || is_projected(t, s))
            continue;
        counted++;
        if (probes->count(t->bench->device, operands_of(t, s)->c, t->bench->problem.dtype, elements_of_c(t->bench),
                          why) != CUDAL2_OK)
            return error_set(err, EXIT_CODE_INTERNAL, "counting unwritten elements: %s", why);
    }
    int code = counted > 0 ? probes->read_count(t->bench->device, &nans, err) : 0;
    if (code == 0 && nans > 0)
        timed_check_convict(t, VERDICT_WRONG_RESULT,
                            "the timed segment left %" PRIu64 " elements of C unwritten or NaN", nans);
    return code;
}

int timed_check_judge_fresh(struct timed_check *t, struct error *err)
{
    int code = look_for_unwritten(t, err);
    for (size_t s = 0; s < t->entrant->n_sets && code == 0 && t->verdict == VERDICT_OK; s++)
        if (is_projected(t, s))
            code = timed_check_judge(t, s, err);
    return code;
}

int gaps_check(const struct bench *bench, const void *c, uint64_t *written, char *why, struct error *err)
{
    const struct matrix_extent e = problem_c(&bench->problem);
    const struct probe_ops *probes = bench->device->probes;
    *written = 0;
    if (!extent_has_gaps(&e) || probes->gaps == NULL)
        return 0;
    int code = probes->gaps(bench->device, &bench->problem, c, written, err);
    snprintf(why, RECORD_REASON_MAX, "%" PRIu64 " bytes between the rows of C are not what they were", *written);
    return code;
}

static int judge_gaps(struct timed_check *t, size_t set, struct error *err)
{
    char why[RECORD_REASON_MAX];
    uint64_t written = 0;
    int code = gaps_check(t->bench, operands_of(t, set)->c, &written, why, err);
    if (code == 0 && written > 0)
        timed_check_convict(t, VERDICT_OOB_WRITE, "%s", why);
    return code;
}

int timed_check_judge(struct timed_check *t, size_t set, struct error *err)
{
    struct device *d = t->bench->device;
    struct probe_difference difference;
    double allowed = judge_allowed(t->entrant);
    char why[CUDAL2_WHY];
    const struct probe_product product = {.problem = t->bench->problem,
                                          .layout = t->entrant->contender->is.layout,
                                          .operands = operands_of(t, set),
                                          .seed = random_next(t->random),
                                          .floor = judge_floor(t->bench->problem.dtype, allowed),
                                          .input = input_of(t, set)};
    int code = d->probes->product(d, &product, &difference, err);
    if (code == 0 && judge_product(&difference, product.problem.m, allowed, why) != VERDICT_OK)
        timed_check_convict(t, VERDICT_WRONG_RESULT, "%.200s", why);
    return code == 0 ? judge_gaps(t, set, err) : code;
}

/* ---- between ---- */

/* The entrant's launch between an upset, or every other time a veil, and two counts: of what is NaN, and of what the
 * upset has put there. */
struct sandwich {
    struct timed_check *trial;
    struct probe_upset upset; /* the latest */
    uint64_t seed;
    uint32_t veils; /* bit i: ahead of launch i */
    unsigned launches;
    size_t set; /* of the latest */
};

/* Half of the launches, and one of the first `least`. */
static uint32_t draw_veils(struct random *random, unsigned least)
{
    uint32_t half = (uint32_t)random_next(random);
    return half | 1u << random_below(random, least);
}

/* What lies ahead of a launch follows from the seed: elements of C of one of four kinds, and inputs that stay, or are
 * others in every row and column or in a few. */
static struct probe_upset draw_upset(const struct timed_check *t, size_t set, uint64_t seed)
{
    static const uint64_t lines[] = {0, 0, 1, FEW_LINES};
    struct random random;
    random_seed(&random, seed);
    enum probe_spoil spoil = spoil_draw_some(&random);
    return (struct probe_upset){.problem = t->bench->problem,
                                .layout = t->entrant->contender->is.layout,
                                .operands = operands_of(t, set),
                                .spoil = spoil,
                                .lines = lines[random_below(&random, sizeof lines / sizeof *lines)],
                                .seed = seed,
                                .input = input_of(t, set)};
}

static int poison(struct sandwich *s, size_t set, char *why)
{
    struct device *d = s->trial->bench->device;
    const struct probe_veil veil = {s->trial->bench->problem, operands_of(s->trial, set), ++s->seed};
    bool veiled = s->veils >> s->launches++ % 32 & 1;
    s->upset = draw_upset(s->trial, set, veil.seed);
    s->set = set;
    if (!veiled || d->probes->veil == NULL)
        return d->probes->upset(d, &s->upset, why);
    s->upset.spoil = SPOIL_NONE; /* a veil's own are NaN */
    return d->probes->veil(d, &veil, why);
}

static int count_left(const struct sandwich *s, char *why)
{
    struct device *d = s->trial->bench->device;
    const struct probe_upset *u = &s->upset;
    int status = d->probes->count(d, u->operands->c, u->problem.dtype, elements_of_c(s->trial->bench), why);
    return status == CUDAL2_OK ? d->probes->count_kept(d, u, why) : status;
}

static int launch_between(void *context, size_t set, char *why)
{
    struct sandwich *s = context;
    const struct device_work *work = &s->trial->entrant->work;
    int status = poison(s, set, why);
    if (status == CUDAL2_OK)
        status = work->launch(work->context, set, why);
    return status == CUDAL2_OK ? count_left(s, why) : status;
}

static enum timed_check_edges edges_of(const struct device_ops *ops, const struct device_segment *segment)
{
    if (ops->joined != NULL && ops->joined(segment))
        return TIMED_CHECK_JOINED;
    return ops->early != NULL && ops->early(segment) ? TIMED_CHECK_EARLY : TIMED_CHECK_PLAIN;
}

/* Prepared as the timed segment is, short, without primers and over all sets in turn. */
static int run_segment_between(struct timed_check *t, const struct device_work *work, unsigned length,
                               struct error *err)
{
    struct device *d = t->bench->device;
    struct device_segment *segment = NULL;
    struct device_shape shape = t->entrant->row.shape;
    enum device_rung rung = t->veiled ? RUNG_GRAPH : d->ops->rung(t->entrant->row.segment);
    double ns;
    if (t->veiled)
        shape = (struct device_shape){.n_sets = t->entrant->n_sets};
    shape.launches = length;
    shape.primers = 0;
    shape.visits = 1;
    shape.loaded = shape.settled = true;
    shape.join = t->entrant->joins ? JOIN_VEILS : JOIN_NONE;
    shape.overlap = true; /* what begins early must wait itself, whether it is timed so or not */
    int code = d->ops->prepare(d, work, &shape, rung, &segment, err);
    if (code == 0)
        t->edges = edges_of(d->ops, segment);
    if (code == 0 && rotation_is_told(t->bench, t->entrant))
        d->ops->reorder(segment, random_next(t->random) | 1);
    if (code == 0)
        code = d->ops->measure(d, segment, &ns, err);
    if (segment != NULL)
        d->ops->release_segment(d, segment);
    return code;
}

static int run_between(struct timed_check *t, const struct device_work *work, unsigned length, struct error *err)
{
    double ns, spent = 0;
    int code = 0;
    if (t->veiled || timing_is_segment(t->bench->headline))
        return run_segment_between(t, work, length, err);
    for (unsigned i = 0; i < length && code == 0; i++) {
        if (i >= BETWEEN_SINGLE_LEAST && spent > BETWEEN_SINGLE_NS)
            break;
        code = segment_time_work(t->bench, t->entrant, work, i % t->entrant->n_sets, &ns, err);
        spent += ns;
    }
    return code;
}

/* Once outside a capture, which must not be the first launch of a kernel; and counts that do not see what lies there
 * would see nothing of what a contender leaves. */
static int try_probes(struct timed_check *t, struct error *err)
{
    struct device *d = t->bench->device;
    struct sandwich s = {.trial = t, .upset = draw_upset(t, 0, random_next(t->random))};
    uint64_t nans = 0, kept = 0, places = places_in_c(t->bench);
    char why[CUDAL2_WHY] = "";
    const struct probe_veil veil = {t->bench->problem, operands_of(t, 0), random_next(t->random)};
    s.upset.spoil = SPOIL_SOME_NAN;
    bool shows_nan = !problem_reads_c(&t->bench->problem);
    if ((d->probes->veil != NULL && d->probes->veil(d, &veil, why) != CUDAL2_OK) ||
        d->probes->upset(d, &s.upset, why) != CUDAL2_OK || count_left(&s, why) != CUDAL2_OK)
        return error_set(err, EXIT_CODE_INTERNAL, "trying the probes: %s", why);
    int code = d->probes->read_count(d, &nans, err);
    if (code == 0)
        code = d->probes->read_kept(d, &kept, err);
    if (code == 0 && ((shows_nan && nans < places) || kept < places))
        return error_set(err, EXIT_CODE_INTERNAL,
                         "of the poison put into an output only %" PRIu64 " and %" PRIu64 " elements showed", nans,
                         kept);
    return code;
}

/* So many launches every headline comes to. */
static unsigned launches_between(const struct timed_check *t)
{
    unsigned launches = t->entrant->row.shape.launches;
    bool few = timing_is_segment(t->bench->headline) && launches < BETWEEN_SINGLE_LEAST;
    return few && launches > 0 ? launches : BETWEEN_SINGLE_LEAST;
}

/* The last launch is judged, so any may be the last; but enough of them for a veil. */
static unsigned draw_length(const struct timed_check *t)
{
    unsigned most = t->entrant->row.shape.launches, least = launches_between(t);
    if (t->veiled)
        return BETWEEN_SINGLE_LEAST;
    if (!timing_is_segment(t->bench->headline) || most > BETWEEN_LAUNCHES)
        most = BETWEEN_LAUNCHES;
    return most <= least ? least : least + (unsigned)random_below(t->random, most - least + 1);
}

static int judge_left(struct timed_check *t, const struct sandwich *s, struct error *err)
{
    struct device *d = t->bench->device;
    uint64_t nans = 0, kept = 0;
    int code = d->probes->read_count(d, &nans, err);
    if (code == 0)
        code = d->probes->read_kept(d, &kept, err);
    if (code == 0 && nans > 0)
        timed_check_convict(t, VERDICT_WRONG_RESULT,
                            "launches of a segment left %" PRIu64
                            " elements of C as they were, or did not wait for what was "
                            "ahead of them",
                            nans);
    if (code == 0 && kept > KEPT_BY_CHANCE + s->launches * places_in_c(t->bench) / KEPT_SHARE)
        timed_check_convict(t, VERDICT_WRONG_RESULT,
                            "launches of a segment left %" PRIu64 " elements of C as they were", kept);
    return code;
}

int timed_check_between(struct timed_check *t, struct error *err)
{
    struct sandwich *sandwich =
        calloc(1, sizeof *sandwich); /* written during launches: not on the stack, which is guarded */
    if (sandwich == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a trial");
    const struct device_work work = {launch_between, sandwich, t->entrant->work.flags};
    sandwich->trial = t;
    sandwich->seed = random_next(t->random);
    sandwich->veils = t->veiled ? UINT32_MAX : draw_veils(t->random, launches_between(t)); /* the seed is drawn first */
    int code = try_probes(t, err);
    if (code == 0)
        code = run_between(t, &work, draw_length(t), err);
    if (code == 0)
        code = judge_left(t, sandwich, err);
    if (code == 0 && t->verdict == VERDICT_OK)
        code = timed_check_judge(t, sandwich->set, err);
    free(sandwich);
    return code;
}
