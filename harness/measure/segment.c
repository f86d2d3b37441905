/*
 * segment.c - times one entrant once: a graph segment by device time, an event pair, or the host's clock, with the
 * cache in its state and the gap before it. Relies on device.h and timed.c. Called by blocks, races, checks.
 */
#include "measure/segment.h"

#include <math.h>

#include "measure/arrivals.h"
#include "measure/join.h"
#include "measure/rotation.h"
#include "measure/timed.h"

/* What a longer launch needs of its own code and tables is nothing beside it. */
#define OWN_WARM_MOST_NS 1e6

/* Untimed launches before the timed ones. */
static unsigned primers_for(const struct bench *bench, const struct device_shape *shape)
{
    double wanted = ceil((double)shape->launches / device_shape_visits(shape) / SEGMENT_PRIMER_SHARE);
    double primers = fmax(wanted, SEGMENT_LEAST_PRIMERS);
    double sets = (double)(shape->n_sets / device_shape_visits(shape)); /* of one visit */
    return (unsigned)(bench->config->cache[bench->mode] == CACHE_WARM ? fmax(primers, sets) : primers);
}

struct device_shape segment_shape(const struct bench *bench, double target_ns, double fastest_ns, double own_ns)
{
    unsigned places = bench->visits > 1 ? bench->visits : 1;
    struct device_shape shape = {
        .launches = 1, .n_sets = bench->sets_each / places, .overlap = timing_table[bench_row_timing(bench)].overlaps};
    if (bench->mode == MODE_SERVER || bench->config->cache[bench->mode] == CACHE_FLUSH)
        return shape;
    double wanted = ceil(target_ns / fmax(fastest_ns, 1.0));
    double bearable = floor(SEGMENT_LONGEST_NS / fmax(own_ns, 1.0));
    double launches = fmin(wanted, (double)SEGMENT_MAX_LAUNCHES); /* of each visit: its events cost 4 us */
    double visits = fastest_ns < SEGMENT_FEW_VISITS_NS ? fmin(places, SEGMENT_FEW_VISITS) : places;
    shape.visits = (unsigned)fmax(fmin(fmin(visits, launches), bearable), 1.0);
    shape.launches = (unsigned)fmax(fmin(launches, floor(bearable / shape.visits)), 1.0) * shape.visits;
    shape.n_sets *= shape.visits;
    if (fastest_ns < SEGMENT_TARGET_NS) {
        shape.primers = primers_for(bench, &shape);
        shape.again = (unsigned)fmax(SEGMENT_AGAIN, (double)(shape.n_sets / shape.visits));
    }
    rotation_limit(bench, &shape);
    return shape;
}

/* GPU time that one timed launch kept the device busy: all launches of the segment, primers and a first replay that is
 * not counted yet included. */
static double busy_ns(const struct bench *bench, struct entrant *entrant, enum timing timing, double ns)
{
    if (timing_is_segment(timing)) {
        const struct prepared_row *row = bench_row(bench, entrant, timing);
        unsigned launches = row->shape.launches + device_shape_untimed(&row->shape);
        return ns * (double)launches * (row->replayed ? 2 : 1);
    }
    bool estimated = timing != bench->headline && entrant->estimate_ns > 0;
    return estimated ? fmin(ns, entrant->estimate_ns) : ns;
}

static void add_busy(struct bench *bench, struct entrant *entrant, enum timing timing, double ns)
{
    bench->record->busy_seconds += 1e-9 * busy_ns(bench, entrant, timing, ns);
    if (timing_is_segment(timing))
        bench_row(bench, entrant, timing)->replayed = false;
}

/* Ahead of each timing where host code could learn the order of the last one. */
static void draw_order(struct bench *bench, const struct entrant *entrant, struct prepared_row *row)
{
    if (!rotation_is_told(bench, entrant))
        return;
    row->shape.order = rotation_order(bench);
    bench->device->ops->reorder(row->segment, row->shape.order);
}

static int time_unwatched(struct bench *bench, struct entrant *entrant, enum timing timing, double *ns,
                          struct error *err)
{
    struct device *d = bench->device;
    if (timing_is_segment(timing))
        draw_order(bench, entrant, bench_row(bench, entrant, timing));
    int code = timing_is_segment(timing) ? d->ops->measure(d, bench_row(bench, entrant, timing)->segment, ns, err)
                                         : device_time_single(d, timing, &entrant->work, 0, ns, err);
    if (code == 0)
        add_busy(bench, entrant, timing, *ns);
    return code;
}

/* Who is awake before the clock is read can keep in its caches what it likes: its code, its tables, C, and inputs as
 * they come. So that nobody gains by it everybody has these there, where the cache is emptied too, but for inputs. */
static bool has_its_own_warm(const struct bench *bench, const struct entrant *entrant, enum timing timing)
{
    return !timing_is_segment(timing) && entrant->contender->ops->watch != NULL && timed_renews(bench);
}

static struct contender_range range_of(const void *matrix, const struct matrix_extent *e, size_t width)
{
    return (struct contender_range){matrix, extent_elements(e) * width};
}

/* Until its launch: C of its first set, and `inputs` too. */
static void watch_first_set(const struct bench *bench, const struct entrant *entrant, bool inputs)
{
    const struct cudal2_problem *p = &bench->problem;
    enum cudal2_layout layout = entrant->contender->is.layout;
    const struct cudal2_operands *set = operands_sets(bench->operands, layout) + entrant->first_set;
    const struct matrix_extent a = problem_a(p), b = problem_b(p, layout), c = problem_c(p);
    size_t width = dtype_bytes(p->dtype);
    struct contender_range ranges[CONTENDER_WATCHED] = {range_of(set->c, &c, width)};
    if (inputs) {
        ranges[1] = range_of(set->a, &a, width);
        ranges[2] = range_of(set->b, &b, width);
    }
    entrant->contender->ops->watch(entrant->contender, ranges);
}

/* Where a launch is timed by itself it is a check as well (timed.h). */
static int time_once(struct bench *bench, struct entrant *entrant, enum timing timing, bool cold, double *ns,
                     struct error *err)
{
    int code = 0;
    /* A launch whose C is an input finds one that is known, though nobody checks it: else beta would be applied again
     * at each launch, and a long cell would time sums that grow beyond all bounds. */
    if (problem_reads_c(&bench->problem) && !timed_renews(bench))
        code = timed_restore_c(bench, entrant, 0, err);
    if (code == 0 && !timing_is_segment(timing))
        code = timed_prepare(bench, entrant, cold, err);
    entrant_wake(entrant); /* ahead of new inputs: it could compute with them while it wakes */
    if (has_its_own_warm(bench, entrant, timing))
        watch_first_set(bench, entrant, !cold);
    if (code == 0 && !timing_is_segment(timing))
        code = timed_renew(bench, entrant, err);
    if (code == 0)
        code = time_unwatched(bench, entrant, timing, ns, err);
    if (code == 0)
        code = timed_read(bench, entrant, timing, *ns, err);
    code = entrant_rest(entrant, code, err);
    return code == 0 ? timed_judge(bench, entrant, timing, *ns, err) : code;
}

/* The entrant's launches on the sets from sets[0] to sets[1], untimed, and waits for them. They count as busy by its
 * estimate; that holds launch cost where it is the headline's, and then several take less than it says. */
static int run_untimed(struct bench *bench, const struct entrant *entrant, const struct device_work *work,
                       const size_t sets[2], struct error *err)
{
    struct device *d = bench->device;
    uint64_t since = d->ops->now(d);
    char why[CUDAL2_WHY] = "";
    int status = CUDAL2_OK;
    for (size_t set = sets[0]; set <= sets[1] && status == CUDAL2_OK; set++)
        status = work->launch(work->context, set, why);
    if (status != CUDAL2_OK) /* as the devices say it of a timed launch */
        return error_set(err, EXIT_CODE_VERIFICATION, "launch failed with status %d: %s", status, why);
    int code = d->ops->sync(d, err);
    double launches = (double)(sets[1] - sets[0] + 1), passed = (double)(d->ops->now(d) - since);
    bench->record->busy_seconds += 1e-9 * fmin(launches * entrant->estimate_ns, passed);
    return code;
}

static bool same_shape(const struct device_shape *a, const struct device_shape *b)
{
    return a->launches == b->launches && device_shape_untimed(a) == device_shape_untimed(b) && a->visits == b->visits &&
           a->n_sets == b->n_sets && a->join == b->join;
}

static void release_row(const struct bench *bench, struct prepared_row *row)
{
    if (row->segment != NULL)
        bench->device->ops->release_segment(bench->device, row->segment);
    row->segment = NULL;
}

static int prepare_row(struct bench *bench, struct entrant *entrant, struct prepared_row *row,
                       const struct device_shape *shape, struct error *err)
{
    struct device *d = bench->device;
    if (row->segment != NULL && same_shape(&row->shape, shape))
        return 0;
    release_row(bench, row);
    row->shape = *shape;
    row->shape.order = rotation_order(bench);
    int code = d->ops->prepare(d, &entrant->work, &row->shape, RUNG_GRAPH, &row->segment, err);
    if (row->shape.join == JOIN_NONE || (code == 0 && d->ops->joined(row->segment)))
        return code;
    release_row(bench, row);
    row->shape.join = JOIN_NONE;
    code =
        join_end(bench, entrant, code == 0 ? "no kernel of a launch follows one of the launch ahead" : err->text, err);
    return code == 0 ? d->ops->prepare(d, &entrant->work, &row->shape, RUNG_GRAPH, &row->segment, err) : code;
}

/* Nobody takes less than this problem's arithmetic does: its first replay may count, as in blocks (is_settled). By then
 * whoever is timed has been raced or verified; who has not, and cannot be captured so, is launched once. */
static bool is_surely_long(const struct bench *bench)
{
    return bench->in_blocks && bench_floor_ns(bench) >= SEGMENT_TARGET_NS;
}

int segment_estimate(struct bench *bench, struct entrant *entrant, struct error *err)
{
    bool lasting = is_surely_long(bench);
    struct device_shape one = {
        .visits = 1, .launches = 1, .n_sets = bench->sets_each, .loaded = lasting, .settled = lasting};
    double least = INFINITY;
    int code = 0;
    bench_stage(bench, entrant, "measure", bench->config->limits.launch_seconds);
    if (timing_is_segment(bench->headline))
        code = prepare_row(bench, entrant, &entrant->row, &one, err); /* has run before it is timed */
    else
        code = run_untimed(bench, entrant, &entrant->work, (const size_t[]){0, 0}, err); /* may load its code */
    /* Long launches repeat well enough: the second and third look only pay where they are cheap. */
    for (int i = 0; i < 3 && code == 0 && (i == 0 || least < SEGMENT_TARGET_NS); i++) {
        double ns = 0;
        code = time_once(bench, entrant, bench->headline, false, &ns, err);
        least = fmin(least, ns);
    }
    entrant->estimate_ns = least;
    return code == 0 ? 0 : entrant_fault(bench, entrant, "measure", err);
}

int segment_prepare_null(struct bench *bench, const struct entrant *entrant, struct error *err)
{
    struct device *d = bench->device;
    if (bench->null_segment != NULL || entrant->row.segment == NULL)
        return 0;
    return d->ops->prepare(d, NULL, &entrant->row.shape, RUNG_GRAPH, &bench->null_segment, err);
}

/* Whether a graph's first replay may count. */
static bool is_settled(const struct bench *bench, double fastest_ns, double own_ns)
{
    bool between =
        bench->mode != MODE_SERVER && fastest_ns >= SEGMENT_SETTLED_FROM_NS && fastest_ns < SEGMENT_SETTLED_BELOW_NS;
    return between || own_ns >= SEGMENT_TARGET_NS;
}

/* In a cell's first blocks its estimate has run it; but what may overlap in its rows is not known yet, and is asked of
 * what has not (device_shape.loaded). */
static bool has_run(const struct bench *bench, const struct device_shape *shape)
{
    return bench->warmed || (bench->in_blocks && !shape->overlap);
}

void segment_note_held(struct bench *bench)
{
    const struct device_ops *ops = bench->device->ops;
    size_t begin = 0, held = 0;
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        if (e->row.segment == NULL || ops->rung(e->row.segment) != RUNG_GRAPH || e->row.shape.primers > 0)
            continue;
        begin++;
        held += ops->held(e->row.segment);
    }
    bench->record->held = begin > 0 && held == begin;
}

int segment_prepare(struct bench *bench, struct entrant *entrant, double target_ns, double fastest_ns,
                    struct error *err)
{
    struct device_shape shape = segment_shape(bench, target_ns, fastest_ns, entrant->estimate_ns);
    rotation_limit_told(bench, entrant, &shape);
    shape.join = join_of(entrant, shape.overlap);
    shape.loaded = has_run(bench, &shape);
    shape.settled = shape.loaded && is_settled(bench, fastest_ns, entrant->estimate_ns);
    entrant->record->launches = timing_is_segment(bench->headline) ? shape.launches : 1;
    entrant->record->primers = timing_is_segment(bench->headline) ? device_shape_untimed(&shape) : 0;
    if (!timing_is_segment(bench->headline) && !timing_any_segment(bench->device->info.timings))
        return 0;
    bench_stage(bench, entrant, "measure", bench->config->limits.launch_seconds);
    int code = prepare_row(bench, entrant, &entrant->row, &shape, err);
    bool replayed = code == 0 && !entrant->row.shape.settled; /* as it was prepared: its estimate's may do */
    entrant->row.replayed = replayed && bench->device->ops->rung(entrant->row.segment) == RUNG_GRAPH;
    if (code == 0 && shape.loaded && !shape.settled && entrant->record->candidate)
        code = bench->device->ops->sync(bench->device, err); /* a fault in a stranger's replay is the stranger's */
    return code == 0 ? 0 : entrant_fault(bench, entrant, "measure", err);
}

/* As the entrant's row is, but for what may overlap. */
static int prepare_beside(struct bench *bench, struct entrant *entrant, enum timing timing, struct error *err)
{
    struct prepared_row *row = &entrant->beside[timing];
    const struct device_ops *ops = bench->device->ops;
    struct device_shape shape = entrant->row.shape;
    shape.overlap = timing_table[timing].overlaps;
    shape.join = join_of(entrant, shape.overlap);
    shape.loaded = bench->warmed; /* a new row is asked what may overlap in it */
    shape.settled &= bench->warmed;
    int code = prepare_row(bench, entrant, row, &shape, err);
    if (code != 0)
        return entrant_fault(bench, entrant, "measure", err);
    if (ops->rung(row->segment) != ops->rung(entrant->row.segment)) {
        release_row(bench, row);
        return 0;
    }
    row->replayed = !shape.settled && ops->rung(row->segment) == RUNG_GRAPH;
    return 0;
}

int segment_prepare_beside(struct bench *bench, struct entrant *entrant, struct error *err)
{
    int code = 0;
    for (int t = 0; t < TIMING_COUNT && code == 0 && entrant->alive && entrant->row.segment != NULL; t++) {
        enum timing timing = (enum timing)t;
        if (timing_is_segment(timing) && timing != bench_row_timing(bench) && bench_takes_beside(bench, timing))
            code = prepare_beside(bench, entrant, timing, err);
    }
    return code;
}

int segment_part(struct bench *bench, struct entrant *entrant, const char *why, struct error *err)
{
    int code = join_end(bench, entrant, why, err);
    bench_stage(bench, entrant, "measure", bench->config->limits.launch_seconds);
    for (int t = 0; t < TIMING_COUNT && code == 0; t++) {
        if (!join_is_in(bench, entrant, (enum timing)t))
            continue;
        struct prepared_row *row = bench_row(bench, entrant, (enum timing)t);
        struct device_shape shape = row->shape;
        shape.join = JOIN_NONE;
        shape.settled = false;
        code = prepare_row(bench, entrant, row, &shape, err);
        if (code == 0)
            code = bench->device->ops->sync(bench->device, err);
    }
    return code;
}

bool segment_is_ready(const struct bench *bench, struct entrant *entrant, enum timing timing)
{
    return !timing_is_segment(timing) || bench_row(bench, entrant, timing)->segment != NULL;
}

void segment_prepare_equal_path(struct bench *bench, struct entrant *entrant)
{
    struct device *d = bench->device;
    struct error ignored;
    bool shows = bench->mode != MODE_CHAIN && bench->fastest_ns < EQUAL_PATH_BELOW_NS;
    if (!shows || d->ops->graph_work == NULL || !entrant->has_variants || entrant->has_graph_work)
        return;
    entrant->has_graph_work = d->ops->graph_work(d, &entrant->work, &entrant->graph_work, &ignored) == 0;
}

bool segment_primed(const struct bench *bench, const struct entrant *entrant, enum timing timing)
{
    bool own_primers = timing_is_segment(timing) && bench->mode != MODE_SERVER;
    return own_primers || entrant->estimate_ns >= SEGMENT_TARGET_NS;
}

/* One untimed launch in so many is followed by another one: who counts launches cannot tell which are timed. */
#define PRIMED_TWICE 8u

/* On inputs as new as those of the timed launch. */
static int prime_once(struct bench *bench, struct entrant *entrant, struct error *err)
{
    int code = timed_renews(bench) ? timed_put(bench, entrant, 0, timed_draw(bench), err) : 0;
    return code == 0 ? run_untimed(bench, entrant, &entrant->work, (const size_t[]){0, 0}, err) : code;
}

static int prime_alone(struct bench *bench, struct entrant *entrant, struct error *err)
{
    int code = prime_once(bench, entrant, err);
    bool again = code == 0 && timed_renews(bench) && timed_draw(bench) % PRIMED_TWICE == 0;
    return again ? prime_once(bench, entrant, err) : code;
}

/* The entrant's own untimed launch. Where a graph of one is timed, it is that graph: what the device must read of a
 * graph before it can run a kernel is in its caches then as well, as it is in a server that replays one. */
static int prime(struct bench *bench, struct entrant *entrant, enum timing timing, struct error *err)
{
    double ns = 0;
    if (!timing_is_segment(timing) ||
        bench->device->ops->rung(bench_row(bench, entrant, timing)->segment) != RUNG_GRAPH)
        return prime_alone(bench, entrant, err);
    return time_unwatched(bench, entrant, timing, &ns, err);
}

/* What the rival left stays, as in the paper's own loop: asked for, or what `warm` means under the paper's protocol. */
static bool takes_what_is_left(const struct bench *bench)
{
    enum cache_state cache = bench->config->cache[bench->mode];
    return cache == CACHE_LEFT || (bench->config->protocol == PROTOCOL_PAPER && cache == CACHE_WARM);
}

/* Whether each timed launch finds what the entrant's own, untimed one has left. */
static bool is_kept_warm(const struct bench *bench)
{
    return bench->config->cache[bench->mode] == CACHE_WARM && !takes_what_is_left(bench);
}

/* Whether the next contender would find its neighbour's output, and inputs, in the cache where it has its own: with
 * stores that make no room for themselves it would meet them there for ever. */
static bool leaves_traces(const struct bench *bench)
{
    return bench->shared_sets && bench->in_blocks && bench->config->protocol == PROTOCOL_ADAPTIVE &&
           !takes_what_is_left(bench);
}

static bool empties_cache(const struct bench *bench, const struct entrant *entrant, enum timing timing)
{
    return bench->config->cache[bench->mode] == CACHE_FLUSH || leaves_traces(bench) ||
           rotation_empties(bench, entrant, timing);
}

/* Whether the launch finds its inputs in no cache. */
static bool is_cold(const struct bench *bench)
{
    enum cache_state cache = bench->config->cache[bench->mode];
    return cache == CACHE_FLUSH || cache == CACHE_ROTATE;
}

int segment_time_equal_path(struct bench *bench, struct entrant *entrant, enum timing timing, double gap_ns, double *ns,
                            struct error *err)
{
    bool primed = entrant->estimate_ns >= SEGMENT_TARGET_NS;
    int code = empties_cache(bench, entrant, timing) ? bench->device->ops->flush(bench->device, err) : 0;
    if (code == 0 && !primed && is_kept_warm(bench))
        code = run_untimed(bench, entrant, &entrant->graph_work, (const size_t[]){0, 0}, err);
    if (code != 0)
        return code;
    if (gap_ns >= 0)
        arrivals_wait(bench->device, gap_ns);
    code = device_time_single(bench->device, timing, &entrant->graph_work, 0, ns, err);
    if (code == 0)
        bench->record->busy_seconds += 1e-9 * fmin(*ns, entrant->estimate_ns);
    return code;
}

/* Whether an untimed launch of its own comes ahead of the segment. */
static bool is_led(const struct bench *bench, const struct entrant *entrant, enum timing timing)
{
    bool own = is_cold(bench) && has_its_own_warm(bench, entrant, timing) && entrant->estimate_ns < OWN_WARM_MOST_NS;
    return (!segment_primed(bench, entrant, timing) && is_kept_warm(bench)) || own;
}

bool segment_is_led_on_disturbed(const struct bench *bench, const struct entrant *entrant, enum timing timing)
{
    return empties_cache(bench, entrant, timing) && is_led(bench, entrant, timing);
}

static int time_in_state(struct bench *bench, struct entrant *entrant, enum timing timing, double *gap_ns, double *ns,
                         struct error *err)
{
    bool primed = segment_primed(bench, entrant, timing), emptied = empties_cache(bench, entrant, timing);
    int code = emptied ? timed_disturb(bench, entrant, timing, false, err) : 0;
    if (code == 0 && emptied)
        code = bench->device->ops->flush(bench->device, err);
    if (code == 0 && is_led(bench, entrant, timing))
        code = prime(bench, entrant, timing, err);
    /* The one launch of server mode shows whether its inputs are as its primer left them: then they never are. */
    if (code == 0 && !emptied)
        code = timed_disturb(bench, entrant, timing, bench->mode == MODE_SERVER && !primed, err);
    if (code != 0)
        return code;
    if (*gap_ns >= 0)
        *gap_ns = arrivals_wait(bench->device, *gap_ns);
    return time_once(bench, entrant, timing, is_cold(bench), ns, err);
}

int segment_time(struct bench *bench, struct entrant *entrant, enum timing timing, double *gap_ns, double *ns,
                 struct error *err)
{
    double gap = *gap_ns;
    int code = time_in_state(bench, entrant, timing, gap_ns, ns, err);
    bool wrong = code != 0 || !bench_is_plausible(bench, *ns);
    if (!wrong || !join_is_in(bench, entrant, timing))
        return code;
    code = segment_part(bench, entrant, code == 0 ? "faster than its arithmetic can be" : err->text, err);
    *gap_ns = gap;
    return code == 0 ? time_in_state(bench, entrant, timing, gap_ns, ns, err) : code;
}

int segment_time_work(struct bench *bench, const struct entrant *entrant, const struct device_work *work, size_t set,
                      double *ns, struct error *err)
{
    entrant_wake(entrant);
    int code = device_time_single(bench->device, bench->headline, work, set, ns, err);
    return entrant_rest(entrant, code, err);
}

int segment_null(struct bench *bench, double gap_ns, double *ns, struct error *err)
{
    struct device *d = bench->device;
    int code = 0;
    *ns = NAN;
    if (bench->null_segment == NULL)
        return 0;
    if (gap_ns >= 0 && is_kept_warm(bench))
        code = d->ops->measure(d, bench->null_segment, ns, err); /* as entrants are primed */
    if (gap_ns >= 0)
        arrivals_wait(d, gap_ns);
    return code == 0 ? d->ops->measure(d, bench->null_segment, ns, err) : code;
}
