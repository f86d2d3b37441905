/* device/cpu_math: a small problem starts no thread, which would pass for a contender's afterwards, and a large one has
 * the same values by several threads as by one. Counts the calls of pthread_create, which it has in libc's place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu_math.h"

static int started;

typedef int (*creator)(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    creator create;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    started++;
    return create(thread, attributes, body, argument);
}

/* A, B, their product and a comparison of it with itself, for n x n x n; returns all of it, which is 3 * n * n. */
static float *all_of(int64_t n, int threads)
{
    const struct cudal2_problem p = {
        .m = n, .n = n, .k = n, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32, .alpha = 1};
    struct fill fill = {.kind = FILL_NORMAL, .dtype = CUDAL2_F32, .seed = 5, .rows = n, .cols = n};
    size_t one = (size_t)(n * n);
    float *memory = malloc(3 * one * sizeof *memory);
    struct comparison compared;
    struct error err;
    assert_non_null(memory);
    struct cudal2_operands operands = {.a = memory, .b = memory + one, .c = memory + 2 * one};
    cpu_fill(threads, memory, &fill);
    fill.seed = 6;
    cpu_fill(threads, memory + one, &fill);
    assert_int_equal(cpu_reference(threads, &p, CUDAL2_NN, &operands, memory + 2 * one, &err), 0);
    cpu_compare(threads, &p, operands.c, &(struct expectation){.reference = operands.c}, &compared);
    assert_float_equal(compared.max_abs_error, 0, 0);
    return memory;
}

static void a_small_problem_starts_none(void **state)
{
    (void)state;
    started = 0;
    free(all_of(48, 4));
    assert_int_equal(started, 0);
}

static void a_large_one_is_the_same_by_several(void **state)
{
    const int64_t n = 512;
    (void)state;
    started = 0;
    float *several = all_of(n, 4);
    assert_true(started >= 4 * 3); /* both fills, the product and the comparison */
    started = 0;
    float *alone = all_of(n, 1);
    assert_int_equal(started, 0);
    assert_memory_equal(several, alone, (size_t)(3 * n * n) * sizeof *alone);
    free(several);
    free(alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_problem_starts_none),
        cmocka_unit_test(a_large_one_is_the_same_by_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
