/*
 * replay_check.c - times a contender in turn on inputs that it has seen and on new ones, and judges whether new ones
 * take longer. Relies on timed.c, a rank of medians and known_note.c. Called by honesty.c.
 */
#include "verify/replay_check.h"

#include <math.h>

#include "measure/segment.h"
#include "measure/timed.h"
#include "stats/interval.h"
#include "verify/known_note.h"

/* Slower than this is not explained by how launches scatter: what is remembered costs two matrix-vector products in
 * place of a product, so whoever gains anything worth it gains a large factor. The time on top is what a launch on its
 * own may cost beyond one in a row (first use of a path, a thread that has fallen asleep). */
#define NOVEL_RATIO 1.5
#define NOVEL_SLACK_NS 20e3
/* New inputs, and what they are compared with, in turn: enough that a contender which is slow at every second launch
 * has one of the others come out fast. Of long launches fewer, for nothing disturbs them all. */
#define NOVEL_ROUNDS 16
#define NOVEL_LEAST_ROUNDS 6
#define NOVEL_ROUNDS_NS 2e9
/* Who seems to remember must seem so as often: on a busy machine chance alone slows all launches on new inputs and few
 * of the others, one time in a hundred. */
#define NOVEL_LOOKS 3
/* Launches that make inputs well known: more than a contender sees of the same ones in a group, as far as they take no
 * longer than this. Never the same number, so that no period of its own decides which launch is timed. */
#define NOVEL_REPEATS_NS 200e6
#define NOVEL_MOST_REPEATS 500.0
#define NOVEL_MORE_REPEATS 16.0
#define NOVEL_LEAST_MORE 2.0
/* The same where every timed launch has new inputs (measure/timed.h): nobody gains by patience there. */
#define NOVEL_FEW_REPEATS 3.0
/* And so many rounds clear a contender there: what C holds is drawn, and may make it behave. */
#define NOVEL_CLEARING_ROUNDS 3
/* Of the latest samples. */
#define NOVEL_USUAL 15
/* Ahead of either launch of a pair (known_note.h): so many that nobody times, and as many more as are drawn of what
 * this time holds: who replays only after some launches is to have had them. */
#define KNOWN_REPEATS 3
#define KNOWN_REPEATS_NS 2e6
#define KNOWN_AGAIN_NS 4e9 /* of the second series */

struct novel {
    struct timed_check *trial;
    struct device_segment *segment; /* one launch on the trial's set; NULL where launches are timed one by one */
    double usual_ns;                /* of the latest samples the median, */
    double best_ns;                 /* and the least: one that plays back only now and then is to be found too */
    double fresh_ns;                /* the least: noise only adds */
    double seen_ns[NOVEL_ROUNDS];
    size_t rounds;
    uint64_t ended_ns; /* when the latest launch had been waited for */
    uint64_t pause_ns; /* how long the latest one on new inputs came after that */
};

/* What is timed has new inputs each time: its times say nothing of known ones. */
static bool is_renewed(const struct timed_check *t)
{
    return timed_renews(t->bench) && !timing_is_segment(t->bench->headline);
}

static void look_back(struct novel *v)
{
    const struct timed_check *t = v->trial;
    const struct series *s = &t->entrant->record->timings[t->bench->headline];
    size_t n = s->n < NOVEL_USUAL ? s->n : NOVEL_USUAL;
    const double *latest = s->ns + (s->n - n);
    v->usual_ns = n == 0 ? t->entrant->estimate_ns : stats_median(latest, n);
    v->best_ns = n == 0 ? v->usual_ns : stats_quantile(latest, n, 0);
}

static bool is_slower(double ns, double than_ns)
{
    return ns > NOVEL_RATIO * than_ns + NOVEL_SLACK_NS;
}

/* Who remembers a part gains less than is judged by here: strangers' candidates are compared, once a cell. */
static bool is_compared(const struct timed_check *t)
{
    return !is_renewed(t) && known_note_wanted(t->entrant);
}

bool replay_check_clears(struct timed_check *t)
{
    struct novel v = {.trial = t};
    look_back(&v);
    return !is_compared(t) && t->alone_ns > 0 && !is_slower(t->alone_ns, v.best_ns);
}

static int prepare(struct novel *v, struct error *err)
{
    const struct timed_check *t = v->trial;
    struct device *d = t->bench->device;
    const struct device_shape one = {
        .launches = 1, .first_set = t->set, .n_sets = t->entrant->n_sets, .loaded = true, .settled = true};
    if (!timing_is_segment(t->bench->headline))
        return 0;
    return d->ops->prepare(d, &t->entrant->work, &one, d->ops->rung(t->entrant->row.segment), &v->segment, err);
}

static int time_launch(struct novel *v, double *ns, struct error *err)
{
    const struct timed_check *t = v->trial;
    struct device *d = t->bench->device;
    int code = timing_is_segment(t->bench->headline)
                   ? d->ops->measure(d, v->segment, ns, err)
                   : segment_time_work(t->bench, t->entrant, &t->entrant->work, t->set, ns, err);
    v->ended_ns = d->ops->now(d);
    return code;
}

/* The inputs of `seed`, and a spoiled C. */
static int put_inputs(struct timed_check *t, uint64_t seed, struct error *err)
{
    struct device *d = t->bench->device;
    if (is_renewed(t))
        return timed_put(t->bench, t->entrant, t->set, seed, err);
    int code = timed_check_fill(t, seed, err);
    if (code == 0)
        code = operands_poison(d, t->bench->operands, t->entrant->first_set + t->set, err);
    return code == 0 ? d->ops->sync(d, err) : code;
}

/* Whoever wakes slowly after a pause is to have the same one ahead of both: one on new inputs comes behind the judging
 * of the launch before, one on known inputs behind a launch that nobody judges. */
static void keep_pause(struct novel *v, bool is_new)
{
    struct device *d = v->trial->bench->device;
    if (is_new)
        v->pause_ns = d->ops->now(d) - v->ended_ns;
    else
        (void)d->ops->wait_until(d, v->ended_ns + v->pause_ns);
}

/* Times a launch on the inputs of `seed`; its output must be right. */
static int time_on(struct novel *v, uint64_t seed, bool is_new, double *ns, struct error *err)
{
    struct timed_check *t = v->trial;
    bench_stage(t->bench, t->entrant, "measure", t->bench->config->limits.launch_seconds);
    entrant_wake(t->entrant); /* ahead of new inputs */
    int code = put_inputs(t, seed, err);
    if (code == 0)
        keep_pause(v, is_new);
    if (code == 0)
        code = time_launch(v, ns, err);
    code = entrant_rest(t->entrant, code, err);
    return code == 0 ? timed_check_judge(t, t->set, err) : code;
}

/* How often a group launches it on the same inputs, twice over for what nobody counted: whoever waits for longer before
 * it plays back gains nothing. */
static double launches_of_group(const struct timed_check *t)
{
    const struct device_shape *segment = &t->entrant->row.shape; /* no launches where nothing is prepared */
    double of_row = segment->launches + device_shape_untimed(segment), of_block = of_row;
    for (int i = 0; i < TIMING_COUNT; i++)
        if (bench_takes_beside(t->bench, (enum timing)i))
            of_block += timing_is_segment((enum timing)i) ? of_row : 1;
    return 2.0 * t->bench->config->stop.group_blocks * of_block;
}

/* Drawn beforehand: were it the clock that ends them, a contender that is slow at every second launch could end them.
 */
static uint64_t draw_repeats(const struct novel *v)
{
    double bearable = fmin(NOVEL_REPEATS_NS / fmax(v->usual_ns, 1), NOVEL_MOST_REPEATS);
    double wanted = is_renewed(v->trial) ? NOVEL_FEW_REPEATS : launches_of_group(v->trial);
    double least = fmax(fmin(wanted, bearable), 1);
    double more = fmax(fmin(fmin(bearable, wanted), NOVEL_MORE_REPEATS), NOVEL_LEAST_MORE);
    return (uint64_t)least + random_below(v->trial->random, (uint64_t)more);
}

/* Where C is an input, every launch is one on the same C: its own output would be new to it. */
static int make_known(struct novel *v, uint64_t repeats, struct error *err)
{
    const struct timed_check *t = v->trial;
    double ns = 0;
    int code = 0;
    for (uint64_t left = repeats; left > 0 && code == 0; left--) {
        bench_stage(t->bench, t->entrant, "measure", t->bench->config->limits.launch_seconds);
        code = timed_restore_c(t->bench, t->entrant, t->set, err);
        if (code == 0)
            code = time_launch(v, &ns, err);
    }
    return code;
}

/* *cleared: a launch on new inputs was as fast as the fastest of those that are timed or, where these have new ones
 * too, as one on known inputs. */
static int run_round(struct novel *v, bool *cleared, struct error *err)
{
    struct timed_check *t = v->trial;
    uint64_t seed = random_next(t->random) >> 8;
    double ns = 0;
    int code = time_on(v, seed, true, &ns, err);
    v->fresh_ns = fmin(v->fresh_ns, ns);
    *cleared = !is_renewed(t) && !is_slower(v->fresh_ns, v->best_ns);
    if (code != 0 || *cleared || t->verdict != VERDICT_OK)
        return code;
    code = make_known(v, draw_repeats(v), err);
    if (code == 0)
        code = time_on(v, seed, false, &v->seen_ns[v->rounds++], err);
    *cleared = code == 0 && is_renewed(t) && v->rounds == NOVEL_CLEARING_ROUNDS &&
               !is_slower(v->fresh_ns, stats_quantile(v->seen_ns, v->rounds, 0));
    return code;
}

static bool is_enough(const struct novel *v, double start)
{
    struct device *d = v->trial->bench->device;
    double spent = (double)d->ops->now(d) - start;
    return v->rounds == NOVEL_ROUNDS || (v->rounds >= NOVEL_LEAST_ROUNDS && spent > NOVEL_ROUNDS_NS);
}

/* Where no host is in the time, a launch on its own takes what one in a row does. */
static bool counts_device_only(const struct timed_check *t)
{
    return timing_is_segment(t->bench->headline) && t->bench->device->ops->rung(t->entrant->row.segment) != RUNG_EVENTS;
}

/* Of all launches the least. */
static double least_of(const struct novel *v)
{
    return fmin(v->fresh_ns, stats_quantile(v->seen_ns, v->rounds, 0));
}

static bool is_slower_alone(const struct novel *v)
{
    return counts_device_only(v->trial) && is_slower(least_of(v), v->usual_ns);
}

/* Of the launches on new inputs the least, of those on known ones the median: what is sometimes slow is slow on both.
 */
static bool is_slower_on_new(const struct novel *v)
{
    return is_slower(v->fresh_ns, stats_median(v->seen_ns, v->rounds));
}

static void judge(const struct novel *v)
{
    if (is_slower_on_new(v))
        timed_check_convict(
            v->trial, VERDICT_IMPLAUSIBLE_SPEED,
            "a launch takes %.1f us on inputs that are new to it and %.1f us on those it has seen before",
            v->fresh_ns * 1e-3, stats_median(v->seen_ns, v->rounds) * 1e-3);
    else
        timed_check_convict(v->trial, VERDICT_IMPLAUSIBLE_SPEED,
                            "a launch takes %.1f us on its own and %.1f us in a row", least_of(v) * 1e-3,
                            v->usual_ns * 1e-3);
}

/* *suspect: it seems to remember, or to leave launches of a row out. */
static int look(struct novel *v, bool *suspect, struct error *err)
{
    struct timed_check *t = v->trial;
    double start = (double)t->bench->device->ops->now(t->bench->device);
    bool cleared = false;
    int code = 0;
    v->fresh_ns = INFINITY;
    v->rounds = 0;
    while (!cleared && t->verdict == VERDICT_OK && code == 0 && !is_enough(v, start))
        code = run_round(v, &cleared, err);
    *suspect = code == 0 && !cleared && t->verdict == VERDICT_OK && (is_slower_on_new(v) || is_slower_alone(v));
    return code;
}

/* One of a pair, behind launches on what lay there; nothing once there is a verdict. */
static int time_behind(struct novel *v, uint64_t seed, bool is_new, double *ns, struct error *err)
{
    struct timed_check *t = v->trial;
    double bearable = fmin(KNOWN_REPEATS_NS / fmax(v->usual_ns, 1), NOVEL_MOST_REPEATS);
    uint64_t more = random_below(t->random, (uint64_t)fmax(bearable, KNOWN_REPEATS));
    if (t->verdict != VERDICT_OK)
        return 0;
    int code = make_known(v, KNOWN_REPEATS + more, err);
    return code == 0 ? time_on(v, seed, is_new, ns, err) : code;
}

static bool has_time(const struct novel *v, double start, double limit_ns)
{
    struct device *d = v->trial->bench->device;
    return v->trial->verdict == VERDICT_OK && (double)d->ops->now(d) - start < limit_ns;
}

/* Launches on new inputs, each with one on the same written again. Not for long: too few pairs tell nothing. */
static int compare(struct novel *v, struct known_times *times, struct error *err)
{
    struct timed_check *t = v->trial;
    double start = (double)t->bench->device->ops->now(t->bench->device);
    int code = 0;
    for (unsigned i = 0; i < KNOWN_PAIRS && code == 0 && has_time(v, start, NOVEL_ROUNDS_NS); i++) {
        uint64_t seed = random_next(t->random) >> 8;
        double fresh = 0, known = 0;
        code = time_behind(v, seed, true, &fresh, err);
        code = code == 0 ? time_behind(v, seed, false, &known, err) : code;
        if (code == 0 && t->verdict == VERDICT_OK)
            known_add(times, fresh, known);
    }
    return code;
}

/* Each launch on known inputs between two on new ones: what drifts, a clock or a load, is in both sides alike. */
static int compare_again(struct novel *v, struct known_times *times, struct error *err)
{
    struct timed_check *t = v->trial;
    double start = (double)t->bench->device->ops->now(t->bench->device), before = 0, known = 0, after = 0;
    uint64_t seed = random_next(t->random) >> 8;
    int code = time_behind(v, seed, true, &before, err);
    for (unsigned i = 0; i < KNOWN_AGAIN && code == 0 && has_time(v, start, KNOWN_AGAIN_NS); i++) {
        code = time_behind(v, seed, false, &known, err);
        seed = random_next(t->random) >> 8;
        code = code == 0 ? time_behind(v, seed, true, &after, err) : code;
        if (code == 0 && t->verdict == VERDICT_OK)
            known_add(times, sqrt(before * after), known);
        before = after;
    }
    return code;
}

/* From idle each launch has inputs of its own (measure/timed.h): nothing that is timed is known. */
static bool may_convict(const struct timed_check *t)
{
    return t->bench->mode == MODE_OFFLINE;
}

/* Tells who remembers a part; and convicts where as much is seen twice. */
static int look_for_part(struct novel *v, struct error *err)
{
    struct timed_check *t = v->trial;
    struct known_times times = {.n = 0}, again = {.n = 0};
    int code = compare(v, &times, err);
    if (code != 0 || t->verdict != VERDICT_OK)
        return code;
    known_note(t->entrant, &times);
    if (!known_remembers(&times) || !may_convict(t))
        return 0;
    code = compare_again(v, &again, err);
    if (code == 0 && t->verdict == VERDICT_OK && known_remembers(&again))
        timed_check_convict(t, VERDICT_IMPLAUSIBLE_SPEED,
                            "a launch takes %.2f times as long on inputs that are new to it as on those it has seen "
                            "before, and %.2f times in a second series of pairs",
                            known_ratio(&times), known_ratio(&again));
    return code;
}

int replay_check(struct timed_check *t, struct error *err)
{
    struct device *d = t->bench->device;
    struct novel v = {.trial = t, .ended_ns = d->ops->now(d)};
    bool suspect = true;
    look_back(&v);
    int code = prepare(&v, err);
    for (unsigned i = 0; i < NOVEL_LOOKS && suspect && code == 0; i++)
        code = look(&v, &suspect, err);
    if (code == 0 && suspect)
        judge(&v);
    if (code == 0 && t->verdict == VERDICT_OK && is_compared(t))
        code = look_for_part(&v, err);
    if (v.segment != NULL)
        d->ops->release_segment(d, v.segment);
    return code;
}
