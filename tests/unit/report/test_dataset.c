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

/* Another baseline may be the fastest in each shape; a single layout's times are no baseline's. */
static void the_least_lead_is_over_the_fastest(void **state)
{
    (void)state;
    struct dataset d = read_cells(CELL(
        1,
        SPEEDUP("ours-max", "torch", "device", 0.2, 0.21) "," SPEEDUP("ours-max", "lt-nn", "device", 0.05, 0.05) "," SPEEDUP(
            "ours-max", "lt-max",
            "device", 0.1,
            0.12) "," SPEEDUP("ours-max", "lt-max", "event", -0.5,
                              -0.5) "," SPEEDUP("other", "torch", "device", 0.4,
                                                0.4) "," SPEEDUP("other", "lt-max", "device", 0.3,
                                                                 0.3)) "," CELL(2,
                                                                                SPEEDUP("ours-max", "torch", "device",
                                                                                        -0.1,
                                                                                        -0.09) "," SPEEDUP("ours-max",
                                                                                                           "lt-max",
                                                                                                           "device",
                                                                                                           0.5, 0.5)));
    const struct line *line = line_over(&d, "ours-max", DATASET_FASTEST);
    assert_non_null(line);
    assert_int_equal(line->n, 2);
    assert_true(line->values[0].geomean == 0.1 && line->values[0].mean == 0.12 && line->values[0].high == 0.3);
    assert_true(line->values[1].m == 2 && line->values[1].geomean == -0.1 && line->values[1].mean == -0.09);
    line = line_over(&d, "other", DATASET_FASTEST);
    assert_true(line && line->n == 1 && line->values[0].geomean == 0.3);
    dataset_free(&d);
}

/* It would be the same row twice. */
static void a_single_baseline_needs_no_fastest(void **state)
{
    (void)state;
    struct dataset d = read_cells(
        CELL(1, SPEEDUP("ours-max", "lt-max", "device", 0.1, 0.1) "," SPEEDUP(
                    "ours-max", "lt-nn", "device", 0.2, 0.2) "," SPEEDUP("ours-max", "lt-tn", "device", 0.3, 0.3)));
    assert_non_null(line_over(&d, "ours-max", "lt-max"));
    assert_null(line_over(&d, "ours-max", DATASET_FASTEST));
    dataset_free(&d);
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
        cmocka_unit_test(the_least_lead_is_over_the_fastest),
        cmocka_unit_test(a_single_baseline_needs_no_fastest),
        cmocka_unit_test(a_speedup_without_value_is_refused),
    };
    return cmocka_run_group_tests_name("dataset", tests, NULL, NULL);
}
