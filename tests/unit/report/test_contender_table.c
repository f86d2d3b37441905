/* Table 8 and what the exports and the page have of it, against numbers made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "opened_result.h"
#include "report/contender_table.h"
#include "report/exports.h"
#include "report/page.h"

#define RACED(n, seconds, busy) "\"tuning\":{\"raced\":" #n ",\"seconds\":" #seconds ",\"busy_seconds\":" #busy "}"
#define JOULES(joules, each, steps)                                                                                    \
    "\"energy\":{\"joules\":" #joules ",\"gflop_per_joule\":" #each ",\"steps\":" #steps "}"
#define BITS(batch, same) "\"invariance\":{\"batch_invariant\":" #batch ",\"deterministic\":" #same "}"
#define CELL(key, mode, ours, theirs)                                                                                  \
    "{\"key\":\"" key "\",\"m\":64,\"n\":64,\"k\":64,\"dtype\":\"f16\",\"accumulate\":\"f32\",\"mode\":\"" mode        \
    "\",\"status\":\"ok\",\"headline\":\"device\",\"floor_ns\":500,\"contenders\":{"                                   \
    "\"ours-nn\":{\"status\":\"ok\",\"role\":\"candidate\"," ours                                                      \
    ",\"timings\":{\"device\":{\"n\":9,\"median_ns\":1000}}},"                                                         \
    "\"theirs-nn\":{\"status\":\"ok\",\"role\":\"baseline\"," theirs "},"                                              \
    "\"nothing\":{\"status\":\"ok\",\"role\":\"baseline\"}}}"

static const char text[] =
    "{\"schema\":\"cudal2-bench/result\",\"schema_version\":1,\"run\":{},\"env\":[],\"summary\":{},\"cells\":[" CELL(
        "a", "offline", RACED(22, 2, 1.25) "," JOULES(0.5, 400, 12) "," BITS(true, true),
        RACED(8, 0.5, 0.25) "," JOULES(1, 200, 40) "," BITS(
            false, true)) "," CELL("b", "offline", RACED(2, 1, 0.5) "," JOULES(2, 100, 30),
                                   RACED(512, 9, 4.5) "," JOULES(4, 50, 11)) "," CELL("c", "server", BITS(false, false),
                                                                                      BITS(true, false)) "]}";

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

static int keep(void *context, int number, const struct table *table)
{
    struct table shown;
    assert_int_equal(number, 8);
    table_print_csv_rows(context, table);
    table_for_readers(table, &shown);
    table_print_markdown(context, &shown);
    table_print_latex(context, &shown);
    table_free(&shown);
    return 0;
}

static void expect(const char *in, const char *wanted)
{
    if (!strstr(in, wanted))
        fail_msg("no %s in %s", wanted, in);
}

/* 400 and 100 GFLOP a joule are 200 in the geometric mean; 0.5 and 2 joules are 2.5. */
static void both_sides_have_a_row(void **state)
{
    struct text out = {0};
    (void)state;
    assert_int_equal(contender_table_make(result, keep, &out), 0);
    expect(out.bytes, ",ours-nn,candidate,24,2,12,3,1.75,2,2,200,2.5,12,1,1,1,1,offline,f16,f32");
    expect(out.bytes, ",theirs-nn,baseline,520,2,260,9.5,4.75,2,2,100,5,11,0,1,1,1,offline,f16,f32");
    expect(out.bytes, ",ours-nn,candidate,,,,,,,,,,,0,1,0,1,server,f16,f32");
    expect(out.bytes, "| ours-nn | candidate | 24 | 2 | 12 | 3.0 | 1.8 | 2/2 | 200 | 2.5 | 12 | 1/1 | 1/1 |\n");
    expect(out.bytes, "| ours-nn | candidate | 0/1 | 0/1 |\n"); /* of what nobody has there is no column */
    expect(out.bytes, "theirs-nn & baseline & 520 & 2 & 260 & 9.5 & 4.8 & 2/2 & 100 & 5 & 11 & 0/1 & 1/1 \\\\");
    assert_null(strstr(out.bytes, "nothing"));
    text_free(&out);
}

static void a_row_of_shapes_has_them(void **state)
{
    const struct export_request request = {.result = result, .timing = -1};
    struct text out = {0};
    struct error err;
    (void)state;
    assert_int_equal(export_shapes(&request, &out, &err), 0);
    expect(out.bytes,
           "percent_of_roofline,raced,race_gpu_seconds,joules,gflop_per_joule,batch_invariant,deterministic\n");
    expect(out.bytes, ",50,22,1.25,0.5,400,true,true\n");
    expect(out.bytes, ",,8,0.25,1,200,false,true\n");
    expect(out.bytes, ",,,,,,,\n"); /* of "nothing" */
    text_free(&out);
}

static void the_page_has_it(void **state)
{
    struct text out = {0};
    (void)state;
    page_tables(result, &out);
    expect(out.bytes,
           "{\"candidate\":\"\",\"mode\":\"offline\",\"dtype\":\"f16\",\"accumulate\":\"f32\",\"title\":\"Table 8: ");
    expect(out.bytes, "[\"theirs-nn\",\"baseline\",\"520\",\"2\",\"260\",\"9.5\",\"4.8\",\"2/"
                      "2\",\"100\",\"5\",\"11\",\"0/1\",\"1/1\"]");
    expect(out.bytes, "\"mode\":\"server\"");
    text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_sides_have_a_row),
                                       cmocka_unit_test(a_row_of_shapes_has_them), cmocka_unit_test(the_page_has_it)};
    return cmocka_run_group_tests(tests, open_result, close_result);
}
