/* Tables 5 and 6 of a small result, against numbers made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "opened_result.h"
#include "report/time_tables.h"

#define TIMES(p50, p95, p99)                                                                                           \
    "\"timings\":{\"device\":{\"n\":9,\"median_ns\":" #p50 ",\"p95_ns\":" #p95 ",\"p99_ns\":" #p99 "}}"
#define WHO(name, family, role, times)                                                                                 \
    "\"" name "\":{\"status\":\"ok\",\"family\":\"" family "\",\"role\":\"" role "\"," times "}"
#define PAIR(candidate, reference, lead)                                                                               \
    "{\"candidate\":\"" candidate "\",\"reference\":\"" reference "\",\"timing\":\"device\",\"geomean\":" #lead        \
    ",\"n\":9}"
#define HEAD(key, mode, floor)                                                                                         \
    "{\"key\":\"" key "\",\"m\":1,\"n\":1,\"k\":1,\"dtype\":\"f16\",\"accumulate\":\"f32\",\"mode\":\"" mode           \
    "\",\"status\":\"ok\",\"headline\":\"device\",\"overlap\":\"none\",\"floor_ns\":" #floor ","

/* The baseline is the faster of its layouts: 4 us in the first cell, 2 ms in the second. */
#define CELL(key, mode, floor, nn, tn, ours, lead)                                                                     \
    HEAD(key, mode, floor)                                                                                             \
    "\"contenders\":{" WHO("lib-nn", "lib", "baseline", nn) "," WHO("lib-tn", "lib", "baseline", tn) "," WHO(          \
        "mine-nn", "mine", "candidate",                                                                                \
        ours) "," WHO("slow", "slow", "baseline",                                                                      \
                      tn) "},\"speedups\":[" PAIR("mine-max", "lib-max",                                               \
                                                  lead) "," PAIR("mine-max", "lib-nn",                                 \
                                                                 9) "," PAIR("mine-max", "slow",                       \
                                                                             4) "," PAIR("mine-nn", "lib-max", 9) "]}"

static const char text[] =
    "{\"schema\":\"cudal2-bench/result\",\"schema_version\":1,\"run\":{},\"env\":[],\"summary\":{},\"cells\":[" CELL(
        "a", "offline", 1000, TIMES(8000, 9000, 9500), TIMES(4000, 5000, 6000), TIMES(2000, 2500, 3000),
        1) "," CELL("b", "offline", 1000000, TIMES(2000000, 1, 1), TIMES(3000000, 1, 1), TIMES(2000000, 1, 1),
                    0) "," CELL("c", "server", 1000, TIMES(8000, 8800, 9600), TIMES(9000, 1, 1),
                                TIMES(4000, 8000, 9600), 1) "]}";

static struct result *result;

static int open_result(void **state)
{
    (void)state;
    result = opened_text(text);
    return 0;
}

static int close_result(void **state)
{
    (void)state;
    result_free(result);
    return 0;
}

/* The tables as one text. */
static int keep(void *context, int number, const struct table *table)
{
    (void)number;
    table_print_markdown(context, table);
    return 0;
}

static char *made(int number)
{
    struct text out = {0};
    assert_int_equal(time_tables_make(result, number, keep, &out), 0);
    return out.bytes;
}

/* The cells of a row that has these words, without the spaces that align them. */
static void expect_row(const char *from, const char *wanted)
{
    char plain[8000];
    size_t n = 0;
    for (const char *c = from; *c && n + 1 < sizeof plain; c++)
        if (*c != ' ')
            plain[n++] = *c;
    plain[n] = '\0';
    if (!strstr(plain, wanted))
        fail_msg("no row %s in %s", wanted, plain);
}

/* 4 us twice as fast and 2 ms as fast: 41% over the shapes, 0.1% of the time; floors of 1 us and 1 ms. */
static void a_row_for_each_class(void **state)
{
    (void)state;
    char *out = made(5);
    expect_row(out, "|lib-max|all|2|+41.42%|1/2|+0.10%|50.00%|49.95%");
    expect_row(out, "|lib-max|under5us|1|+100.00%|1/1|+100.00%|50.00%|25.00%");
    expect_row(out, "|lib-max|over1ms|1|+0.00%|0/1|+0.00%|50.00%|50.00%");
    expect_row(out, "|slow|all|2|+400.00%|2/2|+400.00%|");
    assert_null(strstr(out, "lib-nn")); /* whole ones alone */
    assert_null(strstr(out, "10 to 30"));
    assert_non_null(strstr(out, "mine-max, offline, f16 accumulated in f32, device time"));
    assert_non_null(strstr(out, "mine-max, server, f16 accumulated in f32, device time"));
    free(out);
}

/* 8000 over 4000, 8800 over 8000, 9600 over 9600; ours are 2.4 times their median, theirs 1.2 times. */
static void launches_from_idle_have_percentiles(void **state)
{
    (void)state;
    char *out = made(6);
    expect_row(out, "|lib-max|1|9|9|+100.00%|+10.00%|+0.00%|+140.00%|+20.00%");
    assert_null(strstr(out, "offline"));
    free(out);
}

/* A server is judged by its slowest launches: whoever runs it sees them without asking. */
static void the_screen_shows_launches(void **state)
{
    struct text out = {0};
    struct table server = {0}, offline = {0};
    (void)state;
    time_table_launches(result, &result->cells[2], &server);
    time_table_launches(result, &result->cells[0], &offline);
    table_print_markdown(&out, &server);
    expect_row(out.bytes, "|lib-max|1|9|9|+100.00%|+10.00%|+0.00%|");
    assert_null(strstr(out.bytes, "in the journal alone"));
    assert_int_equal(table_rows(&offline), 0);
    table_free(&server);
    text_free(&out);
}

/* What does not fit goes from the end, so that percentiles stay; the note is wrapped. */
static void a_terminal_keeps_the_percentiles(void **state)
{
    struct table server = {0}, shown = {0};
    (void)state;
    time_table_launches(result, &result->cells[2], &server);
    table_for_terminal(&server, 64, &shown);
    assert_true(table_total_width(&shown) <= 64);
    assert_string_equal(shown.column[shown.n_columns - 1].head, "p99");
    for (const char *line = shown.note; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
        assert_true(strcspn(line, "\n") <= 64);
    table_free(&server);
    table_free(&shown);
}

/* A result keeps no 99th percentile. The last test: it takes the percentile from what all share. */
static void a_missing_p99_says_where_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t c = 0; c < result->cells[i].n_contenders; c++)
            result->cells[i].contenders[c].timings[TIMING_DEVICE].p99_ns = NAN;
    char *out = made(6);
    assert_non_null(strstr(out, "p99 is in the journal alone"));
    free(out);
}

static void the_screen_shows_the_hardest(void **state)
{
    struct table table = {0};
    (void)state;
    time_table_hardest(result, &result->cells[0], &table);
    assert_int_equal(table_rows(&table), 3);
    assert_string_equal(table_at(&table, 0, 0)->text, "lib-max");
    assert_string_equal(table_at(&table, 2, 1)->text, "over 1 ms");
    table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_for_each_class),
        cmocka_unit_test(launches_from_idle_have_percentiles),
        cmocka_unit_test(the_screen_shows_the_hardest),
        cmocka_unit_test(the_screen_shows_launches),
        cmocka_unit_test(a_terminal_keeps_the_percentiles),
        cmocka_unit_test(a_missing_p99_says_where_it_is),
    };
    return cmocka_run_group_tests(tests, open_result, close_result);
}
