/* report/screen_rows: what fits, what is left out of a narrow terminal, and times that a speedup beside them denies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "opened_result.h"
#include "report/screen.h"

/* A cell as a result has it: our time, those of the two baselines, and the speedups over them. */
struct shape {
    unsigned m;
    double ours, torch, lt;
    double over_torch, over_lt;
};

#define CONTENDER(family, layout, role)                                                                                \
    "\"" family layout "\":{\"status\":\"ok\",\"role\":\"" role "\",\"family\":\"" family                              \
    "\",\"timings\":{\"device\":{\"median_ns\":%.9g}}}"
#define SPEEDUP(reference)                                                                                             \
    "{\"candidate\":\"cudal2-max\",\"reference\":\"" reference                                                         \
    "\",\"timing\":\"device\",\"geomean\":%.9g,\"mean_of_ratios\":0.1,\"ci95\":[0.1,0.12]}"

static void add_cell(struct text *json, const struct shape *s)
{
    text_add(json,
             "{\"m\":%u,\"n\":64,\"k\":64,\"mode\":\"offline\",\"dtype\":\"f16\",\"accumulate\":\"f32\","
             "\"headline\":\"device\",\"converged\":true,\"contenders\":{",
             s->m);
    text_add(json,
             CONTENDER("torch.matmul", "", "baseline") "," CONTENDER(
                 "cublaslt-autotuning", "-tn", "baseline") "," CONTENDER("cudal2", "-tn", "candidate"),
             s->torch, s->lt, s->ours);
    text_add(json, "},\"speedups\":[" SPEEDUP("torch.matmul") "," SPEEDUP("cublaslt-autotuning-max") "]}",
             s->over_torch, s->over_lt);
}

/* The screen of a result's text; the caller frees it. */
static char *screen_of_text(const char *json, const struct screen_options *options)
{
    struct error err = {0};
    char *text = NULL;
    struct result *result = opened_text(json);
    if (screen_report(result, options, &text, &err))
        fail_msg("%s", err.text);
    result_free(result);
    return text;
}

/* The screen of these shapes; the caller frees it. */
static char *screen_of(const struct shape *shapes, size_t n, unsigned columns)
{
    const struct screen_options options = {.columns = columns};
    struct text json = {0};
    text_add(&json, "{\"summary\":{},\"cells\":[");
    for (size_t i = 0; i < n; i++) {
        text_add(&json, i ? "," : "");
        add_cell(&json, &shapes[i]);
    }
    text_add(&json, "]}");
    char *text = screen_of_text(json.bytes, &options);
    text_free(&json);
    return text;
}

/* So many that only both ends are shown; the best have the longest names. */
static char *screen_of_many(unsigned columns)
{
    struct shape shapes[30];
    for (unsigned i = 0; i < 30; i++)
        shapes[i] = (struct shape){i < 15 ? 64 : 1000000 + i, 1000, 2000, 1500, 1, 0.5 + 0.001 * i};
    return screen_of(shapes, 30, columns);
}

static void must_hold(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("\"%s\" is not in:\n%s", wanted, text);
}

/* ---- width ---- */

/* The heads of the table with this title, one space apart. */
static void heads_of(const char *text, const char *title, char *out)
{
    const char *at = strstr(text, title);
    assert_non_null(at);
    for (at = strchr(at, '\n') + 1; *at != '\n'; at++)
        if (*at != ' ' || at[1] != ' ')
            *out++ = *at;
    *out = '\0';
}

static void without_a_width_everything_is_shown(void **state)
{
    (void)state;
    char *text = screen_of_many(0);
    must_hold(text, "(fastest)");
    must_hold(text, "±");
    must_hold(text, "torch.matmul  cublaslt-autotuning-max\n");
    assert_null(strstr(text, "Left out"));
    free(text);
}

static void both_ends_have_the_same_columns(void **state)
{
    (void)state;
    for (unsigned columns = 40; columns <= 140; columns++) {
        char best[200], worst[200];
        char *text = screen_of_many(columns);
        heads_of(text, "Best 10 of 30", best);
        heads_of(text, "Worst 10 of 30", worst);
        assert_string_equal(best, worst);
        free(text);
    }
}

static void what_does_not_fit_is_named_once(void **state)
{
    static const struct {
        unsigned columns;
        const char *note;
    } table[] = {{95, "Left out to fit 95 columns: (fastest)\n"},
                 {80, "Left out to fit 80 columns: (fastest), torch.matmul\n"},
                 {60, "Left out to fit 60 columns: (fastest), intervals, torch.matmul\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *text = screen_of_many(table[i].columns);
        must_hold(text, table[i].note);
        assert_null(strstr(strstr(text, "Left out") + 1, "Left out"));
        assert_true(strstr(text, "Worst 10") < strstr(text, "Left out"));
        free(text);
    }
}

/* ---- times and speedups ---- */

static void signs_that_differ_are_explained(void **state)
{
    static const struct {
        const char *name;
        struct shape shape;
        bool said;
    } table[] = {
        {"faster, both ways", {64, 1000, 1200, 1100, 0.2, 0.1}, false},
        {"slower, both ways", {64, 1100, 1200, 1000, 0.1, -0.1}, false},
        {"faster by time, slower than one", {64, 1188, 1300, 1221, 0.1, -0.034}, true},
        {"slower by time, faster than that one", {64, 1010, 1300, 1000, 0.3, 0.02}, true},
        {"slower than the fastest, not than another", {64, 1100, 1000, 1200, -0.1, 0.1}, false},
        {"too little to show", {64, 1000, 1300, 1000.2, 0.3, -0.02}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *text = screen_of(&table[i].shape, 1, 0);
        if ((strstr(text, "Signs may differ: times are medians") != NULL) != table[i].said)
            fail_msg("%s:\n%s", table[i].name, text);
        free(text);
    }
}

/* ---- whose time it is ---- */

#define CELL(contenders, speedups)                                                                                     \
    "{\"summary\":{},\"cells\":[{\"key\":\"offline/"                                                                   \
    "f16-f32-64x64x64\",\"m\":64,\"n\":64,\"k\":64,\"mode\":\"offline\","                                              \
    "\"dtype\":\"f16\",\"accumulate\":\"f32\",\"headline\":\"device\",\"converged\":true,\"contenders\":{" contenders  \
    "},\"speedups\":[" speedups "]}]}"
#define OK(name, role, ns)                                                                                             \
    "\"" name "\":{\"status\":\"ok\",\"role\":\"" role "\",\"family\":\"" name                                         \
    "\",\"timings\":{\"device\":{\"median_ns\":" ns "}}}"
#define FAILED(name, role, status)                                                                                     \
    "\"" name "\":{\"status\":\"" status "\",\"role\":\"" role "\",\"family\":\"" name "\"}"
#define LEAD(candidate, mean)                                                                                          \
    "{\"candidate\":\"" candidate                                                                                      \
    "\",\"reference\":\"lt\",\"timing\":\"device\",\"geomean\":0.001,\"mean_of_ratios\":" mean                         \
    ",\"ci95\":[-0.004,0.006]}"

/* The text of a file, which has every column, with one space for several. */
static char *squeezed(const char *json, const struct screen_options *options)
{
    char *text = screen_of_text(json, options), *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || from[1] != ' ')
            *to++ = *from;
    *to = '\0';
    return text;
}

static const struct screen_options everything = {.columns = 0};

static void a_row_names_whose_time_it_shows(void **state)
{
    static const char two[] = CELL(OK("lt", "baseline", "2000") "," OK("mine", "candidate", "1500") "," OK(
                                       "other", "candidate", "1000") "," OK("other+copy", "copy", "900"),
                                   LEAD("mine", "0.001") "," LEAD("other", "0.001"));
    (void)state;
    char *text = squeezed(two, &everything);
    must_hold(text, "\n64x64x64 other 1.00 µs 2.00 µs lt ");
    free(text);
}

static void no_baseline_stands_in_for_candidates_that_failed(void **state)
{
    static const char failed[] = CELL(OK("lt", "baseline", "2000") "," OK("torch", "baseline", "2500") "," FAILED(
                                          "mine", "candidate", "wrong_result"),
                                      "");
    static const char none[] = CELL(OK("lt", "baseline", "2000") "," OK("torch", "baseline", "2500"), "");
    (void)state;
    char *text = squeezed(failed, &everything);
    must_hold(text, "\n64x64x64 none: wrong_result - 2.00 µs lt ");
    free(text);
    text = squeezed(none, &everything); /* where there is no candidate, a baseline's time is its own */
    must_hold(text, "\n64x64x64 lt 2.00 µs - - ");
    free(text);
}

static void every_contender_is_shown_where_there_is_room(void **state)
{
    static const char many[] =
        CELL(OK("lt", "baseline", "2000") "," OK("a-contender-of-some-length", "candidate", "1500") "," FAILED(
                 "another-contender-of-some-length", "candidate", "crash"),
             LEAD("a-contender-of-some-length", "0.001"));
    struct screen_options narrow = {.columns = 70};
    (void)state;
    char *text = squeezed(many, &everything);
    must_hold(text, "Every contender's median, device time\nshape lt a-contender-of-some-length another");
    must_hold(text, "\n64x64x64 2.00 µs 1.50 µs crash\n");
    free(text);
    text = squeezed(many, &narrow);
    must_hold(text, "\nTimes of all 3 contenders: report --all, or a wider terminal\n");
    assert_null(strstr(text, "Every contender's"));
    free(text);
    narrow.all = true;
    text = squeezed(many, &narrow);
    must_hold(text, "\nshape lt a-contender-of-some-length\n");
    must_hold(text, "\nEvery contender's median, device time (continued)\nshape another-contender-of-some-length\n");
    free(text);
}

static void all_shows_every_shape(void **state)
{
    const struct screen_options all = {.columns = 100, .all = true};
    struct text json = {0};
    (void)state;
    text_add(&json, "{\"summary\":{},\"cells\":[");
    for (unsigned i = 0; i < 30; i++) {
        text_add(&json, i ? "," : "");
        add_cell(&json, &(struct shape){1000 + i, 1000, 2000, 1500, 1, 0.5});
    }
    text_add(&json, "]}");
    char *text = screen_of_text(json.bytes, &all);
    must_hold(text, "\n1015x64x64 ");
    assert_null(strstr(text, "Best 10"));
    free(text);
    text_free(&json);
}

/* ---- two estimates ---- */

static void estimates_that_disagree_are_flagged_counted_and_named(void **state)
{
    static const char apart[] =
        CELL(OK("lt", "baseline", "2000") "," OK("mine", "candidate", "2000"), LEAD("mine", "1.379"));
    static const char close[] =
        CELL(OK("lt", "baseline", "2000") "," OK("mine", "candidate", "2000"), LEAD("mine", "0.005"));
    (void)state;
    char *text = squeezed(apart, &everything);
    must_hold(text, " +0.1% ±0.5*\n");
    must_hold(text, "\n* the paper's mean of ratios lies outside the interval");
    must_hold(text, "interval in 1 of 1 pairs, in 1 cell:\n offline/f16-f32-64x64x64, mine over lt: mean +137.9%, "
                    "trimmed +0.1% ±0.5\n");
    free(text);
    text = squeezed(close, &everything);
    assert_null(strstr(text, "±0.5*"));
    assert_null(strstr(text, "lies outside"));
    free(text);
}

/* A cell of two contenders with what is told of their energy. */
#define ENERGY_CELL(m, ours, theirs)                                                                                   \
    "{\"m\":" m                                                                                                        \
    ",\"n\":64,\"k\":64,\"mode\":\"offline\",\"dtype\":\"f16\",\"accumulate\":\"f32\",\"headline\":\"device\","        \
    "\"contenders\":{\"a-nn\":{\"status\":\"ok\",\"role\":\"candidate\",\"energy\":" ours                              \
    "},\"b-nn\":{\"status\":\"ok\",\"role\":\"baseline\",\"energy\":" theirs "}}}"
#define JOULES(joules, each) "{\"joules\":" joules ",\"gflop_per_joule\":" each ",\"steps\":12}"
#define UNKNOWN "{\"not_measured\":\"the device has no energy counter\"}"

static void expect_energy(const char *cells, const char *ours, const char *theirs)
{
    const struct screen_options options = {.columns = 0};
    struct text json = {0};
    text_add(&json, "{\"summary\":{},\"cells\":[%s]}", cells);
    char *text = screen_of_text(json.bytes, &options), *table = strstr(text, "Energy, by the GPU's counter");
    assert_non_null(table);
    assert_non_null(strstr(table, ours));
    assert_non_null(strstr(table, theirs));
    free(text);
    text_free(&json);
}

/* Means and sums are of the same cells for all. */
static void energy_is_compared_where_all_were_measured(void **state)
{
    (void)state;
    expect_energy(ENERGY_CELL("64", JOULES("0.5", "200"), JOULES("1", "100")) "," ENERGY_CELL(
                      "128", JOULES("1", "800"), JOULES("2", "400")) "," ENERGY_CELL("256", JOULES("9", "9"), UNKNOWN),
                  "3/3", "2/3");
    expect_energy(ENERGY_CELL("64", JOULES("0.5", "200"), JOULES("1", "100")) "," ENERGY_CELL(
                      "128", JOULES("1", "800"), JOULES("2", "400")) "," ENERGY_CELL("256", JOULES("9", "9"), UNKNOWN),
                  " 400 ", " 200 ");
    expect_energy(ENERGY_CELL("64", JOULES("0.5", "200"), JOULES("1", "100")), "0.5            12\n", "fewest steps");
    expect_energy(ENERGY_CELL("64", UNKNOWN, UNKNOWN), "0/1", "not measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_a_width_everything_is_shown),
                                       cmocka_unit_test(both_ends_have_the_same_columns),
                                       cmocka_unit_test(what_does_not_fit_is_named_once),
                                       cmocka_unit_test(signs_that_differ_are_explained),
                                       cmocka_unit_test(a_row_names_whose_time_it_shows),
                                       cmocka_unit_test(no_baseline_stands_in_for_candidates_that_failed),
                                       cmocka_unit_test(every_contender_is_shown_where_there_is_room),
                                       cmocka_unit_test(all_shows_every_shape),
                                       cmocka_unit_test(energy_is_compared_where_all_were_measured),
                                       cmocka_unit_test(estimates_that_disagree_are_flagged_counted_and_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
