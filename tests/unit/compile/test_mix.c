/* compile/mix: each class by instructions as ptxas 12.9 and 13.0 encode them, for sm_80 to sm_120. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compile/mix.h"

/* What nvdisasm calls each is behind it. */
static const struct {
    uint64_t lower, upper;
    int cc;
    enum mix_class class;
} known[] = {
    {0x0000000c0804723c, 0x004fde0000001804, 80, MIX_TENSOR},         /* HMMA.16816.F32 */
    {0x00000020200c723d, 0x000fe60000014c0c, 90, MIX_TENSOR},         /* BMMA.168128.AND.POPC */
    {0x000000003fff79f0, 0x000fe6000c0000ff, 90, MIX_TENSOR},         /* HGMMA.64 */
    {0x00ff040e0e0075ea, 0x0003d80008000006, 100, MIX_TENSOR},        /* UTCHMMA */
    {0x0000000409057221, 0x012fcc0000000000, 90, MIX_FLOAT},          /* FADD */
    {0x00000004200a7c2b, 0x002fe2000800010c, 90, MIX_FLOAT},          /* DFMA */
    {0x940094000d0b7831, 0x040fe4000004080b, 90, MIX_FLOAT},          /* HFMA2 */
    {0x0000000500057235, 0x004fce0000000004, 90, MIX_FLOAT},          /* HFMA2.MMA */
    {0x000000026a067235, 0x000fc400078e0200, 120, MIX_INTEGER},       /* IADD.64 */
    {0x0000000c0c0c724a, 0x000fca0000000000, 100, MIX_FLOAT},         /* FMUL2 */
    {0x000000010b09784a, 0x000fe2000ffe0000, 120, MIX_INTEGER},       /* UVIMNMX.U32 */
    {0x0000000208077210, 0x002fca0007ffe007, 90, MIX_INTEGER},        /* IADD3 */
    {0x0000000200007817, 0x000fca0003800000, 80, MIX_INTEGER},        /* IMNMX.U32 */
    {0x0000000000207312, 0x002e640000201c00, 90, MIX_CONVERT},        /* I2F.F64 */
    {0x0000000700007304, 0x000eb00000202000, 90, MIX_CONVERT},        /* F2F.BF16.F32 */
    {0x00000a00ff017b82, 0x000e620000000800, 90, MIX_MOVE},           /* LDC */
    {0x0c601f0000027f89, 0x004e6200000e0000, 90, MIX_MOVE},           /* SHFL.BFLY */
    {0x0000001012047981, 0x004372000c1e1b00, 90, MIX_LOAD_GLOBAL},    /* LDG.E.64 */
    {0x40000411080a7f60, 0x0007e200099e01ff, 90, MIX_LOAD_GLOBAL},    /* TEX.LL */
    {0x0000000710007986, 0x000fe2000c115910, 90, MIX_STORE_GLOBAL},   /* STG.E.STRONG.SYS */
    {0x00000007ff007985, 0x0003ee0008100906, 90, MIX_STORE_GLOBAL},   /* ST.E */
    {0x0000000400047984, 0x008e640008000800, 90, MIX_LOAD_SHARED},    /* LDS */
    {0x00000005ff02783b, 0x000ee20008004000, 90, MIX_LOAD_SHARED},    /* LDSM.16.MT88 */
    {0x0000000816007988, 0x0003e20008000a04, 90, MIX_STORE_SHARED},   /* STS.64 */
    {0x0000000002007dbd, 0x008fe8000c00083f, 90, MIX_STORE_SHARED},   /* STAS */
    {0x0000000401007387, 0x0003e20000100c00, 90, MIX_LOCAL},          /* STL.128 */
    {0x0000000000177983, 0x000ea20000100800, 90, MIX_LOCAL},          /* LDL */
    {0x0000000010037fae, 0x000fe8000b901c50, 90, MIX_COPY},           /* LDGSTS.E.BYPASS.128 */
    {0x000000040a0075b4, 0x0025f40008008000, 90, MIX_COPY},           /* UTMALDG.2D */
    {0x00000004120073ba, 0x0003d80008000207, 90, MIX_COPY},           /* UBLKCP.S.G */
    {0x00000006000279ee, 0x000e620008040000, 100, MIX_TENSOR_MEMORY}, /* LDTM */
    {0x0000000e060079e7, 0x0007d80008000000, 100, MIX_TENSOR_MEMORY}, /* UTCCP.T.S */
    {0x000000051000098e, 0x000fe8000c114190, 90, MIX_ATOMIC},         /* REDG.E.ADD.STRONG.SYS */
    {0x0000001d14ff79a3, 0x000f2800081ef3e4, 90, MIX_ATOMIC},         /* ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU */
    {0x0000000000007b1d, 0x000fec0000010000, 90, MIX_BARRIER},        /* BAR.SYNC.DEFER_BLOCKING */
    {0x00000006053f75b2, 0x0002a20008000100, 90, MIX_BARRIER},        /* SYNCS.EXCH.64 */
    {0x00000000000079c5, 0x000fcc0000000000, 90, MIX_BARRIER},        /* WARPGROUP.ARRIVE */
    {0xfffffffc00ec8947, 0x000fea000383ffff, 90, MIX_CONTROL},        /* BRA */
    {0x000000000000794d, 0x000fea0003800000, 90, MIX_CONTROL},        /* EXIT */
    {0x0000000000000000, 0x0000000000000000, 90, MIX_OTHER},          /* none that ptxas writes */
};
#define N_KNOWN (sizeof known / sizeof known[0])

static void put(unsigned char *at, uint64_t lower, uint64_t upper)
{
    for (unsigned i = 0; i < 8; i++) {
        at[i] = (unsigned char)(lower >> 8 * i);
        at[8 + i] = (unsigned char)(upper >> 8 * i);
    }
}

static void each_instruction_has_its_class(void **state)
{
    bool seen[MIX_CLASSES] = {false};
    unsigned char code[16];
    struct mix mix;
    (void)state;
    for (size_t i = 0; i < N_KNOWN; i++) {
        put(code, known[i].lower, known[i].upper);
        mix_count(code, sizeof code, known[i].cc, &mix);
        if (mix.count[known[i].class] != 1 || mix.total != 1)
            fail_msg("known[%zu] is not counted as %s", i, mix_class_names[known[i].class]);
        seen[known[i].class] = true;
    }
    for (size_t i = 0; i < MIX_CLASSES; i++)
        assert_true(seen[i] && mix_class_names[i]);
}

/* Each where it stands, without what fills up and what is cut off. */
static void all_are_counted(void **state)
{
    unsigned char code[6 * 16 + 9];
    struct mix mix;
    (void)state;
    memset(code, 0, sizeof code);
    for (size_t i = 0; i < 4; i++)
        put(code + 16 * i, known[i < 3 ? 0 : 4].lower, known[i < 3 ? 0 : 4].upper);
    put(code + 4 * 16, 0x0000000000007918, 0x002fd40000000000); /* NOP */
    put(code + 5 * 16, 0x000000000000794d, 0x000fea0003800000); /* EXIT */
    mix_count(code, sizeof code, 90, &mix);
    assert_int_equal(mix.count[MIX_TENSOR], 3);
    assert_int_equal(mix.count[MIX_FLOAT], 1);
    assert_int_equal(mix.count[MIX_CONTROL], 1);
    assert_int_equal(mix.count[MIX_OTHER], 0);
    assert_int_equal(mix.total, 5);
    mix_count(code, 0, 90, &mix);
    assert_int_equal(mix.total, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instruction_has_its_class),
        cmocka_unit_test(all_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
