/* contender/tuned: tables are read strictly, found by device, and answer with the nearest problem. */
#include "contender/tuned.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch_fixture.h"
#include "edited.h"

static char path[128];

#define ENTRY(m, n, k, layout, variant)                                                                                \
    "{\"m\":" #m ",\"n\":" #n ",\"k\":" #k ",\"family\":0,\"layout\":\"" layout "\",\"variant\":" #variant             \
    ",\"time_ns\":1000,\"low_ns\":990,\"high_ns\":1010"
static const char whole[] =
    "{\"schema\":\"cudal2-bench/tuned\",\"schema_version\":1,\"device\":\"NVIDIA H200\",\"driver\":\"580.1\","
    "\"dtype\":\"f16\",\"accumulate\":\"f16\",\"mode\":\"offline\",\"timing\":\"event\",\"cache\":\"flush\","
    "\"commit\":\"abc\",\"families\":[\"cudal2\"],\"variants\":[\"tiny:BM=16\",\"tiny:BM=32\",\"persistent:BM=64\"],"
    "\"entries\":[" ENTRY(64, 64, 64, "nn", 0) ",\"runner_up\":1,\"runner_up_ns\":1015,\"reference\":\"lt-nn\","
                                               "\"reference_ns\":2000}," ENTRY(64, 64, 64, "tn", 1) "}," ENTRY(
                                                   4096, 64, 64, "nn", 2) "}," ENTRY(64, 64, 1024, "nn",
                                                                                     1) ",\"commit\":\"older\"}]}";

static int load(const char *text, struct tuned_table **t, struct error *err)
{
    if (file_write_atomic(path, text, strlen(text), err))
        fail_msg("%s", err->text);
    return tuned_load(path, t, err);
}

static struct tuned_table *load_whole(void)
{
    struct tuned_table *t;
    struct error err;
    if (load(whole, &t, &err))
        fail_msg("%s", err.text);
    return t;
}

/* `whole` with the first `from` replaced by `to` must be refused, and the message must name `place`. */
static void refuse(const char *from, const char *to, const char *place)
{
    char *text = edited(whole, from, to);
    struct tuned_table *t;
    struct error err;
    if (load(text, &t, &err) == 0)
        fail_msg("accepted %s", to);
    assert_int_equal(err.code, EXIT_CODE_DATA);
    if (!strstr(err.text, place))
        fail_msg("\"%s\" does not name %s", err.text, place);
    free(text);
}

static void reads_everything(void **state)
{
    (void)state;
    struct tuned_table *t = load_whole();
    assert_string_equal(t->name, "nvidia-h200-f16");
    assert_string_equal(t->device, "NVIDIA H200");
    assert_string_equal(t->commit, "abc");
    assert_int_equal(t->n_entries, 4);
    assert_int_equal(t->n_variants, 3);
    assert_string_equal(t->variants[2].key, "persistent:BM=64");
    const struct tuned_entry *e = &t->entries[0];
    assert_int_equal(e->runner_up, 1);
    assert_true(e->runner_up_ns == 1015 && e->time_ns == 1000 && e->low_ns == 990 && e->high_ns == 1010);
    assert_string_equal(e->reference, "lt-nn");
    assert_true(e->reference_ns == 2000);
    assert_int_equal(t->entries[1].runner_up, -1);
    assert_true(isnan(t->entries[1].runner_up_ns) && isnan(t->entries[1].reference_ns));
    assert_int_equal(t->entries[1].layout, CUDAL2_TN);
    assert_string_equal(t->entries[2].commit, "");
    assert_string_equal(t->entries[3].commit, "older");
    assert_int_equal(t->timing, TIMING_EVENT);
    assert_int_equal(t->cache, CACHE_FLUSH);
    tuned_free(t);
}

static void bad_tables_name_the_place(void **state)
{
    (void)state;
    refuse("cudal2-bench/tuned", "cudal2-bench/kernel", "$.schema");
    refuse("\"schema_version\":1", "\"schema_version\":2", "$.schema_version");
    refuse("\"dtype\":\"f16\"", "\"dtype\":\"f17\"", "$.dtype");
    refuse("\"commit\":\"abc\",", "", "$.commit");
    refuse("\"timing\"", "\"timings\"", "unknown key");
    refuse("\"timing\":\"event\",", "", "$.timing");
    refuse("\"cache\":\"flush\"", "\"cache\":\"cold\"", "$.cache");
    refuse("\"commit\":\"older\"", "\"commit\":\"\"", "$.entries[3].commit");
    refuse("\"older\"", "\"0123456789012345678901234567890123456789012345678901234567890123\"", "$.entries[3].commit");
    refuse("\"variant\":0", "\"variant\":3", "$.entries[0].variant");
    refuse("\"family\":0", "\"family\":1", "$.entries[0].family");
    refuse("\"m\":64", "\"m\":0", "$.entries[0].m");
    refuse("\"time_ns\":1000", "\"time_ns\":0", "$.entries[0].time_ns");
    refuse("\"time_ns\":1000", "\"time_ns\":1011", "$.entries[0]");
    refuse("\"runner_up\":1", "\"runner_up\":-1", "$.entries[0].runner_up");
    refuse("\"layout\":\"tn\"", "\"layout\":\"nn\"", "64x64x64/nn is there twice for cudal2");
    refuse("[\"cudal2\"]", "[]", "$.families");
    refuse("]}", "]", "nvidia-h200-f16.json");
}

static struct tuned_query query_of(int64_t m, int64_t n, int64_t k, enum cudal2_layout layout)
{
    return (struct tuned_query){
        "cudal2", layout, {.m = m, .n = n, .k = k, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16}};
}

static void the_nearest_comes_first(void **state)
{
    (void)state;
    struct tuned_table *t = load_whole();
    struct tuned_match found[4];
    struct tuned_query q = query_of(64, 64, 64, CUDAL2_NN);
    assert_int_equal(tuned_nearest(t, &q, found, 4), 4);
    assert_ptr_equal(found[0].entry, &t->entries[0]);
    assert_true(found[0].distance == 0);
    assert_ptr_equal(found[1].entry, &t->entries[1]); /* the other layout costs 2, four octaves of K cost 4 */
    assert_true(found[1].distance == TUNED_OTHER_LAYOUT);
    assert_ptr_equal(found[2].entry, &t->entries[3]);
    assert_true(found[2].distance == 4);
    assert_true(found[3].distance == 6);

    q = query_of(128, 32, 512, CUDAL2_NN);
    assert_int_equal(tuned_nearest(t, &q, found, 1), 1); /* no room for the others */
    assert_ptr_equal(found[0].entry, &t->entries[3]);
    assert_true(fabs(found[0].distance - 3) < 1e-12);
    q = query_of(1000, 64, 64, CUDAL2_TN); /* log2(1000/64) = 3.97 to its own layout; 2.03 + 2 to the larger one */
    assert_int_equal(tuned_nearest(t, &q, found, 2), 2);
    assert_ptr_equal(found[0].entry, &t->entries[1]);
    assert_ptr_equal(found[1].entry, &t->entries[2]);
    tuned_free(t);
}

static void the_very_problem_has_its_keys(void **state)
{
    (void)state;
    struct tuned_table *t = load_whole();
    const char *keys[2];
    struct tuned_query q = query_of(64, 64, 64, CUDAL2_NN);
    assert_ptr_equal(tuned_exact(t, &q), &t->entries[0]);
    assert_int_equal(tuned_keys(t, &t->entries[0], keys), 2); /* 1.5% behind */
    assert_ptr_equal(keys[0], t->variants[t->entries[0].variant].key);
    assert_ptr_equal(keys[1], t->variants[1].key);
    t->entries[0].runner_up_ns = 1021;
    assert_int_equal(tuned_keys(t, &t->entries[0], keys), 1);
    assert_int_equal(tuned_keys(t, &t->entries[1], keys), 1);
    q.layout = CUDAL2_TN;
    assert_ptr_equal(tuned_exact(t, &q), &t->entries[1]);
    q.problem.k = 65;
    assert_null(tuned_exact(t, &q));
    q = query_of(64, 64, 64, CUDAL2_NN);
    q.family = "cudal3";
    assert_null(tuned_exact(t, &q));
    q = query_of(64, 64, 64, CUDAL2_NN);
    q.problem.accumulate = CUDAL2_ACC_F32;
    assert_null(tuned_exact(t, &q));
    tuned_free(t);
}

static void other_types_are_not_answered(void **state)
{
    (void)state;
    struct tuned_table *t = load_whole();
    struct tuned_match found;
    struct tuned_query q = query_of(64, 64, 64, CUDAL2_NN);
    q.problem.accumulate = CUDAL2_ACC_F32;
    assert_int_equal(tuned_nearest(t, &q, &found, 1), 0);
    q = query_of(64, 64, 64, CUDAL2_NN);
    q.problem.dtype = CUDAL2_F32;
    assert_int_equal(tuned_nearest(t, &q, &found, 1), 0);
    q = query_of(64, 64, 64, CUDAL2_NN);
    q.family = "cudal3";
    assert_int_equal(tuned_nearest(t, &q, &found, 1), 0);
    tuned_free(t);
}

static void names_come_from_the_device(void **state)
{
    (void)state;
    struct device_info h200 = {.name = "NVIDIA H200"}, odd = {.name = " Intel(R) Xeon(R) @ 2.0GHz "};
    struct cudal2_problem f16 = {.dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
                          f32 = {.dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    char name[TUNED_NAME_MAX];
    tuned_name(&h200, &f16, MODE_OFFLINE, name);
    assert_string_equal(name, "nvidia-h200-f32");
    tuned_name(&h200, &f16, MODE_SERVER, name);
    assert_string_equal(name, "nvidia-h200-f32-server");
    tuned_name(&odd, &f32, MODE_OFFLINE, name);
    assert_string_equal(name, "intel-r-xeon-r-2-0ghz-f32-f32");
}

static struct tuned_request request_on(const struct device_info *device)
{
    return (struct tuned_request){.directory = scratch,
                                  .device = device,
                                  .dtype = CUDAL2_F16,
                                  .accumulates = CUDAL2_BIT(CUDAL2_ACC_F16),
                                  .modes = CUDAL2_BIT(MODE_SERVER)};
}

/* The device's own table is found by name; another device's only when it is named, and then refused unless forced. */
static void tables_belong_to_a_device(void **state)
{
    (void)state;
    struct device_info h200 = {.name = "NVIDIA H200"}, h100 = {.name = "NVIDIA H100"};
    const char *const files[] = {path, NULL};
    struct tuned_tables tables;
    struct error err;
    struct tuned_query q = query_of(64, 64, 64, CUDAL2_NN);
    tuned_free(load_whole());
    struct tuned_request request = request_on(&h200);
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 1);
    assert_non_null(tuned_tables_find(&tables, &q, MODE_SERVER)); /* for want of a server table */
    q.family = "other";
    assert_null(tuned_tables_find(&tables, &q, MODE_OFFLINE));
    cJSON *versions = tuned_tables_versions(&tables);
    assert_non_null(cJSON_GetObjectItemCaseSensitive(versions, "nvidia-h200-f16"));
    cJSON_Delete(versions);
    tuned_tables_close(&tables);

    request.none = true;
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 0);
    assert_null(tuned_tables_versions(&tables));

    request = request_on(&h100);
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 0);
    request.files = files;
    assert_int_equal(tuned_tables_open(&request, &tables, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "NVIDIA H200"));
    assert_non_null(strstr(err.text, "NVIDIA H100"));
    assert_non_null(strstr(err.text, "--force"));
    tuned_tables_close(&tables);
    request.force = true;
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 1);
    tuned_tables_close(&tables);
}

/* H100 and H200 are of one class: one's table serves the other, and bf16 reads f16's. */
static void tables_serve_their_class(void **state)
{
    (void)state;
    struct device_info h100 = {.name = "NVIDIA H100", .cc = 90, .sm_count = 132};
    struct tuned_tables tables;
    struct error err;
    char *text = edited(whole, "\"driver\"", "\"cc\":90,\"sm_count\":132,\"driver\"");
    struct tuned_table *t;
    assert_int_equal(load(text, &t, &err), 0);
    assert_int_equal(t->cc, 90);
    assert_int_equal(tuned_check_device(t, &h100, &err), 0);
    tuned_free(t);
    free(text);
    struct tuned_request request = request_on(&h100);
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 1);
    assert_string_equal(tables.tables[0]->name, "nvidia-h200-f16");
    tuned_tables_close(&tables);
    h100.sm_count = 114; /* the PCIe card */
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 0);
    h100.sm_count = 132;
    request.dtype = CUDAL2_BF16;
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 1);
    struct tuned_query q = query_of(64, 64, 64, CUDAL2_NN);
    q.problem.dtype = CUDAL2_BF16;
    assert_non_null(tuned_tables_find(&tables, &q, MODE_OFFLINE));
    q.problem.dtype = CUDAL2_F32;
    assert_null(tuned_tables_find(&tables, &q, MODE_OFFLINE));
    tuned_tables_close(&tables);
}

static const struct tuned_table *of_size(const struct tuned_tables *tables, int64_t k)
{
    struct tuned_query q = query_of(64, 64, k, CUDAL2_NN);
    return tuned_tables_find(tables, &q, MODE_OFFLINE);
}

/* An own table of a few problems does not cost those that the class's has: each answers for what it has, and the larger
 * one gives the neighbours. */
static void an_own_table_may_be_small(void **state)
{
    (void)state;
    struct device_info h100 = {.name = "NVIDIA H100", .cc = 90, .sm_count = 132};
    struct tuned_request request = request_on(&h100);
    struct tuned_tables tables;
    struct error err;
    char own[128], *h200 = edited(whole, "\"driver\"", "\"cc\":90,\"sm_count\":132,\"driver\"");
    char *text = edited(h200, "NVIDIA H200", "NVIDIA H100"), *small = edited(text, "\"k\":1024", "\"k\":4096");
    struct tuned_table *t;
    assert_int_equal(load(h200, &t, &err), 0);
    tuned_free(t);
    snprintf(own, sizeof own, "%s/tuned/nvidia-h100-f16.json", scratch);
    assert_int_equal(file_write_atomic(own, small, strlen(small), &err), 0);
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 2);
    assert_string_equal(of_size(&tables, 64)->name, "nvidia-h100-f16"); /* both have it */
    assert_string_equal(of_size(&tables, 4096)->name, "nvidia-h100-f16");
    assert_string_equal(of_size(&tables, 1024)->name, "nvidia-h200-f16");
    tables.tables[0]->n_entries--;
    assert_string_equal(of_size(&tables, 777)->name, "nvidia-h200-f16");
    tuned_tables_close(&tables);
    assert_int_equal(remove(own), 0);
    free(small);
    free(text);
    free(h200);
}

static void write_server_table(const char *from, const char *to)
{
    struct error err;
    char server_path[128], *text = edited(whole, "offline", "server"), *other = edited(text, from, to);
    snprintf(server_path, sizeof server_path, "%s/tuned/nvidia-h200-f16-server.json", scratch);
    assert_int_equal(file_write_atomic(server_path, other, strlen(other), &err), 0);
    free(other);
    free(text);
}

static enum mode asked(const struct tuned_tables *tables, int64_t k, enum mode mode)
{
    struct tuned_query q = query_of(64, 64, k, CUDAL2_NN);
    return tuned_tables_find(tables, &q, mode)->mode;
}

/* A table of the very mode goes before the other mode's, but for a problem that only the other one has. */
static void server_mode_has_its_own(void **state)
{
    (void)state;
    struct device_info h200 = {.name = "NVIDIA H200"};
    struct tuned_request request = request_on(&h200);
    struct tuned_tables tables;
    struct error err;
    tuned_free(load_whole());
    write_server_table("\"k\":1024", "\"k\":2048");
    assert_int_equal(tuned_tables_open(&request, &tables, &err), 0);
    assert_int_equal(tables.n, 2);
    assert_int_equal(asked(&tables, 64, MODE_SERVER), MODE_SERVER);
    assert_int_equal(asked(&tables, 64, MODE_OFFLINE), MODE_OFFLINE);
    assert_int_equal(asked(&tables, 1024, MODE_SERVER), MODE_OFFLINE);
    assert_int_equal(asked(&tables, 2048, MODE_OFFLINE), MODE_SERVER);
    assert_int_equal(asked(&tables, 512, MODE_SERVER), MODE_SERVER); /* of neighbours those of the mode */
    assert_int_equal(asked(&tables, 512, MODE_OFFLINE), MODE_OFFLINE);
    tuned_tables_close(&tables);
}

static int make_directory(void **state)
{
    struct error err;
    if (scratch_make(state))
        return -1;
    snprintf(path, sizeof path, "%s", scratch_path("tuned/nvidia-h200-f16.json"));
    return file_make_directories(scratch_path("tuned"), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_everything),
        cmocka_unit_test(bad_tables_name_the_place),
        cmocka_unit_test(the_nearest_comes_first),
        cmocka_unit_test(other_types_are_not_answered),
        cmocka_unit_test(the_very_problem_has_its_keys),
        cmocka_unit_test(names_come_from_the_device),
        cmocka_unit_test(tables_belong_to_a_device),
        cmocka_unit_test(tables_serve_their_class),
        cmocka_unit_test(an_own_table_may_be_small),
        cmocka_unit_test(server_mode_has_its_own),
    };
    return cmocka_run_group_tests(tests, make_directory, scratch_remove);
}
