/* operands/: every matrix inside the arena, apart from the others, aligned, and elsewhere with another seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/fake.h"
#include "operands/operands.h"

static struct device *device;

static int open_device(void **state)
{
    struct error err;
    struct fake_script script = {.memory_bytes = 4ull << 30};
    (void)state;
    return fake_open(&script, &device, &err);
}

static int close_device(void **state)
{
    (void)state;
    device->ops->close(device);
    return 0;
}

struct span {
    uintptr_t from, to;
};

static int by_start(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static struct span span_of(const void *memory, int64_t elements)
{
    uintptr_t at = (uintptr_t)memory;
    assert_int_equal(at % 256, 0);
    return (struct span){at, at + 2 * (uintptr_t)elements};
}

static void matrices_lie_apart(void **state)
{
    struct operands_request request = {
        .problem = {.m = 48, .n = 80, .k = 112, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .n_sets = 3,
        .period = 3,
        .layouts = {3, 3, 3}};
    (void)state;
    for (request.seed = 0; request.seed < 50; request.seed++) {
        struct error err;
        struct operands *o = NULL;
        struct span spans[12];
        size_t n = 0;
        assert_int_equal(operands_alloc(device, &request, &o, &err), 0);
        for (size_t s = 0; s < 3; s++) {
            assert_ptr_equal(o->nn[s].a, o->tn[s].a);
            assert_ptr_equal(o->nn[s].c, o->tn[s].c);
            spans[n++] = span_of(o->nn[s].a, 48 * 112);
            spans[n++] = span_of(o->nn[s].b, 112 * 80);
            spans[n++] = span_of(o->tn[s].b, 112 * 80);
            spans[n++] = span_of(o->nn[s].c, 48 * 80);
        }
        qsort(spans, n, sizeof *spans, by_start);
        assert_true(spans[0].from >= (uintptr_t)o->arena);
        assert_true(spans[n - 1].to <= (uintptr_t)o->arena + operands_bytes(&request));
        for (size_t i = 1; i < n; i++)
            assert_true(spans[i - 1].to <= spans[i].from);
        operands_free(device, o);
    }
    assert_int_equal(fake_bytes_in_use(device), 0);
}

/* C as an input is kept beside C, apart from all else; launches overwrite C, and it is put back. */
static void c_as_an_input_is_kept(void **state)
{
    struct operands_request request = {
        .problem =
            {.m = 6, .n = 10, .k = 14, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32, .ldc = 12, .beta = 0.5},
        .n_sets = 4,
        .period = 2,
        .layouts = {1, 1, 1, 1}};
    const size_t bytes = 2 * (5 * 12 + 10);
    struct probe_region inputs[OPERANDS_INPUTS];
    struct operands *o = NULL;
    struct error err;
    unsigned char gaps[2 * 2];
    (void)state;
    assert_int_equal(operands_alloc(device, &request, &o, &err), 0);
    assert_int_equal(operands_fill(device, o, FILL_NORMAL, 5, 0, &err), 0);
    memset(gaps, PROBE_GUARD, sizeof gaps);
    for (size_t s = 0; s < 4; s++) {
        unsigned char *c = o->nn[s].c, *kept = o->input[s];
        assert_true(operands_before(o, CUDAL2_NN, s).c == kept && operands_before(o, CUDAL2_NN, s).a == o->nn[s].a);
        assert_int_equal(operands_inputs(o, s, inputs), 3);
        assert_true(inputs[2].memory == kept && inputs[2].bytes == bytes);
        for (size_t row = 0; row < 6; row++)
            assert_memory_equal(c + 24 * row, kept + 24 * row, 20);
        memset(c, 0x11, 20);
        memset(c + 2 * 24, 0x11, 20);
        assert_int_equal(operands_poison(device, o, s, &err), 0);
        for (size_t row = 0; row < 6; row++)
            assert_memory_equal(c + 24 * row, kept + 24 * row, 20);
        for (size_t row = 0; row < 5; row++)
            assert_memory_equal(c + 24 * row + 20, gaps, sizeof gaps);
    }
    assert_memory_equal(o->nn[0].c, o->nn[2].c, 20); /* one period on */
    assert_memory_not_equal(o->nn[0].c, o->nn[1].c, 20);
    assert_memory_not_equal(o->nn[0].c, o->nn[0].a, 20);
    memcpy(o->nn[3].c, o->nn[0].c, 20);
    assert_int_equal(operands_fill(device, o, FILL_NORMAL, 6, 0, &err), 0);
    assert_memory_not_equal(o->nn[0].c, o->nn[3].c, 20);
    operands_free(device, o);
    request.problem.beta = 0;
    assert_int_equal(operands_alloc(device, &request, &o, &err), 0);
    assert_null(o->input[0]);
    assert_int_equal(operands_inputs(o, 0, inputs), 2);
    operands_free(device, o);
    assert_int_equal(fake_bytes_in_use(device), 0);
}

/* Guards touch their matrix on either side and nothing else: patterned, they leave every value, and one byte written
 * past an odd end shows. */
static void guards_enclose_every_matrix(void **state)
{
    struct operands_request request = {
        .problem = {.m = 5, .n = 7, .k = 3, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .n_sets = 2,
        .period = 2,
        .layouts = {3, 1}};
    const size_t expected[] = {8, 6};
    (void)state;
    for (request.seed = 0; request.seed < 20; request.seed++) {
        struct error err;
        struct operands *o = NULL;
        struct probe_region guards[2 * OPERANDS_GUARDS], inputs[2][OPERANDS_INPUTS];
        uint64_t before[2][OPERANDS_INPUTS], after[OPERANDS_INPUTS], intact[OPERANDS_GUARDS], broken[OPERANDS_GUARDS];
        size_t n = 0;
        assert_int_equal(operands_alloc(device, &request, &o, &err), 0);
        assert_int_equal(operands_fill(device, o, FILL_NORMAL, request.seed, 0, &err), 0);
        for (size_t s = 0; s < 2; s++) {
            size_t found = operands_inputs(o, s, inputs[s]);
            assert_int_equal(found, expected[s] / 2 - 1);
            assert_int_equal(device->probes->digest(device, inputs[s], found, before[s], &err), 0);
            found = operands_guards(o, s, guards + n);
            assert_int_equal(found, expected[s]);
            n += found;
        }
        for (size_t i = 0; i < n; i++) {
            char *at = guards[i].memory;
            assert_true(guards[i].bytes >= OPERANDS_GUARD && at >= (char *)o->arena);
            assert_true(at + guards[i].bytes <= (char *)o->arena + operands_bytes(&request));
        }
        assert_int_equal(device->probes->pattern(device, guards, n, PROBE_GUARD, &err), 0);
        for (size_t s = 0; s < 2; s++) {
            size_t inputs_of_set = expected[s] / 2 - 1;
            assert_int_equal(device->probes->digest(device, inputs[s], inputs_of_set, after, &err), 0);
            assert_memory_equal(after, before[s], inputs_of_set * sizeof *after);
        }
        assert_int_equal(device->probes->digest(device, guards, 8, intact, &err), 0);
        ((unsigned char *)o->nn[0].c)[5 * 7 * 2] ^= 1;
        assert_int_equal(device->probes->digest(device, guards, 8, broken, &err), 0);
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(intact[i] != broken[i], guards[i].memory == (char *)o->nn[0].c + 70);
        operands_free(device, o);
    }
}

static void first_set_is_not_always_first(void **state)
{
    struct operands_request request = {
        .problem = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .n_sets = 2,
        .period = 1,
        .layouts = {1, 1}};
    unsigned before = 0;
    (void)state;
    for (request.seed = 0; request.seed < 100; request.seed++) {
        struct error err;
        struct operands *o = NULL;
        assert_int_equal(operands_alloc(device, &request, &o, &err), 0);
        before += (uintptr_t)o->nn[0].a < (uintptr_t)o->nn[1].a;
        assert_null(o->tn[0].b);
        operands_free(device, o);
    }
    assert_in_range(before, 30, 70);
}

static void too_large_says_how_much(void **state)
{
    struct operands_request request = {
        .problem = {.m = 65536, .n = 65536, .k = 65536, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .n_sets = 1,
        .period = 1,
        .layouts = {1}};
    struct error err;
    struct operands *o = NULL;
    (void)state;
    assert_int_not_equal(operands_alloc(device, &request, &o, &err), 0);
    assert_non_null(strstr(err.text, "operands of 26575306752 bytes"));
}

static void owners_hold_the_same_values(void **state)
{
    struct operands_request request = {
        .problem = {.m = 4, .n = 6, .k = 10, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .n_sets = 4,
        .period = 2,
        .layouts = {1, 1, 2, 2}};
    struct error err;
    struct operands *o = NULL;
    (void)state;
    assert_int_equal(operands_alloc(device, &request, &o, &err), 0);
    assert_int_equal(operands_fill(device, o, FILL_NORMAL, 11, 0, &err), 0);
    assert_memory_equal(o->nn[0].a, o->nn[2].a, 80);
    assert_memory_equal(o->nn[1].a, o->nn[3].a, 80);
    assert_memory_not_equal(o->nn[0].a, o->nn[1].a, 80);
    assert_null(o->tn[0].b);
    assert_null(o->nn[2].b);
    operands_free(device, o);
}

static void alike_sets_are_filled_and_no_others(void **state)
{
    struct operands_request request = {
        .problem = {.m = 4, .n = 6, .k = 10, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .n_sets = 6,
        .period = 3,
        .layouts = {1, 1, 1, 1, 1, 1}};
    const struct operands_values values = {FILL_NORMAL, 11, 0};
    struct error err;
    struct operands *whole = NULL, *part = NULL;
    (void)state;
    assert_int_equal(operands_alloc(device, &request, &whole, &err), 0);
    assert_int_equal(operands_alloc(device, &request, &part, &err), 0);
    assert_int_equal(operands_fill(device, whole, FILL_NORMAL, 11, 0, &err), 0);
    assert_int_equal(operands_fill(device, part, FILL_NORMAL, 99, 0, &err), 0);
    assert_int_equal(operands_fill_alike(device, part, &values, 1, &err), 0);
    for (size_t s = 0; s < 6; s++) {
        assert_int_equal(memcmp(part->nn[s].a, whole->nn[s].a, 80) == 0, s % 3 == 1);
        assert_int_equal(memcmp(part->nn[s].b, whole->nn[s].b, 120) == 0, s % 3 == 1);
    }
    operands_free(device, whole);
    operands_free(device, part);
}

/* What a check of one contender fills leaves the other layout's copy of B alone: nobody it hands that to is there. */
static void a_part_is_of_one_layout(void **state)
{
    struct operands_request request = {
        .problem = {.m = 4, .n = 6, .k = 10, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .n_sets = 1,
        .period = 1,
        .layouts = {3}};
    const struct operands_values values = {FILL_NORMAL, 11, 0};
    struct error err;
    struct operands *whole = NULL, *part = NULL;
    (void)state;
    assert_int_equal(operands_alloc(device, &request, &whole, &err), 0);
    assert_int_equal(operands_alloc(device, &request, &part, &err), 0);
    assert_int_equal(operands_fill(device, whole, FILL_NORMAL, 11, 0, &err), 0);
    for (int layout = CUDAL2_NN; layout <= CUDAL2_TN; layout++) {
        const struct operands_part its = {0, (enum cudal2_layout)layout};
        assert_int_equal(operands_fill(device, part, FILL_NORMAL, 99, 0, &err), 0);
        assert_int_equal(operands_fill_set(device, part, &values, &its, &err), 0);
        assert_memory_equal(part->nn[0].a, whole->nn[0].a, 80);
        assert_int_equal(memcmp(part->nn[0].b, whole->nn[0].b, 120) == 0, layout == CUDAL2_NN);
        assert_int_equal(memcmp(part->tn[0].b, whole->tn[0].b, 120) == 0, layout == CUDAL2_TN);
        assert_int_equal(operands_fill(device, part, FILL_NORMAL, 99, 0, &err), 0);
        assert_int_equal(operands_fill_lesser(device, part, &values, &its, &err), 0); /* A: m < n */
        assert_memory_equal(part->nn[0].a, whole->nn[0].a, 80);
        assert_memory_not_equal(part->nn[0].b, whole->nn[0].b, 120);
        assert_memory_not_equal(part->tn[0].b, whole->tn[0].b, 120);
    }
    operands_free(device, whole);
    operands_free(device, part);
}

static void layouts_hold_the_same_matrix(void **state)
{
    struct operands_request request = {
        .problem = {.m = 4, .n = 6, .k = 10, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .n_sets = 1,
        .period = 1,
        .layouts = {3}};
    struct error err;
    struct operands *o = NULL;
    (void)state;
    assert_int_equal(operands_alloc(device, &request, &o, &err), 0);
    assert_int_equal(operands_fill(device, o, FILL_NORMAL, 11, 0, &err), 0);
    const uint16_t *nn = o->nn[0].b;
    const uint16_t *tn = o->tn[0].b;
    for (int k = 0; k < 10; k++)
        for (int j = 0; j < 6; j++)
            assert_int_equal(nn[k * 6 + j], tn[j * 10 + k]);
    operands_free(device, o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(matrices_lie_apart, open_device, close_device),
        cmocka_unit_test_setup_teardown(c_as_an_input_is_kept, open_device, close_device),
        cmocka_unit_test_setup_teardown(guards_enclose_every_matrix, open_device, close_device),
        cmocka_unit_test_setup_teardown(first_set_is_not_always_first, open_device, close_device),
        cmocka_unit_test_setup_teardown(too_large_says_how_much, open_device, close_device),
        cmocka_unit_test_setup_teardown(owners_hold_the_same_values, open_device, close_device),
        cmocka_unit_test_setup_teardown(alike_sets_are_filled_and_no_others, open_device, close_device),
        cmocka_unit_test_setup_teardown(a_part_is_of_one_layout, open_device, close_device),
        cmocka_unit_test_setup_teardown(layouts_hold_the_same_matrix, open_device, close_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
