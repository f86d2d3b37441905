/* compare/: verdicts from journals, what is refused, what a second look changes, and bad input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "compare/forms.h"
#include "base/file.h"
#include "compare/compare.h"
#include "compare_pair_fixture.h"
#include "result/make.h"

#define FIRST "offline/f16-f32-64x64x64"
#define SECOND "offline/f16-f32-128x64x64"
#define SERVER "server/f16-f32-64x64x64"

static const struct script plain = {.seed = 1};
static const struct script other = {.seed = 2, .digest = "bb"};

static void outcome_is(const struct compare_runs *c, int code, const char *words)
{
    struct error err = {0};
    assert_int_equal(compare_outcome(c, &err), code);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

static void same_program(void **state)
{
    struct compare_runs c;
    (void)state;
    open_pair(&plain, &other, &c);
    assert_int_equal(c.n_rows, 4);
    assert_int_equal(c.counts[JUDGED_SAME], 4);
    assert_int_equal(c.family, 4);
    assert_int_equal(compare_suspects(&c), 0);
    assert_true(c.delta[MODE_OFFLINE] > 0.01999 && c.delta[MODE_OFFLINE] < 0.02001);
    assert_true(c.delta[MODE_SERVER] > 0.04999 && c.delta[MODE_SERVER] < 0.05001);
    outcome_is(&c, EXIT_CODE_OK, "");
    /* The first baseline both have, in the candidate's layout; drift of 30% has cancelled. */
    assert_string_equal(c.rows[0].reference, "torch.matmul");
    for (size_t i = 0; i < c.n_rows; i++)
        assert_true(fabs(c.rows[i].trial.change) < 0.005);
    compare_free(&c);
}

static void one_kernel_slower(void **state)
{
    struct compare_runs c;
    struct script slow = other;
    (void)state;
    slow.slower[1] = 0.05;
    slow.slower[2] = -0.10;
    slow.slower[3] = 0.04; /* less than server mode's 5% */
    open_pair(&plain, &slow, &c);
    assert_int_equal(fixture_row(&c, SECOND)->verdict, JUDGED_SLOWER);
    assert_int_equal(fixture_row(&c, "offline/f16-f32-256x64x64")->verdict, JUDGED_FASTER);
    assert_int_equal(fixture_row(&c, SERVER)->verdict, JUDGED_SAME);
    assert_int_equal(fixture_row(&c, FIRST)->verdict, JUDGED_SAME);
    assert_true(fabs(expm1(-fixture_row(&c, SECOND)->trial.change) - 0.05) < 0.004);
    assert_string_equal(c.rows[0].key, SECOND); /* the worst first, the best last */
    assert_string_equal(c.rows[3].key, "offline/f16-f32-256x64x64");
    outcome_is(&c, EXIT_CODE_REGRESSION, "1 regression; the worst: mine-nn in " SECOND ", -4.");
    compare_free(&c);
}

static void delta_by_hand(void **state)
{
    struct compare_runs c;
    struct error err = {0};
    struct compare_request r = request();
    struct script slow = other;
    (void)state;
    slow.slower[3] = 0.04;
    fixture_write(base_path, &plain);
    fixture_write(fresh_path, &slow);
    r.delta = 0.01;
    assert_int_equal(compare_open(&r, &c, &err), 0);
    assert_int_equal(fixture_row(&c, SERVER)->verdict, JUDGED_SLOWER);
    compare_free(&c);
}

/* Copies that lie 4% from their originals: a run that cannot tell these apart must not judge 5%. */
static void aa_history_widens_delta(void **state)
{
    struct compare_runs c;
    struct script a = {.seed = 1, .aa = true};
    struct script b = {.seed = 2, .aa = true};
    (void)state;
    b.slower[1] = 0.05;
    open_pair(&a, &b, &c);
    assert_int_equal(c.n_rows, 4); /* copies are no candidates */
    assert_true(fabs(c.aa_scatter[MODE_OFFLINE] - log(1.04)) < 0.002);
    assert_true(fabs(c.delta[MODE_OFFLINE] - (1 - pow(1.04, -3))) < 0.005);
    assert_int_equal(fixture_row(&c, SECOND)->verdict, JUDGED_SAME);
    compare_free(&c);
}

static void missing_and_invalid(void **state)
{
    struct compare_runs c;
    struct script fresh = other;
    (void)state;
    fresh.skip_cell[0] = true;
    fresh.status[1] = "crash";
    open_pair(&plain, &fresh, &c);
    assert_int_equal(fixture_row(&c, FIRST)->verdict, JUDGED_MISSING);
    assert_int_equal(fixture_row(&c, SECOND)->verdict, JUDGED_INVALID);
    assert_string_equal(fixture_row(&c, SECOND)->reason, "crash: says the script");
    assert_int_equal(c.family, 2);
    outcome_is(&c, EXIT_CODE_INCOMPARABLE, "1 missing, 1 invalid");
    compare_free(&c);
    open_pair(&fresh, &plain, &c); /* the other way round nothing is lost */
    assert_int_equal(c.n_rows, 2);
    assert_int_equal(c.without_base, 2);
    outcome_is(&c, EXIT_CODE_OK, "");
    compare_free(&c);
}

/* Who declines in both runs has no row, and is counted. */
static void missing_in_both_is_counted(void **state)
{
    struct compare_runs c;
    struct script base = plain, fresh = other;
    struct text notes = {0};
    (void)state;
    base.status[1] = fresh.status[1] = "unsupported";
    open_pair(&base, &fresh, &c);
    for (size_t i = 0; i < c.n_rows; i++)
        assert_string_not_equal(c.rows[i].key, SECOND);
    assert_int_equal(c.without_result_in_both, 1);
    compare_describe_notes(&notes, &c, "note: ");
    assert_non_null(strstr(notes.bytes, "1 result is missing in both runs, declined or failed, and not compared\n"));
    text_free(&notes);
    compare_free(&c);
}

static void wrong_result_comes_first(void **state)
{
    struct compare_runs c;
    struct script fresh = other;
    (void)state;
    fresh.slower[1] = 0.2;
    fresh.status[0] = "wrong_result";
    open_pair(&plain, &fresh, &c);
    outcome_is(&c, EXIT_CODE_VERIFICATION, "mine-nn in " FIRST);
    compare_free(&c);
    fresh.status[0] = NULL;
    fresh.skip_cell[0] = true;
    open_pair(&plain, &fresh, &c);
    outcome_is(&c, EXIT_CODE_REGRESSION, "1 regression"); /* and it comes before what is missing */
    compare_free(&c);
}

static void hold(struct cell_record *r, int cell)
{
    r->held = cell == 3; /* the one in server mode */
}

static void rotate(struct cell_record *r, int cell)
{
    r->rotation = cell == 3 ? cJSON_Parse("{\"rotation\":\"full\",\"by\":\"flush\"}") : NULL;
}

static void rotate_of_old(struct cell_record *r, int cell)
{
    r->rotation = cell == 3 ? cJSON_Parse("{\"rotation\":\"partial\"}") : NULL;
}

/* The same cache setting, but in one run the operands were still cached. */
static void rotated_otherwise_is_another_cache_state(void **state)
{
    struct compare_runs c;
    struct script base = plain, fresh = other;
    (void)state;
    base.change = fresh.change = rotate;
    open_pair(&base, &fresh, &c);
    assert_int_equal(c.counts[JUDGED_SAME], 4);
    compare_free(&c);
    base.change = rotate_of_old;
    open_pair(&base, &fresh, &c);
    assert_int_equal(c.counts[JUDGED_SAME], 3);
    assert_string_equal(fixture_row(&c, SERVER)->reason,
                        "timed as graph, rotation by partial in BASE and as graph, rotation by flush in NEW");
    compare_free(&c);
}

static void verdict_needs_comparable_times(void **state)
{
    struct compare_runs c;
    struct script fresh = other;
    (void)state;
    fresh.rung = "blocked";
    open_pair(&plain, &fresh, &c);
    assert_int_equal(c.counts[JUDGED_INVALID], 4);
    assert_string_equal(c.rows[0].reason, "timed as graph in BASE and as blocked in NEW");
    compare_free(&c);
    fresh = other;
    fresh.change = hold;
    open_pair(&plain, &fresh, &c);
    assert_int_equal(c.counts[JUDGED_SAME], 3);
    assert_string_equal(fixture_row(&c, SERVER)->reason, "timed as graph in BASE and as held graph in NEW");
    compare_free(&c);
    fresh = other;
    fresh.torch_elsewhere = true; /* then the next baseline serves */
    open_pair(&plain, &fresh, &c);
    assert_int_equal(c.counts[JUDGED_SAME], 4);
    assert_string_equal(c.rows[0].reference, "cublas-nn");
    compare_free(&c);
    fresh = other;
    fresh.groups = 3;
    open_pair(&plain, &fresh, &c);
    assert_int_equal(c.counts[JUDGED_INVALID], 4);
    assert_string_equal(c.rows[0].reason, "8 and 3 groups without slowdown, the test needs 4 on each side");
    compare_free(&c);
    fresh = other;
    fresh.throttled = true;
    open_pair(&plain, &fresh, &c);
    assert_string_equal(c.rows[0].reason, "8 and 0 groups without slowdown, the test needs 4 on each side");
    compare_free(&c);
}

static void choose_variant(struct cell_record *r, int cell)
{
    static const char *const chosen[] = {"{\"kernel\":\"k\",\"parameters\":\"BM=64\",\"registers\":90}",
                                         "{\"kernel\":\"k\",\"parameters\":\"BM=128\",\"registers\":90}",
                                         "{\"kernel\":\"k\",\"parameters\":\"BM=64\",\"registers\":91}"};
    r->contenders[2].attributes = cJSON_Parse(chosen[cell % 3]);
    r->contenders[0].attributes = cJSON_Parse(cell == 2 ? "{\"id\":7}" : "{\"id\":8}");
}

static void choose_first_variant(struct cell_record *r, int cell)
{
    (void)cell;
    choose_variant(r, 0);
}

/* What was chosen may explain a change; how many registers the same choice takes is the code's own affair. */
static void other_variants_are_told(void **state)
{
    struct compare_runs c;
    struct script base = {.seed = 1, .change = choose_first_variant};
    struct script fresh = {.seed = 2, .change = choose_variant};
    (void)state;
    open_pair(&base, &fresh, &c);
    assert_false(fixture_row(&c, FIRST)->other_variant || fixture_row(&c, FIRST)->other_reference_variant);
    assert_true(fixture_row(&c, SECOND)->other_variant && !fixture_row(&c, SECOND)->other_reference_variant);
    const struct compare_row *third = fixture_row(&c, "offline/f16-f32-256x64x64");
    assert_true(!third->other_variant && third->other_reference_variant);
    compare_free(&c);
}

/* Without a candidate the first family that is there plays its part, as in tables. */
static void baselines_alone(void **state)
{
    struct compare_runs c;
    struct script a = {.seed = 1, .baselines_only = true, .no_torch = true};
    struct script b = {.seed = 2, .baselines_only = true, .no_torch = true};
    (void)state;
    b.slower[0] = -0.1; /* the reference gained: cublas-nn lost against it */
    open_pair(&a, &b, &c);
    assert_string_equal(c.rows[0].candidate, "cublas-nn");
    assert_string_equal(c.rows[0].reference, "mine-nn");
    assert_int_equal(c.rows[0].verdict, JUDGED_SLOWER);
    assert_int_equal(c.n_rows, 4);
    compare_free(&c);
}

/* ---- provenance ---- */

static void refuse_pair(const struct script *fresh, const char *words)
{
    struct compare_runs c;
    struct error err = {0};
    struct compare_request r = request();
    fixture_write(base_path, &plain);
    fixture_write(fresh_path, fresh);
    assert_int_equal(compare_open(&r, &c, &err), EXIT_CODE_INCOMPARABLE);
    if (!strstr(err.text, words) || strchr(err.text, '\n'))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
    r.force = true;
    assert_int_equal(compare_open(&r, &c, &err), 0);
    assert_int_equal(c.differences.n, 1);
    compare_free(&c);
}

static void provenance_blocks(void **state)
{
    struct script fresh = other;
    (void)state;
    fresh.driver = "580.2";
    refuse_pair(&fresh, "driver: \"570.1\" in BASE, \"580.2\" in NEW");
    fresh = other;
    fresh.cublas = "13.1.0";
    refuse_pair(&fresh, "cublas: \"13.0.0\" in BASE, \"13.1.0\" in NEW");
    fresh = other;
    fresh.nvrtc = "13.1";
    refuse_pair(&fresh, "nvrtc: \"13.0\" in BASE, \"13.1\" in NEW");
    fresh = other;
    fresh.modes = "[\"server\"]";
    refuse_pair(&fresh, "modes: [\"offline\",\"server\"] in BASE, [\"server\"] in NEW");
    fresh = other;
    fresh.baselines = "[\"torch.matmul\",\"openblas\"]";
    refuse_pair(&fresh, "baselines: ");
    fresh = other;
    fresh.headline = TIMING_EVENT;
    for (int i = 0; i < 3; i++)
        fresh.skip_cell[i] = true;
    refuse_pair(&fresh, "server headline timing: device in BASE, event in NEW");
    fresh = other;
    fresh.baselines = "[\"torch.matmul\",\"/elsewhere/cublas\"]"; /* a path is no difference, nor is the candidate */
    struct compare_runs c;
    open_pair(&plain, &fresh, &c);
    assert_int_equal(c.differences.n, 0);
    compare_free(&c);
}

static void paper_protocol_has_no_groups(void **state)
{
    struct compare_runs c;
    struct error err = {0};
    struct compare_request r = request();
    struct script paper = {.seed = 1, .protocol = "paper"};
    (void)state;
    r.force = true;
    fixture_write(base_path, &paper);
    fixture_write(fresh_path, &paper);
    assert_int_equal(compare_open(&r, &c, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "--protocol paper"));
}

/* ---- the second look ---- */

static void second_look(void **state)
{
    struct compare_runs c;
    struct error err = {0};
    struct script fresh = other;
    struct script again = {.seed = 3, .digest = "bb", .skip_cell = {true, false, false, true}, .cublas = "13.0.0"};
    (void)state;
    fresh.slower[0] = 0.08;
    fresh.slower[1] = 0.05;
    fresh.slower[2] = 0.06;
    again.slower[1] = 0.05; /* comes back; the third does not, the first is not measured */
    open_pair(&plain, &fresh, &c);
    assert_int_equal(compare_suspects(&c), 3);
    fixture_write(again_path, &again);
    /* The library's path differs with the seed, so this is not NEW's own environment. */
    assert_int_equal(compare_confirm(&c, again_path, false, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "plugins and libraries"));
    side_free(&c.confirm);
    assert_int_equal(compare_confirm(&c, again_path, true, &err), 0);
    assert_int_equal(fixture_row(&c, FIRST)->verdict, JUDGED_INVALID);
    assert_int_equal(fixture_row(&c, SECOND)->verdict, JUDGED_SLOWER);
    assert_true(fixture_row(&c, SECOND)->remeasured);
    assert_int_equal(fixture_row(&c, "offline/f16-f32-256x64x64")->verdict, JUDGED_SAME);
    assert_true(expm1(fixture_row(&c, "offline/f16-f32-256x64x64")->screened_change) < -0.04);
    assert_true(fabs(fixture_row(&c, "offline/f16-f32-256x64x64")->trial.change) < 0.005);
    assert_false(fixture_row(&c, SERVER)->remeasured);
    outcome_is(&c, EXIT_CODE_REGRESSION, "1 regression; the worst: mine-nn in " SECOND);
    compare_free(&c);
}

/* ---- bad input: one line, exit code 65 ---- */

static void expect_bad(const char *fresh, const char *words)
{
    struct compare_runs c;
    struct error err = {0};
    struct compare_request r = {.base = base_path, .fresh = fresh};
    int code = compare_open(&r, &c, &err);
    if (code != EXIT_CODE_DATA || !strstr(err.text, words) || strchr(err.text, '\n'))
        fail_msg("code %d, \"%s\" is not in \"%s\"", code, words, err.text);
}

static void write_text(const char *path, const char *text)
{
    struct error err = {0};
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), 0);
}

static void drop_blocks(struct cell_record *r, int cell)
{
    if (cell == 1)
        for (size_t i = 0; i < r->n_contenders; i++)
            r->contenders[i].timings[r->headline].n = 0;
}

static void bad_journals(void **state)
{
    struct script twice = {.twice = true};
    struct script empty = {.skip_cell = {true, true, true, true}};
    struct script zero = {.change = drop_blocks};
    (void)state;
    fixture_write(base_path, &plain);
    expect_bad("/nowhere/x.json", "/nowhere/x.json");
    expect_bad(directory, "");
    fixture_write(fresh_path, &twice);
    expect_bad(fresh_path, "cell " FIRST " is there twice");
    fixture_write(fresh_path, &empty);
    expect_bad(fresh_path, "no cell was measured");
    fixture_write(fresh_path, &zero);
    expect_bad(fresh_path, SECOND ": torch.matmul is ok and has no block in device time");
    write_text(fresh_path, "");
    expect_bad(fresh_path, "new.journal.jsonl");
    write_text(fresh_path, "{\"crc\":\"00000000\",\"kind\":\"run\",\"data\":{}}\n{}\n");
    expect_bad(fresh_path, "new.journal.jsonl");
}

/* A value that is no number cannot come in: with a good checksum it is refused where it stands. */
static void bad_values(void **state)
{
    (void)state;
    fixture_write(base_path, &plain);
    unlink(fresh_path);
    struct journal *j = new_journal(fresh_path);
    put_tree(j, "run", fixture_run(&plain));
    struct cell_record *r = fixture_cell(&plain, 0);
    cJSON *cell = record_to_json(r);
    cJSON *mine = cJSON_GetArrayItem(cJSON_GetObjectItem(cell, "contenders"), 2);
    cJSON_ReplaceItemInObject(mine, "device", cJSON_CreateNull());
    put_tree(j, "cell", cell);
    record_free(r);
    journal_close(j);
    expect_bad(fresh_path, "line 2: $.contenders[2].device: ");
}

static void bad_results(void **state)
{
    struct error err = {0};
    (void)state;
    fixture_write(base_path, &plain);
    fixture_write(fresh_path, &other);
    assert_int_equal(result_write(fresh_path, result_path, &err), 0);
    struct compare_runs c;
    struct compare_request r = {.base = base_path, .fresh = result_path};
    assert_int_equal(compare_open(&r, &c, &err), 0); /* a result stands for the journal beside it */
    assert_int_equal(c.counts[JUDGED_SAME], 4);
    compare_free(&c);
    fixture_write(fresh_path, &plain);
    expect_bad(result_path, "is of another run (seed differs)");
    unlink(fresh_path);
    expect_bad(result_path, "its journal");
    write_text(result_path, "{\"schema\":\"cudal2-bench/result\",\"schema_version\":99,\"cells\":[]}");
    expect_bad(result_path, "$.schema_version: this is version 99 of the result file");
    write_text(result_path, "{\"schema\":\"cudal2-bench/result\",\"schema_v");
    expect_bad(result_path, "new.json: line 1");
    write_text(result_path, "{\"schema\":\"cudal2-bench/result\",\"schema_version\":NaN}");
    expect_bad(result_path, "new.json: line 1");
}

static void nothing_to_compare(void **state)
{
    struct compare_runs c;
    struct error err = {0};
    struct compare_request r = request();
    struct script dead = {.seed = 1, .status = {"crash", "crash", "crash", "crash"}};
    (void)state;
    fixture_write(base_path, &dead);
    fixture_write(fresh_path, &plain);
    assert_int_equal(compare_open(&r, &c, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "nothing to compare"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_program),
        cmocka_unit_test(one_kernel_slower),
        cmocka_unit_test(delta_by_hand),
        cmocka_unit_test(aa_history_widens_delta),
        cmocka_unit_test(missing_and_invalid),
        cmocka_unit_test(missing_in_both_is_counted),
        cmocka_unit_test(wrong_result_comes_first),
        cmocka_unit_test(verdict_needs_comparable_times),
        cmocka_unit_test(rotated_otherwise_is_another_cache_state),
        cmocka_unit_test(other_variants_are_told),
        cmocka_unit_test(baselines_alone),
        cmocka_unit_test(provenance_blocks),
        cmocka_unit_test(paper_protocol_has_no_groups),
        cmocka_unit_test(second_look),
        cmocka_unit_test(bad_journals),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(bad_results),
        cmocka_unit_test(nothing_to_compare),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
