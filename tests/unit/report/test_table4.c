/* report/table4 and report/aa: the tables that come from the result alone, cell by cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "opened_result.h"
#include "report/aa.h"
#include "report/table4.h"
#include "report/tables.h"

#define SHEETS_MAX 8

/* Everything a maker sends, as CSV. */
struct kept {
    int n, stop_at; /* stop_at: the sink refuses this one; 0 for none */
    struct text csv[SHEETS_MAX];
};

static int keep(void *context, int number, const struct table *table)
{
    struct kept *kept = context;
    assert_true(number == 4 || number == 1);
    assert_true(kept->n < SHEETS_MAX);
    table_print_csv(&kept->csv[kept->n++], table);
    return kept->n == kept->stop_at ? 7 : 0;
}

static void free_kept(struct kept *kept)
{
    for (int i = 0; i < kept->n; i++)
        text_free(&kept->csv[i]);
    *kept = (struct kept){0};
}

static void must_hold(const struct text *csv, const char *line)
{
    if (!csv->bytes || !strstr(csv->bytes, line))
        fail_msg("\"%s\" is not in:\n%s", line, csv->bytes ? csv->bytes : "");
}

/* A cell of one contender in two layouts: nn takes 10 ns, tn takes tn_ns. */
static void add_cell(struct text *json, const char *mode, const char *sizes, const char *nn, const char *tn, int tn_ns)
{
    text_add(
        json,
        "%s{%s,\"mode\":\"%s\",\"dtype\":\"f16\",\"accumulate\":\"f16\",\"headline\":\"device\",\"contenders\":{"
        "\"a-nn\":{\"status\":\"ok\",\"role\":\"candidate\",\"family\":\"a\",\"timings\":{\"device\":{\"median_ns\":10}"
        "}"
        ",\"attributes\":{\"kernel\":\"k\",\"parameters\":\"%s\"}},"
        "\"a-tn\":{\"status\":\"ok\",\"role\":\"candidate\",\"family\":\"a\",\"timings\":{\"device\":{\"median_ns\":%d}"
        "}"
        ",\"attributes\":{\"kernel\":\"k\",\"parameters\":\"%s\"}},"
        "\"r\":{\"status\":\"ok\",\"role\":\"baseline\",\"family\":\"r\",\"timings\":{\"device\":{\"median_ns\":9}}}}}",
        json->length > 20 ? "," : "", sizes, mode, nn, tn_ns, tn);
}

static struct result *result_with_parameters(void)
{
    struct text json = {0};
    text_add(&json, "{\"cells\":[");
    add_cell(&json, "offline", "\"m\":64,\"n\":64,\"k\":64", "BM=16,BN=16", "BM=999", 20);
    add_cell(&json, "offline", "\"m\":512,\"n\":512,\"k\":256", "BM=999", "BM=32,BN=64,RASTER=1", 5); /* 2^26 */
    add_cell(&json, "offline", "\"m\":512,\"n\":512,\"k\":512", "BM=64,BN=64,STAGES=3,RASTER=8", "BM=999",
             20); /* 2^27 */
    add_cell(&json, "offline", "\"m\":4096,\"n\":4096,\"k\":4096", "BM=128,BN=256,STAGES=5,RASTER=16", "BM=999", 11);
    add_cell(&json, "server", "\"m\":64,\"n\":64,\"k\":64", "BM=16", "BM=32", 10); /* equal times: the first counts */
    text_add(&json, "]}");
    struct result *result = opened_text(json.bytes);
    text_free(&json);
    return result;
}

static void the_faster_layout_counts(void **state)
{
    struct kept kept = {0};
    struct result *result = result_with_parameters();
    (void)state;
    assert_int_equal(table4_make(result, keep, &kept), 0);
    assert_int_equal(kept.n, 4); /* two modes, two tables each */
    for (int i = 0; i < kept.n; i++)
        assert_null(strstr(kept.csv[i].bytes, "999"));
    must_hold(&kept.csv[0], "\"Table 4: parameters and problem size, a offline, f16 accumulated in f16\",BM by M,4,");
    must_hold(&kept.csv[0], ",BK by K,0,,");                          /* no kernel has it */
    must_hold(&kept.csv[0], ",stages by K,2,,");                      /* two points lie on a line, whatever they are */
    must_hold(&kept.csv[0], ",BM by BN,4,0.959074105,0.948683298\n"); /* 16 32 64 128 over 16 64 64 256 */
    must_hold(&kept.csv[0], ",swizzle stride by MNK,3,");
    must_hold(&kept.csv[2], "a server, f16 accumulated in f16\",BM by M,1,,");
    free_kept(&kept);
    result_free(result);
}

static void classes_begin_at_their_edge(void **state)
{
    struct kept kept = {0};
    struct result *result = result_with_parameters();
    (void)state;
    assert_int_equal(table4_make(result, keep, &kept), 0);
    must_hold(&kept.csv[1], "log2_mnk,shapes,mean_bm,mean_bn,mean_bk,mean_stages,mean_swizzle,swizzled\n");
    must_hold(&kept.csv[1], "\",0,2,24,40,,,1,0\n"); /* below 2^27; a stride of 1 is none */
    must_hold(&kept.csv[1], "\",27,1,64,64,,3,8,1\n");
    must_hold(&kept.csv[1], "\",36,1,128,256,,5,16,1\n");
    assert_null(strstr(kept.csv[1].bytes, "\",33,")); /* a class without shapes has no row */
    must_hold(&kept.csv[3], "\",0,1,16,,,,,0\n");
    free_kept(&kept);
    result_free(result);
}

static void what_the_sink_says_goes_up(void **state)
{
    struct kept kept = {.stop_at = 2};
    struct result *result = result_with_parameters();
    (void)state;
    assert_int_equal(table4_make(result, keep, &kept), 7);
    assert_int_equal(kept.n, 2);
    free_kept(&kept);
    struct result *empty = opened_text("{\"cells\":[]}");
    assert_int_equal(table4_make(empty, keep, &kept), 0);
    assert_int_equal(tables_make(&(struct dataset){0}, NULL, 4, keep, &kept), 0);
    assert_int_equal(kept.n, 0);
    result_free(empty);
    result_free(result);
}

static void aa_has_a_row_for_each_copy_and_timing(void **state)
{
    struct kept kept = {0};
    struct result *result = opened_text(
        "{\"summary\":{\"aa\":[{\"mode\":\"offline\",\"dtype\":\"f16\",\"accumulate\":\"f32\",\"timing\":\"device\","
        "\"contender\":\"a-nn\",\"n\":20,\"with_interval\":18,\"excludes_one\":3,\"false_alarm_rate\":0.1666667,"
        "\"mean_log_ratio\":-0.01,\"sd_log_ratio\":0.02},{\"mode\":\"server\",\"dtype\":\"f16\",\"accumulate\":\"f32\","
        "\"timing\":\"wall\",\"contender\":\"b\",\"n\":1,\"with_interval\":0,\"excludes_one\":0,\"false_alarm_rate\":"
        "null,"
        "\"mean_log_ratio\":0,\"sd_log_ratio\":null},{\"timing\":\"event\",\"contender\":\"by hand\",\"n\":1}]}}");
    (void)state;
    assert_int_equal(aa_make(result, keep, &kept), 0);
    assert_int_equal(kept.n, 1);
    must_hold(&kept.csv[0], ",contender,mode,types,timing,shapes,excludes_zero,false_alarms,mean_lead,std\n");
    must_hold(&kept.csv[0], ",a-nn,offline,f16/f32,device,18,3,0.1666667,-0.00995016625,0.02\n");
    must_hold(&kept.csv[0], ",b,server,f16/f32,wall,0,0,,0,\n");
    must_hold(&kept.csv[0], ",by hand,,/,event,,,,,\n");
    free_kept(&kept);
    result_free(result);
    result = opened_text("{\"summary\":{\"aa\":[]}}"); /* nobody was copied: no table */
    assert_int_equal(aa_make(result, keep, &kept), 0);
    assert_int_equal(kept.n, 0);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_faster_layout_counts), cmocka_unit_test(classes_begin_at_their_edge),
        cmocka_unit_test(what_the_sink_says_goes_up), cmocka_unit_test(aa_has_a_row_for_each_copy_and_timing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
