/* The second witness of the accumulator class: what PTX multiplies with, and what that says. */
#include "compile/compile.h"
#include "compile/instructions.h"
#include "verify/instructions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *ptx, const char *found)
{
    char out[64];
    instructions_of(ptx, out, sizeof out);
    assert_string_equal(out, found);
}

static void matrix_instructions_have_their_types(void **state)
{
    (void)state;
    expect("\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2}, {%r1};\n", "mma.f32.f16.f16.f32");
    expect("{mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1}, {%r2};}", "mma.f16.f16.f16.f16");
    expect("@%p1 wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%f1}, %rd1, %rd2, p, 1, 1, 0, 1;",
           "wgmma.f32.f16.f16");
    expect("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r1}, {%r2};", "wmma.f16.f16");
    expect("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, p;", "tcgen05");
}

static void each_kind_once_in_order(void **state)
{
    (void)state;
    expect("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 a;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 b;\n"
           "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 c;\nfma.rn.f32 d, e, f, g;\n",
           "mma.f16.f16.f16.f16 wgmma.f32.f16.f16");
    /* a name that is the beginning of another is not the other */
    expect(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.x b;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 b;",
        "wgmma.f32.f16.f16.x wgmma.f32.f16.f16");
}

static void scalar_products_where_there_are_no_others(void **state)
{
    (void)state;
    expect("fma.rn.f16x2 %r1, %r2, %r3, %r1;\nfma.rn.ftz.f32 %f1, %f2, %f3, %f1;", "fma.f16x2 fma.f32");
    expect("add.f32 %f1, %f2, %f3;", "");
    expect("", "");
    expect("mov.u32 %r1, %r2;", "");
}

static void what_does_not_fit_is_left_out(void **state)
{
    char out[22];
    (void)state;
    instructions_of(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 a;wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", out,
        sizeof out);
    assert_string_equal(out, "mma.f16.f16.f16.f16");
}

static void half_is_half_only(void **state)
{
    (void)state;
    assert_true(instructions_are_half("mma.f16.f16.f16.f16"));
    assert_true(instructions_are_half("wgmma.f16.f16.f16 mma.f16.f16.f16.f16"));
    assert_true(instructions_are_half("fma.f16x2"));
    assert_false(instructions_are_half("wgmma.f16.f16.f16 mma.f32.f16.f16.f32"));
    assert_false(instructions_are_half("wgmma.f32.f16.f16"));
    assert_false(instructions_are_half("fma.f16x2 fma.f32"));
    assert_false(instructions_are_half("mma.s32.s8.s8.s32"));
    assert_false(instructions_are_half("tcgen05"));
    assert_false(instructions_are_half(""));
}

static void the_log_carries_them(void **state)
{
    char out[64];
    (void)state;
    compile_instructions_of("ptxas info\ncudal2-bench: instructions: fma.f32 fma.f16\n", out, sizeof out);
    assert_string_equal(out, "fma.f32 fma.f16");
    compile_instructions_of("ptxas info\n", out, sizeof out);
    assert_string_equal(out, "");
    compile_instructions_of(NULL, out, sizeof out);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_instructions_have_their_types),
        cmocka_unit_test(each_kind_once_in_order),
        cmocka_unit_test(scalar_products_where_there_are_no_others),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(half_is_half_only),
        cmocka_unit_test(the_log_carries_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
