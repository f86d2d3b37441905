/* serve/measured: which kernels of which problems an outcome tells as its neighbours, and whose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/tree.h"
#include "serve/measured.h"

static struct measured all;

static struct submission submission_of(const char *name, const char *problem)
{
    struct submission s = {.kind = CANDIDATE_NAMED, .n_problems = 1, .accumulate = CUDAL2_ACC_F32};
    struct error err;
    snprintf(s.name, sizeof s.name, "%s", name);
    snprintf(s.baseline, sizeof s.baseline, "openblas");
    assert_int_equal(shape_parse(problem, &s.problems[0], &err), 0);
    return s;
}

static void add_of(const char *client, const struct submission *s, const char *problem, double ratio, const char *id)
{
    char text[256];
    const struct measured_job job = {client, id, s};
    snprintf(text, sizeof text, "{\"problems\":[{\"problem\":\"%s\",\"verdict\":\"ok\",\"ratio\":%g}]}", problem,
             ratio);
    cJSON *outcome = cJSON_Parse(text);
    measured_add(&all, &job, outcome);
    cJSON_Delete(outcome);
}

static void add(const char *client, const char *name, const char *problem, double ratio)
{
    static unsigned number;
    char id[DIGEST_HEX];
    const struct submission s = submission_of(name, problem);
    snprintf(id, sizeof id, "%032u", ++number);
    add_of(client, &s, problem, ratio, id);
}

/* "problem candidate, ..." of what is told. */
static const char *near(const char *client, const char *problem)
{
    static char text[512];
    const struct submission s = submission_of("new", problem);
    const struct measured_job job = {client, "ffffffffffffffffffffffffffffffff", &s};
    cJSON *list = measured_near(&all, &job);
    const cJSON *one;
    text[0] = '\0';
    cJSON_ArrayForEach(one, list) snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s, ",
                                           tree_text(one, "problem"), tree_text(one, "candidate"));
    cJSON_Delete(list);
    return text;
}

static int end(void **state)
{
    (void)state;
    measured_free(&all);
    return 0;
}

static void nearest_first_and_the_best_of_each_problem(void **state)
{
    (void)state;
    add("alice", "far", "4096x4096x4096", 1.5);
    add("alice", "slow", "128x128x128", 0.8);
    add("alice", "fast", "128x128x128", 1.2);
    add("alice", "slower", "128x128x128", 1.1);
    add("alice", "same", "64x64x64", 0.9);
    assert_string_equal(near("alice", "64x64x64"), "64x64x64 same, 128x128x128 fast, 4096x4096x4096 far, ");
    assert_string_equal(near("alice", "2048x4096x4096"), "4096x4096x4096 far, 128x128x128 fast, 64x64x64 same, ");
}

static void four_at_most(void **state)
{
    (void)state;
    for (int side = 16; side <= 256; side += 16) {
        char problem[32];
        snprintf(problem, sizeof problem, "%dx64x64", side);
        add("alice", "k", problem, 1);
    }
    assert_string_equal(near("alice", "64x64x64"), "64x64x64 k, 80x64x64 k, 48x64x64 k, 96x64x64 k, ");
}

static void own_ones_alone(void **state)
{
    (void)state;
    add("bob", "secret", "64x64x64", 2);
    assert_string_equal(near("alice", "64x64x64"), "");
    assert_string_equal(near("bob", "64x64x64"), "64x64x64 secret, ");
}

static void of_the_same_kind_alone(void **state)
{
    struct submission s = submission_of("k", "64x64x64");
    (void)state;
    s.mode = MODE_SERVER;
    add_of("alice", &s, "64x64x64", 1, "1");
    s = submission_of("k", "64x64x64");
    s.accumulate = CUDAL2_ACC_F16;
    add_of("alice", &s, "64x64x64", 1, "2");
    s = submission_of("k", "64x64x64");
    snprintf(s.baseline, sizeof s.baseline, "other");
    add_of("alice", &s, "64x64x64", 1, "3");
    s = submission_of("k", "64x64x64");
    add_of("alice", &s, "64x64x64", 1, "ffffffffffffffffffffffffffffffff"); /* the asker's own */
    assert_string_equal(near("alice", "64x64x64"), "");
}

static void parameters_are_told_and_source_is_not(void **state)
{
    char source[] = "the source";
    struct submission s = submission_of("multistage", "64x64x64");
    (void)state;
    s.kind = CANDIDATE_KERNEL;
    s.parameters = cJSON_Parse("{\"BM\":128}");
    add_of("alice", &s, "64x64x64", 1, "1");
    cJSON_Delete(s.parameters);
    s = submission_of("", "64x64x128");
    s.kind = CANDIDATE_SOURCE;
    s.source = source;
    add_of("alice", &s, "64x64x128", 1, "2");
    s = submission_of("new", "64x64x64");
    const struct measured_job job = {"alice", "3", &s};
    cJSON *list = measured_near(&all, &job);
    char *text = json_print(list, false);
    assert_string_equal(text, "[{\"problem\":\"64x64x64\",\"distance\":0,\"ratio\":1,\"kernel\":\"multistage\","
                              "\"parameters\":{\"BM\":128},\"id\":\"1\"},"
                              "{\"problem\":\"64x64x128\",\"distance\":1,\"ratio\":1,\"id\":\"2\"}]");
    free(text);
    cJSON_Delete(list);
}

static void the_oldest_goes(void **state)
{
    (void)state;
    add("alice", "first", "64x64x64", 1);
    add("alice", "second", "128x64x64", 1);
    for (unsigned i = 2; i < MEASURED_MOST; i++)
        add("bob", "k", "8x8x8", 1);
    assert_string_equal(near("alice", "64x64x64"), "64x64x64 first, 128x64x64 second, ");
    add("bob", "k", "8x8x8", 1);
    assert_string_equal(near("alice", "64x64x64"), "128x64x64 second, ");
    assert_int_equal(all.n, MEASURED_MOST);
}

static void what_failed_is_no_neighbour(void **state)
{
    const struct submission s = submission_of("k", "64x64x64");
    const struct measured_job job = {"alice", "1", &s};
    cJSON *outcome = cJSON_Parse("{\"problems\":[{\"problem\":\"64x64x64\",\"verdict\":\"crash\",\"ratio\":9},"
                                 "{\"problem\":\"nonsense\",\"verdict\":\"ok\",\"ratio\":1}]}");
    (void)state;
    measured_add(&all, &job, outcome);
    cJSON_Delete(outcome);
    assert_string_equal(near("alice", "64x64x64"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nearest_first_and_the_best_of_each_problem, end),
        cmocka_unit_test_teardown(four_at_most, end),
        cmocka_unit_test_teardown(own_ones_alone, end),
        cmocka_unit_test_teardown(of_the_same_kind_alone, end),
        cmocka_unit_test_teardown(parameters_are_told_and_source_is_not, end),
        cmocka_unit_test_teardown(the_oldest_goes, end),
        cmocka_unit_test_teardown(what_failed_is_no_neighbour, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
