/* Every parameter of every kernel of the set does something: two configurations that differ in it alone have another
 * launch, or other machine code. Needs NVRTC and no GPU. A minute of two cores: all kernels in make test-all, else the
 * first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h200_fixture.h"
#include "nvrtc_fixture.h"
#include "scratch_fixture.h"

#define ATTEMPTS 2 /* pairs that are compiled with all else at its default, and as many from the search space */
#define STRIDE 7   /* through the space */

static const struct cudal2_problem problems[] = {
    {.m = 4096, .n = 4096, .k = 4096, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
    {.m = 512, .n = 512, .k = 4096, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
    {.m = 64, .n = 8192, .k = 8192, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
    {.m = 8192, .n = 64, .k = 8192, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
    {.m = 64, .n = 64, .k = 4096, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
    {.m = 8192, .n = 8192, .k = 256, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
    {.m = 8192, .n = 8192, .k = 128, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
};

struct pair {
    const struct module_set *set;
    const struct manifest *manifest;
    struct manifest_conditions conditions;
    const int64_t *values[2];
    struct manifest_plan plans[2];
};

/* A problem that both take; false when there is none. */
static bool plan_both(struct pair *p)
{
    char why[CUDAL2_WHY];
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const enum cudal2_accumulate accumulate = p->conditions.problem.accumulate;
        p->conditions.problem = problems[i];
        p->conditions.problem.accumulate = accumulate;
        if (manifest_plan(p->manifest, &p->conditions, p->values[0], &p->plans[0], why) == CUDAL2_OK &&
            manifest_plan(p->manifest, &p->conditions, p->values[1], &p->plans[1], why) == CUDAL2_OK)
            return true;
    }
    return false;
}

/* Of the cubin that the values give. */
static void hash_code(const struct pair *p, const int64_t *values, char hash[DIGEST_HEX])
{
    struct cudal2_variant variant;
    const struct module_compile_request request = {variant.key, p->conditions.problem, p->conditions.layout};
    struct compile_result result;
    char why[CUDAL2_WHY];
    assert_int_equal(manifest_key(p->manifest, values, variant.key, sizeof variant.key), 0);
    if (module_set_compile(p->set, &request, &result, why) != CUDAL2_OK)
        fail_msg("%s: %s", variant.key, why);
    memcpy(hash, result.hash, DIGEST_HEX);
    compile_result_free(&result);
}

static bool code_differs(const struct pair *p)
{
    char hash[2][DIGEST_HEX];
    for (int i = 0; i < 2; i++)
        hash_code(p, p->values[i], hash[i]);
    return strcmp(hash[0], hash[1]) != 0;
}

/* A parameter on trial. */
struct trial {
    struct pair pair;
    size_t parameter;
    int attempts; /* pairs that may still be compiled */
};

/* Whether `values` with another value of the parameter is legal and shows that the parameter counts. */
static bool shows(struct trial *t, const int64_t *values)
{
    const struct manifest_parameter *about = &t->pair.manifest->parameters[t->parameter];
    char why[CUDAL2_WHY];
    for (size_t v = 0; v < about->n_values && t->attempts > 0; v++) {
        int64_t other[MANIFEST_MAX_PARAMETERS];
        memcpy(other, values, sizeof other);
        other[t->parameter] = about->values[v];
        t->pair.values[0] = values;
        t->pair.values[1] = other;
        if (other[t->parameter] == values[t->parameter] ||
            manifest_check(t->pair.manifest, &t->pair.conditions, other, why) != CUDAL2_OK || !plan_both(&t->pair))
            continue;
        if (!manifest_same_launch(t->pair.manifest, &t->pair.plans[0], &t->pair.plans[1]))
            return true;
        t->attempts--;
        if (code_differs(&t->pair))
            return true;
    }
    return false;
}

/* The same beside another value of some second parameter: REDUCE says nothing where K is not split. */
static bool shows_beside_another(struct trial *t, const int64_t *values)
{
    const struct manifest *m = t->pair.manifest;
    char why[CUDAL2_WHY];
    for (size_t q = 0; q < m->n_parameters; q++)
        for (size_t v = 0; v < m->parameters[q].n_values; v++) {
            int64_t base[MANIFEST_MAX_PARAMETERS];
            memcpy(base, values, sizeof base);
            base[q] = m->parameters[q].values[v];
            t->attempts = 1;
            if (q != t->parameter && manifest_check(m, &t->pair.conditions, base, why) == CUDAL2_OK && shows(t, base))
                return true;
        }
    return false;
}

/* The same beside what a search would try, here and there: PARTS asks for a split that is summed in a certain way. */
static bool shows_in_space(struct trial *t, const struct space *s)
{
    t->attempts = ATTEMPTS;
    for (size_t i = 0; i < s->n_configurations; i += STRIDE)
        if (s->kernels[s->configurations[i].kernel] == t->pair.manifest && shows(t, s->configurations[i].values))
            return true;
    return false;
}

static struct trial trial_of(const struct module_set *set, const struct manifest *m, size_t parameter)
{
    const struct cudal2_problem problem = {
        .m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    return (struct trial){
        .pair = {.set = set, .manifest = m, .conditions = manifest_conditions_on(&h200.info, &problem, CUDAL2_NN)},
        .parameter = parameter,
        .attempts = ATTEMPTS};
}

static bool counts(const struct module_set *set, const struct space *s, const struct manifest *m, size_t parameter)
{
    int64_t defaults[MANIFEST_MAX_PARAMETERS];
    struct trial t = trial_of(set, m, parameter);
    manifest_defaults(m, defaults);
    return shows(&t, defaults) || shows_in_space(&t, s) || shows_beside_another(&t, defaults);
}

static void every_parameter_counts(void **state)
{
    const struct space_conditions conditions = h200_conditions(CUDAL2_ACC_F32, CUDAL2_NN);
    struct module_set *set = open_cudal2();
    struct space s;
    (void)state;
    require_nvrtc();
    open_space(set, &conditions, &s);
    assert_int_equal(s.n_kernels, 4);
    for (size_t k = 0; k < s.n_kernels; k++)
        for (size_t i = 0; i < s.kernels[k]->n_parameters && (k == 0 || getenv("CUDAL2_SLOW")); i++)
            if (!counts(set, &s, s.kernels[k], i))
                fail_msg("%s: %s changes neither launch nor code", s.kernels[k]->name,
                         s.kernels[k]->parameters[i].name);
    space_free(&s);
    module_set_close(set);
}

/* What is said to be of the launch alone must not be what the code is made with: its values share a cubin. */
static void a_parameter_of_the_launch_leaves_the_code_alone(void **state)
{
    const struct cudal2_problem problem = {
        .m = 4096, .n = 4096, .k = 4096, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    struct module_set *set = open_cudal2();
    const struct manifest *m = module_set_manifest(set, "persistent");
    struct pair p = {.set = set, .manifest = m, .conditions = manifest_conditions_on(&h200.info, &problem, CUDAL2_NN)};
    int64_t values[2][MANIFEST_MAX_PARAMETERS];
    size_t n = 0;
    (void)state;
    require_nvrtc();
    for (size_t i = 0; i < m->n_parameters; i++) {
        if (!m->parameters[i].launch)
            continue;
        n++;
        for (int v = 0; v < 2; v++) {
            manifest_defaults(m, values[v]);
            values[v][i] = m->parameters[i].values[v];
            p.values[v] = values[v];
        }
        assert_false(code_differs(&p));
        assert_true(plan_both(&p) && !manifest_same_launch(m, &p.plans[0], &p.plans[1]));
    }
    assert_int_equal(n, 4); /* FETCH, EARLY, RASTER, DOWN */
    module_set_close(set);
}

/* A parameter that nothing asks for is found to be idle. */
static void an_idle_parameter_is_found(void **state)
{
    int64_t defaults[MANIFEST_MAX_PARAMETERS];
    char path[256];
    struct module_set *set;
    struct error err;
    (void)state;
    require_nvrtc();
    scratch_write("idle.cu", "extern \"C\" __global__ void gemm(u16 *c) { c[threadIdx.x] = BUSY; }\n");
    scratch_write(
        "idle.json",
        "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"idle\",\"source\":\"idle.cu\","
        "\"entry\":\"gemm\",\"arch_min\":80,\"arch_max\":0,\"dtypes\":[\"f16\"],\"accumulate\":[\"f32\"],\"layouts\":["
        "\"nn\"],"
        "\"parameters\":{\"IDLE\":{\"values\":[0,1],\"default\":0},\"BUSY\":{\"values\":[3,4],\"default\":3}},"
        "\"grid\":[\"1\",\"1\",\"1\"],\"block\":[\"32\",\"1\",\"1\"],\"shared_bytes\":\"0\",\"workspace_bytes\":\"0\","
        "\"arguments\":[\"c\"]}");
    snprintf(path, sizeof path, "%s/idle.json", scratch);
    if (module_set_open(path, "kernels", &h200, &set, &err))
        fail_msg("%s", err.text);
    const struct manifest *m = module_set_manifest(set, "idle");
    struct trial idle = trial_of(set, m, 0), busy = trial_of(set, m, 1);
    manifest_defaults(m, defaults);
    assert_false(shows(&idle, defaults) || shows_beside_another(&idle, defaults));
    assert_true(shows(&busy, defaults));
    module_set_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_parameter_is_found),
        cmocka_unit_test(a_parameter_of_the_launch_leaves_the_code_alone),
        cmocka_unit_test(every_parameter_counts),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
