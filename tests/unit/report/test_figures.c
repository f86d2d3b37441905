/* report/figures: the numbers behind the paper's figures, exact, from published files and from results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "opened_result.h"
#include "report/figures.h"
#include "report/report.h"

#define PUBLISHED "tests/fixtures/data/published/cuda_l2_a100_F16F16F16F16_speedup_"

#define CANDIDATE(name, kernel, parameters, ns)                                                                        \
    "\"" name "\":{\"status\":\"ok\",\"role\":\"candidate\",\"family\":\"" name                                        \
    "\",\"timings\":{\"device\":{\"median_ns\":" ns "}},\"attributes\":{\"kernel\":\"" kernel                          \
    "\",\"parameters\":\"" parameters "\"}}"
#define SPEEDUP(name, value)                                                                                           \
    "{\"candidate\":\"" name "\",\"reference\":\"cublas-max\",\"timing\":\"device\",\"geomean\":" value                \
    ",\"mean_of_ratios\":" value ",\"ci95\":[-0.01,0.5]}"
#define CELL(m, contenders, speedups)                                                                                  \
    "{\"m\":" m ",\"n\":64,\"k\":256,\"mode\":\"offline\",\"dtype\":\"f16\",\"accumulate\":\"f32\","                   \
    "\"headline\":\"device\",\"contenders\":{" contenders "},\"speedups\":[" speedups "]}"

/* Three shapes; in the second the same kernel stands there with two tile heights, in the third two kernels do. */
static const char *const result_text = "{\"cells\":[" CELL(
    "64", CANDIDATE("a", "multi", "BM=64,BN=32,BK=16,STAGES=3", "10"),
    SPEEDUP("a", "0.2")) "," CELL("128",
                                  CANDIDATE("a", "multi", "BM=160,BN=64,STAGES=4",
                                            "10") "," CANDIDATE("b", "multi", "BM=128,BN=64", "12"),
                                  SPEEDUP("a", "0.15") "," SPEEDUP(
                                      "b", "0.05")) "," CELL("256",
                                                             CANDIDATE("a", "multi", "BM=128,BN=64,RASTER=8",
                                                                       "10") "," CANDIDATE("b", "other", "BM=64", "9"),
                                                             SPEEDUP("a", "-0.1") "," SPEEDUP("b", "0")) "]}";

static const char *at(const struct table *s, size_t row, const char *key)
{
    for (size_t c = 0; c < s->n_columns; c++)
        if (strcmp(s->column[c].key, key) == 0)
            return table_at(s, row, c)->text;
    fail_msg("no column %s", key);
    return NULL;
}

static double number(const struct table *s, size_t row, const char *key)
{
    for (size_t c = 0; c < s->n_columns; c++)
        if (strcmp(s->column[c].key, key) == 0)
            return table_at(s, row, c)->value;
    fail_msg("no column %s", key);
    return NAN;
}

static void from_result(enum figure figure, struct table *s)
{
    struct dataset d = {0};
    struct error err = {0};
    struct result *result = opened_text(result_text);
    *s = (struct table){0};
    assert_int_equal(dataset_add_result(&d, result, NULL, &err), 0);
    assert_int_equal(figure_make(figure, &d, result, s, &err), 0);
    dataset_free(&d);
    result_free(result);
}

static void from_published(enum figure figure, struct table *s)
{
    struct dataset d = {0};
    struct error err = {0};
    *s = (struct table){0};
    assert_int_equal(dataset_add_published(&d, PUBLISHED "offline.csv", &err), 0);
    assert_int_equal(dataset_add_published(&d, PUBLISHED "server.csv", &err), 0);
    assert_int_equal(figure_make(figure, &d, NULL, s, &err), 0);
    dataset_free(&d);
}

static void figure1_has_the_published_means(void **state)
{
    struct table s;
    (void)state;
    from_published(FIGURE_1, &s);
    assert_int_equal(table_rows(&s), 20); /* ten baselines, two modes */
    assert_string_equal(at(&s, 0, "reference"), "torch.matmul");
    assert_string_equal(at(&s, 0, "layout"), "");
    assert_true(fabs(number(&s, 0, "mean") - 0.2214) < 5e-5);
    assert_string_equal(at(&s, 19, "mode"), "server");
    assert_string_equal(at(&s, 19, "family"), "cublaslt-autotuning");
    assert_string_equal(at(&s, 19, "layout"), "max");
    assert_true(fabs(number(&s, 19, "mean") - 0.1496) < 5e-5);
    assert_true(number(&s, 19, "low") < 0.1496 && number(&s, 19, "high") > 0.1496);
    assert_int_equal(number(&s, 19, "shapes"), 1000);
    table_free(&s);
}

/* No cell of these says that it converged. */
static void figures_have_no_mean_of_noise(void **state)
{
    struct table s;
    (void)state;
    from_result(FIGURE_1, &s);
    assert_int_equal(table_rows(&s), 2);
    assert_true(isnan(number(&s, 0, "mean")) && isnan(number(&s, 0, "low")) && isnan(number(&s, 0, "high")));
    assert_true(number(&s, 0, "shapes") == 3 && !isnan(number(&s, 0, "geomean")));
    table_free(&s);
    from_result(FIGURE_3_MEANS, &s);
    assert_true(table_rows(&s) > 0 && isnan(number(&s, 0, "mean")));
    table_free(&s);
}

static void figure3_stands_against_the_strongest(void **state)
{
    struct table s;
    double shapes = 0;
    double sum = 0;
    (void)state;
    from_published(FIGURE_3, &s);
    assert_int_equal(table_rows(&s), 2000);
    assert_string_equal(at(&s, 0, "reference"), "cublaslt-autotuning-max");
    assert_true(number(&s, 0, "log2_mnk") == 18 && number(&s, 0, "log2_largest_dimension") == 6);
    table_free(&s);
    from_published(FIGURE_3_MEANS, &s);
    for (size_t row = 0; row < table_rows(&s); row++) {
        if (strcmp(at(&s, row, "mode"), "offline") != 0 || strcmp(at(&s, row, "axis"), "log2_mnk") != 0)
            continue;
        shapes += number(&s, row, "shapes");
        sum += number(&s, row, "shapes") * number(&s, row, "mean");
        assert_true(number(&s, row, "log2_mean") >= number(&s, row, "log2_from"));
        assert_true(number(&s, row, "log2_mean") < number(&s, row, "log2_to"));
    }
    assert_true(shapes == 1000);
    assert_true(fabs(sum / shapes - 0.1163) < 5e-5);
    table_free(&s);
}

static void figure4_has_the_parameters(void **state)
{
    struct table s;
    (void)state;
    from_result(FIGURE_4, &s);
    assert_int_equal(table_rows(&s), 5);
    assert_string_equal(at(&s, 0, "kernel"), "multi");
    assert_true(number(&s, 0, "bm") == 64 && number(&s, 0, "bk") == 16 && number(&s, 0, "stages") == 3);
    assert_true(isnan(number(&s, 0, "swizzle_stride")) && isnan(number(&s, 1, "bk")));
    table_free(&s);
    from_result(FIGURE_4_CORRELATIONS, &s);
    assert_int_equal(table_rows(&s), 12); /* two candidates */
    assert_string_equal(at(&s, 0, "panel"), "BM by M");
    assert_true(number(&s, 0, "shapes") == 3);
    /* log2(M) 6, 7, 8 with BM 64, 160, 128: r = 64 / sqrt(2 * 4778.67), ranks 1, 3, 2. */
    assert_true(fabs(number(&s, 0, "pearson") - 64 / sqrt(2 * 14336.0 / 3)) < 1e-9);
    assert_true(fabs(number(&s, 0, "spearman") - 0.5) < 1e-12);
    assert_true(isnan(number(&s, 6, "pearson"))); /* b is there on two shapes: no correlation */
    table_free(&s);
}

static void ablation_is_one_kernel_with_two_heights(void **state)
{
    struct table s;
    (void)state;
    from_result(FIGURE_ABLATION, &s);
    assert_int_equal(table_rows(&s), 2);
    assert_string_equal(at(&s, 0, "candidate"), "a");
    assert_true(number(&s, 0, "m") == 128 && number(&s, 0, "bm") == 160);
    assert_true(fabs(number(&s, 0, "speedup") - 0.15) < 1e-12);
    assert_string_equal(at(&s, 1, "candidate"), "b");
    assert_true(number(&s, 1, "bm") == 128 && fabs(number(&s, 1, "speedup") - 0.05) < 1e-12);
    table_free(&s);
    from_published(FIGURE_ABLATION, &s);
    assert_int_equal(table_rows(&s), 0);
    assert_true(s.n_columns > 0);
    table_free(&s);
}

static void files_are_written_together(void **state)
{
    static const char *const published[] = {PUBLISHED "offline.csv"};
    struct report_request request = {
        .published = published, .n_published = 1, .format = REPORT_FIGURES, .stream = stdout};
    struct error err = {0};
    char directory[] = "/tmp/cudal2-figures-XXXXXX";
    char path[96];
    char *bytes;
    size_t length;
    (void)state;
    assert_int_equal(report_main_from(&request, &err), EXIT_CODE_USAGE); /* several files need a directory */
    assert_non_null(strstr(err.text, "--output"));
    assert_non_null(mkdtemp(directory));
    request.output = directory;
    assert_int_equal(report_main_from(&request, &err), 0);
    for (int i = 0; i < FIGURE_COUNT; i++) {
        snprintf(path, sizeof path, "%s/%s.csv", directory, figure_names[i]);
        assert_int_equal(file_read(path, 1 << 20, &bytes, &length, &err), 0);
        assert_non_null(strchr(bytes, '\n'));
        free(bytes);
        unlink(path);
    }
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure1_has_the_published_means), cmocka_unit_test(figure3_stands_against_the_strongest),
        cmocka_unit_test(figure4_has_the_parameters),      cmocka_unit_test(ablation_is_one_kernel_with_two_heights),
        cmocka_unit_test(files_are_written_together),      cmocka_unit_test(figures_have_no_mean_of_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
