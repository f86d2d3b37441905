/*
 * chain.c - layers of a product and a plain kernel, run, timed and judged (chain.h). Relies on the device's segments,
 * its plain kernel and probes, and on judge.c. Called by block.c, cell_loop.c and worker/cell.c.
 */
#include "measure/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/judge.h"
#include "measure/timed.h"
#include "stats/interval.h"

/* The context of one entrant's layers. */
struct layer {
    struct bench *bench;
    const struct entrant *entrant;
};

struct chain {
    struct device_shape shape;
    void *bias, *c, *a, *end; /* of plain kernels alone: C and A; of the last layer: its output */
    struct layer layers[RECORD_MAX_CONTENDERS];
    struct device_segment *without[TIMING_COUNT]; /* chains of plain kernels */
    double latest[RECORD_MAX_CONTENDERS];         /* what they took, a layer, since chain_without */
    size_t n_latest;
    struct series told[TIMING_COUNT]; /* its answers */
    struct timed_cost cost;
};

static double weight_bytes(const struct cudal2_problem *p)
{
    return (double)p->k * (double)p->n * (double)dtype_bytes(p->dtype);
}

unsigned chain_layers(const struct config *config, const struct device_info *info, const struct cudal2_problem *p)
{
    double peak = device_peak_flops(info, p->dtype), floor_ns = peak > 0 ? problem_flops(p) / peak * 1e9 : 0;
    double wanted = ceil(CHAIN_CACHES * (double)info->l2_bytes / weight_bytes(p));
    double bearable = floor_ns > 0 ? floor(CHAIN_LONGEST_NS / floor_ns) : CHAIN_MOST_LAYERS;
    double layers = fmin(fmin(fmax(wanted, CHAIN_LEAST_LAYERS), CHAIN_MOST_LAYERS), bearable);
    return config->chain_layers > 0 ? config->chain_layers : (unsigned)fmax(layers, CHAIN_LEAST_LAYERS);
}

/* ---- the cell ---- */

static uint64_t bytes_of(const struct bench *bench, int64_t rows, int64_t columns)
{
    return (uint64_t)rows * (uint64_t)columns * dtype_bytes(bench->problem.dtype);
}

uint64_t chain_bytes(const struct bench *bench)
{
    const struct cudal2_problem *p = &bench->problem;
    if (bench->mode != MODE_CHAIN)
        return 0;
    return bytes_of(bench, 1, p->k) + bytes_of(bench, p->m, p->n) + 2 * bytes_of(bench, p->m, p->k);
}

static int fill_normal_matrix(struct bench *bench, void *memory, int64_t rows, int64_t columns, struct error *err)
{
    const struct fill fill = {.kind = FILL_NORMAL,
                              .dtype = bench->problem.dtype,
                              .seed = timed_draw(bench) >> 8,
                              .rows = rows,
                              .cols = columns};
    return bench->device->ops->fill(bench->device, memory, &fill, err);
}

static int take(struct bench *bench, void **memory, int64_t rows, int64_t columns, struct error *err)
{
    int code = bench->device->ops->alloc(bench->device, (size_t)bytes_of(bench, rows, columns), memory, err);
    return code == 0 ? fill_normal_matrix(bench, *memory, rows, columns, err) : code;
}

static struct device_plain plain_of(const struct bench *bench, const void *c, void *out)
{
    return (struct device_plain){.problem = bench->problem, .c = c, .bias = bench->chain->bias, .out = out};
}

/* A layer without its product. */
static int launch_without(void *context, size_t set, char *why)
{
    struct bench *bench = context;
    const struct device_plain plain = plain_of(bench, bench->chain->c, bench->chain->a);
    (void)set;
    return bench->device->ops->plain(bench->device, &plain, why);
}

static int warm_plain(struct bench *bench, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    if (launch_without(bench, 0, why) != CUDAL2_OK)
        return error_set(err, EXIT_CODE_INTERNAL, "the plain kernel of a chain: %s", why);
    return bench->device->ops->sync(bench->device, err);
}

int chain_open(struct bench *bench, struct error *err)
{
    const struct cudal2_problem *p = &bench->problem;
    if (bench->mode != MODE_CHAIN)
        return 0;
    if (bench->device->ops->plain == NULL)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "this device has no plain kernel to build a chain of");
    struct chain *chain = bench->chain = calloc(1, sizeof *bench->chain);
    if (chain == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a chain");
    unsigned layers = (unsigned)bench->sets_each - CHAIN_PRIMERS;
    chain->shape = (struct device_shape){
        .visits = 1, .launches = layers, .primers = CHAIN_PRIMERS, .n_sets = bench->sets_each, .overlap = true};
    for (size_t i = 0; i < bench->n_entrants; i++)
        chain->layers[i] = (struct layer){bench, &bench->entrants[i]};
    int code = take(bench, &chain->bias, 1, p->k, err);
    if (code == 0)
        code = take(bench, &chain->c, p->m, p->n, err);
    if (code == 0)
        code = take(bench, &chain->a, p->m, p->k, err);
    if (code == 0)
        code = take(bench, &chain->end, p->m, p->k, err);
    return code == 0 ? warm_plain(bench, err) : code;
}

void chain_close(struct bench *bench)
{
    struct device *d = bench->device;
    struct chain *chain = bench->chain;
    if (chain == NULL)
        return;
    void *const memory[] = {chain->bias, chain->c, chain->a, chain->end};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        if (memory[i] != NULL)
            d->ops->release(d, memory[i]);
    for (int t = 0; t < TIMING_COUNT; t++) {
        if (chain->without[t] != NULL)
            d->ops->release_segment(d, chain->without[t]);
        series_free(&chain->told[t]);
    }
    free(chain);
    bench->chain = NULL;
}

/* ---- layers ---- */

static const struct cudal2_operands *sets_of(const struct bench *bench, const struct entrant *e)
{
    return operands_sets(bench->operands, e->contender->is.layout) + e->first_set;
}

/* The plain kernel behind the product on a set. */
static struct device_plain behind(const struct bench *bench, const struct entrant *e, size_t set)
{
    const struct cudal2_operands *sets = sets_of(bench, e);
    const void *next = set + 1 < bench->sets_each ? sets[set + 1].a : bench->chain->end;
    return plain_of(bench, sets[set].c, (void *)(uintptr_t)next); /* contenders must not write A; the harness may */
}

static int launch_layer(void *context, size_t set, char *why)
{
    const struct layer *layer = context;
    const struct entrant *e = layer->entrant;
    const struct device_plain plain = behind(layer->bench, e, set);
    int status = e->work.launch(e->work.context, set, why);
    return status == CUDAL2_OK ? layer->bench->device->ops->plain(layer->bench->device, &plain, why) : status;
}

static struct device_work work_of(const struct bench *bench, const struct entrant *e)
{
    struct layer *layer = &bench->chain->layers[e - bench->entrants];
    return (struct device_work){.launch = launch_layer, .context = layer, .flags = e->work.flags};
}

static struct device_work without_work(struct bench *bench)
{
    return (struct device_work){.launch = launch_without, .context = bench};
}

static int launch_range(const struct device_work *work, size_t from, size_t to, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    int status = CUDAL2_OK;
    for (size_t set = from; set < to && status == CUDAL2_OK; set++)
        status = work->launch(work->context, set, why);
    if (status != CUDAL2_OK) /* as the devices say it of a timed launch */
        return error_set(err, EXIT_CODE_VERIFICATION, "launch failed with status %d: %s", status, why);
    return 0;
}

/* A stream of launches by the host's clock. */
static int time_stream(struct bench *bench, const struct device_work *work, double *ns, struct error *err)
{
    struct device *d = bench->device;
    const struct device_shape *shape = &bench->chain->shape;
    struct error launched;
    int code = launch_range(work, 0, shape->primers, &launched), waited = d->ops->sync(d, err);
    if (code != 0 || waited != 0) {
        if (waited == 0)
            *err = launched;
        return waited != 0 ? waited : code;
    }
    double start = (double)d->ops->now(d);
    code = launch_range(work, shape->primers, shape->n_sets, &launched);
    waited = d->ops->sync(d, err);
    *ns = ((double)d->ops->now(d) - start) / shape->launches;
    if (code != 0 && waited == 0)
        *err = launched;
    return waited != 0 ? waited : code;
}

/* There is nothing to prepare then. */
static bool by_host(enum timing timing)
{
    switch (timing_table[timing].way) {
    case TIMING_BY_HOST:
        return true;
    case TIMING_BY_SEGMENT:
    case TIMING_BY_EVENTS:
        break;
    }
    return false;
}

static int prepare_one(struct bench *bench, const struct device_work *work, enum timing timing,
                       struct device_segment **out, struct error *err)
{
    enum device_rung lowest = timing_is_segment(timing) ? RUNG_GRAPH : RUNG_EVENTS;
    struct device_shape shape = bench->chain->shape;
    shape.loaded = bench->warmed;
    return bench->device->ops->prepare(bench->device, work, &shape, lowest, out, err);
}

static bool is_taken(const struct bench *bench, enum timing timing)
{
    return timing == bench->headline || bench_takes_beside(bench, timing);
}

/* For each timing that is taken by segments or events, those that are not there yet. */
static int prepare_all(struct bench *bench, const struct device_work *work,
                       struct device_segment *segments[TIMING_COUNT], struct error *err)
{
    int code = 0;
    for (int t = 0; t < TIMING_COUNT && code == 0; t++)
        if (segments[t] == NULL && is_taken(bench, (enum timing)t) && !by_host((enum timing)t))
            code = prepare_one(bench, work, (enum timing)t, &segments[t], err);
    return code;
}

int chain_prepare(struct bench *bench, struct entrant *entrant, struct error *err)
{
    const struct device_work work = work_of(bench, entrant), without = without_work(bench);
    int code = prepare_all(bench, &without, bench->chain->without, err);
    if (code != 0)
        return code;
    bench_stage(bench, entrant, "measure", bench->config->limits.launch_seconds);
    code = prepare_all(bench, &work, entrant->chains, err);
    return code == 0 ? 0 : entrant_fault(bench, entrant, "measure", err);
}

/* ---- judgement ---- */

static int wrong_layer(const struct bench *bench, size_t set, enum verdict verdict, const char *why, struct error *err)
{
    return error_set(err, EXIT_CODE_VERIFICATION, "%s: layer %zu of %zu of a chain: %s", verdict_name(verdict), set + 1,
                     bench->sets_each, why);
}

/* The product of a layer against the inputs that it had, which are still there. */
static int judge_product_of(struct bench *bench, struct entrant *e, size_t set, struct error *err)
{
    struct device *d = bench->device;
    double allowed = judge_allowed(e);
    const struct probe_product product = {.problem = bench->problem,
                                          .layout = e->contender->is.layout,
                                          .operands = sets_of(bench, e) + set,
                                          .seed = timed_draw(bench),
                                          .floor = judge_floor(bench->problem.dtype, allowed)};
    struct probe_difference difference;
    char why[CUDAL2_WHY] = "";
    int code = d->probes->product(d, &product, &difference, err);
    e->timed.products++;
    if (code != 0)
        return code;
    enum verdict verdict = judge_product(&difference, bench->problem.m, allowed, why);
    return verdict == VERDICT_OK ? 0 : wrong_layer(bench, set, verdict, why, err);
}

/* What the plain kernel has read is what C holds now, and nobody has written to A since. */
static int judge_order_of(struct bench *bench, const struct entrant *e, size_t set, struct error *err)
{
    const struct device_plain plain = behind(bench, e, set);
    char why[CUDAL2_WHY];
    uint64_t differing = 0;
    int code = bench->device->ops->plain_differs(bench->device, &plain, &differing, err);
    if (code != 0 || differing == 0)
        return code;
    snprintf(why, sizeof why,
             "%llu elements of the next layer's A are not what its C gives: the kernel behind it read C before it was "
             "there, or A was written since",
             (unsigned long long)differing);
    return wrong_layer(bench, set, VERDICT_LATE_WORK, why, err);
}

static int judge_layers(struct bench *bench, struct entrant *e, struct error *err)
{
    int code = 0;
    for (size_t set = 0; set < bench->sets_each && code == 0; set++) {
        code = judge_product_of(bench, e, set, err);
        if (code == 0)
            code = judge_order_of(bench, e, set, err);
    }
    return code;
}

static int poison(struct bench *bench, const struct entrant *e, struct error *err)
{
    int code = 0;
    for (size_t set = 0; set < bench->sets_each && code == 0; set++)
        code = operands_poison(bench->device, bench->operands, e->first_set + set, err);
    return code == 0 ? bench->device->ops->sync(bench->device, err) : code;
}

static int verify_one(struct bench *bench, struct entrant *e, struct error *err)
{
    const struct device_work work = work_of(bench, e);
    int code = poison(bench, e, err);
    bench_stage(bench, e, "verify", bench->config->limits.verify_seconds);
    if (code == 0)
        code = launch_range(&work, 0, bench->sets_each, err);
    if (code == 0)
        code = bench->device->ops->sync(bench->device, err);
    if (code == 0)
        code = judge_layers(bench, e, err);
    return code == 0 ? 0 : entrant_fault(bench, e, "verify", err);
}

int chain_verify(struct bench *bench, struct error *err)
{
    int code = 0;
    if (bench->chain == NULL || bench->device->probes == NULL)
        return 0;
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        if (!e->alive || !e->set_up || e->record->invalid)
            continue;
        code = bench_fill(bench, "chain", i, err);
        if (code == 0)
            code = verify_one(bench, e, err);
    }
    return code;
}

/* ---- time ---- */

/* What checks cost is bounded as it is of segments (timed.h). */
static bool is_chosen(struct bench *bench, const struct entrant *e)
{
    bool judged = bench->timed != NULL && bench->judging && !e->record->invalid;
    return judged && timed_chooses(bench, &bench->chain->cost);
}

/* Weights of its own and of others have been used since a chain began last: none of what it begins with is cached. */
static bool drives_itself_out(const struct bench *bench)
{
    double weights = (double)bench->sets_each * weight_bytes(&bench->problem);
    return weights >= CHAIN_CACHES * (double)bench->device->info.l2_bytes && bench->device->info.l2_bytes > 0;
}

/* Plain kernels alone have no weights, and warm what they use in their primers. */
static int run_once(struct bench *bench, struct entrant *entrant, enum timing timing, double *ns, struct error *err)
{
    const struct device_work work = entrant ? work_of(bench, entrant) : without_work(bench);
    struct device_segment *segment = entrant ? entrant->chains[timing] : bench->chain->without[timing];
    struct device *d = bench->device;
    bool cold = entrant && !drives_itself_out(bench);
    int code = cold ? d->ops->flush(d, err) : 0;
    if (code == 0)
        code = by_host(timing) ? time_stream(bench, &work, ns, err) : d->ops->measure(d, segment, ns, err);
    if (code == 0)
        bench->record->busy_seconds += 1e-9 * *ns * (double)bench->sets_each;
    return code;
}

static int run_without(struct bench *bench, enum timing timing, struct error *err)
{
    struct chain *chain = bench->chain;
    double ns = 0;
    int code = run_once(bench, NULL, timing, &ns, err);
    if (code == 0 && chain->n_latest < RECORD_MAX_CONTENDERS)
        chain->latest[chain->n_latest++] = ns;
    return code;
}

static double now_ns(const struct bench *bench)
{
    return (double)bench->device->ops->now(bench->device);
}

int chain_time(struct bench *bench, struct entrant *entrant, enum timing timing, double *ns, struct error *err)
{
    struct chain *chain = bench->chain;
    bool chosen = is_chosen(bench, entrant);
    int code = run_without(bench, timing, err);
    double began = now_ns(bench), run, ended;
    if (code == 0 && chosen)
        code = timed_disturb_sets(bench, entrant, bench->sets_each, err);
    run = now_ns(bench);
    if (code == 0)
        code = run_once(bench, entrant, timing, ns, err);
    ended = now_ns(bench);
    timed_stir(bench);
    if (code == 0 && chosen)
        code = judge_layers(bench, entrant, err);
    chain->cost.runs++;
    chain->cost.runs_ns += ended - run;
    chain->cost.checks += chosen;
    chain->cost.checks_ns += chosen ? run - began + now_ns(bench) - ended : 0;
    entrant->timed.launches += bench->sets_each;
    entrant->timed.judged += chosen ? bench->sets_each : 0;
    return code;
}

double chain_without(struct bench *bench, enum timing timing)
{
    struct chain *chain = bench->chain;
    double median = chain->n_latest == 0 ? NAN : stats_median(chain->latest, chain->n_latest);
    chain->n_latest = 0;
    if (!isnan(median))
        (void)series_add(&chain->told[timing], bench->record->blocks, median); /* a remark less: no memory */
    return median;
}

/* ---- the record ---- */

cJSON *chain_of(const struct bench *bench)
{
    const struct chain *chain = bench->chain;
    if (chain == NULL)
        return NULL;
    cJSON *object = cJSON_CreateObject();
    json_put_number(object, "layers", chain->shape.launches);
    json_put_number(object, "primers", chain->shape.primers);
    json_put_number(object, "weights_bytes", (double)bench->sets_each * weight_bytes(&bench->problem));
    json_put_number(object, "cache_bytes", (double)bench->device->info.l2_bytes);
    cJSON_AddBoolToObject(object, "emptied", !drives_itself_out(bench));
    cJSON *without = cJSON_AddObjectToObject(object, "without_ns");
    for (int t = 0; t < TIMING_COUNT; t++)
        if (chain->told[t].n > 0)
            json_put_number(without, timing_names[t],
                            round(10 * stats_median(chain->told[t].ns, chain->told[t].n)) / 10);
    return object;
}
