/*
 * honesty.c - the checks between blocks: late work, memory, growth, fresh inputs, process state, replays, at a block
 * that the seed chooses and at the end. Relies on timed_check.c and replay_check.c. Called by worker/cell.c, and by
 * measure/cell_loop.c through a hook of the bench.
 */
#include "verify/honesty.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/arrivals.h"
#include "measure/segment.h"
#include "measure/timed.h"
#include "verify/ahead.h"
#include "verify/replay_check.h"
#include "verify/rivals.h"
#include "verify/timed_check.h"

/* How long a launch may take to betray work that it left behind: twice its time, within these. */
#define LATE_LEAST_NS 200e3
#define LATE_MOST_NS 20e6
/* How long C is watched while the stream is held. */
#define ESCAPE_LEAST_NS 300e3
#define ESCAPE_MOST_NS 5e6
/* What a segment may leave allocated. A library may take a pool, and a system may have moved memory about: who takes
 * more at two checks is tried at once until it does not, or has done so each of so many times. */
#define LEAK_BYTES (1u << 20)
#define LEAK_SUSPECTED 2
#define LEAK_TIMES 4

static bool is_on(const struct bench *bench)
{
    return bench->config->honesty && bench->device->probes != NULL;
}

/* ---- one segment under watch ---- */

/* Everything of one entrant that a check looks at. */
struct watch {
    struct timed_check *trial;
    struct device *device;
    struct probe_region *outputs;    /* C of its sets, and behind them */
    struct probe_region *kept;       /* inputs and then guards */
    uint64_t *at_once;               /* digests of outputs, */
    uint64_t *before, *after, *late; /* of kept, and of outputs once more */
    size_t n_outputs, n_kept, n_inputs;
    uint64_t held[2]; /* by the process, before the segment and after */
};

/* What is made of kernels alone has no code on the host: once the device has been waited for, nothing of it goes on,
 * and it has taken no memory. */
static bool may_linger(const struct timed_check *t)
{
    return !t->entrant->contender->ops->device_only;
}

static int watch_open(struct timed_check *t, struct watch *w, struct error *err)
{
    const struct operands *operands = t->bench->operands;
    size_t n = t->entrant->n_sets, first = t->entrant->first_set;
    size_t most = n * (OPERANDS_INPUTS + OPERANDS_GUARDS);
    *w = (struct watch){.trial = t, .device = t->bench->device, .n_outputs = n};
    w->outputs = calloc(n + most, sizeof *w->outputs);
    w->at_once = calloc(2 * (n + most), sizeof *w->at_once);
    if (w->outputs == NULL || w->at_once == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a check");
    w->kept = w->outputs + n;
    w->before = w->at_once + n;
    w->late = w->before + most;
    w->after = w->late + n;
    for (size_t s = 0; s < n; s++)
        w->outputs[s] = operands_output(operands, first + s);
    for (size_t s = 0; s < n; s++)
        w->n_kept += operands_inputs(operands, first + s, w->kept + w->n_kept);
    w->n_inputs = w->n_kept;
    for (size_t s = 0; s < n; s++)
        w->n_kept += operands_guards(operands, first + s, w->kept + w->n_kept);
    return 0;
}

static void watch_close(struct watch *w)
{
    free(w->outputs);
    free(w->at_once);
}

/* What the launch is about to find. */
static int note_before(void *context, struct error *err)
{
    struct watch *w = context;
    return w->device->probes->digest(w->device, w->kept, w->n_kept, w->before, err);
}

/* NaN in every C, but not in the gaps between its rows, whose own pattern is looked for (timed_check.c); or, where C is
 * an input, that input. */
static int poison(const struct timed_check *t, const struct watch *w, struct error *err)
{
    struct device *d = t->bench->device;
    int code = 0;
    if (problem_is_packed(&t->bench->problem) && !problem_reads_c(&t->bench->problem))
        return d->probes->pattern(d, w->outputs, w->n_outputs, PROBE_POISON, err);
    for (size_t s = 0; s < w->n_outputs && code == 0; s++)
        code = operands_poison(d, t->bench->operands, t->entrant->first_set + s, err);
    return code == 0 ? d->ops->sync(d, err) : code;
}

/* New inputs, an unwritten C, and what lies around both. */
static int put_fresh(void *context, struct error *err)
{
    struct watch *w = context;
    struct timed_check *t = w->trial;
    struct device *d = w->device;
    int code = timed_check_fill(t, random_next(t->random) >> 8, err);
    if (code == 0)
        code = poison(t, w, err);
    if (code == 0)
        code = d->probes->pattern(d, w->kept + w->n_inputs, w->n_kept - w->n_inputs, PROBE_GUARD, err);
    return code == 0 ? note_before(w, err) : code;
}

/* Until it has had its time since `from`, when the segment had been waited for. */
static int wait_for_late_work(const struct timed_check *t, uint64_t from, double segment_ns, struct error *err)
{
    struct device *d = t->bench->device;
    double passed = (double)(d->ops->now(d) - from);
    double left = fmin(fmax(segment_ns, LATE_LEAST_NS), LATE_MOST_NS) - passed;
    if (!may_linger(t))
        return 0;
    if (left > 0)
        arrivals_wait(d, left);
    return d->ops->sync(d, err);
}

/* Of what is kept and, where it may have changed under our eyes, of outputs: one pass. */
static int note_after(const struct watch *w, struct error *err)
{
    size_t skipped = may_linger(w->trial) ? 0 : w->n_outputs;
    return w->device->probes->digest(w->device, w->outputs + skipped, w->n_outputs + w->n_kept - skipped,
                                     w->late + skipped, err);
}

/* Work that went on after the launch had been waited for has changed C. That explains whatever else was found, so it is
 * the verdict. */
static void look_for_late_work(struct timed_check *t, const struct watch *w)
{
    if (!may_linger(t) || memcmp(w->at_once, w->late, w->n_outputs * sizeof *w->late) == 0)
        return;
    t->verdict = VERDICT_OK;
    timed_check_convict(t, VERDICT_LATE_WORK, "the output went on changing after the launch had been waited for");
}

static void look_at_memory(struct timed_check *t, const struct watch *w)
{
    for (size_t i = 0; i < w->n_kept; i++) {
        if (w->before[i] == w->after[i])
            continue;
        if (i < w->n_inputs)
            timed_check_convict(t, VERDICT_INPUT_MUTATED, "an input matrix is not what it was before the launch");
        else
            timed_check_convict(t, VERDICT_OOB_WRITE,
                                "%" PRIu64 " bytes that border on a matrix are not what they were", w->kept[i].bytes);
    }
}

static void look_at_growth(struct timed_check *t, uint64_t before, uint64_t after)
{
    unsigned *grew = &t->entrant->grew;
    *grew = after > before + LEAK_BYTES ? *grew + 1 : 0;
    if (*grew >= LEAK_TIMES)
        timed_check_convict(t, VERDICT_LEAK, "%" PRIu64 " bytes more are held after each timed segment",
                            after - before);
}

static uint64_t held_now(const struct timed_check *t)
{
    struct device *d = t->bench->device;
    return d->probes->held == NULL || !may_linger(t) ? 0 : d->probes->held(d);
}

/* Once late work has had its time. What was found of memory and growth explains a wrong output, and comes first. */
static int look_at_the_rest(struct timed_check *t, struct watch *w, const struct timed_check *judged, struct error *err)
{
    int code = note_after(w, err);
    if (code != 0)
        return code;
    look_at_memory(t, w);
    look_at_growth(t, w->held[0], w->held[1]);
    if (judged->verdict != VERDICT_OK)
        timed_check_convict(t, judged->verdict, "%s", judged->reason);
    look_for_late_work(t, w);
    return 0;
}

/* Where it can be, right ahead of the launch: a primer of the contender's own is past then, and has neither seen these
 * inputs nor written to C. Elsewhere inputs are new once more ahead of each launch, and are noted again. */
static int prepare(struct timed_check *t, struct watch *w, struct error *err)
{
    bool late = timed_lets_put(t->bench);
    t->bench->renewed = late ? put_fresh : note_before;
    t->bench->renewed_context = w;
    return late ? 0 : put_fresh(w, err);
}

/* Before anything else is asked: what is not done yet changes later. */
static int note_at_once(const struct watch *w, struct error *err)
{
    struct device *d = w->device;
    return may_linger(w->trial) ? d->probes->digest(d, w->outputs, w->n_outputs, w->at_once, err) : 0;
}

/* Whether the segment was one launch whose inputs came right ahead of it. In the gap of server mode code on the host
 * could compute with them. */
static bool was_alone(const struct timed_check *t)
{
    const struct bench *bench = t->bench;
    const struct prepared_row *row = &t->entrant->row;
    bool gap = bench->mode == MODE_SERVER && may_linger(t);
    if (!timing_is_segment(bench->headline) || bench->mode == MODE_CHAIN || gap || !timed_lets_put(bench) ||
        segment_is_led_on_disturbed(bench, t->entrant, bench->headline))
        return false;
    return row->shape.launches == 1 && device_shape_untimed(&row->shape) == 0 &&
           bench->device->ops->rung(row->segment) != RUNG_EVENTS;
}

/* The segment, and then everything it may have done. The output is judged while late work has its time. */
static int run_watched(struct timed_check *t, struct watch *w, struct error *err)
{
    struct device *d = t->bench->device;
    double segment_ns = 0;
    int code = prepare(t, w, err);
    w->held[0] = code == 0 ? held_now(t) : 0;
    if (code == 0)
        code = timed_check_time(t, &segment_ns, err);
    t->bench->renewed = NULL;
    uint64_t waited = d->ops->now(d);
    t->alone_ns = code == 0 && was_alone(t) ? segment_ns : 0;
    if (code == 0)
        code = note_at_once(w, err);
    w->held[1] = code == 0 ? held_now(t) : 0;
    struct timed_check judged = *t;
    if (code == 0)
        code = timed_check_judge_fresh(&judged, err);
    if (code == 0)
        code = wait_for_late_work(t, waited, segment_ns, err);
    return code == 0 ? look_at_the_rest(t, w, &judged, err) : code;
}

static int check_fresh(struct timed_check *t, struct error *err)
{
    struct watch w;
    int code = watch_open(t, &w, err);
    do {
        t->set = (size_t)random_below(t->random, t->entrant->n_sets);
        if (code == 0)
            code = run_watched(t, &w, err);
    } while (code == 0 && t->verdict == VERDICT_OK && t->entrant->grew >= LEAK_SUSPECTED);
    watch_close(&w);
    return code;
}

static int check_escape(struct timed_check *t, struct error *err)
{
    struct device *d = t->bench->device;
    const struct probe_trial trial = {
        .work = &t->entrant->work,
        .set = 0,
        .c = operands_output(t->bench->operands, t->entrant->first_set),
        .wait_ns = fmin(fmax(2 * t->entrant->estimate_ns, ESCAPE_LEAST_NS), ESCAPE_MOST_NS),
    };
    bool escaped = false;
    if (d->probes->escape == NULL || (t->entrant->work.flags & CUDAL2_SYNCS) != 0)
        return 0;
    int code = d->probes->escape(d, &trial, &escaped, err);
    if (code == 0 && escaped)
        timed_check_convict(t, VERDICT_STREAM_ESCAPE, "C was written while the stream of the launch was held");
    return code;
}

/* ---- all entrants ---- */

static void read_state(const struct timed_check *t, char what[128])
{
    struct device *d = t->bench->device;
    what[0] = '\0';
    if (d->probes->changes != NULL)
        d->probes->changes(d, what);
}

/* A graph runs what its capture put into it and nothing else: work in another stream would leave C poisoned. There is
 * no need to hold the stream then, and good reason not to: once two streams of a process have run beside each other,
 * every kernel of a graph starts 0.17 us later, for good, and short launches read 3 to 12% slower. */
static bool is_graph(const struct timed_check *t)
{
    const struct device_segment *segment = timing_is_segment(t->bench->headline) ? t->entrant->row.segment : NULL;
    return segment != NULL && t->bench->device->ops->rung(segment) == RUNG_GRAPH;
}

/* The checks of a cell. */
enum occasion { FIRST, AGAIN, LAST };

/* Who gains by looking fast, a candidate or a copy of one, is tried whenever the cell is. A baseline that looked faster
 * than it is would cost the candidate: it is tried once, by a trial that is drawn, and from then on where it is drawn.
 */
static bool is_candidate(const struct entrant *e)
{
    return e->record->candidate;
}

/* A trial, and what it took. */
static int run_trial(struct timed_check *t, enum part part, int (*trial)(struct timed_check *t, struct error *err),
                     struct error *err)
{
    struct device *d = t->bench->device;
    uint64_t start = d->ops->now(d);
    int code = trial(t, err);
    t->bench->record->part_seconds[part] += 1e-9 * (double)(d->ops->now(d) - start);
    return code;
}

/* The group's own inputs, if it goes on: the next one brings its own (cell_loop.c). */
static int give_back(struct timed_check *t, enum occasion occasion, struct error *err)
{
    bool over = occasion == LAST || t->bench->config->stop.group_blocks == 1;
    return over ? 0 : run_trial(t, PART_RESTORE, timed_check_restore, err);
}

/* Where the launch on fresh inputs has cleared already, another one of the same kind would tell no more of its time. It
 * would be judged: so the next one that is timed is. */
static int try_replay(struct timed_check *t, struct error *err)
{
    if (t->is_last || !replay_check_clears(t))
        return run_trial(t, PART_REPLAY, replay_check, err);
    t->entrant->timed.owed = true;
    return 0;
}

/* What is tried the first time in a cell, with the group's own inputs back before and after. A launch that is left
 * out is told by C; only what is right is asked for its time. */
static int run_first_trials(struct timed_check *t, struct error *err)
{
    int code = run_trial(t, PART_RESTORE, timed_check_restore, err);
    if (code == 0 && t->verdict == VERDICT_OK)
        code = run_trial(t, PART_BETWEEN, timed_check_between, err);
    if (code != 0 || t->verdict != VERDICT_OK)
        return code;
    code = try_replay(t, err);
    return code == 0 ? give_back(t, FIRST, err) : code;
}

/* One of them, drawn, whenever the cell is checked again: who has passed the first time may have waited for that. What
 * was launched early may have waited for the launch ahead until then, so that is looked for in the end. */
static int run_one_trial(struct timed_check *t, enum occasion occasion, struct error *err)
{
    bool between =
        random_below(t->random, 2) == 0 || (occasion == LAST && (t->entrant->record->early || t->entrant->joins));
    int code = 0;
    if (t->verdict == VERDICT_OK && between) /* the other brings inputs of its own */
        code = run_trial(t, PART_RESTORE, timed_check_restore, err);
    if (code != 0 || t->verdict != VERDICT_OK)
        return code;
    bool owed = t->is_last && t->entrant->timed.owed;
    code = between ? run_trial(t, PART_BETWEEN, timed_check_between, err) : try_replay(t, err);
    if (code == 0 && between && owed && t->verdict == VERDICT_OK)
        code = try_replay(t, err);
    return code == 0 ? give_back(t, occasion, err) : code;
}

/* Where work runs comes first: it explains what the other trials would see. */
static int run_trials(struct timed_check *t, enum occasion occasion, struct error *err)
{
    int code = occasion == FIRST && !is_graph(t) ? check_escape(t, err) : 0;
    if (code == 0 && t->verdict == VERDICT_OK)
        code = run_trial(t, PART_FRESH, check_fresh, err);
    if (code == 0 && t->verdict == VERDICT_OK)
        code = ahead_check(t, err);
    if (code != 0)
        return code;
    return occasion == FIRST && is_candidate(t->entrant) ? run_first_trials(t, err) : run_one_trial(t, occasion, err);
}

/* What the trials find changed of the device's state, this entrant has changed. */
static int run_trials_on_clean_state(struct timed_check *t, enum occasion occasion, struct error *err)
{
    struct device *d = t->bench->device;
    char what[128];
    int code = 0;
    read_state(t, what);
    if (what[0] != '\0')
        code = d->ops->settle(d, err);
    unsigned threads = bench_threads(t->bench);
    if (code == 0)
        code = run_trials(t, occasion, err);
    entrant_threads(t->bench, t->entrant, threads);
    read_state(t, what);
    if (code == 0 && what[0] != '\0')
        t->verdict = VERDICT_OK; /* it explains what else was found */
    if (code == 0 && what[0] != '\0')
        timed_check_convict(t, VERDICT_DEVICE_STATE_CHANGED, "%s", what);
    if (code == 0 && leak_watch_leaks(&t->entrant->leaks))
        timed_check_convict(t, VERDICT_LEAK, "each setup takes memory that no teardown gives back");
    return code;
}

/* Who is joined is tried once more as he is, when something is found. */
static int run_fair_trials(struct timed_check *t, enum occasion occasion, struct error *err)
{
    int code = run_trials_on_clean_state(t, occasion, err);
    return timed_check_parts(t, &code, err) ? run_trials_on_clean_state(t, occasion, err) : code;
}

static int check_entrant(struct timed_check *t, enum occasion occasion, struct error *err)
{
    struct bench *bench = t->bench;
    bench_stage(bench, t->entrant, "measure", bench->config->limits.launch_seconds);
    int code = run_fair_trials(t, occasion, err);
    if (code != 0)
        return entrant_fault(bench, t->entrant, "measure", err);
    if (t->verdict == VERDICT_OK) {
        timed_check_note(t->entrant);
        return 0;
    }
    entrant_refute(bench, t->entrant, t->verdict, "measure", t->reason);
    return bench->device->ops->settle(bench->device, err);
}

static bool is_timed(const struct bench *bench, const struct entrant *e)
{
    return e->alive && e->set_up && !e->record->invalid &&
           (!timing_is_segment(bench->headline) || e->row.segment != NULL);
}

/* Whether it is tried this time; *baselines of those that come up so far. The order is drawn, so the first is, too. A
 * baseline that is owed a judgement when the cell is over gets it by a trial. */
static bool is_due(const struct timed_check *t, enum occasion occasion, unsigned *baselines)
{
    const struct entrant *e = t->entrant;
    return is_candidate(e) || (*baselines)++ == 0 || occasion == FIRST || (t->is_last && e->timed.owed);
}

/* The index of the check behind a cell's last block. */
#define AT_THE_END UINT16_MAX

/* `index` counts the checks of a cell. */
static int check_all(struct bench *bench, enum occasion occasion, unsigned index, struct error *err)
{
    unsigned order[RECORD_MAX_CONTENDERS], baselines = 0;
    struct random random;
    double start = (double)bench->device->ops->now(bench->device);
    int code = 0;
    random_seed(&random, random_derive(bench->seed, "honesty", 1 + index));
    for (unsigned i = 0; i < bench->n_entrants; i++)
        order[i] = i;
    random_shuffle(&random, order, bench->n_entrants);
    rivals_check(bench); /* first: the trials' own threads are not what it looks for */
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct timed_check trial = {
            .bench = bench, .entrant = &bench->entrants[order[i]], .random = &random, .is_last = index == AT_THE_END};
        if (is_timed(bench, trial.entrant) && is_due(&trial, occasion, &baselines))
            code = check_entrant(&trial, occasion, err);
    }
    double seconds = 1e-9 * ((double)bench->device->ops->now(bench->device) - start);
    bench->record->phase_seconds[PHASE_OTHER] += seconds;
    bench->record->phase_seconds[PHASE_MEASURE] -= seconds;
    return code;
}

/* Chosen by the seed that the supervisor gave the cell; never the first block, where everything is still new. */
static unsigned chosen_block(const struct bench *bench)
{
    unsigned blocks = bench->config->stop.min_blocks;
    return blocks < 2 ? 1 : 1 + (unsigned)(random_derive(bench->seed, "honesty", 0) % (blocks - 1));
}

/* Blocks until the next check after the one behind block `block`: as many again as there were, and up to twice as many
 * more, so that a long cell is checked to its end and never often. */
static unsigned next_block(const struct bench *bench, unsigned block, unsigned index)
{
    uint64_t drawn = random_derive(bench->seed, "honesty again", index);
    return 2 * block + 1 + (unsigned)(drawn % (2 * ((uint64_t)block + 1)));
}

int honesty_after_block(struct bench *bench, struct error *err)
{
    unsigned block = chosen_block(bench), index = 0;
    if (!is_on(bench) || bench->record->blocks == 0)
        return 0;
    while (block < bench->record->blocks - 1)
        block = next_block(bench, block, ++index);
    if (block != bench->record->blocks - 1)
        return 0;
    return check_all(bench, index == 0 ? FIRST : AGAIN, index, err);
}

int honesty_finish(struct bench *bench, struct error *err)
{
    bool first = bench->record->blocks <= chosen_block(bench);
    return is_on(bench) ? check_all(bench, first ? FIRST : LAST, AT_THE_END, err) : 0;
}
