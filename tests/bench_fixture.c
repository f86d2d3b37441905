/*
 * bench_fixture.c - a bench on the scripted device for unit tests: contenders whose times a test decides, operands, a
 * record. Relies on device/fake.h. Linked into the tests that measure or verify.
 */
#include "bench_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "measure/segment.h"

#define FIRST_SET 0x8000u /* in the id of a work: it ran on set 0 */
#define MOVED 0x4000u     /* its matrices have moved */

struct actor_state {
    struct fixture *fixture;
    struct actor *actor;
    const struct cudal2_setup setup;
    int variant; /* -1 for none */
    bool loaded;
};

static struct fixture *current; /* the hooks have no context of their own; tests run one fixture at a time */

static int actor_setup(const struct contender *c, const struct cudal2_setup *setup, void **state, char *why)
{
    struct actor *actor = &current->actors[c - current->contenders];
    struct actor_state *s = malloc(sizeof *s);
    struct actor_state value = {.fixture = current, .actor = actor, .setup = *setup, .variant = -1};
    if (actor->refuse_setups_from > 0 && actor->setups + 1 >= (unsigned)actor->refuse_setups_from) {
        free(s);
        snprintf(why, CUDAL2_WHY, "setup refused on purpose");
        return CUDAL2_LIBRARY_ERROR;
    }
    if (setup->variant != NULL && sscanf(setup->variant, "v%d", &value.variant) != 1) {
        free(s);
        snprintf(why, CUDAL2_WHY, "no variant %s", setup->variant);
        return CUDAL2_BAD_VARIANT;
    }
    if (actor->first_place == NULL)
        actor->first_place = setup->sets[0].a;
    memcpy(s, &value, sizeof value);
    actor->setups++;
    *state = s;
    return CUDAL2_OK;
}

static bool is_binary(const struct cudal2_setup *setup, size_t set)
{
    const struct cudal2_problem *p = &setup->problem;
    for (size_t i = 0; i < (size_t)p->k; i++) {
        float value = element_load(setup->sets[set].a, p->dtype, i);
        if (value != 0 && value != 1)
            return false;
    }
    return true;
}

static float dot(const struct cudal2_setup *setup, size_t set, const int64_t at[2], int step)
{
    const struct cudal2_problem *p = &setup->problem;
    const struct cudal2_operands *o = &setup->sets[set];
    float sum = 0, part = 0;
    for (int64_t k = 0; k < p->k; k++) {
        size_t at_b = (size_t)(setup->layout == CUDAL2_NN ? k * p->n + at[1] : at[1] * p->k + k);
        part += element_load(o->a, p->dtype, (size_t)(at[0] * p->k + k)) * element_load(o->b, p->dtype, at_b);
        if (step > 0 && (k + 1) % step == 0) {
            sum = half_to_float(half_from_float(sum + part));
            part = 0;
        }
    }
    return sum + part;
}

static void multiply(const struct actor_state *state, size_t set)
{
    const struct actor *actor = state->actor;
    const struct cudal2_problem *p = &state->setup.problem;
    int v = state->variant;
    bool binary = is_binary(&state->setup, set), wrong = v >= 0 ? actor->variant_wrong[v] : actor->wrong;
    int step = v >= 0 ? actor->variant_half_step[v] : actor->half_step;
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            float sum = dot(&state->setup, set, (int64_t[]){i, j}, step);
            bool last = i + 1 == p->m && j + 1 == p->n;
            if (!binary)
                sum += (float)(actor->stretch * (double)sum + (last ? actor->stray : 0));
            if (!wrong || !last)
                element_store(state->setup.sets[set].c, p->dtype, (size_t)(i * p->n + j), sum);
        }
    }
}

static void load(struct actor_state *s)
{
    struct device *d = s->fixture->device;
    if (s->variant >= 0 && !s->loaded)
        d->ops->wait_until(d, d->ops->now(d) + (uint64_t)s->actor->variant_load_ns[s->variant]);
    s->loaded = true;
}

static int actor_launch(const struct contender *c, void *state, size_t set, char *why)
{
    struct actor_state *s = state;
    (void)c;
    s->actor->launches++;
    if (s->actor->fail_launches_from > 0 && s->actor->launches >= (unsigned)s->actor->fail_launches_from) {
        snprintf(why, CUDAL2_WHY, "launch refused on purpose");
        return CUDAL2_LIBRARY_ERROR;
    }
    if (s->actor->break_from > 0 && s->actor->launches >= (unsigned)s->actor->break_from)
        fake_break(s->fixture->device, "illegal address");
    load(s);
    multiply(s, set);
    uint32_t first = set == 0 ? FIRST_SET : 0, moved = s->setup.sets[0].a == s->actor->first_place ? 0 : MOVED;
    fake_enqueue(s->fixture->device, first | moved | (s->actor->id * 16 + (uint32_t)(s->variant + 1)));
    return CUDAL2_OK;
}

static void actor_teardown(const struct contender *c, void *state)
{
    struct actor_state *s = state;
    (void)c;
    s->actor->teardowns++;
    free(s);
}

static int actor_variants(const struct contender *c, const struct cudal2_setup *setup, struct cudal2_variant *out,
                          size_t capacity, char *why)
{
    const struct actor *actor = &current->actors[c - current->contenders];
    (void)setup;
    (void)why;
    for (size_t i = 0; i < actor->n_variants && i < capacity; i++)
        snprintf(out[i].key, sizeof out[i].key, "v%zu", i);
    return (int)actor->n_variants;
}

static int actor_describe(const struct contender *c, void *state, char *out, size_t capacity)
{
    (void)state;
    snprintf(out, capacity, "{\"accumulates\":\"f32\",\"instructions\":\"%s\"}",
             current->actors[c - current->contenders].instructions);
    return CUDAL2_OK;
}

static const struct contender_ops plain_ops = {NULL, actor_setup, actor_launch, actor_teardown, actor_describe};
static const struct contender_ops variant_ops = {actor_variants, actor_setup, actor_launch, actor_teardown,
                                                 actor_describe};

static double duration(void *context, const struct fake_moment *moment)
{
    struct fixture *f = context;
    if (moment->id == FAKE_NULL || moment->id == FAKE_UNKNOWN)
        return 700;
    uint32_t id = moment->id & ~(FIRST_SET | MOVED);
    const struct actor *actor = &f->actors[id / 16];
    uint32_t variant = id % 16;
    double ns = variant == 0 ? actor->duration_ns : actor->variant_ns[variant - 1];
    if (variant != 0 && (moment->id & FIRST_SET) != 0 && actor->variant_first_ns[variant - 1] > 0)
        ns = actor->variant_first_ns[variant - 1];
    if (variant != 0 && (moment->id & MOVED) != 0 && actor->variant_moved_ns[variant - 1] > 0)
        ns = actor->variant_moved_ns[variant - 1];
    if (variant != 0 && moment->idle_ns > 1e6 && actor->variant_rested_ns[variant - 1] > 0)
        ns = actor->variant_rested_ns[variant - 1];
    double penalty = moment->idle_ns > 1e6 ? f->idle_penalty_ns : 0;
    return ns * f->noise[moment->count % 1024] + penalty;
}

static void default_config(struct config *c)
{
    *c = (struct config){
        .layouts = 1,
        .workspace_bytes = 4096,
        .stop = {.min_blocks = 16,
                 .look_every = 4,
                 .max_blocks = 64,
                 .group_blocks = 4,
                 .delta = {0.005, 0.02},
                 .max_cell_seconds = {60, 60}},
        .limits = {60, 60, 30, 120, 0},
        .gap = {.kind = GAP_FIXED, .mean_ns = 2e6},
        .verify = true,
        .verify_seeds = 2,
        .tune_rounds = 12,
        .other_timings_every = 4,
        .paper = {.warmup_seconds = 0.001, .pair_seconds = 0.01, .tune_warmup_rounds = 2, .tune_rounds = 4},
    };
}

void fixture_open(struct fixture *f, size_t n)
{
    fixture_open_held(f, n, false, 0);
}

void fixture_open_held(struct fixture *f, size_t n, bool holds, double hand_over_ns)
{
    struct error err;
    memset(f, 0, sizeof *f);
    current = f;
    for (size_t i = 0; i < 1024; i++)
        f->noise[i] = 1 + 1e-8 * (double)(i % 5); /* a clock that can tell them apart */
    struct fake_script script = {.duration_ns = duration,
                                 .context = f,
                                 .launch_ns = 3000,
                                 .sync_ns = 2000,
                                 .hand_over_ns = hand_over_ns,
                                 .holds = holds};
    if (fake_open(&script, &f->device, &err) != 0)
        abort();
    f->device->info.peak_flops = 0;
    default_config(&f->config);
    f->bench = (struct bench){.config = &f->config,
                              .device = f->device,
                              .sets_each = 1,
                              .n_sets = 1,
                              .seed = 42,
                              .problem = {8, 8, 16, CUDAL2_F16, CUDAL2_ACC_F16},
                              .identity = "fixture"};
    random_seed(&f->bench.random, 42);
    f->bench.record = record_new();
    f->bench.record->problem = f->bench.problem;
    for (size_t i = 0; i < n; i++) {
        struct contender *c = &f->contenders[i];
        struct contender_record *r = &f->bench.record->contenders[i];
        f->actors[i] = (struct actor){.id = (uint32_t)i, .duration_ns = 1000.0 * (double)(i + 1)};
        *c = (struct contender){.role = i == 0 ? ROLE_CANDIDATE : ROLE_BASELINE, .available = true, .ops = &plain_ops};
        snprintf(c->name, sizeof c->name, "%c-nn", (char)('a' + i));
        snprintf(c->family, sizeof c->family, "%c", (char)('a' + i));
        snprintf(r->name, sizeof r->name, "%s", c->name);
        snprintf(r->status, sizeof r->status, "ok");
        r->candidate = i == 0;
        f->bench.entrants[i] = (struct entrant){.contender = c, .record = r, .alive = true, .n_sets = 1};
    }
    f->bench.n_entrants = n;
    f->bench.record->n_contenders = n;
}

void fixture_start(struct fixture *f)
{
    struct error err;
    struct operands_request request;
    bench_operands_request(&f->bench, 7, &request);
    if (operands_alloc(f->device, &request, &f->bench.operands, &err) != 0 ||
        operands_fill(f->device, f->bench.operands, FILL_NORMAL, 1, 0, &err) != 0)
        abort();
    for (size_t i = 0; i < f->bench.n_entrants; i++) {
        struct entrant *e = &f->bench.entrants[i];
        e->has_variants = f->actors[i].n_variants > 0;
        if (e->has_variants)
            f->contenders[i].ops = &variant_ops;
        else
            entrant_setup(&f->bench, e);
    }
}

void fixture_open_block(struct fixture *f, size_t n, double duration_ns)
{
    struct error err;
    fixture_open(f, n);
    for (size_t i = 0; i < n; i++)
        f->actors[i].duration_ns = duration_ns;
    f->bench.in_blocks = true;
    f->bench.record->groups = 1;
    fixture_start(f);
    f->bench.fastest_ns = duration_ns;
    for (size_t i = 0; i < n; i++) {
        struct entrant *e = &f->bench.entrants[i];
        assert_int_equal(segment_estimate(&f->bench, e, &err), 0);
        assert_int_equal(segment_prepare(&f->bench, e, SEGMENT_TARGET_NS, duration_ns, &err), 0);
    }
}

void fixture_close(struct fixture *f)
{
    for (size_t i = 0; i < f->bench.n_entrants; i++)
        entrant_teardown(&f->bench, &f->bench.entrants[i]);
    if (f->bench.null_segment != NULL)
        f->device->ops->release_segment(f->device, f->bench.null_segment);
    operands_free(f->device, f->bench.operands);
    record_free(f->bench.record);
    f->device->ops->close(f->device);
}
