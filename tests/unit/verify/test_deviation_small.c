/* verify/deviation on outputs of few elements: what an honest kernel's error is held against. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "gaussian.h"
#include "measure/judge.h"
#include "verify/bands.h"
#include "verify/deviation.h"

/* One element, which may lie near 0, of an honest kernel that adds one product after another. */
static void a_single_element_is_not_accused(void **state)
{
    const struct cudal2_problem p = {.m = 1, .n = 1, .k = 700, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    double bound = MODEL_RMS_MARGIN * model_honest(&p) * judge_scatter(1);
    struct random r;
    int accused = 0, near_zero = 0;
    (void)state;
    random_seed(&r, 5);
    for (int trial = 0; trial < 20000; trial++) {
        double sum = 0;
        float single = 0;
        for (int64_t i = 0; i < p.k; i++) {
            float a = (float)gaussian(&r), b = (float)gaussian(&r);
            sum += (double)a * b;
            single += a * b;
        }
        const struct comparison cmp = {.sum_sq_error = pow((double)single - sum, 2), .sum_sq_reference = sum * sum};
        accused += deviation_relative(&p, &cmp, 1) > bound;
        near_zero += comparison_relative_rms(&cmp) > bound;
    }
    assert_int_equal(accused, 0);
    assert_true(near_zero > 20);
    const struct comparison wrong = {.sum_sq_error = pow(0.01 * 26, 2), .sum_sq_reference = 26 * 26};
    assert_true(deviation_relative(&p, &wrong, 1) > 100 * bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_element_is_not_accused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
