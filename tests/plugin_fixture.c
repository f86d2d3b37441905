/*
 * plugin_fixture.c - opens a built plugin, runs it on the CPU device and holds its output against the reference.
 * Linked into the tests of baselines and plugins.
 */
#include "plugin_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/half.h"
#include "base/json.h"

#define SETS 2
#define ALIGNMENT 256

bool fixture_open(const char *name, uint32_t device_bit, struct plugin *out)
{
    char here[512];
    char path[1024];
    struct error err;
    struct device_info device = {.device_bit = device_bit};
    assert_int_equal(file_executable_directory(here, sizeof here, &err), 0);
    snprintf(path, sizeof path, "%s/../plugins/%s.so", here, name);
    if (access(path, R_OK) != 0)
        return false;
    if (plugin_open(path, &device, out, &err) != 0)
        fail_msg("%s", err.text);
    return true;
}

struct contender fixture_contender(const struct plugin *plugin, const char *name)
{
    struct contender c;
    for (size_t i = 0; i < plugin->is->n_contenders; i++) {
        plugin_contender(plugin, i, ROLE_BASELINE, &c);
        if (strcmp(c.name, name) == 0)
            return c;
    }
    fail_msg("%s has no contender %s", plugin->path, name);
    abort();
}

static void *allocate(int64_t elements)
{
    size_t bytes = ((size_t)elements * sizeof(float) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, bytes);
    assert_non_null(memory);
    return memory;
}

/* Small whole numbers that differ between sets, rows and columns: -2 .. 2. */
static float a_value(size_t set, int64_t i, int64_t p)
{
    return (float)((i * 7 + p * 3 + (int64_t)set) % 5 - 2);
}

static float b_value(size_t set, int64_t p, int64_t j)
{
    return (float)((p * 5 + j * 11 + 2 * (int64_t)set) % 5 - 2);
}

static void fill(const struct contender *c, const struct cudal2_problem *q, size_t set, struct cudal2_operands *o)
{
    void *a = allocate(q->m * q->k);
    void *b = allocate(q->k * q->n);
    for (int64_t i = 0; i < q->m; i++)
        for (int64_t p = 0; p < q->k; p++)
            element_store(a, q->dtype, (size_t)(i * q->k + p), a_value(set, i, p));
    for (int64_t p = 0; p < q->k; p++)
        for (int64_t j = 0; j < q->n; j++)
            element_store(b, q->dtype, (size_t)(c->is.layout == CUDAL2_NN ? p * q->n + j : j * q->k + p),
                          b_value(set, p, j));
    *o = (struct cudal2_operands){a, b, allocate(q->m * q->n)};
}

static void check(const struct cudal2_problem *q, size_t set, const struct cudal2_operands *o)
{
    for (int64_t i = 0; i < q->m; i++)
        for (int64_t j = 0; j < q->n; j++) {
            float expected = 0.0f;
            for (int64_t p = 0; p < q->k; p++)
                expected += a_value(set, i, p) * b_value(set, p, j);
            float got = element_load(o->c, q->dtype, (size_t)(i * q->n + j));
            if (got != expected)
                fail_msg("set %zu: C[%d][%d] is %g, not %g", set, (int)i, (int)j, (double)got, (double)expected);
        }
}

static void check_description(const struct contender *c, void *state)
{
    char text[2048];
    cJSON *tree = NULL;
    struct error err;
    assert_int_equal(c->ops->describe(c, state, text, sizeof text), CUDAL2_OK);
    if (json_parse(text, strlen(text), sizeof text, c->name, &tree, &err) != 0)
        fail_msg("%s", err.text);
    const cJSON *accumulates = cJSON_GetObjectItemCaseSensitive(tree, "accumulates");
    assert_true(cJSON_IsString(accumulates));
    assert_string_equal(accumulates->valuestring, "f32");
    cJSON_Delete(tree);
}

static void launch_all(const struct contender *c, void *state, const struct cudal2_setup *setup)
{
    const struct cudal2_problem *q = &setup->problem;
    char why[CUDAL2_WHY];
    for (size_t round = 0; round < 2 * SETS; round++) {
        size_t set = round % SETS;
        memset(setup->sets[set].c, 0xff, (size_t)(q->m * q->n) * dtype_bytes(q->dtype));
        assert_int_equal(c->ops->launch(c, state, set, why), CUDAL2_OK);
        check(q, set, &setup->sets[set]);
    }
}

int fixture_multiply(const struct contender *c, struct cudal2_problem problem, int threads, char *why)
{
    struct cudal2_operands sets[SETS];
    void *state;
    for (size_t set = 0; set < SETS; set++)
        fill(c, &problem, set, &sets[set]);
    struct cudal2_setup setup = {
        .problem = problem, .layout = c->is.layout, .sets = sets, .n_sets = SETS, .threads = threads};
    int status = c->ops->setup(c, &setup, &state, why);
    if (status == CUDAL2_OK) {
        launch_all(c, state, &setup);
        check_description(c, state);
        c->ops->teardown(c, state);
    }
    for (size_t set = 0; set < SETS; set++) {
        free((void *)(uintptr_t)sets[set].a);
        free((void *)(uintptr_t)sets[set].b);
        free(sets[set].c);
    }
    return status;
}
