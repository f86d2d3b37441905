/* The kernel set cudal2-invariant on a described H200: it has something for every problem, and for one N and K all that
 * it has, whatever M is, makes its sums in one order: the same products, the same shares of K. */
#include "contender/manifest.h"
#include "contender/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "h200_fixture.h"

enum { MOST = 8 }; /* as many as the harness tries for an M (verify/invariance.h) */

static const int64_t sizes[] = {1,   7,    8,    48,   64,   65,   96,   128,  200,  256,   300,  512,
                                777, 1000, 1024, 1536, 2048, 2056, 4096, 4100, 8192, 14336, 16384};
#define SIZES (sizeof sizes / sizeof *sizes)

/* What decides the order of a sum: with what it is multiplied, and into how many shares K is split. */
struct order {
    char kernel[MANIFEST_NAME_MAX];
    int split;
};

/* A variant's key is the kernel's name and its parameters. */
static struct order order_of(const char *key)
{
    struct order o = {.split = 1};
    const char *split = strstr(key, "SPLIT_K=");
    snprintf(o.kernel, sizeof o.kernel, "%.*s", (int)strcspn(key, ":"), key);
    if (split)
        assert_int_equal(sscanf(split, "SPLIT_K=%d", &o.split), 1);
    assert_null(strstr(key, "STREAM_K=1"));
    assert_null(strstr(key, "STREAM_K=2"));
    return o;
}

static void same_order(const struct module_set *set, struct cudal2_setup setup, struct order *known)
{
    struct cudal2_variant variants[64];
    struct contender c;
    char why[CUDAL2_WHY] = "";
    module_set_contender(set, setup.layout, &c);
    int n = c.ops->list_variants(&c, &setup, variants, 64, why);
    if (n < 1 || n > MOST)
        fail_msg("%ldx%ldx%ld: %d entries %s", (long)setup.problem.m, (long)setup.problem.n, (long)setup.problem.k, n,
                 why);
    for (int i = 0; i < n; i++) {
        struct order o = order_of(variants[i].key);
        if (!known->kernel[0])
            *known = o;
        if (strcmp(known->kernel, o.kernel) != 0 || known->split != o.split)
            fail_msg("%ldx%ldx%ld: %s and %s with K in %d and %d", (long)setup.problem.m, (long)setup.problem.n,
                     (long)setup.problem.k, known->kernel, o.kernel, known->split, o.split);
    }
}

static void order_follows_from_n_and_k(void **state)
{
    struct module_set *set;
    struct error err;
    (void)state;
    if (module_set_open("cudal2-invariant", "kernels", &h200, &set, &err))
        fail_msg("%s", err.text);
    for (size_t n = 0; n < SIZES; n++)
        for (size_t k = 0; k < SIZES; k++)
            for (int way = 0; way < 4; way++) {
                struct order known = {.split = 0};
                struct cudal2_setup setup = {.layout = way % 2 ? CUDAL2_TN : CUDAL2_NN,
                                             .workspace_bytes = (size_t)1 << 26};
                for (size_t m = 0; m < SIZES; m++) {
                    setup.problem = (struct cudal2_problem){.m = sizes[m],
                                                            .n = sizes[n],
                                                            .k = sizes[k],
                                                            .dtype = CUDAL2_F16,
                                                            .accumulate = way / 2 ? CUDAL2_ACC_F32 : CUDAL2_ACC_F16};
                    same_order(set, setup, &known);
                }
            }
    module_set_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_follows_from_n_and_k)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
