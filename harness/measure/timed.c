/*
 * timed.c - renews inputs before and judges outputs behind launches that are timed by themselves: places drawn
 * afterwards, projections, rows. Relies on judge.c and the device. Called by segment.c and verify/replay_check.c.
 */
#include "measure/timed.h"
#include "measure/timed_early.h"

#include <math.h>
#include <stdlib.h>

#include "base/half.h"
#include "device/cpu_math.h"
#include "device/host_check.h"
#include "measure/judge.h"
#include "measure/row_check.h"
#include "measure/spoil.h"
#include "measure/timed_error.h"
#include "measure/timed_state.h"

/* ---- the cell ---- */

static bool is_possible(const struct bench *bench)
{
    const struct probe_ops *probes = bench->device->probes;
    bool wanted = bench->config->honesty && bench->config->timed != TIMED_OFF;
    return wanted && probes != NULL && (probes->renew != NULL || probes->disturb != NULL);
}

/* A scripted device's cells do. Elsewhere the run's seed may be known to a contender, and what is drawn from it be
 * foreseen. */
static bool repeats(const struct bench *bench)
{
    return bench->device->probes->raw_now == NULL;
}

static uint64_t seed_of(const struct bench *bench)
{
    uint64_t seed = random_derive(bench->seed, "timed", 0);
    return repeats(bench) ? seed : seed ^ random_entropy();
}

static int fill_pool(struct bench *bench, struct timed *t, struct error *err)
{
    struct device *d = bench->device;
    uint64_t n = d->probes->pool_elements;
    const struct fill fill = {.kind = FILL_POOL,
                              .dtype = bench->problem.dtype,
                              .density = host_large_share(&bench->problem),
                              .seed = bench_pool(bench),
                              .rows = (int64_t)n,
                              .cols = 1};
    if (n == 0)
        return 0;
    int code = device_alloc_own(d, (size_t)n * dtype_bytes(bench->problem.dtype), &t->pool, err);
    if (code == 0)
        code = d->ops->fill(d, t->pool, &fill, err);
    if (code == 0)
        code = d->ops->sync(d, err);
    if (code == 0 && bench->filled != NULL)
        *bench->filled = (struct cpu_filled){t->pool, fill};
    return code;
}

int timed_open(struct bench *bench, struct error *err)
{
    if (!is_possible(bench))
        return 0;
    bench->timed = calloc(1, sizeof *bench->timed);
    if (bench->timed == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the checks of timed launches");
    random_seed(&bench->timed->random, seed_of(bench));
    int code = fill_pool(bench, bench->timed, err);
    if (code != 0)
        timed_close(bench);
    return code;
}

uint64_t timed_draw(struct bench *bench)
{
    return random_next(bench->timed == NULL ? &bench->random : &bench->timed->random);
}

void timed_stir(struct bench *bench)
{
    if (bench->timed != NULL && !repeats(bench))
        bench->timed->random.s[0] ^= random_entropy();
}

void timed_close(struct bench *bench)
{
    if (bench->filled != NULL)
        *bench->filled = (struct cpu_filled){0};
    if (bench->timed != NULL && bench->timed->pool != NULL)
        bench->device->ops->release(bench->device, bench->timed->pool);
    if (bench->timed != NULL) {
        free(bench->timed->stage.a);
        free(bench->timed->stage.b);
    }
    free(bench->timed);
    bench->timed = NULL;
}

/* ---- before ---- */

/* What is kept of C of a set, where it is an input. */
static void *input_of(const struct bench *bench, const struct entrant *e, size_t set)
{
    return bench->operands->input[e->first_set + set];
}

static void describe_renewal(struct bench *bench, const struct entrant *entrant, size_t set, enum probe_spoil spoil,
                             uint64_t seed)
{
    struct timed *t = bench->timed;
    t->renewal = (struct probe_renewal){.problem = bench->problem,
                                        .layout = entrant->contender->is.layout,
                                        .operands = timed_first_set(bench, entrant) + set,
                                        .pool = t->pool,
                                        .spoil = spoil,
                                        .cold = t->cold,
                                        .seed = seed,
                                        .input = input_of(bench, entrant, set)};
}

static int renew(struct bench *bench, const struct entrant *entrant, size_t set, enum probe_spoil spoil, uint64_t seed,
                 struct error *err)
{
    describe_renewal(bench, entrant, set, spoil, seed);
    return bench->device->probes->renew(bench->device, &bench->timed->renewal, err);
}

bool timed_renews(const struct bench *bench)
{
    return bench->timed != NULL && bench->device->probes->renew != NULL;
}

/* ---- inputs for a process that stands still ---- */

static bool hold(void **memory, uint64_t *held, uint64_t bytes)
{
    if (*held >= bytes)
        return true;
    free(*memory);
    *memory = malloc((size_t)bytes);
    *held = *memory == NULL ? 0 : bytes;
    return *memory != NULL;
}

/* Whether there is room for its inputs elsewhere. */
static bool take_stage(const struct bench *bench, const struct entrant *entrant)
{
    struct timed_stage *stage = &bench->timed->stage;
    const struct cudal2_problem *p = &bench->problem;
    const struct matrix_extent a = problem_a(p), b = problem_b(p, entrant->contender->is.layout);
    uint64_t width = dtype_bytes(p->dtype), a_bytes = extent_elements(&a) * width,
             b_bytes = extent_elements(&b) * width;
    bool asleep = entrant->contender->ops->wake != NULL && bench->device->probes->deliver != NULL;
    bool able = !bench->timed->cold || host_evict(NULL, 0);
    return asleep && able && a_bytes + b_bytes <= TIMED_STAGE_MOST && hold(&stage->a, &stage->a_bytes, a_bytes) &&
           hold(&stage->b, &stage->b_bytes, b_bytes);
}

int timed_prepare(struct bench *bench, struct entrant *entrant, bool cold, struct error *err)
{
    struct timed *t = bench->timed;
    if (!timed_renews(bench))
        return 0;
    t->cold = cold;
    t->stage.full = take_stage(bench, entrant);
    if (!t->stage.full)
        return 0;
    struct cudal2_operands staged = *timed_first_set(bench, entrant);
    staged.a = t->stage.a;
    staged.b = t->stage.b;
    uint64_t seed = random_next(&t->random);
    describe_renewal(bench, entrant, 0, spoil_draw(&t->random), seed);
    struct probe_renewal renewal = t->renewal;
    renewal.operands = &staged;
    renewal.staged = true;
    return bench->device->probes->renew(bench->device, &renewal, err);
}

int timed_renew(struct bench *bench, struct entrant *entrant, struct error *err)
{
    struct timed *t = bench->timed;
    int code = 0;
    if (!timed_renews(bench))
        return 0;
    if (t->stage.full) {
        const struct probe_delivery delivery = {.layout = entrant->contender->is.layout,
                                                .cold = t->cold,
                                                .from_a = t->stage.a,
                                                .from_b = t->stage.b,
                                                .to = timed_first_set(bench, entrant)};
        bench->device->probes->deliver(&bench->problem, &delivery);
        t->stage.full = false;
    } else {
        uint64_t seed = random_next(&t->random);
        code = renew(bench, entrant, 0, spoil_draw(&t->random), seed, err);
    }
    timed_early_draw(bench, entrant);
    return code == 0 && bench->renewed != NULL ? bench->renewed(bench->renewed_context, err) : code;
}

int timed_put(struct bench *bench, struct entrant *entrant, size_t set, uint64_t seed, struct error *err)
{
    bool all_of_c = problem_reads_c(&bench->problem); /* the other kinds leave some of what was there */
    return renew(bench, entrant, set, all_of_c ? SPOIL_LIKELY : spoil_draw(&bench->timed->random), seed, err);
}

int timed_restore_c(struct bench *bench, struct entrant *entrant, size_t set, struct error *err)
{
    if (!problem_reads_c(&bench->problem))
        return 0;
    int code = operands_poison(bench->device, bench->operands, entrant->first_set + set, err);
    return code == 0 ? bench->device->ops->sync(bench->device, err) : code;
}

/* ---- after ---- */

/* Of one launch. */
struct judgement {
    struct bench *bench;
    struct entrant *entrant;
    struct probe_product product;
    double ns, allowed;
    char why[CUDAL2_WHY];
};

static double elements_of(const struct cudal2_problem *p)
{
    return (double)p->m * (double)p->k + (double)p->k * (double)p->n + (double)p->m * (double)p->n;
}

/* By what an element costs: a row of A, and a column of B that lies across the memory where B is row-major. */
static size_t count_spots(const struct judgement *l)
{
    double each_ns = 100 + (double)l->product.problem.k * (l->product.layout == CUDAL2_TN ? 4 : 8);
    double more = TIMED_SPOTS_SHARE * l->ns / each_ns;
    return (size_t)fmin(TIMED_SPOTS_LEAST + more, TIMED_SPOTS_MOST);
}

/* A few reads of memory that was just written: what takes longer is computed while it is read. Anybody may be
 * interrupted once, but not at most of all launches. */
#define SLOW_READ_NS 20e3
#define SLOW_READ_EACH_NS 1e3
#define SLOW_READS_LEAST 8u

static int judge_reading(struct judgement *l, double ns, size_t n, struct error *err)
{
    struct timed_counts *counts = &l->entrant->timed;
    counts->slow_reads += ns > SLOW_READ_NS + SLOW_READ_EACH_NS * (double)n;
    if (counts->slow_reads < SLOW_READS_LEAST || 2 * counts->slow_reads < counts->judged)
        return 0;
    return error_set(err, EXIT_CODE_VERIFICATION,
                     "late_work: reading %zu elements of C took %.0f us, and long after most launches: it was not "
                     "there yet",
                     n, ns * 1e-3);
}

/* Those from `first` on. Read before anything else is done: who is not ready yet is to be found so. */
static int read_spots(const struct judgement *l, size_t first, size_t n, struct error *err)
{
    const struct cudal2_problem *p = &l->product.problem;
    struct device *d = l->bench->device;
    struct random *random = &l->bench->timed->random;
    struct probe_spot *spots = l->bench->timed->spots;
    size_t bytes = dtype_bytes(p->dtype);
    uint64_t ldc = (uint64_t)problem_c(p).stride;
    unsigned char raw[TIMED_SPOTS_MOST][sizeof(float)];
    int code = 0;
    for (size_t i = first; i < n && code == 0; i++) {
        spots[i] = (struct probe_spot){random_below(random, (uint64_t)p->m), random_below(random, (uint64_t)p->n), 0, 0,
                                       false};
        size_t at = (size_t)(spots[i].row * ldc + spots[i].column);
        code = d->ops->download(d, raw[i], (const char *)l->product.operands->c + at * bytes, bytes, err);
    }
    for (size_t i = first; i < n && code == 0; i++)
        l->bench->timed->found[i] = (double)element_load(raw[i], p->dtype, 0);
    return code;
}

static int look_at_state(const struct judgement *l, struct error *err)
{
    struct device *d = l->bench->device;
    char what[128] = "";
    if (d->probes->changes != NULL)
        d->probes->changes(d, what);
    return what[0] == '\0'
               ? 0
               : error_set(err, EXIT_CODE_VERIFICATION, "%s: %s", verdict_name(VERDICT_DEVICE_STATE_CHANGED), what);
}

/* `verdict` ok: nothing. Who has changed how this thread rounds is told that. */
static int convict(const struct judgement *l, enum verdict verdict, struct error *err)
{
    if (verdict == VERDICT_OK)
        return 0;
    int code = look_at_state(l, err);
    return code != 0 ? code
                     : error_set(err, EXIT_CODE_VERIFICATION, "%s: a timed launch: %s", verdict_name(verdict), l->why);
}

static int look_at_spots(struct judgement *l, struct error *err)
{
    struct timed *t = l->bench->timed;
    struct device *d = l->bench->device;
    if (d->probes->spots == NULL)
        return 0;
    int code = judge_reading(l, t->read_ns, t->n_spots, err);
    if (code == 0)
        code = d->probes->spots(d, &l->product, t->spots, t->n_spots, err);
    if (code == 0)
        timed_error_add_spots(&l->entrant->timed, t->spots, t->found, t->n_spots);
    return code == 0 ? convict(l, judge_spots(t->spots, t->found, t->n_spots, l->allowed, l->why), err) : code;
}

/* The share of launches that are projected. */
static double product_share(const struct judgement *l)
{
    const struct timed *t = l->bench->timed;
    if (l->bench->config->timed == TIMED_ALL || t->products < 1 || l->entrant->timed.products < 1 ||
        elements_of(&l->product.problem) <= TIMED_PRODUCT_ALWAYS)
        return 1;
    double each_ns = t->products_ns / t->products;
    return fmax(TIMED_PRODUCT_SHARE * l->ns / fmax(each_ns, 1), 1.0 / TIMED_PRODUCT_LEAST);
}

static int look_at_product(struct judgement *l, struct error *err)
{
    struct device *d = l->bench->device;
    struct timed *t = l->bench->timed;
    struct probe_difference difference;
    double start = (double)d->ops->now(d);
    if (random_unit(&t->random) >= product_share(l))
        return 0;
    l->product.seed = random_next(&t->random);
    int code = d->probes->product(d, &l->product, &difference, err);
    t->products++;
    t->products_ns += (double)d->ops->now(d) - start;
    l->entrant->timed.products++;
    if (code != 0)
        return code;
    timed_error_add(&l->entrant->timed, &difference, (double)l->product.problem.m);
    return convict(l, judge_product(&difference, l->product.problem.m, l->allowed, l->why), err);
}

static int look_at_band(struct judgement *l, struct error *err)
{
    struct device *d = l->bench->device;
    struct random *random = &l->bench->timed->random;
    const struct cudal2_problem *p = &l->product.problem;
    struct probe_difference difference;
    double affordable = TIMED_PRODUCT_SHARE * l->ns / ((double)p->n * (double)p->k); /* 1 ns for each product */
    int64_t most = p->m < TIMED_BAND_MOST ? p->m : TIMED_BAND_MOST;
    int64_t rows = (int64_t)fmin(fmax(affordable, 1), (double)most);
    if (d->probes->band == NULL || random_below(random, TIMED_BAND_EVERY) != 0)
        return 0;
    int64_t first = (int64_t)random_below(random, (uint64_t)(p->m - rows + 1));
    int code = d->probes->band(d, &l->product, first, rows, &difference, err);
    l->entrant->timed.bands++;
    if (code != 0)
        return code;
    timed_error_add(&l->entrant->timed, &difference, (double)rows * (double)p->n);
    return convict(l, judge_band(&difference, (double)rows * (double)p->n, l->allowed, l->why), err);
}

/* The set of a timed launch that is drawn. */
static size_t draw_set(const struct bench *bench, struct entrant *e, enum timing timing)
{
    struct timed *t = bench->timed;
    const struct device_shape *shape = &bench_row(bench, e, timing)->shape;
    if (!timing_is_segment(timing))
        return 0;
    unsigned visits = device_shape_visits(shape), visit = (unsigned)random_below(&t->random, visits);
    unsigned each = shape->launches / visits, untimed = visit == 0 ? shape->primers : shape->again;
    return device_shape_set(shape, visit, untimed + (unsigned)random_below(&t->random, each));
}

/* C of one set against its inputs, whoever wrote it last. */
static int project(struct judgement *l, struct error *err)
{
    struct device *d = l->bench->device;
    struct probe_difference difference;
    l->product.renewal = NULL;
    l->product.seed = random_next(&l->bench->timed->random);
    l->entrant->timed.products++;
    int code = d->probes->product(d, &l->product, &difference, err);
    if (code == 0)
        timed_error_add(&l->entrant->timed, &difference, (double)l->product.problem.m);
    return code != 0 ? code : convict(l, judge_product(&difference, l->product.problem.m, l->allowed, l->why), err);
}

/* Behind half of the segments that are judged, and where one is due. What the process or the device is changed to ahead
 * of it may be another's doing. A row has any number of launches: a change at every second one shows where it is odd.
 */
static int judge_row(struct judgement *l, struct error *err)
{
    struct device *d = l->bench->device;
    struct random *random = &l->bench->timed->random;
    if ((!l->bench->timed->row_due && random_below(random, 2) == 0) || !row_check_possible(l->bench, l->entrant))
        return 0;
    int code = look_at_state(l, err) == 0 ? 0 : d->ops->settle(d, err);
    if (code == 0)
        code = timed_disturb_sets(l->bench, l->entrant, l->entrant->row.shape.n_sets, err);
    if (code == 0)
        code = row_check_run(l->bench, l->entrant, random, &l->product.operands, err);
    l->entrant->timed.rows++;
    if (code == 0)
        code = look_at_state(l, err);
    return code == 0 ? project(l, err) : code;
}

/* The output of the set that was drawn. */
static int judge_segment(struct judgement *l, enum timing timing, struct error *err)
{
    struct timed *t = l->bench->timed;
    double start = timed_now_ns(l->bench);
    bool chosen = t->chosen;
    if (t->since > 0) { /* else nothing was asked before it: a first estimate */
        t->cost.runs++;
        t->cost.runs_ns += start - t->since;
    }
    t->since = 0;
    t->chosen = false;
    if (!chosen)
        return 0;
    l->product.operands += draw_set(l->bench, l->entrant, timing);
    l->entrant->timed.judged++;
    l->entrant->timed.owed &= timing != l->bench->headline;
    int code = project(l, err);
    if (code == 0 && timing == bench_row_timing(l->bench))
        code = judge_row(l, err);
    code = code == 0 ? convict(l, timed_error_judge(l->entrant, l->why), err) : code;
    t->cost.checks++;
    t->cost.checks_ns += timed_now_ns(l->bench) - start;
    return code;
}

static struct judgement look_at(struct bench *bench, struct entrant *entrant, double ns)
{
    double allowed = judge_allowed(entrant);
    return (struct judgement){.bench = bench,
                              .entrant = entrant,
                              .ns = ns,
                              .allowed = allowed,
                              .product = {.problem = bench->problem,
                                          .layout = entrant->contender->is.layout,
                                          .operands = timed_first_set(bench, entrant),
                                          .floor = judge_floor(bench->problem.dtype, allowed),
                                          .renewal = &bench->timed->renewal,
                                          .input = input_of(bench, entrant, 0)}};
}

/* Whether the latest launch, timed by itself, is judged. */
static bool is_judged_alone(const struct bench *bench, const struct entrant *entrant, enum timing timing)
{
    return bench->timed != NULL && bench->judging && !entrant->record->invalid && !timing_is_segment(timing) &&
           bench->device->probes->renew != NULL;
}

int timed_read(struct bench *bench, struct entrant *entrant, enum timing timing, double ns, struct error *err)
{
    if (!is_judged_alone(bench, entrant, timing) || bench->device->probes->spots == NULL)
        return 0;
    timed_early_read(bench); /* drawn for this launch: whoever is judged alone was renewed (segment.c) */
    struct timed *t = bench->timed;
    timed_stir(bench);
    struct judgement l = look_at(bench, entrant, ns);
    t->n_spots = count_spots(&l);
    double start = timed_now_ns(bench);
    int code = read_spots(&l, timed_early_take(bench), t->n_spots, err);
    t->read_ns = timed_now_ns(bench) - start;
    return code;
}

int timed_judge(struct bench *bench, struct entrant *entrant, enum timing timing, double ns, struct error *err)
{
    if (bench->timed == NULL || !bench->judging)
        return 0;
    entrant->timed.launches++;
    if (entrant->record->invalid)
        return 0;
    timed_stir(bench);
    struct judgement l = look_at(bench, entrant, ns);
    if (!is_judged_alone(bench, entrant, timing))
        return judge_segment(&l, timing, err);
    entrant->timed.alone = ++entrant->timed.judged;
    int code = look_at_spots(&l, err);
    if (code == 0)
        code = look_at_product(&l, err);
    if (code == 0)
        code = look_at_band(&l, err);
    return code == 0 ? convict(&l, timed_error_judge(entrant, l.why), err) : code;
}

double timed_spent(const struct bench *bench)
{
    return bench->timed == NULL ? 0 : bench->timed->cost.checks_ns + bench->timed->others_ns;
}
