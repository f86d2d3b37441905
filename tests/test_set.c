/* The committed kernel set on a described H200: it has something for every problem, and not too much. */
#include "contender/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "h200_fixture.h"

enum { MOST = 12 }; /* entries that race for a problem: more would cost more than they find */

static const int64_t paper[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384};

static void between_1_and_12(const struct module_set *set, int64_t m, int64_t n, int64_t k)
{
    for (int i = 0; i < 4; i++) {
        struct cudal2_setup setup = {
            .problem = {m, n, k, CUDAL2_F16, i / 2 ? CUDAL2_ACC_F32 : CUDAL2_ACC_F16},
            .layout = i % 2 ? CUDAL2_TN : CUDAL2_NN,
            .workspace_bytes = (size_t)1 << 26,
        };
        struct cudal2_variant variants[64];
        struct contender c;
        char why[CUDAL2_WHY] = "";
        module_set_contender(set, setup.layout, &c);
        int count = c.ops->list_variants(&c, &setup, variants, 64, why);
        if (count < 1 || count > MOST)
            fail_msg("%ldx%ldx%ld, %s, fp%d sums: %d entries %s", (long)m, (long)n, (long)k, i % 2 ? "tn" : "nn",
                     i / 2 ? 32 : 16, count, why);
    }
}

static void the_papers_shapes(void **state)
{
    struct module_set *set = open_cudal2();
    (void)state;
    for (int m = 0; m < 10; m++)
        for (int n = 0; n < 10; n++)
            for (int k = 0; k < 10; k++)
                between_1_and_12(set, paper[m], paper[n], paper[k]);
    module_set_close(set);
}

/* Sizes that fill waves badly, in multiples of 1, 8, 64 and 128; a fixed sequence, so that a failure comes back. */
static void other_shapes(void **state)
{
    struct module_set *set = open_cudal2();
    static const int64_t units[] = {1, 8, 64, 128};
    uint64_t random = 1;
    (void)state;
    between_1_and_12(set, 512, 4608, 3584);
    between_1_and_12(set, 1, 1, 1);
    for (int i = 0; i < 4000; i++) {
        int64_t size[3];
        for (int j = 0; j < 3; j++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size[j] = units[i % 4] * (1 + (int64_t)(random >> 33) % (j == 0 && i % 3 == 0 ? 8 : 128));
        }
        between_1_and_12(set, size[0], size[1], size[2]);
    }
    module_set_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_shapes),
        cmocka_unit_test(other_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
