/* worker/behind: which runs compile beside their cells, on which processors, in what order, and that a cell begins when
 * its own kernels are there. The compiler is a scripted one that is slow. */
#include "worker/behind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <cmocka.h>

#include "base/file.h"
#include "compile/kernels.h"
#include "compile/nvrtc.h"
#include "device/fake.h"
#include "scratch_fixture.h"

/* ---- which runs ---- */

static struct config plain_config(void)
{
    struct config config = {.modes = CUDAL2_BIT(MODE_OFFLINE) | CUDAL2_BIT(MODE_SERVER), .headline = TIMING_DEVICE};
    return config;
}

static void only_time_of_the_gpu_itself(void **state)
{
    struct config config = plain_config();
    (void)state;
    assert_true(behind_may(&config, "cuda:0", NULL));
    assert_false(behind_may(&config, "cpu", NULL));
    config.headline = TIMING_DEVICE_ROW; /* server mode takes `device` then */
    assert_true(behind_may(&config, "cuda:0", NULL));
    config.headline = TIMING_EVENT;
    assert_false(behind_may(&config, "cuda:0", NULL));
    config.headline = TIMING_WALL;
    assert_false(behind_may(&config, "cuda:0", NULL));
    config = plain_config();
    config.modes |= CUDAL2_BIT(MODE_CHAIN);
    assert_false(behind_may(&config, "cuda:0", NULL));
    config = plain_config();
    config.protocol = PROTOCOL_PAPER;
    assert_false(behind_may(&config, "cuda:0", NULL));
    config = plain_config();
    config.verify_only = true;
    assert_false(behind_may(&config, "cuda:0", NULL));
}

static void not_beside_code_of_strangers(void **state)
{
    static char name[] = "cublas", set[] = "kernels/mine.json", strange[] = "./mine.so";
    struct config config = plain_config();
    (void)state;
    config.baselines[0] = name;
    config.candidates[0] = set;
    assert_true(behind_may(&config, "cuda:0", NULL));
    assert_false(behind_may(&config, "cuda:0", "plugins"));
    config.candidates[0] = strange;
    assert_false(behind_may(&config, "cuda:0", NULL));
}

/* ---- processors ---- */

static void write_core(unsigned cpu, int core)
{
    char path[256], text[16];
    struct error err;
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology", scratch, cpu);
    assert_int_equal(file_make_directories(path, &err), 0);
    snprintf(path, sizeof path, "devices/system/cpu/cpu%u/topology/core_id", cpu);
    snprintf(text, sizeof text, "%d\n", core);
    scratch_write(path, text);
    snprintf(path, sizeof path, "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
    scratch_write(path, "0\n");
}

static cpu_set_t range(unsigned from, unsigned to)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (unsigned cpu = from; cpu < to; cpu++)
        CPU_SET(cpu, &set);
    return set;
}

/* Processors 8 to 15 are the second threads of 0 to 7. */
static void whole_cores_stay_free(void **state)
{
    cpu_set_t usable = range(0, 16), lanes;
    (void)state;
    for (unsigned cpu = 0; cpu < 16; cpu++)
        write_core(cpu, (int)cpu % 8);
    assert_int_equal(behind_cores(scratch, &usable, &lanes), 14);
    assert_false(CPU_ISSET(0, &lanes) || CPU_ISSET(8, &lanes));
    assert_true(CPU_ISSET(1, &lanes) && CPU_ISSET(9, &lanes));
    usable = range(2, 10); /* 8 and 9 are of cores whose other thread is not ours: two cores */
    assert_int_equal(behind_cores(scratch, &usable, &lanes), 6);
    assert_false(CPU_ISSET(2, &lanes) || CPU_ISSET(3, &lanes));
}

static void few_processors_compile_ahead(void **state)
{
    cpu_set_t usable = range(100, 106), lanes; /* of which nothing is known */
    (void)state;
    assert_int_equal(behind_cores(scratch, &usable, &lanes), 4);
    usable = range(100, 105);
    assert_int_equal(behind_cores(scratch, &usable, &lanes), 0);
}

/* ---- order ---- */

static void workers_begin_with_their_share(void **state)
{
    const size_t order[] = {7, 5, 3, 1, 0}, first[] = {7, 3, 0, 5, 1}, second[] = {5, 1, 7, 3, 0};
    size_t out[5];
    (void)state;
    behind_share(order, 5, 0, 2, out);
    assert_memory_equal(out, first, sizeof out);
    behind_share(order, 5, 1, 2, out);
    assert_memory_equal(out, second, sizeof out);
    behind_share(order, 5, 0, 1, out);
    assert_memory_equal(out, order, sizeof out);
}

/* ---- a run ---- */

#define SLOW_MS 60

/* Shared with the lanes: BM of what was compiled, as it was begun. */
static struct script {
    atomic_int n;
    int order[64];
} * script;

static bool compile(void *context, const struct compile_request *r)
{
    const struct timespec slow = {0, SLOW_MS * 1000000};
    (void)context;
    for (size_t i = 0; i < r->n_defines; i++)
        if (strcmp(r->defines[i].name, "BM") == 0)
            script->order[atomic_fetch_add(&script->n, 1)] = (int)r->defines[i].value;
    nanosleep(&slow, NULL);
    return true;
}

/* A set of one kernel; a table in which shape i takes BM = 16 << i. The last shape is in no table. */
#define SHAPES 5
static char families[1][64] = {"set"};
static struct cudal2_variant variants[SHAPES - 1];
static struct tuned_entry entries[SHAPES - 1];
static struct tuned_table table = {.mode = MODE_OFFLINE,
                                   .n_families = 1,
                                   .families = families,
                                   .n_variants = SHAPES - 1,
                                   .variants = variants,
                                   .n_entries = SHAPES - 1,
                                   .entries = entries};
static struct tuned_tables tables = {1, {&table}};
static struct shape shapes[SHAPES];
static struct config config;
static struct device *device;
static struct registry *registry;
static struct behind behind;

static void write_set(void)
{
    scratch_write("one.cu", "extern \"C\" __global__ void gemm() {}\n");
    scratch_write("one.json",
                  "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"one\",\"source\":\"one.cu\","
                  "\"entry\":\"gemm\",\"dtypes\":[\"f16\"],\"accumulate\":[\"f16\"],\"layouts\":[\"nn\"],"
                  "\"parameters\":{\"BM\":{\"values\":[16,32,64,128],\"default\":16}},"
                  "\"grid\":[\"1\",\"1\",\"1\"],\"block\":[\"32\",\"1\",\"1\"],\"arguments\":[\"a\",\"b\",\"c\"]}");
    scratch_write("set.json", "{\"schema\":\"cudal2-bench/kernel-set\",\"schema_version\":1,\"name\":\"set\","
                              "\"entries\":[{\"kernel\":\"one\"}]}");
}

static void write_table(void)
{
    for (int i = 0; i < SHAPES; i++)
        shapes[i] = (struct shape){.m = 64 << i, .n = 8, .k = 16};
    for (int i = 0; i + 1 < SHAPES; i++) {
        snprintf(variants[i].key, sizeof variants[i].key, "one:BM=%d", 16 << i);
        entries[i] = (struct tuned_entry){
            .m = shapes[i].m, .n = 8, .k = 16, .layout = CUDAL2_NN, .variant = i, .runner_up = -1, .time_ns = 1000};
    }
}

static int open_run(void **state)
{
    static char path[1200], kernels[1024];
    const char *candidates[] = {path, NULL};
    struct fake_script fake = {0};
    struct error err;
    (void)state;
    write_set();
    write_table();
    if (kernel_directory_find(NULL, kernels, sizeof kernels, &err) != 0)
        snprintf(kernels, sizeof kernels, "kernels");
    snprintf(path, sizeof path, "%s", scratch_path("set.json"));
    const struct registry_request request = {
        .candidates = candidates, .layouts = CUDAL2_BIT(CUDAL2_NN), .kernel_directory = kernels};
    config = plain_config();
    config.modes = CUDAL2_BIT(MODE_OFFLINE);
    config.shapes = shapes;
    config.n_shapes = SHAPES;
    config.layouts = CUDAL2_BIT(CUDAL2_NN);
    config.dtype = CUDAL2_F16;
    config.accumulates = CUDAL2_BIT(CUDAL2_ACC_F16);
    if (fake_open(&fake, &device, &err) || registry_open(&request, device, &registry, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int close_run(void **state)
{
    (void)state;
    behind_close(&behind);
    registry_close(registry);
    device->ops->close(device);
    return 0;
}

static void list(const char *order, int worker, int workers)
{
    const struct lanes_request request = {.count = 1, .job_seconds = 20, .compile = compile};
    struct start_request start = {.worker = worker, .workers = workers, .order = order ? cJSON_Parse(order) : NULL};
    memset(script, 0, sizeof *script);
    behind.what = (struct precompiling){
        .config = &config, .tuned = &tables, .registry = registry, .device = device, .threads = 1};
    behind.lanes = lanes_open(&request);
    assert_non_null(behind.lanes);
    behind_list(&behind, &start);
    cJSON_Delete((cJSON *)(uintptr_t)start.order);
}

static void wait_for_shape(int i)
{
    struct cudal2_problem problem = problem_any(CUDAL2_F16, CUDAL2_ACC_F16);
    problem.m = shapes[i].m;
    problem.n = shapes[i].n;
    problem.k = shapes[i].k;
    behind_wait(&behind, &problem, MODE_OFFLINE);
}

static void a_cell_waits_for_its_own(void **state)
{
    (void)state;
    list("[2,0,3,1]", 0, 1);
    wait_for_shape(2);
    assert_non_null(behind.lanes); /* which work on */
    assert_true(script->n >= 1 && script->n < 4);
    wait_for_shape(1); /* ahead of its turn */
    wait_for_shape(0);
    wait_for_shape(3);
    assert_null(behind.lanes); /* done, and gone */
    assert_int_equal(script->n, 4);
    assert_int_equal(script->order[0], 64);
    assert_int_equal(script->order[3], 128);
    wait_for_shape(0); /* again is nothing */
}

/* What it races is not known beforehand, and it may compile while it races against time. */
static void a_cell_of_no_table_waits_for_all(void **state)
{
    (void)state;
    list(NULL, 0, 1);
    wait_for_shape(4);
    assert_null(behind.lanes);
    assert_int_equal(script->n, 4);
}

static void what_is_done_is_not_compiled(void **state)
{
    (void)state;
    list("[3,1,9]", 1, 2); /* a place that the config does not have is nobody's */
    assert_int_equal(lanes_wait_all(behind.lanes, 60), 2);
    wait_for_shape(3);
    assert_null(behind.lanes);
    assert_int_equal(script->n, 2);
    assert_int_equal(script->order[0], 32); /* the second worker's share comes first */
    assert_int_equal(script->order[1], 128);
}

static void without_lanes_nobody_waits(void **state)
{
    (void)state;
    wait_for_shape(0);
    assert_null(behind.lanes);
}

/* NVRTC itself, confined as it is beside a worker: what a lane has made is what setup finds. */
static void a_lane_fills_the_cache(void **state)
{
    const struct compile_define defines[] = {{"BM", 32}};
    char kernels[1024], path[1200];
    const struct compile_request one = {path, kernels, 90, defines, 1};
    struct lanes_request request = {.count = 1};
    struct compile_result result;
    struct error err;
    int version[2];
    (void)state;
    if (nvrtc_version(&version[0], &version[1], &err))
        skip();
    if (kernel_directory_find(NULL, kernels, sizeof kernels, &err) != 0)
        snprintf(kernels, sizeof kernels, "kernels");
    snprintf(path, sizeof path, "%s", scratch_path("one.cu"));
    scratch_write("one.cu", "extern \"C\" __global__ void gemm(u16 *c) { *c = BM; }\n");
    behind_compiler(&request);
    struct lanes *l = lanes_open(&request);
    assert_non_null(l);
    lanes_add(l, &one);
    lanes_seal(l);
    assert_int_equal(lanes_wait_all(l, 120), 1);
    assert_int_equal(compile_cubin(&one, &result, &err), 0);
    assert_true(result.cached);
    compile_result_free(&result);
    lanes_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_time_of_the_gpu_itself),
        cmocka_unit_test(not_beside_code_of_strangers),
        cmocka_unit_test(whole_cores_stay_free),
        cmocka_unit_test(few_processors_compile_ahead),
        cmocka_unit_test(workers_begin_with_their_share),
        cmocka_unit_test(a_lane_fills_the_cache),
        cmocka_unit_test_setup_teardown(a_cell_waits_for_its_own, open_run, close_run),
        cmocka_unit_test_setup_teardown(a_cell_of_no_table_waits_for_all, open_run, close_run),
        cmocka_unit_test_setup_teardown(what_is_done_is_not_compiled, open_run, close_run),
        cmocka_unit_test_setup_teardown(without_lanes_nobody_waits, open_run, close_run),
    };
    script = mmap(NULL, sizeof *script, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return script == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, scratch_make_cache, scratch_remove);
}
