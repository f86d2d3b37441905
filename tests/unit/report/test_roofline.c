/* report/roofline: where points and roof lie, checked by numbers made by hand, and the picture of a real run.
 * ROOFLINE=DIR keeps the pictures, to be looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "base/file.h"
#include "opened_result.h"
#include "report/roofline.h"
#include "report/roofline_points.h"

#define H200 "tests/fixtures/data/journals/11-24g-offline-f16/journal.jsonl.gz"

#define WHO(name, family, role, tflops)                                                                                \
    "\"" name "\":{\"status\":\"ok\",\"family\":\"" family "\",\"layout\":\"nn\",\"role\":\"" role                     \
    "\",\"tflops\":" tflops "}"
#define CELL(key, m, dtype, contenders)                                                                                \
    "{\"key\":\"" key "\",\"m\":" m ",\"n\":1024,\"k\":1024,\"dtype\":\"" dtype                                        \
    "\",\"accumulate\":\"f32\",\"mode\":\"offline\",\"status\":\"ok\",\"headline\":\"device\",\"env\":0,"              \
    "\"contenders\":{" contenders "}}"
#define RUN(peaks, cells)                                                                                              \
    "{\"schema\":\"cudal2-bench/result\",\"schema_version\":1,\"run\":{},\"env\":[{\"device\":{\"name\":\"GPU "        \
    "<1>\"" peaks "}}],\"summary\":{},\"cells\":[" cells "]}"
#define PEAKS ",\"peak_flops\":800e12,\"peak_flops_f32\":50e12,\"peak_bytes_per_s\":2e12"

/* 1024 each: 2^31 FLOP, 3 * 2^21 bytes, so that its intensity is 341.3 and the roof there 682.7 TFLOP/s. */
static const char one[] = RUN(
    PEAKS,
    CELL("a", "1024", "f16",
         WHO("lib", "lib", "baseline", "341.3333333") "," WHO("mine", "mine", "candidate", "600") "," WHO(
             "copy", "lib", "copy", "341") ",\"wrong\":{\"status\":\"wrong_result\",\"family\":\"wrong\",\"layout\":"
                                           "\"nn\",\"role\":\"candidate\",\"invalid\":true,\"tflops\":900}"));

static char *draw(const struct result *result)
{
    struct text svg = {0};
    struct error err;
    if (roofline_svg(result, &svg, &err))
        fail_msg("%s", err.text);
    return svg.bytes;
}

static void keep(const char *name, const char *svg)
{
    char path[512];
    struct error err;
    if (!getenv("ROOFLINE"))
        return;
    snprintf(path, sizeof path, "%s/%s", getenv("ROOFLINE"), name);
    assert_int_equal(file_write_passing(path, svg, strlen(svg), &err), 0);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

static void test_points_and_roof(void **state)
{
    struct result *result = opened_text(one);
    struct roofline r;
    struct error err;
    (void)state;
    assert_int_equal(roofline_gather(result, &r, &err), 0);
    assert_int_equal(r.n_points, 2); /* neither the copy nor what is wrong */
    assert_int_equal(r.n_rows, 2);
    assert_string_equal(r.rows[0].contender->name, "mine");
    assert_true(fabs(r.points[0].intensity - 1024.0 / 3) < 1e-6);
    assert_true(fabs(roofline_roof(&r, r.points[0].intensity) / 682.6667e12 - 1) < 1e-6);
    assert_true(roofline_roof(&r, 10000) == 800e12);
    assert_true(fabs(roofline_percent(&r, &r.rows[0]) - 600 / 6.826667) < 1e-4);
    assert_true(fabs(roofline_percent(&r, &r.rows[1]) - 50) < 1e-4);
    roofline_free(&r);
    result_free(result);
}

/* Each contender has a mark with its name, and a row that a line leads to. */
static void test_one_problem(void **state)
{
    struct result *result = opened_text(one);
    char *svg = draw(result);
    (void)state;
    keep("one.svg", svg);
    assert_int_equal(count(svg, "<svg "), 1);
    assert_int_equal(count(svg, "<title>mine, 1024\xc3\x97"
                                "1024\xc3\x97"
                                "1024 f16-f32: 3.579 \xc2\xb5s, 600 TFLOP/s, 88% of the roof</title>"),
                     1);
    assert_int_equal(count(svg, "<title>lib, "), 1);
    assert_int_equal(count(svg, "copy") + count(svg, "wrong"), 0);
    assert_int_equal(count(svg, "class='lead'"), 2);
    assert_int_equal(count(svg, "class='edge k0'"), 2);
    assert_int_equal(count(svg, "class='edge b0'"), 2);
    assert_int_equal(count(svg, ">peak 800 TFLOP/s<"), 1);
    assert_int_equal(count(svg, ">memory 2 TB/s<"), 1);
    assert_int_equal(count(svg, "GPU &lt;1&gt;"), 1);
    assert_int_equal(count(svg, "600 \xc2\xb7 88%<"), 1);
    assert_int_equal(count(svg, "nan") + count(svg, "inf"), 0);
    free(svg);
    result_free(result);
}

/* Its peak is another, and what has another format than the first cell is left out. */
static void test_the_peak_is_the_formats(void **state)
{
    struct result *result =
        opened_text(RUN(PEAKS, CELL("a", "1024", "f32", WHO("lib", "lib", "baseline", "25")) "," CELL(
                                   "b", "64", "f16", WHO("lib", "lib", "baseline", "30"))));
    struct roofline r;
    struct error err;
    (void)state;
    assert_int_equal(roofline_gather(result, &r, &err), 0);
    assert_int_equal(r.n_points, 1);
    assert_true(fabs(r.points[0].intensity - 1024.0 / 6) < 1e-6);
    assert_true(roofline_roof(&r, 1e6) == 50e12);
    roofline_free(&r);
    result_free(result);
}

static void test_a_device_without_known_peaks(void **state)
{
    struct result *result = opened_text(RUN("", CELL("a", "1024", "f16", WHO("lib", "lib", "baseline", "0.003"))));
    char *svg = draw(result);
    (void)state;
    assert_int_equal(count(svg, "a peak of this device is not known"), 1);
    assert_int_equal(count(svg, "class='roof'") + count(svg, "% of the roof<"), 0);
    assert_int_equal(count(svg, "3 GFLOP/s</title>"), 1);
    assert_int_equal(count(svg, "nan") + count(svg, "inf"), 0);
    free(svg);
    result_free(result);
}

static void test_nothing_has_a_time(void **state)
{
    struct result *result = opened_text(
        RUN(PEAKS, CELL("a", "8", "f16",
                        "\"x\":{\"status\":\"crash\",\"family\":\"x\",\"layout\":\"nn\",\"role\":\"candidate\"}")));
    struct text svg = {0};
    struct error err;
    (void)state;
    assert_int_equal(roofline_svg(result, &svg, &err), EXIT_CODE_INCOMPARABLE);
    assert_string_equal(err.text, "no roofline: no contender has a time");
    text_free(&svg);
    result_free(result);
}

/* Six problems, all contenders of a run on an H200. */
static void test_a_real_run(void **state)
{
    struct result *result = NULL;
    struct error err;
    (void)state;
    if (result_from_journal(H200, &result, &err))
        fail_msg("%s", err.text);
    struct roofline r;
    assert_int_equal(roofline_gather(result, &r, &err), 0);
    assert_int_equal(r.n_cells, 6);
    char *svg = draw(result);
    keep("h200.svg", svg);
    assert_int_equal(count(svg, "of the roof</title>"), r.n_points);
    assert_int_equal(count(svg, "class='lead'"), 0);
    assert_int_equal(count(svg, "class='guide'"), 6);
    for (size_t i = 1; i < r.n_rows; i++)
        assert_true(roofline_percent(&r, &r.rows[i - 1]) >= roofline_percent(&r, &r.rows[i]));
    roofline_free(&r);
    free(svg);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_and_roof),         cmocka_unit_test(test_one_problem),
        cmocka_unit_test(test_the_peak_is_the_formats), cmocka_unit_test(test_a_device_without_known_peaks),
        cmocka_unit_test(test_nothing_has_a_time),      cmocka_unit_test(test_a_real_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
