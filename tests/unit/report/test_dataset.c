/* report/dataset: from a result's cells to lines of shapes, and what stands for the fastest baseline of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "opened_result.h"
#include "report/dataset.h"

static struct dataset read_cells(const char *cells)
{
    struct dataset d = {0};
    struct error err;
    struct text json = {0};
    text_add(&json, "{\"cells\":[%s]}", cells);
    struct result *result = opened_text(json.bytes);
    assert_int_equal(dataset_add_result(&d, result, NULL, &err), 0);
    result_free(result);
    text_free(&json);
    return d;
}

static const struct line *line_over(const struct dataset *d, const char *candidate, const char *reference)
{
    struct line like = {
        .source = "measured", .mode = "offline", .dtype = "f16", .accumulate = "f16", .timing = "device"};
    snprintf(like.candidate, sizeof like.candidate, "%s", candidate);
    snprintf(like.reference, sizeof like.reference, "%s", reference);
    return dataset_find(d, &like);
}

#define CELL(m, speedups)                                                                                              \
    "{\"key\":\"c\",\"m\":" #m ",\"n\":64,\"k\":64,\"mode\":\"offline\",\"dtype\":\"f16\",\"accumulate\":\"f16\","     \
    "\"headline\":\"device\",\"speedups\":[" speedups "]}"
#define SPEEDUP(candidate, reference, timing, geomean, mean)                                                           \
    "{\"candidate\":\"" candidate "\",\"reference\":\"" reference "\",\"timing\":\"" timing "\",\"geomean\":" #geomean \
    ",\"ci95\":[0.01,0.3],\"mean_of_ratios\":" #mean "}"

/* A candidate is whole here, a baseline may be anything: what it is called is all that a line knows. */
static void lines_are_of_whole_candidates(void **state)
{
    (void)state;
    struct dataset d = read_cells(CELL(
        1, SPEEDUP("ours-max", "strongest", "device", 0.1, 0.12) "," SPEEDUP(
               "ours-nn", "strongest", "device", 0.2, 0.2) "," SPEEDUP("ours-max", "strongest", "event", -0.5, -0.5)));
    const struct line *line = line_over(&d, "ours-max", "strongest");
    assert_non_null(line);
    assert_true(line->n == 1 && line->values[0].geomean == 0.1 && line->values[0].mean == 0.12);
    assert_null(line_over(&d, "ours-nn", "strongest"));
    dataset_free(&d);
}

/* A search's journal has pairs of each finalist; its result, made thin, of the whole alone. */
static void a_finalist_is_one_layout(void **state)
{
    static const char *const layouts[] = {"ours-nn", "ours-tn", "ours-nn+2", "ours-tn+12"};
    static const char *const wholes[] = {"ours-max", "ours", "nn", "ours-nn+", "ours-nn+2b", "ours+2", "ours-nnx"};
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        assert_true(dataset_has_layout(layouts[i]));
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        assert_false(dataset_has_layout(wholes[i]));
}

static void a_speedup_without_value_is_refused(void **state)
{
    (void)state;
    struct dataset d = {0};
    struct error err;
    struct result *result =
        opened_text("{\"cells\":[{\"key\":\"c\",\"headline\":\"device\",\"speedups\":[{\"candidate\":\"a\","
                    "\"reference\":\"b\",\"timing\":\"device\"}]}]}");
    assert_int_equal(dataset_add_result(&d, result, NULL, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "cell c: a speedup without value");
    result_free(result);
    dataset_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_of_whole_candidates),
        cmocka_unit_test(a_finalist_is_one_layout),
        cmocka_unit_test(a_speedup_without_value_is_refused),
    };
    return cmocka_run_group_tests_name("dataset", tests, NULL, NULL);
}
