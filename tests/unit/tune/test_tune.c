/* tune/tune: a measuring config becomes a tuning one, or is refused with what to say instead; a table that a search
 * cannot go into is refused before it begins. */
#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "contender/tuned.h"
#include "scratch_fixture.h"
#include "table_fixture.h"
#include "worker/cell.h"
#include "edited.h"
#include "nvrtc_fixture.h"

#define HEAD                                                                                                           \
    "{\"schema\":\"cudal2-bench/"                                                                                      \
    "config\",\"schema_version\":1,\"name\":\"t\",\"shapes\":[{\"m\":32,\"n\":32,\"k\":32},"                           \
    "{\"m\":64,\"n\":64,\"k\":64}],\"dtype\":\"f16\","

static struct config config;
static char output[128];
static struct error err;

static void parse(const char *rest)
{
    char text[1000];
    snprintf(text, sizeof text, HEAD "%s}", rest);
    if (config_parse(text, strlen(text), "t", &config, &err))
        fail_msg("%s", err.text);
}

static void a_measuring_config_is_adjusted(void **state)
{
    (void)state;
    parse("\"accumulate\":[\"f32\"],\"modes\":[\"offline\",\"server\"],\"aa\":true,\"baselines\":[\"torch.matmul\","
          "\"cublas\","
          "\"cublaslt-autotuning\"],\"candidates\":[\"cudal2\"],\"limits\":{\"launch_seconds\":10,\"tune_seconds\":3},"
          "\"tune\":{\"seconds\":2}");
    if (tune_adjust(&config, &err))
        fail_msg("%s", err.text);
    assert_string_equal(config.baselines[0], "cublaslt-autotuning");
    assert_null(config.baselines[1]);
    assert_int_equal(config.modes, CUDAL2_BIT(MODE_OFFLINE));
    assert_int_equal(config.stop.max_blocks, 48);
    assert_false(config.aa);
    assert_true(config.verify);
    assert_true(config.stop.min_blocks / config.stop.group_blocks >= 12); /* half of the groups choose, half time */
    assert_true(config.limits.launch_seconds == 5);                       /* tightened */
    assert_true(config.limits.tune_seconds == 3);                         /* never loosened */
    assert_true(config.race_seconds == 0);                                /* what was compiled all races */
    config_free(&config);
}

static void other_baselines_stay_without_the_yardstick(void **state)
{
    (void)state;
    parse("\"accumulate\":[\"f16\"],\"modes\":[\"server\"],\"baselines\":[\"cublas\",\"openblas\"],\"candidates\":["
          "\"x\"]");
    assert_int_equal(tune_adjust(&config, &err), 0);
    assert_string_equal(config.baselines[1], "openblas");
    assert_int_equal(config.modes, CUDAL2_BIT(MODE_SERVER));
    assert_int_equal(config.stop.max_blocks, 32); /* each costs gaps */
    config_free(&config);
}

static void a_choice_that_is_missing_is_asked_for(void **state)
{
    (void)state;
    parse("\"accumulate\":[\"f16\",\"f32\"],\"modes\":[\"offline\"],\"baselines\":[\"cublas\"],\"candidates\":[\"x\"]");
    assert_int_equal(tune_adjust(&config, &err), EXIT_CODE_USAGE);
    assert_non_null(strstr(err.text, "--accumulate"));
    config_free(&config);
    parse("\"accumulate\":[\"f16\"],\"modes\":[\"offline\"],\"baselines\":[\"cublas\"]");
    assert_int_equal(tune_adjust(&config, &err), EXIT_CODE_USAGE);
    assert_non_null(strstr(err.text, "no candidate"));
    config_free(&config);
}

static int ready(const struct run_director *director, const char *env)
{
    cJSON *tree = NULL;
    if (json_parse(env, strlen(env), 4000, "env", &tree, &err))
        fail_msg("%s", err.text);
    int code = director->ready(director->context, tree, &err);
    cJSON_Delete(tree);
    return code;
}

/* A candidate without a search space races what it lists itself; each cell says so. */
static void a_plain_candidate_is_sent_off_alone(void **state)
{
    struct cell_request cell = {
        .problem = {.m = 32, .n = 32, .k = 32, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16}};
    struct tune_request request = {.config = &config, .kernel_directory = "kernels"};
    struct tuner *tuner;
    (void)state;
    parse("\"accumulate\":[\"f16\"],\"modes\":[\"offline\"],\"baselines\":[\"cublas\"],\"candidates\":[\"./x.so\"]");
    assert_int_equal(tune_adjust(&config, &err), 0);
    assert_int_equal(tune_open(&request, &tuner, &err), 0);
    const struct run_director *director = tune_director(tuner);
    assert_int_equal(ready(director, "{\"device\":{\"name\":\"some CPU\",\"kind\":\"cpu\",\"cc\":null}}"), 0);
    assert_int_equal(director->request(director->context, &cell, &err), 0);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(cell.search, "*")));
    assert_int_equal(cJSON_GetArraySize(cell.search), 1);
    assert_int_equal(cell.finalists, TUNE_FINALISTS);
    assert_true(cell.finalists <= CELL_MAX_FINALISTS);
    tune_close(tuner);
    config_free(&config);
}

static void an_environment_without_a_device_is_refused(void **state)
{
    struct tune_request request = {.config = &config};
    struct tuner *tuner;
    (void)state;
    parse("\"accumulate\":[\"f16\"],\"modes\":[\"offline\"],\"baselines\":[\"cublas\"],\"candidates\":[\"./x.so\"]");
    assert_int_equal(tune_open(&request, &tuner, &err), 0);
    assert_int_equal(ready(tune_director(tuner), "{\"device\":{}}"), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "device.name"));
    tune_close(tuner);
    config_free(&config);
}

#define H200 "{\"device\":{\"name\":\"NVIDIA H200\",\"kind\":\"cuda\",\"cc\":90}}"

/* A search of two problems on the device that write_search tells of. The candidate has no space to search in. */
static struct tuner *search_of(struct tune_request *request, const char *accumulate, const char *mode)
{
    struct tuner *tuner;
    char rest[200];
    snprintf(rest, sizeof rest,
             "\"accumulate\":[\"%s\"],\"modes\":[\"%s\"],\"baselines\":[\"cublas\"],\"candidates\":[\"./x.so\"]",
             accumulate, mode);
    parse(rest);
    if (tune_adjust(&config, &err) || tune_open(request, &tuner, &err))
        fail_msg("%s", err.text);
    return tuner;
}

static struct tuner *search_with(struct tune_request *request)
{
    return search_of(request, "f32", "offline");
}

static void close_search(struct tuner *tuner)
{
    tune_close(tuner);
    config_free(&config);
}

/* After one of the two problems. */
static int write_part(struct tuner *tuner, const char *commit, int64_t m)
{
    const struct run_director *director = tune_director(tuner);
    struct cell_record *r = cell_with(m, usual, 7);
    write_search(scratch_path("part.jsonl"), commit, &r, 1);
    return director->write(director->context, scratch_path("part.jsonl"), "", &err);
}

/* A kernel directory of its own in the scratch one, and where `run` looks for the device's table in it. */
static const char *own_kernels(void)
{
    static char directory[256];
    snprintf(directory, sizeof directory, "%s", scratch_path("kernels"));
    scratch_write("kernels/harness/prelude.cuh", "");
    return directory;
}
#define OWN_TABLE scratch_path("kernels/tuned/nvidia-h200-f32.json")

static void a_table_in_part_goes_only_into_an_update(void **state)
{
    struct tune_request request = {.config = &config, .kernel_directory = own_kernels()};
    struct tuned_table *table;
    (void)state;
    struct tuner *tuner = search_with(&request);
    assert_int_equal(ready(tune_director(tuner), H200), 0);
    assert_int_equal(write_part(tuner, "first", 64), 0);
    assert_string_equal(tune_table_path(tuner), "");
    assert_int_equal(access(OWN_TABLE, F_OK), -1);
    close_search(tuner);

    request.update = true;
    tuner = search_with(&request);
    assert_int_equal(ready(tune_director(tuner), H200), 0);
    assert_int_equal(write_part(tuner, "first", 64), 0);
    assert_string_equal(tune_table_path(tuner), OWN_TABLE);
    assert_int_equal(write_part(tuner, "second", 128), 0);
    assert_int_equal(tune_summary(tuner)->counts.added, 2);
    assert_int_equal(tune_summary(tuner)->counts.kept, 2);
    assert_int_equal(tuned_load(OWN_TABLE, &table, &err), 0);
    assert_int_equal(table->n_entries, 4);
    assert_string_equal(table->entries[0].commit, "first");
    tuned_free(table);
    close_search(tuner);
}

/* `replacement` for `from` in a good table at --output: refused before anything is compiled or measured, and not
 * written over at the end either. */
static void refuse_target(const char *from, const char *replacement, const char *why)
{
    struct tune_request request = {.config = &config, .output = output, .update = true};
    char *good = NULL, *after = NULL;
    size_t length;
    unlink(output);
    struct tuner *tuner = search_with(&request);
    assert_int_equal(ready(tune_director(tuner), H200), 0); /* nothing there yet */
    assert_int_equal(write_part(tuner, "first", 64), 0);
    close_search(tuner);
    assert_int_equal(file_read(output, 4000, &good, &length, &err), 0);
    char *bad = edited(good, from, replacement);
    scratch_write("out.json", bad);
    tuner = search_with(&request);
    assert_int_equal(ready(tune_director(tuner), H200), EXIT_CODE_DATA);
    if (!strstr(err.text, why))
        fail_msg("\"%s\" does not tell %s", err.text, why);
    assert_int_equal(write_part(tuner, "second", 64), EXIT_CODE_DATA);
    assert_string_equal(tune_table_path(tuner), "");
    close_search(tuner);
    assert_int_equal(file_read(output, 4000, &after, &length, &err), 0);
    assert_string_equal(after, bad);
    free(bad);
    free(good);
    free(after);
}

static void a_table_that_cannot_be_updated_is_told_at_once(void **state)
{
    (void)state;
    refuse_target("NVIDIA H200", "NVIDIA H100", "NVIDIA H100");
    refuse_target("\"dtype\": \"f16\"", "\"dtype\": \"bf16\"", "dtype");
    refuse_target("\"accumulate\": \"f32\"", "\"accumulate\": \"f16\"", "accumulate");
    refuse_target("\"mode\": \"offline\"", "\"mode\": \"server\"", "mode");
    refuse_target("\"timing\": \"device\"", "\"timing\": \"wall\"", "timing");
    refuse_target("\"cache\": \"warm\"", "\"cache\": \"rotate\"", "cache");
    refuse_target("\"commit\"", "\"comit\"", "comit");
}

static void expect_ready(struct tune_request *request, const char *accumulate, const char *mode, int code)
{
    struct tuner *tuner = search_of(request, accumulate, mode);
    if (ready(tune_director(tuner), H200) != code)
        fail_msg("%s, %s: not %d (%s)", accumulate, mode, code, err.text);
    close_search(tuner);
}

/* Each accumulate type and mode has a table of its own in the kernel directory, and goes into no other's. */
static void a_search_knows_its_table_beforehand(void **state)
{
    static const char *const searches[][3] = {{"f16", "offline", "f16"},
                                              {"f32", "offline", "f32"},
                                              {"f16", "server", "f16-server"},
                                              {"f32", "server", "f32-server"}};
    struct tune_request request = {.config = &config, .kernel_directory = own_kernels(), .update = true};
    char name[64];
    (void)state;
    for (int bad = 0; bad < 4; bad++) {
        for (int i = 0; i < 4; i++) {
            snprintf(name, sizeof name, "kernels/tuned/nvidia-h200-%s.json", searches[i][2]);
            unlink(scratch_path(name));
            if (i == bad)
                scratch_write(name, "no table");
        }
        for (int i = 0; i < 4; i++)
            expect_ready(&request, searches[i][0], searches[i][1], i == bad ? EXIT_CODE_DATA : 0);
    }
    request.output = output;
    unlink(output);
    struct tuner *tuner = search_with(&request);
    assert_int_equal(write_part(tuner, "first", 64), 0); /* without `ready`: nothing was left to measure */
    close_search(tuner);
    for (int i = 0; i < 4; i++)
        expect_ready(&request, searches[i][0], searches[i][1], i == 1 ? 0 : EXIT_CODE_DATA);
}

static char noted[256];

static void note_down(void *context, const char *line)
{
    (void)context;
    if (strstr(line, "offline table"))
        snprintf(noted, sizeof noted, "%s", line);
}

/* What is known of a problem offline races from idle too; where that cannot be read, the search says so and goes on. */
static void a_server_search_knows_the_offline_table(void **state)
{
    struct tune_request request = {.config = &config, .kernel_directory = own_kernels(), .note = note_down};
    (void)state;
    for (int bad = 0; bad < 2; bad++) {
        noted[0] = '\0';
        unlink(scratch_path("kernels/tuned/nvidia-h200-f32.json"));
        if (bad)
            scratch_write("kernels/tuned/nvidia-h200-f32.json", "no table");
        expect_ready(&request, "f32", "server", 0);
        assert_int_equal(strstr(noted, "nvidia-h200-f32.json") != NULL, bad);
        noted[0] = '\0';
        expect_ready(&request, "f32", "offline", 0);
        assert_string_equal(noted, "");
    }
    unlink(scratch_path("kernels/tuned/nvidia-h200-f32.json"));
}

/* A table's key may have been written before a parameter existed, wherever that stands. */
static void assert_says_all(const char *key, const char *known)
{
    for (const char *at = known + strcspn(known, ":"); *at; at += strcspn(at, ",")) {
        char item[64];
        at++;
        snprintf(item, sizeof item, "%.*s", (int)strcspn(at, ","), at);
        if (!strstr(key, item))
            fail_msg("%s has no %s", key, item);
    }
}

/* Where one configuration is searched, it is the committed table's. */
static void an_offline_winner_races_from_idle(void **state)
{
    static const char h200[] = "{\"device\":{\"name\":\"NVIDIA H200\",\"kind\":\"cuda\",\"cc\":90,\"sm_count\":132,"
                               "\"max_sm_clock_mhz\":1980,\"l2_bytes\":62914560,\"peak_flops\":1.07e15,"
                               "\"peak_bytes_per_s\":4.8e12}}";
    struct tune_request request = {.config = &config, .kernel_directory = "kernels", .breadth = 1};
    struct cell_request cell = {
        .problem = {.m = 4096, .n = 4096, .k = 4096, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32}};
    const struct tuned_query query = {.family = "cudal2", .layout = CUDAL2_TN, .problem = cell.problem};
    struct tuned_table *table;
    struct tuner *tuner;
    const char *keys[2];
    (void)state;
    require_nvrtc();
    parse("\"accumulate\":[\"f32\"],\"modes\":[\"server\"],\"baselines\":[\"cublas\"],\"candidates\":[\"cudal2\"]");
    if (tune_adjust(&config, &err) || tune_open(&request, &tuner, &err) || ready(tune_director(tuner), h200) ||
        tune_director(tuner)->request(tune_director(tuner)->context, &cell, &err) ||
        tuned_load("kernels/tuned/nvidia-h200-f32.json", &table, &err))
        fail_msg("%s", err.text);
    assert_true(tuned_keys(table, tuned_exact(table, &query), keys) > 0);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(cell.search, "cudal2-tn");
    assert_int_equal(cJSON_GetArraySize(list), 1);
    assert_says_all(list->child->valuestring, keys[0]);
    tuned_free(table);
    close_search(tuner);
}

/* Without --update a table is overwritten as ever. */
static void only_an_update_reads_the_table(void **state)
{
    struct tune_request request = {.config = &config, .output = output};
    (void)state;
    scratch_write("out.json", "no table");
    struct tuner *tuner = search_with(&request);
    assert_int_equal(ready(tune_director(tuner), H200), 0);
    assert_int_equal(write_part(tuner, "first", 64), 0);
    assert_false(tune_summary(tuner)->merged);
    close_search(tuner);
}

static int make_paths(void **state)
{
    if (scratch_make(state))
        return -1;
    snprintf(output, sizeof output, "%s", scratch_path("out.json"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measuring_config_is_adjusted),
        cmocka_unit_test(other_baselines_stay_without_the_yardstick),
        cmocka_unit_test(a_choice_that_is_missing_is_asked_for),
        cmocka_unit_test(a_plain_candidate_is_sent_off_alone),
        cmocka_unit_test(an_environment_without_a_device_is_refused),
        cmocka_unit_test(a_table_in_part_goes_only_into_an_update),
        cmocka_unit_test(a_table_that_cannot_be_updated_is_told_at_once),
        cmocka_unit_test(a_search_knows_its_table_beforehand),
        cmocka_unit_test(a_server_search_knows_the_offline_table),
        cmocka_unit_test(an_offline_winner_races_from_idle),
        cmocka_unit_test(only_an_update_reads_the_table),
    };
    return cmocka_run_group_tests(tests, make_paths, scratch_remove);
}
