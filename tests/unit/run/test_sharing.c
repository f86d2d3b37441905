/* Several devices in one run: cores given out, cells by length, GPUs that differ, and where the time went. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "fake_worker.h"
#include "record/journal.h"
#include "run/between.h"
#include "run/cores.h"
#include "run/differences.h"
#include "run/measuring.h"
#include "run/starting.h"
#include "run/timeline.h"
#include "run_fixture.h"

/* ---- cores ---- */

/* Processors from..to-1 in the room of the device. */
static void give_room(struct cores_view *view, int device, unsigned from, unsigned to)
{
    CPU_ZERO(&view->room[device]);
    for (unsigned cpu = from; cpu < to; cpu++)
        CPU_SET(cpu, &view->room[device]);
}

static struct cores_view *make_view(int devices)
{
    struct cores_view *view = calloc(1, sizeof *view);
    assert_non_null(view);
    view->devices = devices;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        view->core_of[cpu] = (int)cpu;
    return view;
}

static bool has_exactly(const cpu_set_t *set, unsigned from, unsigned to)
{
    bool all = CPU_COUNT(set) == (int)(to - from);
    for (unsigned cpu = from; cpu < to; cpu++)
        all = all && CPU_ISSET(cpu, set);
    return all;
}

static void test_one_node_is_split_evenly(void **state)
{
    cpu_set_t out[DEVICES_MAX];
    struct cores_view *view = make_view(2);
    (void)state;
    give_room(view, 0, 0, 32);
    give_room(view, 1, 0, 32);
    assert_true(cores_share(view, out));
    assert_true(has_exactly(&out[0], 0, 16));
    assert_true(has_exactly(&out[1], 16, 32));
    free(view);
}

static void test_nodes_stay_apart(void **state)
{
    cpu_set_t out[DEVICES_MAX];
    struct cores_view *view = make_view(3);
    (void)state;
    give_room(view, 0, 0, 8);
    give_room(view, 1, 8, 16);
    give_room(view, 2, 0, 8);
    assert_true(cores_share(view, out));
    assert_true(has_exactly(&out[0], 0, 4));
    assert_true(has_exactly(&out[1], 8, 16));
    assert_true(has_exactly(&out[2], 4, 8));
    free(view);
}

/* Processors 0 and 4 are threads of core 0, 1 and 5 of core 1, and so on. */
static void test_threads_of_a_core_stay_together(void **state)
{
    cpu_set_t out[DEVICES_MAX];
    struct cores_view *view = make_view(2);
    (void)state;
    give_room(view, 0, 0, 8);
    give_room(view, 1, 0, 8);
    for (unsigned cpu = 0; cpu < 8; cpu++)
        view->core_of[cpu] = (int)cpu % 4;
    assert_true(cores_share(view, out));
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        assert_int_equal(!!CPU_ISSET(cpu, &out[0]), cpu % 4 < 2);
        assert_int_equal(!!CPU_ISSET(cpu, &out[1]), cpu % 4 >= 2);
    }
    free(view);
}

static void test_too_few_cores_are_shared(void **state)
{
    cpu_set_t out[DEVICES_MAX];
    struct cores_view *view = make_view(3);
    (void)state;
    for (int i = 0; i < 3; i++)
        give_room(view, i, 0, 2);
    assert_false(cores_share(view, out));
    view->devices = 1; /* who is alone has them all */
    assert_false(cores_share(view, out));
    free(view);
}

/* A kernel's tree in which the first processor that we may use is of node 0, and the others are of node 1. */
static void write_tree(const char *root, const cpu_set_t *usable)
{
    struct error err;
    char path[256];
    int node = 0;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/bus/pci/devices/0000:0%d:00.0", root, i);
        assert_int_equal(file_make_directories(path, &err), 0);
        snprintf(path + strlen(path), sizeof path - strlen(path), "/numa_node");
        assert_int_equal(file_write_passing(path, i ? "1\n" : "0\n", 2, &err), 0);
    }
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, usable))
            continue;
        snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpu%u", root, node, cpu);
        assert_int_equal(file_make_directories(path, &err), 0);
        node = 1;
    }
}

static void test_nodes_are_read(void **state)
{
    struct devices devices = {.count = 2, .bus = {"0000:00:00.0", "0000:01:00.0"}};
    struct cores_view *view = make_view(2);
    cpu_set_t usable;
    char root[128];
    (void)state;
    snprintf(root, sizeof root, "%s/sys", t.directory);
    assert_int_equal(sched_getaffinity(0, sizeof usable, &usable), 0);
    write_tree(root, &usable);
    cores_read(root, &devices, view);
    if (CPU_COUNT(&usable) > 1) {
        assert_int_equal(CPU_COUNT(&view->room[0]), 1);
        assert_int_equal(CPU_COUNT(&view->room[1]), CPU_COUNT(&usable) - 1);
    }
    devices.bus[1][0] = '\0'; /* not known: anywhere, and so is the other one then */
    cores_read(root, &devices, view);
    assert_true(CPU_EQUAL(&view->room[0], &usable));
    assert_true(CPU_EQUAL(&view->room[1], &usable));
    free(view);
}

/* ---- cells ---- */

static void test_longest_cells_come_first(void **state)
{
    struct plan_cell cells[] = {{.cost_seconds = 2}, {.cost_seconds = 5}, {.cost_seconds = 2}, {.cost_seconds = 9}};
    const struct plan plan = {.cells = cells, .n_cells = 4};
    const size_t longest[] = {3, 1, 0, 2}, planned[] = {0, 1, 2, 3};
    size_t order[4];
    (void)state;
    measuring_order(&plan, 2, order);
    assert_memory_equal(order, longest, sizeof order);
    measuring_order(&plan, 1, order);
    assert_memory_equal(order, planned, sizeof order);
}

/* By its first cell that is not done, each once. */
static void test_shapes_are_told_in_the_order_of_cells(void **state)
{
    static struct shape shapes[] = {{.m = 8, .n = 8, .k = 16}, {.m = 16, .n = 8, .k = 16}, {.m = 32, .n = 8, .k = 16}};
    const struct config config = {.shapes = shapes, .n_shapes = 3};
    struct plan_cell cells[6] = {0};
    const struct plan plan = {.cells = cells, .n_cells = 6};
    const size_t order[] = {2, 1, 5, 0, 4, 3};
    const bool done[] = {true, true, false, false, false, false};
    (void)state;
    for (size_t i = 0; i < 6; i++)
        cells[i] = (struct plan_cell){.problem = shape_problem(&shapes[i % 3], CUDAL2_F16, CUDAL2_ACC_F32), .place = i};
    cJSON *told = starting_order(&config, &plan, order, done), *expected = cJSON_Parse("[2,1,0]");
    assert_true(cJSON_Compare(told, expected, true));
    cJSON_Delete(told);
    cJSON_Delete(expected);
}

static int take_end(void *context, const char *kind, struct json_at data, struct error *err)
{
    cJSON **end = context;
    (void)err;
    if (strcmp(kind, "end") == 0)
        *end = cJSON_Duplicate(data.node, true);
    return 0;
}

static cJSON *read_end(void)
{
    cJSON *end = NULL;
    assert_int_equal(journal_read(t.journal, take_end, &end, NULL, &t.err), 0);
    assert_non_null(end);
    return end;
}

static double number_at(const cJSON *object, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(node));
    return node->valuedouble;
}

static void test_time_spent_is_journaled(void **state)
{
    char line[512];
    (void)state;
    t.spec.devices = (struct devices){.count = 2, .spec = {"cpu", "cpu"}};
    assert_int_equal(go("harness=slow"), 0);
    struct journal_view v = complete_view();
    cJSON *end = read_end();
    const cJSON *spent = cJSON_GetObjectItemCaseSensitive(end, "time_spent");
    const cJSON *parts = cJSON_GetObjectItemCaseSensitive(spent, "parts"), *worker;
    assert_int_equal(cJSON_GetArraySize(parts), 1); /* nothing is watched on a CPU */
    const cJSON *workers = cJSON_GetObjectItemCaseSensitive(parts->child, "workers");
    double work = 0, seconds = number_at(parts->child, "seconds");
    assert_int_equal(cJSON_GetArraySize(workers), 2);
    cJSON_ArrayForEach(worker, workers)
    {
        double sum = number_at(worker, "start") + number_at(worker, "work") + number_at(worker, "idle") +
                     number_at(worker, "quit");
        assert_true(sum <= seconds + 0.01);
        work += number_at(worker, "work");
    }
    assert_true(work >= 0.19 * N_CELLS); /* each cell sleeps for 0.2 s */
    timeline_say(spent, line, sizeof line);
    assert_non_null(strstr(line, " s: measure "));
    cJSON_Delete(end);
    free_view(&v);
}

/* ---- the check between devices ---- */

static void test_few_cells_are_chosen_of_the_shortest(void **state)
{
    size_t order[250];
    struct between b = {.n = 0};
    (void)state;
    for (size_t i = 0; i < 250; i++)
        order[i] = i;
    between_choose(&b, order, 39, 2);
    assert_int_equal(b.n, 0); /* it would cost too much */
    between_choose(&b, order, 200, 1);
    assert_int_equal(b.n, 0);
    between_choose(&b, order, 200, 2);
    assert_int_equal(b.n, 1);
    assert_in_range(b.cells[0], 150, 199);
    between_choose(&b, order, 250, 2);
    assert_int_equal(b.n, 2);
    for (size_t i = 0; i < b.n; i++)
        assert_in_range(b.cells[i], 187, 249);
    assert_int_equal(between_next(&b, 1), 0);
    assert_int_equal(between_next(&b, 0), 0);
    assert_int_equal(between_next(&b, 1), 1);
}

#define FORTY                                                                                                          \
    "{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"t\",\"grid\":{\"m\":[1,2,3,4,5,6,7,8],\"n\":" \
    "[1,2,3,4,5],\"k\":[32]},\"dtype\":\"f32\",\"accumulate\":[\"f32\"],\"modes\":[\"offline\"],"                      \
    "\"baselines\":[\"beta\"],\"candidates\":[\"alpha\"]}"

static void test_each_device_measures_the_same_cell(void **state)
{
    int again = 0, first = 0;
    const cJSON *look;
    (void)state;
    config_free(&t.config);
    assert_int_equal(config_parse(FORTY, strlen(FORTY), "t.json", &t.config, &t.err), 0);
    t.spec.devices = (struct devices){.count = 2, .spec = {"cpu", "cpu"}};
    assert_int_equal(go("beside=even"), EXIT_CODE_INCOMPARABLE); /* a block alone tells nothing */
    cJSON *end = read_end();
    const cJSON *looks = cJSON_GetObjectItemCaseSensitive(end, "between_devices");
    cJSON_ArrayForEach(look, looks)
    {
        const cJSON *candidates = cJSON_GetObjectItemCaseSensitive(look, "candidates_ns");
        const cJSON *references = cJSON_GetObjectItemCaseSensitive(look, "references_ns");
        assert_true(number_at(candidates, "alpha") == 1000);
        assert_true(number_at(references, "beta") == 1000);
        assert_string_equal(cJSON_GetObjectItemCaseSensitive(look, "cell")->valuestring,
                            cJSON_GetObjectItemCaseSensitive(looks->child, "cell")->valuestring);
        again += cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(look, "again"));
        first += cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(look, "again"));
    }
    assert_int_equal(first, 1);
    assert_int_equal(again, 2);
    assert_int_equal((int)number_at(end, "cells"), 40); /* it adds none to the result */
    cJSON_Delete(end);
}

/* M of the cell that is chosen for the check. */
static int64_t chosen_m(void)
{
    struct plan plan;
    struct between b = {.n = 0};
    size_t order[40];
    assert_int_equal(plan_build(&t.config, false, 1, &plan, &t.err), 0);
    assert_int_equal(plan.n_cells, 40);
    measuring_order(&plan, 2, order);
    between_choose(&b, order, 40, 2);
    assert_int_equal(b.n, 1);
    int64_t m = plan.cells[b.cells[0]].problem.m;
    plan_free(&plan);
    return m;
}

/* A check in which the harness dies is left out, and costs the run nothing. */
static void test_a_check_that_fails_is_left_out(void **state)
{
    char script[64];
    (void)state;
    config_free(&t.config);
    assert_int_equal(config_parse(FORTY, strlen(FORTY), "t.json", &t.config, &t.err), 0);
    t.spec.devices = (struct devices){.count = 2, .spec = {"cpu", "cpu"}};
    snprintf(script, sizeof script, "beside=even,harness@%d=exit", (int)chosen_m());
    assert_int_equal(go(script), EXIT_CODE_INCOMPARABLE);
    cJSON *end = read_end();
    const cJSON *looks = cJSON_GetObjectItemCaseSensitive(end, "between_devices"), *look;
    assert_int_equal((int)number_at(end, "cells"), 40);
    cJSON_ArrayForEach(look, looks) assert_false(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(look, "again")));
    cJSON_Delete(end);
}

/* ---- GPUs ---- */

static void test_gpus_that_differ(void **state)
{
    char what[DIFFERENCES_MAX];
    cJSON *a = cJSON_Parse("{\"device\":{\"name\":\"H100\",\"power_limit_mw\":700000,\"max_sm_clock_mhz\":1980}}");
    cJSON *b = cJSON_Parse("{\"device\":{\"name\":\"H100\",\"power_limit_mw\":500000,\"max_sm_clock_mhz\":1980}}");
    cJSON *c = cJSON_Parse("{\"device\":{\"name\":\"H200\",\"power_limit_mw\":null,\"max_sm_clock_mhz\":1755}}");
    (void)state;
    assert_false(differences_of(a, a, what));
    assert_true(differences_of(a, b, what));
    assert_string_equal(what, "power limit 500 W (700 W)");
    assert_true(differences_of(a, c, what));
    assert_string_equal(what, "H200 (H100), SM clock 1755 MHz (1980 MHz)");
    cJSON_Delete(a);
    cJSON_Delete(b);
    cJSON_Delete(c);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node_is_split_evenly),
        cmocka_unit_test(test_nodes_stay_apart),
        cmocka_unit_test(test_threads_of_a_core_stay_together),
        cmocka_unit_test(test_too_few_cores_are_shared),
        cmocka_unit_test_setup_teardown(test_nodes_are_read, set_up, tear_down),
        cmocka_unit_test(test_longest_cells_come_first),
        cmocka_unit_test(test_shapes_are_told_in_the_order_of_cells),
        cmocka_unit_test_setup_teardown(test_time_spent_is_journaled, set_up, tear_down),
        cmocka_unit_test(test_few_cells_are_chosen_of_the_shortest),
        cmocka_unit_test_setup_teardown(test_each_device_measures_the_same_cell, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_check_that_fails_is_left_out, set_up, tear_down),
        cmocka_unit_test(test_gpus_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
