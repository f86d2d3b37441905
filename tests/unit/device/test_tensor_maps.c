/*
 * Tensor maps on the CUDA device, on a driver of the test's own: what reaches cuTensorMapEncodeTiled, and what the
 * check before it refuses. The driver's limits are those of its documentation; no GPU has seen ranks other than 2.
 */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"

/* 300 rows of 64 elements, in boxes of 128 rows of 32. */
static const struct cuda_tensor_request matrix = {.memory = (void *)0x1000,
                                                  .dtype = CUDAL2_BF16,
                                                  .rank = 2,
                                                  .dims = {64, 300},
                                                  .strides = {1, 64},
                                                  .box = {32, 128},
                                                  .element_strides = {1, 1},
                                                  .swizzle = 128,
                                                  .fetch = 256};

static void tensor_maps_describe_the_matrix(void **state)
{
    (void)state;
    const struct mock_map expected = {.type = CU_TENSOR_BF16,
                                      .rank = 2,
                                      .dims = {64, 300},
                                      .strides = {128},
                                      .box = {32, 128},
                                      .element_strides = {1, 1}};
    struct cuda_tensor_request r = matrix;
    struct cuda_tensor_map map;
    struct error err;
    assert_int_equal(cuda_tensor_map_encode(d, &r, &map, &err), 0);
    assert_memory_equal(&mock.map, &expected, sizeof expected);
    assert_int_equal(map.opaque[0], 0x1000);
    assert_true(mock.swizzle == CU_TENSOR_SWIZZLE_128 && mock.promotion == CU_TENSOR_L2_256);
    r.strides[1] = 72; /* gaps */
    assert_int_equal(cuda_tensor_map_encode(d, &r, &map, &err), 0);
    assert_true(mock.map.dims[0] == 64 && mock.map.strides[0] == 144);
}

static void refusals_say_what_was_expected(void **state)
{
    (void)state;
    struct cuda_tensor_request r = matrix;
    struct cuda_tensor_map map;
    struct error err;
    r.strides[1] = 63;
    assert_int_equal(cuda_tensor_map_encode(d, &r, &map, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "strides[0]: 63 elements are 126 bytes: expected a multiple of 16 bytes");
    r = matrix;
    r.memory = (void *)0x1008; /* what the driver alone refuses */
    assert_int_not_equal(cuda_tensor_map_encode(d, &r, &map, &err), 0);
    assert_non_null(strstr(err.text, "cuTensorMapEncodeTiled(300 x 64, box 128 x 32, swizzle 128)"));
}

static const int64_t tried[] = {-16,       -1,       0,  1,  2,  4,   7,   8,   9,   16,  24,        31,
                                32,        33,       64, 96, 99, 128, 255, 256, 257, 264, 1ll << 32, (1ll << 32) + 1,
                                1ll << 39, 1ll << 40};

/* A tensor of this rank that is taken. */
static struct cuda_tensor_request of_rank(size_t rank)
{
    struct cuda_tensor_request r = matrix;
    r.rank = rank;
    for (size_t i = 2; i < CUDA_TENSOR_RANK; i++) {
        r.dims[i] = 2;
        r.strides[i] = 64;
        r.box[i] = r.element_strides[i] = 1;
    }
    return r;
}

/* How many of those tried in this number are taken, each of them by the driver too. */
static int try_all(struct cuda_tensor_request *r, int64_t *number)
{
    int taken = 0;
    for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
        struct cuda_tensor_fault fault;
        struct cuda_tensor_map map;
        struct error err;
        *number = tried[t];
        bool takes = cuda_tensor_check(r, &fault);
        if (takes && cuda_tensor_map_encode(d, r, &map, &err) != 0)
            fail_msg("rank %zu, %lld: %s", r->rank, (long long)tried[t], err.text);
        assert_true(takes || (fault.where[0] && fault.text[0]));
        taken += takes;
    }
    return taken;
}

/* Whatever the check takes the driver takes, by its documentation: one number changed at a time. */
static void the_check_is_no_laxer_than_the_driver(void **state)
{
    (void)state;
    for (size_t rank = 1; rank <= CUDA_TENSOR_RANK; rank++) {
        for (size_t i = 0; i < rank; i++) {
            struct cuda_tensor_request r[] = {of_rank(rank), of_rank(rank), of_rank(rank), of_rank(rank)};
            assert_int_equal(try_all(&r[0], &r[0].dims[i]), 20);
            assert_int_equal(try_all(&r[1], &r[1].strides[i]), i == 0 ? 26 : 11);
            assert_int_equal(try_all(&r[2], &r[2].box[i]), i == 0 ? 5 : 17);
            assert_int_equal(try_all(&r[3], &r[3].element_strides[i]), 5);
        }
        struct cuda_tensor_request swizzled = of_rank(rank), fetched = of_rank(rank);
        assert_int_equal(try_all(&swizzled, &swizzled.swizzle), 3);
        assert_int_equal(try_all(&fetched, &fetched.fetch), 4);
    }
}

int main(void)
{
    char cache[] = "/tmp/cudal2-tensor-XXXXXX";
    const struct CMUnitTest tests[] = {ON_MOCK(tensor_maps_describe_the_matrix),
                                       ON_MOCK(refusals_say_what_was_expected),
                                       ON_MOCK(the_check_is_no_laxer_than_the_driver)};
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
