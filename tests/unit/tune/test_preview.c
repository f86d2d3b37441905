/* tune/preview: what `tune --dry-run` tells is what the search then asks its worker to race. Needs neither GPU nor
 * NVRTC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/chips.h"
#include "tune/preview.h"
#include "worker/cell.h"

static struct config config;
static struct tuner *tuner;
static struct device_info device;
static struct error err;

static void open_search(const char *candidates, const char *arch, struct tune_request *request)
{
    const struct chip *chip;
    char text[600];
    snprintf(
        text, sizeof text,
        "{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"t\",\"shapes\":[{\"m\":512,\"n\":1024,"
        "\"k\":256},{\"m\":64,\"n\":64,\"k\":64}],\"dtype\":\"f16\",\"accumulate\":[\"f32\"],\"modes\":[\"offline\"],"
        "\"baselines\":[\"cublas\"],\"candidates\":[%s]}",
        candidates);
    if (config_parse(text, strlen(text), "t", &config, &err) || tune_adjust(&config, &err) ||
        chip_find(arch, &chip, &err))
        fail_msg("%s", err.text);
    device = chip_info(chip);
    if (!arch)
        device.cc = 75; /* for which there is no kernel */
    *request = (struct tune_request){.config = &config, .kernel_directory = "kernels", .breadth = 5, .dry = true};
    if (tune_open(request, &tuner, &err) || tune_prepare(tuner, &device, &err))
        fail_msg("%s", err.text);
}

static void close_search(void)
{
    tune_close(tuner);
    config_free(&config);
}

static void it_tells_what_the_search_asks_for(void **state)
{
    (void)state;
    struct tune_request request;
    char *text = NULL, first[700];
    open_search("\"cudal2\",\"mine.so\"", "sm_90a", &request);
    if (preview_text(tuner, &config, &device, &text, &err))
        fail_msg("%s", err.text);
    assert_non_null(strstr(text, "a search on one NVIDIA H200 (sm_90) would race 2 shapes, offline, and write "));
    assert_non_null(strstr(text, "nvidia-h200-f32.json\n"));
    assert_non_null(strstr(text, "mine.so: has no search space, and races what it lists on the GPU\n"));
    struct cell_request *cell = calloc(1, sizeof *cell);
    assert_non_null(cell);
    cell->problem =
        (struct cudal2_problem){.m = 512, .n = 1024, .k = 256, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    const struct run_director *director = tune_director(tuner);
    assert_int_equal(director->request(director->context, cell, &err), 0);
    for (int layout = 0; layout < 2; layout++) {
        char name[32];
        snprintf(name, sizeof name, "cudal2-%s", layout_names[layout]);
        const cJSON *keys = cJSON_GetObjectItem(cell->search, name);
        assert_int_equal(cJSON_GetArraySize(keys), 5);
        snprintf(first, sizeof first, "512x1024x256 %s: 5 of ", name);
        const char *at = strstr(text, first);
        assert_non_null(at);
        for (int i = 0; i < PREVIEW_KEYS; i++) { /* in their order */
            snprintf(first, sizeof first, "\n    %s\n", cJSON_GetArrayItem(keys, i)->valuestring);
            at = strstr(at, first);
            assert_non_null(at);
            at += strlen(first) - 1;
        }
        assert_memory_not_equal(at, "\n    ", 5); /* three, and no fourth */
    }
    free(cell);
    free(text);
    close_search();
}

static void nothing_to_race_is_an_error(void **state)
{
    (void)state;
    struct tune_request request;
    char *text = NULL;
    open_search("\"cudal2\"", NULL, &request);
    assert_int_equal(preview_text(tuner, &config, &device, &text, &err), EXIT_CODE_UNAVAILABLE);
    assert_string_equal(err.text, "nothing to search on one NVIDIA H200 (sm_75)");
    assert_null(text);
    close_search();
}

/* GPUs before sm_90 have no clusters: the same ranker chooses among what is left. */
static void an_older_gpu_has_what_needs_no_cluster(void **state)
{
    (void)state;
    struct tune_request request;
    char *text = NULL;
    open_search("\"cudal2\"", "sm_80", &request);
    if (preview_text(tuner, &config, &device, &text, &err))
        fail_msg("%s", err.text);
    assert_non_null(strstr(text, "on one NVIDIA A100 (sm_80) would race 2 shapes"));
    assert_non_null(strstr(text, "512x1024x256 cudal2-nn: 5 of "));
    assert_non_null(strstr(text, "    tiny:"));
    for (int cluster = 2; cluster <= 8; cluster *= 2) {
        char wide[32];
        snprintf(wide, sizeof wide, "CLUSTER_K=%d,", cluster);
        assert_null(strstr(text, wide));
        snprintf(wide, sizeof wide, "SPLIT_K=%d,", cluster);
        assert_null(strstr(text, wide));
    }
    free(text);
    close_search();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_tells_what_the_search_asks_for),
        cmocka_unit_test(nothing_to_race_is_an_error),
        cmocka_unit_test(an_older_gpu_has_what_needs_no_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
