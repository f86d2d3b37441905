/* run/alone through the supervisor, with scripted workers: baselines are timed without the plugins that raced and
 * beside them, and who slows one is named. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fake_worker.h"
#include "run_fixture.h"
#include "base/random.h"
#include "record/activity.h"
#include "run/alone.h"
#include "run/alone_cells.h"

static struct activity_book book;

static void replace_candidates(const char *first, const char *second)
{
    for (size_t i = 0; t.config.candidates[i]; i++) {
        free(t.config.candidates[i]);
        t.config.candidates[i] = NULL;
    }
    t.config.candidates[0] = strdup(first);
    t.config.candidates[1] = second ? strdup(second) : NULL;
}

static int set_up_alone(void **state)
{
    int code = set_up(state);
    if (code == 0) {
        replace_candidates("somewhere/alpha.so", NULL);
        assert_int_equal(t.config.rivals, 2); /* by default */
    }
    return code;
}

static int tear_down_alone(void **state)
{
    activity_book_free(&book);
    return tear_down(state);
}

static int lines(void)
{
    activity_book_free(&book);
    assert_int_equal(activity_book_read(t.journal, &book, &t.err), 0);
    return cJSON_GetArraySize(book.cells);
}

/* Of the run, of the looks, of the pairs. */
#define LOOKED (1 + ALONE_SCREENS)
#define PROVEN (LOOKED + 2 * ALONE_LEAST)

static void who_slows_a_baseline_is_named(void **state)
{
    const cJSON *cell;
    (void)state;
    go("beside=slow");
    struct journal_view v = complete_view();
    free_view(&v);
    assert_int_equal(starts(), PROVEN);
    assert_int_equal(lines(), 2);
    cJSON_ArrayForEach(cell, book.cells)
    {
        const cJSON *entry = cell->child;
        assert_string_equal(cJSON_GetObjectItem(entry, "name")->valuestring, "alpha");
        assert_string_equal(cJSON_GetObjectItem(entry, "status")->valuestring, "rival_disturbed");
        assert_non_null(
            strstr(cJSON_GetObjectItem(entry, "reason")->valuestring, "beta takes 100% to 100% longer beside"));
        assert_null(entry->next); /* and nobody else */
    }
    assert_non_null(strstr(t.last_note, "beta takes 100% to 100% longer beside this plugin"));
}

/* All take the same time: nobody is named, and one worker was all it took. */
static void honest_plugins_are_left_alone(void **state)
{
    (void)state;
    go("beside=alike"); /* says that nothing called alpha.so was measured: the workers know no files */
    assert_int_equal(lines(), 0);
    assert_int_equal(starts(), 2);
    assert_non_null(strstr(t.last_note, "baselines take the same time without"));
}

static void what_cannot_be_timed_is_told(void **state)
{
    (void)state;
    go("beside=never");
    assert_int_equal(lines(), 0);
    assert_int_equal(starts(), 2);
    assert_non_null(strstr(t.last_note, "2 of 2 cells: no baseline could be timed without the plugins"));
}

/* Slow in the run, and never again: the machine may have been busy. */
static void what_does_not_come_again_is_told(void **state)
{
    (void)state;
    go("beside=once");
    assert_int_equal(lines(), 0);
    assert_int_equal(starts(), LOOKED + 2);
    assert_non_null(
        strstr(t.last_note,
               "beta took 2 us in the run and 1 and 1 us without the plugins: that a plugin slows it is not proved"));
}

/* Each by itself: the first one does nothing, the second does it. */
static void of_several_the_one_that_does_it_is_named(void **state)
{
    (void)state;
    replace_candidates("omega.so", "somewhere/alpha.so");
    go("beside=slow");
    assert_int_equal(lines(), 2);
    assert_int_equal(starts(), PROVEN + 2);
    assert_non_null(strstr(t.last_note, "longer beside this plugin"));
}

/* Whoever has a verdict counts nowhere, and may do what it likes. */
static void who_is_out_is_not_looked_at(void **state)
{
    (void)state;
    go("beside=slow,alpha=wrong");
    assert_int_equal(starts(), 1);
    assert_int_equal(lines(), 0);
}

static void a_gpu_has_it_where_it_is_asked_for_or_cheap(void **state)
{
    struct ledger ledger = {.n_done = 1, .plan.n_cells = 1};
    uint64_t now = clock_now_ns();
    struct alone_request request = {.config = &t.config, .ledger = &ledger, .on_cuda = true, .began_ns = now};
    (void)state;
    go("beside=alike");
    snprintf(ledger.journal_path, sizeof ledger.journal_path, "%s", t.journal);
    assert_false(alone_is_due(&request));
    request.began_ns = now - (uint64_t)(1e9 * ALONE_GPU_SECONDS);
    assert_true(alone_is_due(&request));
    t.config.rivals = 0;
    assert_false(alone_is_due(&request));
    t.config.rivals = 2;
    request.began_ns = now;
    t.config.rivals_given = true;
    assert_true(alone_is_due(&request));
    t.config.protocol = PROTOCOL_PAPER;
    assert_false(alone_is_due(&request));
}

static void it_can_be_left_out(void **state)
{
    (void)state;
    t.config.rivals = 0;
    go("beside=slow");
    assert_int_equal(starts(), 1);
    assert_int_equal(lines(), 0);
}

/* A kernel set has no host code. */
static void only_plugins_are_left_out(void **state)
{
    (void)state;
    replace_candidates("alpha", NULL);
    go("beside=slow");
    assert_int_equal(starts(), 1);
    assert_int_equal(lines(), 0);
}

/* Two that take turns at being slow; nothing to say below two pairs, nor where a time is missing. */
static void pairs_have_an_interval(void **state)
{
    struct alone_pairs p = {.without = {100, 100, 100}, .beside = {110, 121, 110}, .n = 3};
    struct alone_interval i;
    (void)state;
    assert_true(alone_interval(&p, 1e-3, &i));
    assert_true(i.from < 0.10 && i.to > 0.14);
    p = (struct alone_pairs){.without = {100, 200, 300}, .beside = {110, 220, 330}, .n = 3};
    assert_true(alone_interval(&p, 1e-3, &i)); /* a drift is no difference of a pair */
    assert_true(fabs(i.from - 0.1) < 1e-9 && fabs(i.to - 0.1) < 1e-9);
    p.beside[1] = 0;
    assert_false(alone_interval(&p, 1e-3, &i));
    p.n = 1;
    assert_false(alone_interval(&p, 1e-3, &i));
}

/* The slower of the workers without the plugins counts. */
static void looks_make_suspects(void **state)
{
    (void)state;
    assert_true(alone_is_suspect(&(struct alone_looks){110, 110, {100, 0}}, 1));
    assert_false(alone_is_suspect(&(struct alone_looks){102, 102, {100, 0}}, 1));
    assert_false(alone_is_suspect(&(struct alone_looks){110, 110, {100, 108}}, 2));
    assert_true(alone_is_suspect(&(struct alone_looks){110, 110, {100, 90}}, 2));
    assert_false(alone_is_suspect(&(struct alone_looks){110, 110, {0, 0}}, 1));
}

/* Where the looks differ as much as the run's beginning from them, nothing can be proved. */
static void a_busy_machine_proves_nothing(void **state)
{
    (void)state;
    assert_true(alone_is_plain(&(struct alone_looks){110, 110, {100, 101}}));
    assert_true(alone_is_plain(&(struct alone_looks){110, 110, {101, 100}}));
    assert_false(alone_is_plain(&(struct alone_looks){110, 110, {100, 92}}));
    assert_false(alone_is_plain(&(struct alone_looks){110, 101, {100, 100}})); /* longer later in the run alone */
    assert_false(alone_is_plain(&(struct alone_looks){110, 110, {100, 0}}));
    assert_false(alone_is_plain(&(struct alone_looks){0, 0, {100, 100}}));
}

static double normal(struct random *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_unit(r);
    return sum;
}

/* Workers that differ by `spread`, now and then one by far, on a machine that slows down meanwhile. */
static enum alone_verdict judged(double effect, double spread, struct random *random, size_t *rounds)
{
    struct alone_pairs p = {.n = 0};
    struct alone_interval i;
    enum alone_verdict verdict = ALONE_OPEN;
    while (verdict == ALONE_OPEN) {
        double base = 1000 * (1 + 0.02 * (double)p.n);
        p.without[p.n] = base * exp(spread * normal(random)) * (random_unit(random) < 0.03 ? 2 : 1);
        p.beside[p.n] = base * (1 + effect) * exp(spread * normal(random)) * (random_unit(random) < 0.03 ? 2 : 1);
        p.n++;
        verdict = alone_judge(&p, 1, false, &i);
    }
    *rounds = p.n;
    return verdict;
}

/* Suspected wrongly, as a busy machine has it: they go, after some pairs. */
static void honest_plugins_go_soon(void **state)
{
    struct random random;
    unsigned accused = 0, tried = 20000;
    size_t rounds, all = 0;
    (void)state;
    random_seed(&random, 35);
    for (unsigned i = 0; i < tried; i++) {
        accused += judged(0, 0.01 + 0.29 * random_unit(&random), &random, &rounds) == ALONE_DISTURBED;
        all += rounds;
    }
    assert_true(accused <= ALONE_ERROR * tried);
    assert_true(all < 4 * tried);
}

/* Who has no time for all rounds has what the last one says. */
static void the_last_round_is_a_look(void **state)
{
    struct alone_interval i;
    struct alone_pairs p = {.n = 6};
    (void)state;
    for (size_t k = 0; k < p.n; k++) {
        p.without[k] = 100 + (double)k;
        p.beside[k] = 1.5 * p.without[k] + (double)(k % 2);
    }
    assert_int_equal(alone_judge(&p, 1, false, &i), ALONE_OPEN);
    assert_int_equal(alone_judge(&p, 1, true, &i), ALONE_DISTURBED);
    assert_true(i.from > 0.4 && i.to < 0.6);
    p.n = 2; /* too few to prove anything */
    assert_int_equal(alone_judge(&p, 1, true, &i), ALONE_ALIKE);
}

static void what_slows_a_baseline_is_found(void **state)
{
    static const struct {
        double effect, spread, least;
    } rows[] = {{0.08, 0.005, 0.85}, {0.15, 0.02, 0.85}, {0.5, 0.1, 0.85}};
    struct random random;
    size_t rounds;
    (void)state;
    random_seed(&random, 36);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        unsigned found = 0, tried = 2000;
        for (unsigned i = 0; i < tried; i++)
            found += judged(rows[r].effect, rows[r].spread, &random, &rounds) == ALONE_DISTURBED;
        assert_true(found >= rows[r].least * tried);
    }
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, set_up_alone, tear_down_alone)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        ALONE(who_slows_a_baseline_is_named),
        ALONE(honest_plugins_are_left_alone),
        ALONE(what_does_not_come_again_is_told),
        ALONE(of_several_the_one_that_does_it_is_named),
        ALONE(what_cannot_be_timed_is_told),
        ALONE(who_is_out_is_not_looked_at),
        ALONE(it_can_be_left_out),
        ALONE(only_plugins_are_left_out),
        ALONE(a_gpu_has_it_where_it_is_asked_for_or_cheap),
        cmocka_unit_test(pairs_have_an_interval),
        cmocka_unit_test(looks_make_suspects),
        cmocka_unit_test(a_busy_machine_proves_nothing),
        cmocka_unit_test(honest_plugins_go_soon),
        cmocka_unit_test(the_last_round_is_a_look),
        cmocka_unit_test(what_slows_a_baseline_is_found),
    };
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
