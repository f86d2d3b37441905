/* Which of our kernels compile for which architecture, that docs/faq.md says so, and that the harness's own kernels
 * compile for each of them. Needs NVRTC and no GPU. */
#include <dirent.h>
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

#define NAMES_MAX 32

static const int architectures[] = {80, 89, 90, 100, 120};
#define N_ARCHITECTURES (sizeof architectures / sizeof architectures[0])

/* Files of a directory by the ending of their names, without it, in the order of the alphabet. */
struct names {
    char list[NAMES_MAX][64];
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void read_names(const char *directory, const char *ending, struct names *out)
{
    DIR *d = opendir(directory);
    assert_non_null(d);
    out->n = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!text_ends_with(e->d_name, ending) || strstr(e->d_name, ".schema."))
            continue;
        assert_true(out->n < NAMES_MAX);
        snprintf(out->list[out->n++], sizeof out->list[0], "%.*s", (int)(strlen(e->d_name) - strlen(ending)),
                 e->d_name);
    }
    closedir(d);
    qsort(out->list, out->n, sizeof out->list[0], by_name);
    assert_true(out->n > 0);
}

/* Of the kernel's defaults, TN accumulated in f32; false where its manifest leaves the architecture out. */
static bool compiles(const char *kernel, int cc, enum cudal2_dtype dtype)
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
    struct module_identity job = {.dtype = dtype, .accumulate = CUDAL2_ACC_F32, .layout = CUDAL2_TN};
    memcpy(job.values, set->entries[0].values, sizeof job.values);
    const struct cudal2_problem any = {.m = 1, .n = 1, .k = 1, .dtype = dtype, .accumulate = CUDAL2_ACC_F32};
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

/* "| `sm_90` | H100, H200 | decode, tiny | ...": the row's third column is these kernels. */
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
    struct names kernels;
    char *page = NULL;
    size_t length = 0;
    struct error err;
    (void)state;
    require_nvrtc();
    setenv("CUDAL2_CACHE", scratch, 1);
    if (file_read("docs/faq.md", 1 << 20, &page, &length, &err))
        fail_msg("%s", err.text);
    read_names("kernels", ".json", &kernels);
    for (size_t i = 0; i < N_ARCHITECTURES; i++) {
        struct text list = {0};
        for (size_t k = 0; k < kernels.n; k++)
            if (compiles(kernels.list[k], architectures[i], CUDAL2_F16) &&
                compiles(kernels.list[k], architectures[i], CUDAL2_BF16))
                text_add(&list, "%s%s", list.length ? ", " : "", kernels.list[k]);
        assert_non_null(list.bytes);
        expect_row(page, architectures[i], list.bytes);
        text_free(&list);
    }
    free(page);
}

/* What verifies and times on any GPU; of sm_90 other tests compile it. */
static void the_harness_compiles_for_each(void **state)
{
    const struct compile_define defines[] = {{"DTYPE", CUDAL2_BF16}, {"LAYOUT_TN", 1}, {"WIDE", 1}};
    struct names kernels;
    (void)state;
    require_nvrtc();
    setenv("CUDAL2_CACHE", scratch, 1);
    read_names("kernels/harness", ".cu", &kernels);
    for (size_t i = 0; i < N_ARCHITECTURES * kernels.n; i++) {
        char path[128];
        struct compile_request request = {path, "kernels", architectures[i / kernels.n], defines, 3};
        struct compile_result result = {0};
        struct error err;
        snprintf(path, sizeof path, "kernels/harness/%s.cu", kernels.list[i % kernels.n]);
        if (compile_cubin(&request, &result, &err) != 0)
            fail_msg("sm_%d: %s", request.cc, err.text);
        compile_result_free(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_page_says_compiles),
                                       cmocka_unit_test(the_harness_compiles_for_each)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
