/* Every parameter of every kernel of the set does something: two configurations that differ in it alone have another
 * launch, or other machine code. Needs NVRTC and no GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "compile/compile.h"
#include "compile/nvrtc.h"
#include "h200_fixture.h"

#define ATTEMPTS 2 /* pairs that are compiled with all else at its default, and as many from the search space */
#define STRIDE 7   /* through the space */

static const struct cudal2_problem problems[] = {
    {4096, 4096, 4096, CUDAL2_F16, CUDAL2_ACC_F32}, {512, 512, 4096, CUDAL2_F16, CUDAL2_ACC_F32},
    {64, 8192, 8192, CUDAL2_F16, CUDAL2_ACC_F32},   {8192, 64, 8192, CUDAL2_F16, CUDAL2_ACC_F32},
    {64, 64, 4096, CUDAL2_F16, CUDAL2_ACC_F32},
};

struct pair {
    const struct manifest *manifest;
    struct manifest_conditions conditions;
    const int64_t *values[2];
    struct manifest_plan plans[2];
};

static void skip_without_nvrtc(void)
{
    struct error err;
    int major, minor;
    if (nvrtc_version(&major, &minor, &err) != 0) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
}

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

static bool launches_differ(const struct manifest_plan *a, const struct manifest_plan *b)
{
    return memcmp(a->grid, b->grid, sizeof a->grid) != 0 || memcmp(a->block, b->block, sizeof a->block) != 0 ||
           memcmp(a->cluster, b->cluster, sizeof a->cluster) != 0 || a->shared_bytes != b->shared_bytes;
}

static bool is_compiled_in(const char *name)
{
    static const char *const of_the_launch[] = {"M", "N", "K", "SM_COUNT", "L2_BYTES"};
    for (size_t i = 0; i < sizeof of_the_launch / sizeof *of_the_launch; i++)
        if (strcmp(name, of_the_launch[i]) == 0)
            return false;
    return true;
}

/* Of the cubin, with `extra` defined as 1 (NULL: nothing more). */
static void hash_code(const struct manifest *m, const struct manifest_plan *plan, const char *extra,
                      char hash[DIGEST_HEX])
{
    struct compile_define defines[MANIFEST_MAX_NAMES + 1];
    struct compile_request request = {m->source_path, "kernels", h200.info.cc, defines, 0};
    struct compile_result result;
    struct error err;
    for (size_t i = 0; i < plan->n_names; i++)
        if (is_compiled_in(plan->names[i].name))
            defines[request.n_defines++] = (struct compile_define){plan->names[i].name, plan->names[i].value};
    if (extra)
        defines[request.n_defines++] = (struct compile_define){extra, 1};
    if (compile_cubin(&request, &result, &err) != 0)
        fail_msg("%s: %s", m->source_path, err.text);
    memcpy(hash, result.hash, DIGEST_HEX);
    compile_result_free(&result);
}

static bool code_differs(const struct pair *p)
{
    char hash[2][DIGEST_HEX];
    for (int i = 0; i < 2; i++)
        hash_code(p->manifest, &p->plans[i], NULL, hash[i]);
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
        if (launches_differ(&t->pair.plans[0], &t->pair.plans[1]))
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

static bool counts(const struct space *s, const struct manifest *m, size_t parameter)
{
    int64_t defaults[MANIFEST_MAX_PARAMETERS];
    struct trial t = {.pair = {.manifest = m,
                               .conditions = {.problem = {64, 64, 64, CUDAL2_F16, CUDAL2_ACC_F32},
                                              .layout = CUDAL2_NN,
                                              .cc = h200.info.cc,
                                              .sm_count = h200.info.sm_count,
                                              .l2_bytes = (int64_t)h200.info.l2_bytes}},
                      .parameter = parameter,
                      .attempts = ATTEMPTS};
    manifest_defaults(m, defaults);
    return shows(&t, defaults) || shows_in_space(&t, s) || shows_beside_another(&t, defaults);
}

static void every_parameter_counts(void **state)
{
    const struct space_conditions conditions = h200_conditions(CUDAL2_ACC_F32, CUDAL2_NN);
    struct module_set *set = open_cudal2();
    struct space s;
    (void)state;
    skip_without_nvrtc();
    open_space(set, &conditions, &s);
    assert_int_equal(s.n_kernels, 3);
    for (size_t k = 0; k < s.n_kernels; k++)
        for (size_t i = 0; i < s.kernels[k]->n_parameters; i++)
            if (!counts(&s, s.kernels[k], i))
                fail_msg("%s: %s changes neither launch nor code", s.kernels[k]->name,
                         s.kernels[k]->parameters[i].name);
    space_free(&s);
    module_set_close(set);
}

/* What the code does not ask for leaves the same bytes, so an idle parameter would be found. */
static void an_idle_definition_changes_nothing(void **state)
{
    struct module_set *set = open_cudal2();
    const struct manifest *m = module_set_manifest(set, "tiny");
    int64_t values[MANIFEST_MAX_PARAMETERS];
    struct pair p = {.manifest = m,
                     .conditions = {.problem = {64, 64, 64, CUDAL2_F16, CUDAL2_ACC_F32},
                                    .layout = CUDAL2_NN,
                                    .cc = h200.info.cc,
                                    .sm_count = h200.info.sm_count,
                                    .l2_bytes = (int64_t)h200.info.l2_bytes},
                     .values = {values, values}};
    char hash[2][DIGEST_HEX];
    (void)state;
    skip_without_nvrtc();
    manifest_defaults(m, values);
    assert_true(plan_both(&p));
    hash_code(m, &p.plans[0], NULL, hash[0]);
    hash_code(m, &p.plans[0], "IDLE", hash[1]);
    assert_string_equal(hash[0], hash[1]);
    module_set_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_definition_changes_nothing),
        cmocka_unit_test(every_parameter_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
