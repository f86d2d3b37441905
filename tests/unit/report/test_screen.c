/* report/screen: what must not mislead: means of noise, plurals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result_fixture.h"
#include "screen_fixture.h"

/* Of a run that has all its cells. */
static char *screen_of_run(struct journal *j)
{
    journal_close(j);
    cJSON *tree = result();
    char *text = screen_text(tree);
    cJSON_Delete(tree);
    return text;
}

static bool every_cell_alone; /* of screen_of: no launch could begin before the one ahead had ended */

/* So many cells of which so many converged. */
static char *screen_of(unsigned converged, unsigned cells)
{
    struct journal *j = begin();
    for (unsigned i = 0; i < cells; i++) {
        struct cell_record *r = simple_cell(64 + 64 * (int64_t)i);
        r->converged = i < converged;
        r->alone = every_cell_alone;
        r->contenders[1].early = i % 2;
        r->contenders[0].joined = every_cell_alone && i % 2;
        if (i == 1)
            fixture_slowdown(r, 5);
        r->dropped_blocks = i;
        put_cell(j, r);
    }
    return screen_of_run(j);
}

static const char *line_of(const char *text, const char *begin)
{
    assert_non_null(text);
    const char *line = strstr(text, begin);
    if (!line)
        fail_msg("no \"%s\" in:\n%s", begin, text);
    return line;
}

static bool line_has(const char *line, const char *what)
{
    const char *found = strstr(line, what);
    return found && found < line + strcspn(line, "\n");
}

static void all_converged_has_a_mean(void **state)
{
    (void)state;
    char *text = screen_of(2, 2);
    assert_null(strstr(text, "reached the wanted precision"));
    const char *row = line_of(text, "\ndevice") + 1;
    assert_true(line_has(row, "torch.matmul") && line_has(row, "2/2"));
    assert_false(line_has(row, " -"));
    free(text);
}

/* Whose product it was, and whether the candidate says so; of CUTLASS, which anybody may build, the name. */
static void a_library_in_a_candidate_is_told(void **state)
{
    static const char *const seen[] = {"{\"borrowed\":[\"OpenBLAS: x.so (deleted)\"]}", NULL,
                                       "{\"borrowed\":[\"OpenBLAS: x.so\"]}"};
    (void)state;
    remove(journal_path);
    struct journal *j = begin();
    for (unsigned i = 0; i < 3; i++) {
        struct cell_record *r = simple_cell(64 << i);
        r->contenders[1].verification = seen[i] ? cJSON_Parse(seen[i]) : NULL;
        put_cell(j, r);
    }
    char *text = screen_of_run(j);
    line_of(text, "\nLibraries seen in candidates: such times are the library's, unless it is CUTLASS");
    line_of(text, "\n  cudal2-nn: OpenBLAS (x.so (deleted)), in 2 cells; it does not say so\n");
    free(text);
}

/* A mean over the shapes that a candidate took says how many it did not, and what it is with those. */
static void shapes_left_out_are_told_beside_the_mean(void **state)
{
    (void)state;
    char *text = screen_of(2, 2);
    assert_null(strstr(text, "left out"));
    free(text);
    remove(journal_path);
    struct journal *j = begin();
    put_cell(j, simple_cell(64));
    put_cell(j, declined_cell(128));
    put_cell(j, declined_cell(256));
    text = screen_of_run(j);
    line_of(text, "left out: shapes");
    const char *row = line_of(text, "\ndevice") + 1;
    assert_true(line_has(row, "+14.9%") && line_has(row, "1/1") && line_has(row, " 2   +4.7%"));
    assert_true(line_has(line_of(text, "\ncudal2-nn") + 1, "1/3"));
    free(text);
}

/* Three cells of a run whose line goes on so, two of them converged. */
static char *screen_of_widths(const char *config)
{
    static const double widths[] = {0.004, 0.0051, 0.02};
    char run[256];
    remove(journal_path);
    struct journal *j = new_journal(journal_path);
    snprintf(run, sizeof run, "{\"schema\":\"cudal2-bench/journal\",\"seed\":\"1\",\"plan\":[]%s}", config);
    put_text(j, "run", run);
    put_text(j, "env", "{\"worker\":0,\"device\":{\"name\":\"G\"}}");
    for (unsigned i = 0; i < 3; i++) {
        struct cell_record *r = simple_cell(64 + 64 * (int64_t)i);
        r->converged = i < 2;
        r->worst_half_width = widths[i];
        put_cell(j, r);
    }
    return screen_of_run(j);
}

static void what_converged_to_less_is_counted(void **state)
{
    (void)state;
    char *text = screen_of_widths(",\"config\":{\"stop\":{\"offline_half_width\":0.005}}");
    line_of(text, "; 2 of 3 converged, 1 of them with an interval wider than ±0.5%\n");
    free(text);
    text = screen_of_widths(",\"config\":{\"stop\":{\"offline_half_width\":0.0051}}");
    line_of(text, "; 2 of 3 converged\n");
    free(text);
    text = screen_of_widths("");
    line_of(text, "; 2 of 3 converged\n");
    free(text);
}

static void some_converged_is_said(void **state)
{
    (void)state;
    char *text = screen_of(1, 2);
    line_of(text, "\n1 of 2 shapes reached the wanted precision\n");
    assert_false(line_has(line_of(text, "\ndevice") + 1, " -"));
    free(text);
}

static void few_converged_have_no_mean(void **state)
{
    (void)state;
    char *text = screen_of(1, 3);
    line_of(text, "\n1 of 3 shapes reached the wanted precision: no mean of so few\n");
    assert_true(line_has(line_of(text, "\ndevice") + 1, "  -"));
    free(text);
}

static void none_converged_has_no_mean(void **state)
{
    (void)state;
    char *text = screen_of(0, 2);
    line_of(text, "\nno shape reached the wanted precision: no mean");
    const char *row = line_of(text, "\ndevice") + 1;
    assert_true(line_has(row, "  -") && line_has(row, "2/2"));
    free(text);
}

/* Three cells whose empty graph took so long. */
static char *screen_of_empty(enum mode mode)
{
    static const double ns[] = {4240, 4396, 4308};
    struct journal *j = begin();
    for (unsigned i = 0; i < 3; i++) {
        struct cell_record *r = simple_cell_in(mode, 64 + 64 * (int64_t)i);
        assert_int_equal(series_add(&r->null_graph, 0, ns[i]), 0);
        put_cell(j, r);
    }
    return screen_of_run(j);
}

static void an_empty_graph_is_told_from_idle(void **state)
{
    (void)state;
    char *text = screen_of_empty(MODE_SERVER);
    line_of(text, "\nFrom idle an empty graph takes 4.31 µs, which is in every device time above\n");
    free(text);
}

static void no_empty_graph_is_told_in_a_row(void **state)
{
    (void)state;
    char *text = screen_of_empty(MODE_OFFLINE);
    assert_null(strstr(text, "empty graph"));
    free(text);
}

/* Of 12 cells that ended too early ten are shown: the widest, equal ones in their order, those without one first. */
static void the_widest_intervals_are_shown(void **state)
{
    static const char *const half_widths[] = {"0.01", "0.02", "0.24",  "0.02", "null", "0.03",
                                              "0.04", "0.05", "0.006", "0.02", "0.07", "0.08"};
    static const char order[] = "eclkhgfbdj";
    char json[2000] = "{\"cells\":[],\"summary\":{\"convergence\":{\"not_converged\":[";
    (void)state;
    for (size_t i = 0; i < 12; i++)
        snprintf(json + strlen(json), sizeof json - strlen(json),
                 "%s{\"cell\":\"<%c>\",\"half_width\":%s,\"pair\":\"x\"}", i ? "," : "", (char)('a' + i),
                 half_widths[i]);
    strcat(json, "]}}}");
    cJSON *tree = cJSON_Parse(json);
    assert_non_null(tree);
    char *text = screen_text(tree);
    const char *at = line_of(text, "Ended before the wanted precision (the widest intervals; all in");
    for (const char *c = order; *c; c++) {
        const char wanted[] = {'<', *c, '>', '\0'};
        at = strstr(at, wanted);
        if (!at)
            fail_msg("%s is not in its place in:\n%s", wanted, text);
    }
    assert_null(strstr(text, "<a>"));
    assert_null(strstr(text, "<i>"));
    line_of(text, "  and 2 more\n");
    cJSON_Delete(tree);
    free(text);
}

/* The copy is twice as fast by its device time and half as fast by events: of what it is told is the copy's lead. */
static void the_copys_lead_is_told_by_each_timing(void **state)
{
    (void)state;
    struct journal *j = begin();
    for (unsigned i = 0; i < 2; i++) {
        struct cell_record *r = simple_cell(64 + 64 * (int64_t)i);
        struct contender_record *copy = fixture_contender(r, "cudal2-nn+copy", true);
        strcpy(copy->copy_of, "cudal2-nn");
        struct contender_record *original = &r->contenders[1];
        for (size_t b = 0; b < original->timings[TIMING_DEVICE].n; b++) {
            unsigned block = original->timings[TIMING_DEVICE].block[b];
            double ns = original->timings[TIMING_DEVICE].ns[b] *= 1 + 0.001 * (double)(b % 3); /* a fine clock */
            series_add(&copy->timings[TIMING_DEVICE], block, ns / 2);
            series_add(&original->timings[TIMING_EVENT], block, ns);
            series_add(&copy->timings[TIMING_EVENT], block, 2 * ns);
        }
        put_cell(j, r);
    }
    char *text = screen_of_run(j);
    assert_non_null(line_of(
        text,
        "A/A: a copy of cudal2-nn over cudal2-nn on 2 shapes: +69.315% on average (std 0%), 2 intervals exclude 0\n"
        "  by event -69.315% on average (std 0%), 2 intervals exclude 0\n\n"));
    free(text);
}

static void one_is_singular(void **state)
{
    (void)state;
    char *text = screen_of(2, 2);
    line_of(text, "2 cells: 2 ok");
    line_of(text, "1 block in 1 cell saw a thermal or hardware slowdown and does not count\n");
    assert_null(strstr(text, " 1 cells"));
    assert_null(strstr(text, " 1 blocks"));
    free(text);
}

/* Who overlaps launches is told, and in how many cells. */
static void early_launches_are_told(void **state)
{
    (void)state;
    char *text = screen_of(5, 5);
    assert_true(line_has(line_of(text, "Launched early: "), "Launched early: cudal2-nn in 2 cells"));
    assert_null(strstr(text, "torch.matmul in"));
    assert_null(strstr(text, "Joined in"));
    assert_true(line_has(line_of(text, "  Back-to-back launches"), "--timing device"));
    assert_non_null(strstr(text, "headline: device-row time"));
    assert_non_null(strstr(text, "device-row  cudal2"));
    free(text);
}

/* Whoever asks for overlap and did not get it was timed alone. */
static void launches_kept_apart_are_no_row(void **state)
{
    (void)state;
    every_cell_alone = true;
    char *text = screen_of(5, 5);
    every_cell_alone = false;
    assert_true(line_has(line_of(text, "Launched early: "), "Launched early: cudal2-nn in 2 cells"));
    assert_true(line_has(line_of(text, "  They are made so"), "times each alone"));
    assert_true(line_has(line_of(text, "Joined in device-row"), "torch.matmul in 2 cells"));
    assert_null(strstr(text, "device-row  cudal2"));
    assert_non_null(strstr(text, "headline: device time"));
    free(text);
}

static void nothing_is_told_where_nobody_is_early(void **state)
{
    (void)state;
    char *text = screen_of(1, 1);
    assert_null(strstr(text, "Launched early"));
    assert_null(strstr(text, "other arithmetic"));
    free(text);
}

/* Who was timed with other arithmetic than it was verified with is told once, with all of its cells. */
static void other_arithmetic_is_told(void **state)
{
    static const char *const timed[] = {"{\"timed\":{\"error\":1.96,\"error_changes\":true}}",
                                        "{\"timed\":{\"error\":1.02}}",
                                        "{\"timed\":{\"error\":0.5,\"error_changes\":true}}"};
    (void)state;
    struct journal *j = begin();
    for (unsigned i = 0; i < 3; i++) {
        struct cell_record *r = simple_cell(64 + 64 * (int64_t)i);
        r->contenders[1].verification = cJSON_Parse(timed[i]);
        put_cell(j, r);
    }
    char *text = screen_of_run(j);
    line_of(text, "Timed with other arithmetic than verified (RMS error over that of verification):\n"
                  "  cudal2-nn: 0.50 to 1.96 times, in 2 cells\n");
    free(text);
}

/* One launch of twelve takes five times as long, of the nine that begin no group of four: such a speedup is of means,
 * and says so. */
static void uneven_launches_are_told(void **state)
{
    static const double usual[] = {1200, 1000}, slow[] = {1200, 5000};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    (void)state;
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cudal2-nn", true);
    for (int i = 0; i < 16; i++) {
        fill(r, 11, usual, usual);
        fill(r, 1, slow, slow);
    }
    r->converged = true;
    struct journal *j = begin();
    put_cell(j, r);
    char *text = screen_of_run(j);
    line_of(text, "Some launches take far longer than most; the speedup is of means there:\n");
    assert_non_null(strstr(text, "cudal2-nn over torch.matmul: its launches are uneven, mean +44% over the median\n"));
    assert_non_null(strstr(text, "-10.0%"));
    free(text);
}

/* Who is slower on new inputs, by all of an interval; null where there were too few pairs. */
static void slower_on_new_inputs_is_told(void **state)
{
    static const char *const notes[] = {"[1.25,1.06,1.3]", "[1.2,1.05,1.3]", "null", "[1.08,1.07,1.1]"};
    char note[64];
    (void)state;
    struct journal *j = begin();
    for (unsigned i = 0; i < 4; i++) {
        struct cell_record *r = simple_cell(64 + 64 * (int64_t)i);
        snprintf(note, sizeof note, "{\"known\":%s}", notes[i]);
        r->contenders[1].verification = cJSON_Parse(note);
        put_cell(j, r);
    }
    char *text = screen_of_run(j);
    line_of(text, "Slower on new inputs than on those seen before, which are timed:\n"
                  "  cudal2-nn: 1.08 to 1.25 times as long, in 2 cells\n");
    free(text);
}

/* Cells by the env line that measured them. */
static char *screen_of_devices(const char *const *uuids, size_t n_env, const int *workers, size_t n)
{
    struct journal *j = begin();
    char env[200];
    for (size_t i = 0; i < n_env; i++) {
        snprintf(env, sizeof env, "{\"worker\":0,\"device\":{\"name\":\"G\",\"uuid\":\"%s\"}}", uuids[i]);
        put_text(j, "env", env);
    }
    for (size_t i = 0; i < n; i++) {
        struct cell_record *r = simple_cell(64 + 64 * (int64_t)i);
        r->worker = workers[i];
        put_cell(j, r);
    }
    return screen_of_run(j);
}

/* Line 0 is begin()'s, and has no cell. A worker that started anew on the same GPU is no other. */
static const char *const uuids[] = {"GPU-3bd7d89f-548a-0957", "GPU-196e9f4f-2b0d-2b14", "GPU-3bd7d89f-548a-0957"};

static void several_devices_are_told(void **state)
{
    (void)state;
    char *text = screen_of_devices(uuids, 3, (const int[]){1, 1, 2, 3}, 4);
    assert_true(
        line_has(line_of(text, "\nMeasured on 2 GPUs: ") + 1, "3 cells on GPU-3bd7d89f, 1 cell on GPU-196e9f4f"));
    free(text);
}

static void one_device_is_not(void **state)
{
    (void)state;
    char *text = screen_of_devices(uuids, 3, (const int[]){1, 3, 3}, 3);
    assert_null(strstr(text, "Measured on"));
    free(text);
}

static void a_device_that_is_not_there_counts_for_nothing(void **state)
{
    (void)state;
    char *text = screen_of_devices(uuids, 3, (const int[]){1, 7}, 2);
    assert_null(strstr(text, "Measured on"));
    free(text);
}

/* As in a result written by hand, or by another program. */
static void what_the_summary_lacks_is_counted(void **state)
{
    (void)state;
    cJSON *tree = result_of(simple_cell(64));
    cJSON *summary = cJSON_GetObjectItemCaseSensitive(tree, "summary");
    cJSON_DeleteItemFromObjectCaseSensitive(summary, "counts");
    cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(summary, "convergence"), "converged");
    char *text = screen_text(tree);
    line_of(text, "1 cell: 1 ok, 0 partial, 0 skipped, 0 failed, 2 not measured yet\n");
    assert_null(strstr(text, "nan"));
    free(text);
    cJSON_AddNumberToObject(cJSON_AddObjectToObject(summary, "counts"), "dropped_blocks", 3);
    text = screen_text(tree);
    line_of(text, "3 blocks saw a thermal or hardware slowdown and do not count\n");
    free(text);
    cJSON_Delete(tree);
}

/* Sums over the cells in which it raced; a remembered winner has cost nothing. */
static void races_are_told_with_their_cost(void **state)
{
    static const char *const tunings[] = {"{\"variants\":5,\"raced\":4,\"seconds\":1.5,\"busy_seconds\":0.5}",
                                          "{\"variants\":9,\"raced\":8,\"seconds\":2,\"busy_seconds\":1}",
                                          "{\"variants\":9,\"cached\":true}"};
    (void)state;
    struct journal *j = begin();
    for (int i = 0; i < 3; i++) {
        struct cell_record *r = simple_cell(64 + 64 * i);
        r->contenders[1].tuning = cJSON_Parse(tunings[i]);
        put_cell(j, r);
    }
    char *text = screen_of_run(j);
    line_of(text, "Algorithms raced before the blocks");
    line_of(text, ": 12 in 2 cells, 6 in the median; 3.5 s, 1.5 s of it launches\n");
    free(text);
}

static void without_races_there_is_no_cost(void **state)
{
    (void)state;
    char *text = screen_of(1, 1);
    assert_null(strstr(text, "Algorithms raced"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(several_devices_are_told),
                                       TEST(races_are_told_with_their_cost),
                                       TEST(without_races_there_is_no_cost),
                                       TEST(what_the_summary_lacks_is_counted),
                                       TEST(one_device_is_not),
                                       TEST(a_device_that_is_not_there_counts_for_nothing),
                                       TEST(all_converged_has_a_mean),
                                       TEST(shapes_left_out_are_told_beside_the_mean),
                                       TEST(a_library_in_a_candidate_is_told),
                                       TEST(some_converged_is_said),
                                       TEST(what_converged_to_less_is_counted),
                                       TEST(few_converged_have_no_mean),
                                       TEST(none_converged_has_no_mean),
                                       TEST(the_widest_intervals_are_shown),
                                       TEST(the_copys_lead_is_told_by_each_timing),
                                       TEST(one_is_singular),
                                       TEST(early_launches_are_told),
                                       TEST(other_arithmetic_is_told),
                                       TEST(uneven_launches_are_told),
                                       TEST(slower_on_new_inputs_is_told),
                                       TEST(launches_kept_apart_are_no_row),
                                       TEST(nothing_is_told_where_nobody_is_early),
                                       TEST(an_empty_graph_is_told_from_idle),
                                       TEST(no_empty_graph_is_told_in_a_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
