/*
 * cheat_fixture.h - a cell on the scripted device whose first contender does something else besides multiplying, under
 * every check that runs while it is timed. Needs the headers of cmocka before it; a test includes it once.
 */
#ifndef CUDAL2_TESTS_CHEAT_FIXTURE_H
#define CUDAL2_TESTS_CHEAT_FIXTURE_H

#include "bench_fixture.h"
#include "measure/cell_loop.h"
#include "verify/honesty.h"
#include "verify/model.h"

static struct fixture f;

/* What the first contender does besides multiplying, from its 20th launch on. */
static struct {
    void (*instead)(const struct contender *c, void *state, size_t set, char *why);
    void (*afterwards)(const struct cudal2_operands *operands);
    const struct contender_ops *honest;
    unsigned launches;
} cheat;

static int cheating_launch(const struct contender *c, void *state, size_t set, char *why)
{
    const struct entrant *e = &f.bench.entrants[0];
    bool cheats = c == &f.contenders[0] && ++cheat.launches > 20;
    if (cheats && cheat.instead) {
        cheat.instead(c, state, set, why);
        return CUDAL2_OK;
    }
    int status = cheat.honest->launch(c, state, set, why);
    if (cheats && cheat.afterwards)
        cheat.afterwards(operands_sets(f.bench.operands, CUDAL2_NN) + e->first_set + set);
    return status;
}

static void open_cell(void)
{
    static struct contender_ops ops;
    fixture_open(&f, 2);
    f.config.honesty = true;
    f.bench.between_blocks = honesty_after_block;
    memset(&cheat, 0, sizeof cheat);
    cheat.honest = f.contenders[0].ops;
    ops = *cheat.honest;
    ops.launch = cheating_launch;
    f.contenders[0].ops = f.contenders[1].ops = &ops;
}

static void run_cell(void)
{
    struct error err;
    fixture_start(&f);
    for (size_t i = 0; i < f.bench.n_entrants; i++) /* as verification says it of those who round where they store */
        f.bench.entrants[i].error_allowed =
            MODEL_RMS_MARGIN * model_wide(f.bench.problem.dtype, (double)f.bench.problem.k);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    assert_int_equal(honesty_finish(&f.bench, &err), 0);
}

/* The cheat has its verdict and its rival is left alone. */
static inline void expect_verdict(const char *verdict)
{
    run_cell();
    assert_string_equal(f.bench.record->contenders[0].status, verdict);
    assert_string_equal(f.bench.record->contenders[1].status, "ok");
    fixture_close(&f);
}

#endif
