/* Which of our kernels compile for which architecture, and that docs/faq.md says so. Needs NVRTC and no GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "contender/module_set.h"
#include "h200_fixture.h"
#include "nvrtc_fixture.h"
#include "scratch_fixture.h"

static const char *const kernels[] = {"skeleton", "tiny", "multistage", "persistent", "decode", "odd", "slide"};
#define N_KERNELS (sizeof kernels / sizeof kernels[0])

/* Of the kernel's defaults, TN accumulated in f32; false where its manifest leaves the architecture out. */
static bool compiles(const char *kernel, int cc)
{
    char path[64], why[CUDAL2_WHY] = "";
    struct device device = h200;
    struct module_set *set = NULL;
    struct error err;
    device.info.cc = cc;
    snprintf(path, sizeof path, "kernels/%s.json", kernel);
    if (module_set_open(path, "kernels", &device, &set, &err))
        fail_msg("%s", err.text);
    const struct manifest *m = set->kernels[0];
    bool taken = cc >= m->arch_min && (m->arch_max == 0 || cc <= m->arch_max);
    struct module_identity job = {.dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32, .layout = CUDAL2_TN};
    memcpy(job.values, set->entries[0].values, sizeof job.values);
    const struct cudal2_problem any = {.m = 1, .n = 1, .k = 1, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    const struct manifest_conditions conditions = manifest_conditions_on(&device.info, &any, CUDAL2_TN);
    struct expr_variable names[MANIFEST_MAX_NAMES];
    struct expr_scope scope = {names, 0};
    struct compile_result result = {0};
    if (taken && (manifest_names(m, &conditions, job.values, names, &scope.count, &err) ||
                  set_compile(set, &job, &scope, &result, why) != CUDAL2_OK))
        fail_msg("%s for sm_%d: %s", kernel, cc, why);
    compile_result_free(&result);
    module_set_close(set);
    return taken;
}

/* "| `sm_90` | H100, H200 | skeleton, tiny | ...": the row's third column is these kernels. */
static void expect_row(const char *page, int cc, const char *list)
{
    char start[32], wanted[200];
    snprintf(start, sizeof start, "\n| `sm_%d` |", cc);
    snprintf(wanted, sizeof wanted, "| %s |", list);
    const char *row = strstr(page, start);
    if (!row)
        fail_msg("docs/faq.md has no row of sm_%d", cc);
    size_t length = strcspn(row + 1, "\n");
    char *line = strndup(row + 1, length);
    assert_non_null(line);
    if (!strstr(line, wanted))
        fail_msg("docs/faq.md: expected \"%s\" in: %s", wanted, line);
    free(line);
}

static void what_the_page_says_compiles(void **state)
{
    static const int architectures[] = {80, 89, 90, 100, 120};
    char *page = NULL;
    size_t length = 0;
    struct error err;
    (void)state;
    require_nvrtc();
    setenv("CUDAL2_CACHE", scratch, 1);
    if (file_read("docs/faq.md", 1 << 20, &page, &length, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        struct text list = {0};
        for (size_t k = 0; k < N_KERNELS; k++)
            if (compiles(kernels[k], architectures[i]))
                text_add(&list, "%s%s", list.length ? ", " : "", kernels[k]);
        assert_non_null(list.bytes);
        expect_row(page, architectures[i], list.bytes);
        text_free(&list);
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_page_says_compiles)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
