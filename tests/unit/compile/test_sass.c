/* compile/sass: each instruction as ptxas 12.9 and 13.0 encode it, for sm_80, sm_90a and sm_100a. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile/sass.h"

struct word {
    uint64_t lower, upper;
};

/* What nvdisasm calls each is behind it. */
static const struct {
    struct word code;
    const char *name;
} known[] = {
    {{0x0000000c0804723c, 0x004fde0000001804}, "hmma.f32.f16"},   /* HMMA.16816.F32 */
    {{0x000000060804723c, 0x004fde0000000804}, "hmma.f16.f16"},   /* HMMA.16816.F16 */
    {{0x0000000c0804723c, 0x004fde0000041804}, "hmma.f32.bf16"},  /* HMMA.16816.F32.BF16 */
    {{0x000000000804723c, 0x004fde0000001004}, "hmma.f32.f16"},   /* HMMA.1688.F32 */
    {{0x000000000604723c, 0x004fde0000000004}, "hmma.f16.f16"},   /* HMMA.1688.F16 */
    {{0x0000000c0804723c, 0x004fde0000081004}, "hmma.f32.tf32"},  /* HMMA.1688.F32.TF32 */
    {{0x00e00000041879f0, 0x000fe60008000818}, "hgmma.f32.f16"},  /* HGMMA.64x64x16.F32 gdesc */
    {{0x00e00000041879f0, 0x000fe60008000018}, "hgmma.f16.f16"},  /* HGMMA.64x64x16.F16 gdesc */
    {{0x00e00000041879f0, 0x000fe60008001818}, "hgmma.f32.bf16"}, /* HGMMA.64x64x16.F32.BF16 */
    {{0x00e0000438187df0, 0x000fe60008000818}, "hgmma.f32.f16"},  /* HGMMA.64x64x16.F32 R56 */
    {{0x00e0000428187df0, 0x000fe60008000018}, "hgmma.f16.f16"},  /* HGMMA.64x64x16.F16 R40 */
    {{0x03e00000041879f0, 0x000fe20008000018}, "hgmma.f16.f16"},  /* HGMMA.64x256x16.F16 */
    {{0x00ff0806040075ea, 0x0013d8000b80000a}, "utcmma"},         /* UTCHMMA */
    {{0x00ff0806050079ea, 0x0001d8000b800304}, "utcmma"},         /* UTCQMMA */
    {{0x0000000500057223, 0x004fca0000000007}, "ffma.f32"},       /* FFMA R5, R0, R5, R7 */
    {{0x3f9df3b600057823, 0x004fca0000000005}, "ffma.f32"},       /* FFMA R5, R0, 1.2339999675750732422, R5 */
    {{0x00005a0000057a23, 0x004fca0000000005}, "ffma.f32"},       /* FFMA R5, R0, c[0x0][0x168], R5 */
    {{0x0000000600057c23, 0x004fca0008000005}, "ffma.f32"},       /* FFMA R5, R0, UR6, R5 */
    {{0x000000060404722b, 0x004fce0000000008}, "dfma.f64"},       /* DFMA */
    {{0x0000000500057235, 0x004fce0000000004}, "hfma2.f16x2"},    /* HFMA2.MMA */
    {{0x0000000500057231, 0x004fca0000000004}, "hfma2.f16x2"},    /* HFMA2 */
    {{0x0000000500057235, 0x004fce0000200004}, "hfma2.bf16x2"},   /* HFMA2.MMA.BF16_V2 */
    {{0x0000000500057231, 0x004fca0000200004}, "hfma2.bf16x2"},   /* HFMA2.BF16_V2 */
    {{0x0000000500057220, 0x004fca0000400000}, ""},               /* FMUL: adds nothing up */
    {{0x0000000c08047237, 0x004fde0000405c04}, ""},               /* IMMA: of no type that is raced here */
    {{0x00003c00ff057435, 0x004fce00000001ff}, ""},               /* HFMA2.MMA of RZ: how a constant is written */
};
#define N_KNOWN (sizeof known / sizeof known[0])

static void put(unsigned char *at, struct word w)
{
    for (unsigned i = 0; i < 8; i++) {
        at[i] = (unsigned char)(w.lower >> 8 * i);
        at[8 + i] = (unsigned char)(w.upper >> 8 * i);
    }
}

static void assert_name(struct word w, int cc, const char *name)
{
    unsigned char code[16];
    char found[64];
    put(code, w);
    sass_instructions(code, sizeof code, cc, found, sizeof found);
    assert_string_equal(found, name);
}

static void each_instruction_has_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KNOWN; i++)
        assert_name(known[i].code, 90, known[i].name);
}

/* Sums of a kernel with tensor cores are not what it multiplies with; what comes twice is told once. */
static void matrices_come_first_and_once(void **state)
{
    static const size_t order[] = {14, 0, 19, 1, 0, 7};
    unsigned char code[sizeof order / sizeof order[0] * 16 + 7] = {0};
    char found[64], small[20];
    (void)state;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        put(code + 16 * i, known[order[i]].code);
    sass_instructions(code, sizeof code, 90, found, sizeof found);
    assert_string_equal(found, "hmma.f32.f16 hmma.f16.f16 hgmma.f16.f16");
    sass_instructions(code, sizeof code, 90, small, sizeof small); /* what does not fit is left out whole */
    assert_string_equal(small, "hmma.f32.f16");
    sass_instructions(code, 16, 90, found, sizeof found);
    assert_string_equal(found, "ffma.f32");
    sass_instructions(code, 15, 90, found, sizeof found); /* no whole instruction */
    assert_string_equal(found, "");
    sass_instructions(code, 0, 90, found, sizeof found);
    assert_string_equal(found, "");
}

/* From sm_100 on the opcode of one of them is an integer's sum. */
static void an_opcode_has_another_meaning_since(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KNOWN; i++)
        assert_name(known[i].code, 100, (known[i].code.lower & 0x1ff) == 0x035 ? "" : known[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instruction_has_its_name),
        cmocka_unit_test(an_opcode_has_another_meaning_since),
        cmocka_unit_test(matrices_come_first_and_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
