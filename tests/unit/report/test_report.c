/* report/: the authors' CSVs give the known aggregates in every format; the screen fits and says what it must. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/width.h"
#include "journal_fixture.h"
#include "report/report.h"
#include "report/screen.h"
#include "report/table.h"
#include "result/result.h"

#define PUBLISHED "tests/fixtures/data/published/cuda_l2_a100_F16F16F16F16_speedup_"
static const char *const published[] = {PUBLISHED "offline.csv", PUBLISHED "server.csv"};

static char directory[64], journal_path[96], csv_path[96];

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/cudal2-report-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(journal_path, sizeof journal_path, "%s/r.journal.jsonl", directory);
    snprintf(csv_path, sizeof csv_path, "%s/x_server.csv", directory);
    return 0;
}

static int tear_down(void **state)
{
    char path[128];
    (void)state;
    static const char *const endings[] = {"txt", "md", "tex", "csv", "json"};
    for (int table = 1; table <= 3; table++)
        for (int e = 0; e < 5; e++) {
            snprintf(path, sizeof path, "%s/table%d.%s", directory, table, endings[e]);
            unlink(path);
        }
    unlink(journal_path);
    unlink(csv_path);
    return rmdir(directory);
}

/* What the report prints; *code is its return value. Owned by the caller. */
static char *report(struct report_request request, int *code, struct error *err)
{
    char *text = NULL;
    size_t length = 0;
    request.stream = open_memstream(&text, &length);
    assert_non_null(request.stream);
    *code = report_main_from(&request, err);
    fclose(request.stream);
    return text;
}

static char *report_published(enum report_format format, int table)
{
    struct error err = {0};
    int code;
    char *text =
        report((struct report_request){.published = published, .n_published = 2, .format = format, .table = table},
               &code, &err);
    if (code)
        fail_msg("%s", err.text);
    return text;
}

static void must_hold(const char *text, const char *wanted)
{
    assert_non_null(text);
    if (!strstr(text, wanted))
        fail_msg("\"%s\" is not in:\n%s", wanted, text ? text : "");
}

/* ---- the paper's tables ---- */

/* Numbers that a program can use, in the unit of the mean between them; the widths are those of 1000 shapes. */
static void interval_holds(const cJSON *interval, double mean)
{
    assert_int_equal(cJSON_GetArraySize(interval), 2);
    double low = cJSON_GetArrayItem(interval, 0)->valuedouble;
    double high = cJSON_GetArrayItem(interval, 1)->valuedouble;
    assert_true(mean - low > 0.008 && mean - low < 0.02);
    assert_true(fabs(high - mean - (mean - low)) < 2e-4);
}

static void golden_table1(void **state)
{
    static const char *const references[] = {"torch.matmul", "cublas-max", "cublaslt-heuristic-max",
                                             "cublaslt-autotuning-max"};
    static const double offline[] = {22.14, 19.23, 17.02, 11.63};
    static const double server[] = {27.26, 24.68, 21.13, 14.96};
    static const int wins[] = {897, 862, 897, 787};
    (void)state;
    char *text = report_published(REPORT_JSON, 1);
    cJSON *tables = cJSON_Parse(text);
    const cJSON *rows = cJSON_GetObjectItem(tables->child, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 10);
    for (int i = 0; i < 4; i++) {
        const cJSON *row;
        bool found = false;
        cJSON_ArrayForEach(row, rows)
        {
            if (strcmp(cJSON_GetObjectItem(row, "baseline")->valuestring, references[i]) != 0)
                continue;
            found = true;
            assert_true(fabs(100 * cJSON_GetObjectItem(row, "offline_mean")->valuedouble - offline[i]) < 0.005);
            assert_true(fabs(100 * cJSON_GetObjectItem(row, "server_mean")->valuedouble - server[i]) < 0.005);
            assert_int_equal(cJSON_GetObjectItem(row, "offline_wins")->valuedouble, wins[i]);
            interval_holds(cJSON_GetObjectItem(row, "offline_mean_ci95"), offline[i] / 100);
        }
        assert_true(found);
    }
    cJSON_Delete(tables);
    free(text);
}

static void golden_table2(void **state)
{
    (void)state;
    char *text = report_published(REPORT_MARKDOWN, 2);
    must_hold(text, "| torch.matmul | +23.30% |");
    must_hold(text, "| cublas-max | +20.39% |");
    must_hold(text, "| cublaslt-heuristic-max | +17.28% |");
    must_hold(text, "| cublaslt-autotuning-max | +13.45% |");
    free(text);
}

/* Only readers are spared the columns of a mode that nobody measured: formats for machines keep their columns. */
static void text_leaves_out_empty_columns(void **state)
{
    static const struct {
        enum report_format format;
        bool server;
    } cases[] = {{REPORT_TEXT, false}, {REPORT_MARKDOWN, false}, {REPORT_LATEX, false}, {REPORT_CSV, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        int code;
        char *text = report(
            (struct report_request){.published = published, .n_published = 1, .format = cases[i].format, .table = 1},
            &code, &err);
        assert_int_equal(code, 0);
        must_hold(text, cases[i].server ? "0.221359" : "+22.14");
        assert_int_equal(strstr(text, "server") != NULL, cases[i].server);
        free(text);
    }
    char *both = report_published(REPORT_TEXT, 1);
    must_hold(both, "server paper");
    free(both);
}

static void golden_formats(void **state)
{
    (void)state;
    char *text = report_published(REPORT_MARKDOWN, 1);
    must_hold(text, "| torch.matmul | +20.20% | 897/1000 | +19.65% | +22.14% |");
    must_hold(text, "| baseline | offline geomean | offline wins | offline median | offline paper |");
    free(text);
    text = report_published(REPORT_LATEX, 1);
    must_hold(text,
              "\\toprule\n & \\multicolumn{6}{c}{offline} & \\multicolumn{6}{c}{server} \\\\\n\\cmidrule(lr){2-7}\n");
    must_hold(text, "cublaslt-autotuning-max & +10.44 & 787/1000 & +11.10 & +11.63 &");
    must_hold(text, "& \\shortstack[r]{paper\\\\(\\%)} &");
    must_hold(text, "\\caption{cuda-l2, claimed over each baseline");
    must_hold(text, "}\n\\label{tab:table1-cuda-l2-claimed-f16-f16-event}\n");
    free(text);
    text = report_published(REPORT_CSV, 1);
    must_hold(text,
              "table,baseline,offline_geomean,offline_wins,offline_wins_of,offline_median,offline_mean,offline_std,"
              "offline_mean_ci95_low,offline_mean_ci95_high,offline_apart,offline_left_out,offline_geomean_of_all,"
              "server_geomean,");
    must_hold(
        text,
        "\n\"Table 1: cuda-l2, claimed over each baseline, f16 accumulated in f16, event time\",cublas-max,0.175");
    must_hold(text, ",0.208015681,0.234702319,");
    free(text);
    text = report_published(REPORT_TEXT, 1);
    must_hold(text, "+16.17%      897/1000");
    free(text);
}

/* Small shapes gain most (paper 4.3); every shape is in exactly one bin of each axis. */
static void table3_bins_hold_every_shape(void **state)
{
    (void)state;
    char *text = report_published(REPORT_JSON, 3);
    cJSON *tables = cJSON_Parse(text);
    const cJSON *table;
    assert_int_equal(cJSON_GetArraySize(tables), 6);
    cJSON_ArrayForEach(table, tables)
    {
        const cJSON *rows = cJSON_GetObjectItem(table, "rows");
        const cJSON *row;
        const cJSON *last = NULL;
        double shapes = 0;
        cJSON_ArrayForEach(row, rows)
        {
            shapes += cJSON_GetObjectItem(row, "wins_of")->valuedouble;
            last = row;
        }
        assert_true(shapes == 1000);
        must_hold(cJSON_GetObjectItem(table, "title")->valuestring, "cublaslt-autotuning-max");
        assert_true(cJSON_GetObjectItem(rows->child, "mean")->valuedouble >
                    cJSON_GetObjectItem(last, "mean")->valuedouble);
    }
    cJSON_Delete(tables);
    free(text);
}

static void writes_one_file_a_table(void **state)
{
    struct report_request request = {
        .published = published, .n_published = 2, .format = REPORT_MARKDOWN, .output = directory};
    struct error err = {0};
    char path[128];
    (void)state;
    assert_int_equal(report_main_from(&request, &err), 0);
    for (int table = 1; table <= 3; table++) {
        snprintf(path, sizeof path, "%s/table%d.md", directory, table);
        assert_int_equal(access(path, R_OK), 0);
    }
    request.output = "/proc/nowhere";
    assert_int_equal(report_main_from(&request, &err), EXIT_CODE_CANTCREATE);
}

/* ---- other CSVs ---- */

static char *report_csv(const char *content, int *code, struct error *err)
{
    const char *const paths[] = {csv_path};
    assert_int_equal(file_write_atomic(csv_path, content, strlen(content), err), 0);
    return report((struct report_request){.published = paths, .n_published = 1, .format = REPORT_CSV, .table = 1}, code,
                  err);
}

static void gaps_in_a_csv_are_fine(void **state)
{
    struct error err = {0};
    int code;
    (void)state;
    char *text = report_csv("mnk,torch.matmul,newBLAS\r\n64_64_64,2.0,\r\n64_64_128,,0.5\r\n\r\n64_64_256,1.0,0.7\r\n",
                            &code, &err);
    assert_int_equal(code, 0);
    must_hold(text, ",torch.matmul,,,,,,,,,,,,0.414213562,1,2,0.5,0.5,"); /* two shapes: 2.0 wins, 1.0 does not */
    must_hold(text, ",newblas,,,,,,,,,,,,-0.408392022,0,2,-0.4,-0.4,");
    free(text);
}

static void bad_csvs_are_refused_with_their_line(void **state)
{
    static const char *const bad[][2] = {
        {"", "line 1"},
        {"shape,torch\n", "line 1"},
        {"mnk\n", "line 1"},
        {"mnk,a,,b\n", "line 1"},
        {"mnk,a,a\n", "line 1"},
        {"mnk,a\n64_64,1\n", "line 2"},
        {"mnk,a\n64_64_64_64,1\n", "line 2"},
        {"mnk,a\n64_64_6.5,1\n", "line 2"},
        {"mnk,a\n64_64_64,nan\n", "line 2"},
        {"mnk,a\n64_64_64,-1\n", "line 2"},
        {"mnk,a\n64_64_64,1x\n", "line 2"},
        {"mnk,a\n64_64_64,1,2\n", "line 2"},
        {"mnk,a,b\n64_64_64,1\n", "line 2"},
        {"mnk,a\n64_64_64,1\n64_64_64,1\n", "line 3"},
        {"mnk,a\n", "nothing to report"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        int code;
        free(report_csv(bad[i][0], &code, &err));
        if (code != EXIT_CODE_DATA || !strstr(err.text, bad[i][1]))
            fail_msg("case %zu: code %d: %s", i, code, err.text);
    }
}

/* ---- results ---- */

/* n shapes; the candidate gets faster from shape to shape. */
static void write_run(const char *path, int n, int first)
{
    unlink(path);
    struct journal *j = new_journal(path);
    put_text(j, "run", "{\"plan\":[]}");
    put_text(j, "env",
             "{\"device\":{\"name\":\"Test GPU\",\"driver\":\"1.2\",\"peak_flops\":1e15,\"peak_bytes_per_s\":1e12}}");
    for (int i = first; i < first + n; i++) {
        struct cell_record *r = fixture_record(64 * (i + 1), MODE_OFFLINE);
        fixture_contender(r, "torch.matmul", false);
        fixture_contender(r, "cublas-nn", false);
        fixture_contender(r, "cublas-tn", false);
        fixture_contender(r, "cublaslt-autotuning-nn", false);
        fixture_contender(r, "cublaslt-autotuning-tn", false);
        fixture_contender(r, "cudal2-nn", true);
        fixture_fail(fixture_contender(r, "openblas-nn", false), "unavailable", "runs on the cpu only");
        r->converged = i != 1;
        r->worst_half_width = 0.0123;
        strcpy(r->worst_pair, "cudal2-nn / cublas-tn");
        for (int b = 0; b < 32; b++) {
            unsigned block = fixture_block(r, 8);
            for (size_t c = 0; c < 6; c++) {
                double ns = (c == 5 ? 4000.0 - 10 * i : 4000 + 100 * (double)c) * (1 + 0.001 * (b % 3));
                series_add(&r->contenders[c].timings[TIMING_DEVICE], block, ns);
                if (b % 4 == 0)
                    series_add(&r->contenders[c].timings[TIMING_EVENT], block, ns + 5000);
            }
        }
        put_cell(j, r);
    }
    journal_close(j);
}

static void claimed_stands_next_to_measured(void **state)
{
    const char *const results[] = {journal_path};
    struct error err = {0};
    int code;
    (void)state;
    write_run(journal_path, 3, 0);
    struct report_request request = {.results = results,
                                     .n_results = 1,
                                     .published = published,
                                     .n_published = 2,
                                     .format = REPORT_MARKDOWN,
                                     .table = 1};
    char *text = report(request, &code, &err);
    assert_int_equal(code, 0);
    must_hold(text, "cudal2-max, measured over each baseline, f16 accumulated in f32, device time");
    must_hold(text, "cuda-l2, claimed over each baseline, f16 accumulated in f16");
    assert_null(strstr(text, "next to")); /* other accumulate type: not comparable */
    free(text);
    request.timing = "wall";
    request.n_published = 0;
    free(report(request, &code, &err));
    assert_int_equal(code, EXIT_CODE_DATA);
    must_hold(err.text, "nothing to report");
    request.n_results = 0;
    free(report(request, &code, &err));
    assert_int_equal(code, EXIT_CODE_USAGE);
}

/* The authors' A100 event times beside our device times: the columns say so, and a line warns. */
static void both_sides_say_what_they_are_of(void **state)
{
    static const char claims[] = "mnk,torch.matmul\n64_64_64,1.5\n";
    const char *const results[] = {journal_path};
    char path[128];
    const char *const files[] = {path};
    struct error err = {0};
    int code;
    (void)state;
    snprintf(path, sizeof path, "%s/cuda_l2_a100_F16F16F16F32_offline.csv", directory);
    assert_int_equal(file_write_atomic(path, claims, strlen(claims), &err), 0);
    write_run(journal_path, 3, 0);
    struct report_request request = {
        .results = results, .n_results = 1, .published = files, .n_published = 1, .table = 1};
    char *text = report(request, &code, &err);
    assert_int_equal(code, 0);
    must_hold(text, "offline measured (Test GPU, device, warm)");
    must_hold(text, "offline claimed (A100, event, cache ?)");
    must_hold(text, "\nNot alike: measured and claimed are of another GPU, timing, cache state; what differs");
    free(text);
    request.format = REPORT_CSV;
    text = report(request, &code, &err);
    must_hold(text, "\"Test GPU, device, warm\",0.5,1,1,\"A100, event, cache ?\"");
    free(text);
    unlink(path);
}

static void a_cell_in_two_results_is_refused(void **state)
{
    const char *const twice[] = {journal_path, journal_path};
    struct error err = {0};
    int code;
    (void)state;
    write_run(journal_path, 2, 0);
    free(report((struct report_request){.results = twice, .n_results = 2}, &code, &err));
    assert_int_equal(code, EXIT_CODE_DATA);
    must_hold(err.text, "x64x64 is in ");
}

/* ---- the screen ---- */

static char *screen(int shapes, unsigned columns, bool colour)
{
    const struct screen_options options = {columns, colour, false};
    struct error err = {0};
    struct result *result;
    char *text;
    write_run(journal_path, shapes, 0);
    assert_int_equal(result_from_journal(journal_path, &result, &err), 0);
    assert_int_equal(screen_report(result, &options, &text, &err), 0);
    result_free(result);
    return text;
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;
    char *copy = strdup(text);
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        widest = width_of(line) > widest ? width_of(line) : widest;
    free(copy);
    return widest;
}

static void the_screen_shows_rows_and_summary(void **state)
{
    (void)state;
    char *text = screen(3, 140, false);
    must_hold(text, "Test GPU, driver 1.2, peak 1000 TFLOPS");
    must_hold(text, "3 cells: 3 ok, 0 partial, 0 skipped, 0 failed; 2 of 3 converged");
    must_hold(text, "192x64x64");
    must_hold(text, "cublaslt-autotuning-max");
    must_hold(text, "±");
    must_hold(text, "event   cudal2-max");
    must_hold(text, "3/3");
    must_hold(text, "openblas-nn: unavailable: runs on the cpu only (3 cells)");
    must_hold(text, "  offline/f16-f32-128x64x64 ±1.2%: cudal2-nn / cublas-tn\n");
    assert_null(strstr(text, "Best"));
    assert_null(strchr(text, '\033'));
    free(text);
}

static void the_screen_fits_the_terminal(void **state)
{
    (void)state;
    for (unsigned columns = 80; columns <= 160; columns += 20) {
        char *text = screen(4, columns, false);
        if (widest_line(text) > (columns < 90 ? 90 : columns))
            fail_msg("%zu columns wide, wanted %u:\n%s", widest_line(text), columns, text);
        free(text);
    }
}

static void many_shapes_show_the_summary_and_both_ends(void **state)
{
    (void)state;
    char *text = screen(25, 100, false);
    const char *summary = strstr(text, "speedup over each baseline (headline");
    const char *best = strstr(text, "Best 10 of 25 shapes");
    const char *worst = strstr(text, "Worst 10 of 25 shapes");
    assert_true(summary && best && worst && summary < best && best < worst);
    assert_true(strstr(best, "1600x64x64") < worst); /* the last shape has the fastest candidate */
    must_hold(worst, "\n64x64x64");
    free(text);
}

static void colour_is_asked_for(void **state)
{
    (void)state;
    char *text = screen(2, 100, true);
    must_hold(text, "\033[32m+");
    free(text);
}

static void not_a_result(void **state)
{
    struct error err = {0};
    struct result *result;
    (void)state;
    assert_int_equal(result_open(cJSON_Parse("{\"cells\":3}"), "r.json", false, &result, &err), EXIT_CODE_DATA);
    must_hold(err.text, "r.json: $.cells: expected an array, found 3");
    assert_null(result);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(golden_table1),
        TEST(golden_table2),
        TEST(text_leaves_out_empty_columns),
        TEST(golden_formats),
        TEST(table3_bins_hold_every_shape),
        TEST(writes_one_file_a_table),
        TEST(gaps_in_a_csv_are_fine),
        TEST(bad_csvs_are_refused_with_their_line),
        TEST(claimed_stands_next_to_measured),
        TEST(both_sides_say_what_they_are_of),
        TEST(a_cell_in_two_results_is_refused),
        TEST(the_screen_shows_rows_and_summary),
        TEST(the_screen_fits_the_terminal),
        TEST(many_shapes_show_the_summary_and_both_ends),
        TEST(colour_is_asked_for),
        TEST(not_a_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
