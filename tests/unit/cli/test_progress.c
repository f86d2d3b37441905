/* cli/progress: what a line says, and that the live line never outgrows the terminal. */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/progress.h"

static void test_duration(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0:00"},       {0.4, "0:00"},       {59.6, "1:00"}, {61, "1:01"}, {3599, "59:59"},
                 {3600, "1:00:00"}, {86399, "23:59:59"}, {-1, "?"},      {1e300, "?"}, {(double)NAN, "?"}};
    char text[24];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        progress_duration(cases[i].seconds, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void add_contender(struct cell_record *r, const char *name, bool candidate, double ns)
{
    struct contender_record *c = &r->contenders[r->n_contenders++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->verdict = ns > 0 ? VERDICT_OK : VERDICT_CRASH;
    c->candidate = candidate;
    for (unsigned block = 0; block < 3 && ns > 0; block++)
        series_add(&c->timings[TIMING_WALL], block, ns + block - 1);
}

static struct cell_record *sample(void)
{
    struct cell_record *r = record_new();
    r->problem =
        (struct cudal2_problem){.m = 64, .n = 128, .k = 256, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    r->headline = TIMING_WALL;
    r->outcome = CELL_OK;
    r->blocks = 3;
    r->converged = true;
    r->phase_seconds[PHASE_MEASURE] = 1.25;
    return r;
}

static void expect_line(const struct cell_record *r, const char *expected)
{
    struct progress p = {.n_cells = 10, .done = 3, .eta_seconds = 62};
    struct text line = {0};
    progress_cell_line(&p, r, &line);
    assert_string_equal(line.bytes, expected);
    text_free(&line);
}

static void test_cell_line(void **state)
{
    struct cell_record *r = sample();
    (void)state;
    add_contender(r, "slow-nn", false, 20000);
    add_contender(r, "fast-tn", false, 12000);
    add_contender(r, "mine-nn", true, 10000);
    add_contender(r, "mine-tn", true, 11000);
    expect_line(r, "[3/10] offline/f16-f32-64x128x256  mine-nn 10.00 µs vs fast-tn 12.00 µs  +20.0%  3 blocks  1.2 s  "
                   "ETA 1:02");
    /* A copy for A/A never is the best candidate. */
    add_contender(r, "mine-nn#2", true, 9000);
    snprintf(r->contenders[4].copy_of, sizeof r->contenders[4].copy_of, "mine-nn");
    snprintf(r->label, sizeof r->label, "qkv");
    r->converged = false;
    expect_line(r, "[3/10] offline/f16-f32-64x128x256 qkv  mine-nn 10.00 µs vs fast-tn 12.00 µs  +20.0%  3 blocks (not "
                   "converged)  1.2 s  ETA 1:02");
    r->worst_half_width = NAN;
    expect_line(r, "[3/10] offline/f16-f32-64x128x256 qkv  mine-nn 10.00 µs vs fast-tn 12.00 µs  +20.0%  3 blocks "
                   "(nothing to compare)  1.2 s  ETA 1:02");
    record_free(r);
}

static void test_cell_line_without_candidate(void **state)
{
    struct cell_record *r = sample();
    (void)state;
    add_contender(r, "base-nn", false, 2.5e6);
    add_contender(r, "mine-nn", true, 0);
    r->contenders[1].verdict = VERDICT_CRASH;
    expect_line(r, "[3/10] offline/f16-f32-64x128x256  base-nn 2.50 ms  3 blocks, 1 contender failed  1.2 s  ETA 1:02");
    /* What cannot run here is no failure. */
    r->contenders[1].verdict = VERDICT_UNSUPPORTED;
    expect_line(r, "[3/10] offline/f16-f32-64x128x256  base-nn 2.50 ms  3 blocks  1.2 s  ETA 1:02");
    record_free(r);
}

/* As of a verification, which times nothing. */
static void test_cell_line_without_times(void **state)
{
    struct cell_record *r = sample();
    (void)state;
    r->blocks = 0;
    add_contender(r, "mine-nn", true, 0);
    r->contenders[0].verdict = VERDICT_OK;
    expect_line(r, "[3/10] offline/f16-f32-64x128x256  1.2 s  ETA 1:02");
    r->contenders[0].verdict = VERDICT_WRONG_RESULT;
    expect_line(r, "[3/10] offline/f16-f32-64x128x256  1 contender failed  1.2 s  ETA 1:02");
    record_free(r);
}

static void test_skipped_cell_line(void **state)
{
    struct cell_record *r = sample();
    (void)state;
    r->blocks = 0;
    r->outcome = CELL_SKIPPED;
    snprintf(r->reason, sizeof r->reason, "needs 9 bytes");
    expect_line(r, "[3/10] offline/f16-f32-64x128x256  skipped: needs 9 bytes  1.2 s  ETA 1:02");
    record_free(r);
}

static void test_live_line_fits(void **state)
{
    struct progress p = {.n_cells = 4, .done = 1};
    struct text line = {0};
    (void)state;
    snprintf(p.cell, sizeof p.cell, "offline/f16-f32-64x64x64");
    snprintf(p.contender, sizeof p.contender, "cublas-nn");
    snprintf(p.stage, sizeof p.stage, "setup");
    progress_live_line(&p, 5, 200, &line);
    assert_string_equal(line.bytes, "[==>       ] 1/4  ETA 0:05  offline/f16-f32-64x64x64  setup cublas-nn");
    text_free(&line);
    progress_live_line(&p, 5, 30, &line);
    assert_int_equal(strlen(line.bytes), 30);
    text_free(&line);
    p.done = 4;
    progress_live_line(&p, -1, 0, &line);
    assert_memory_equal(line.bytes, "[==========] 4/4  ETA ?", 23);
    text_free(&line);
    p.n_cells = p.done = 0; /* nothing known yet: no division by zero */
    progress_live_line(&p, -1, 80, &line);
    assert_memory_equal(line.bytes, "[>", 2);
    text_free(&line);
}

/* What each style writes for the same events. */
static char *output_of(enum progress_style style)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&bytes, &length);
    struct progress p;
    struct cell_record *r = sample();
    add_contender(r, "mine-nn", true, 10000);
    progress_start(&p, out, style);
    struct run_observer o = progress_observer(&p);
    o.started(o.context, 2, 1);
    o.stage(o.context, 0, "offline/f16-f32-64x128x256", "mine-nn", "measure");
    o.cell(o.context, r, 2, 0);
    o.note(o.context, "a note");
    progress_end(&p);
    fclose(out);
    record_free(r);
    return bytes;
}

static void test_styles(void **state)
{
    (void)state;
    char *quiet = output_of(PROGRESS_QUIET), *lines = output_of(PROGRESS_LINES), *live = output_of(PROGRESS_LIVE);
    assert_string_equal(quiet, "");
    assert_string_equal(lines, "resuming: 1 of 2 cells are done\n[2/2] offline/f16-f32-64x128x256  mine-nn 10.00 µs  3 "
                               "blocks  1.2 s  ETA 0:00\nnote: a note\n");
    assert_non_null(strstr(live, "measure mine-nn"));
    assert_non_null(strstr(live, "\r\033[K[2/2]"));
    assert_string_equal(live + strlen(live) - 13, "note: a note\n"); /* the live line is wiped at the end */
    free(quiet);
    free(lines);
    free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_cell_line),
        cmocka_unit_test(test_cell_line_without_candidate),
        cmocka_unit_test(test_cell_line_without_times),
        cmocka_unit_test(test_skipped_cell_line),
        cmocka_unit_test(test_live_line_fits),
        cmocka_unit_test(test_styles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
