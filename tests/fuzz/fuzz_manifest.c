/*
 * fuzz_manifest.c - a kernel's manifest that is accepted keeps its limits, can be planned for any problem, its maps
 * too, without a fault, and its keys can be read back.
 */
#include "fuzz.h"

#include "contender/manifest.h"

static const struct manifest_conditions conditions[] = {
    {{.m = 1, .n = 1, .k = 1, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16}, CUDAL2_NN, 80, 108, 40 << 20, false},
    {{.m = 16384, .n = 16384, .k = 16384, .dtype = CUDAL2_BF16, .accumulate = CUDAL2_ACC_F32},
     CUDAL2_TN,
     90,
     132,
     50 << 20,
     false},
    {{.m = 64, .n = 4096, .k = 128, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
     CUDAL2_NN,
     90,
     132,
     50 << 20,
     true},
    {{.m = 1048576, .n = 1, .k = 1048576, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16},
     CUDAL2_TN,
     120,
     1,
     0,
     false},
};

static void check_promises(const struct manifest *m)
{
    require(m->n_parameters <= MANIFEST_MAX_PARAMETERS && m->n_defines <= MANIFEST_MAX_NAMED);
    require(m->n_terms <= MANIFEST_MAX_NAMED);
    require(m->n_constraints <= MANIFEST_MAX_RULES && m->n_problem_constraints <= MANIFEST_MAX_RULES);
    require(m->n_arguments <= MANIFEST_MAX_ARGUMENTS && m->name[0] && m->entry[0] && m->source_path);
    require(m->dtypes && m->accumulates && m->layouts);
    for (size_t i = 0; i < m->n_parameters; i++) {
        const struct manifest_parameter *p = &m->parameters[i];
        require(p->n_values >= 1 && p->n_values <= MANIFEST_MAX_VALUES && manifest_value_listed(p, p->fallback));
    }
}

static void plan_all(const struct manifest *m, const int64_t *values)
{
    static struct manifest_plan plan;
    char why[CUDAL2_WHY];
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        int status = manifest_plan(m, &conditions[i], values, &plan, why);
        if (status == CUDAL2_OK && manifest_check_maps(m, &conditions[i], &plan, why) != CUDAL2_OK)
            require(memchr(why, '\0', sizeof why) && why[0]);
        if (status == CUDAL2_OK)
            require(plan.grid[0] && plan.grid[1] && plan.grid[2] && plan.block[0] && plan.block[1] && plan.block[2]);
        else
            require(memchr(why, '\0', sizeof why) && why[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest *m = NULL;
    struct error err = {0};
    int64_t values[MANIFEST_MAX_PARAMETERS] = {0}, back[MANIFEST_MAX_PARAMETERS] = {0};
    char key[4096];
    int code = manifest_parse("kernels/fuzz/kernel.json", (const char *)data, size, &m, &err);
    if (code) {
        require_refusal(code, &err);
        return 0;
    }
    check_promises(m);
    manifest_defaults(m, values);
    plan_all(m, values);
    for (size_t i = 0; i < m->n_parameters; i++)
        values[i] = m->parameters[i].values[m->parameters[i].n_values - 1];
    plan_all(m, values);
    if (manifest_key(m, values, key, sizeof key) >= 0) {
        require(manifest_parse_key(m, key, back));
        require(memcmp(values, back, m->n_parameters * sizeof *values) == 0);
    }
    manifest_free(m);
    return 0;
}
