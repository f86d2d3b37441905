/*
 * mix.c - looks each instruction's opcode up in lists by class. The opcodes were read off nvdisasm 13.1 for cubins of
 * sm_80 to sm_120 by ptxas 12.9 and 13.0 (tests/unit/compile/test_mix.c has examples). Called by contender/inspect.c.
 */
#include "compile/mix.h"

#include <stdint.h>
#include <string.h>

#define INSTRUCTION 16u
#define OPCODES 512u /* nine bits, without the three that say where its operands are */
#define OPCODE_NOP 0x118u

const char *const mix_class_names[MIX_CLASSES] = {
    [MIX_OTHER] = "other",
    [MIX_TENSOR] = "tensor",
    [MIX_FLOAT] = "float",
    [MIX_INTEGER] = "integer",
    [MIX_CONVERT] = "convert",
    [MIX_MOVE] = "move",
    [MIX_LOAD_GLOBAL] = "load_global",
    [MIX_STORE_GLOBAL] = "store_global",
    [MIX_LOAD_SHARED] = "load_shared",
    [MIX_STORE_SHARED] = "store_shared",
    [MIX_LOCAL] = "local",
    [MIX_COPY] = "copy",
    [MIX_TENSOR_MEMORY] = "tensor_memory",
    [MIX_ATOMIC] = "atomic",
    [MIX_BARRIER] = "barrier",
    [MIX_CONTROL] = "control",
};

/* IMMA, HMMA, BMMA, DMMA, QMMA, OMMA, UTCHMMA, UTCIMMA, UTCOMMA, UTCQMMA, HGMMA, IGMMA, BGMMA, QGMMA */
static const uint16_t of_tensor[] = {0x037, 0x03c, 0x03d, 0x03f, 0x07a, 0x07f, 0x1ea, 0x1f0, 0x1f1, 0x1f2, 0x1f3};
/* FSEL, FMNMX, FSETP, FMUL, FADD, FFMA, DMUL, DADD, DSETP, DFMA, HADD2, HFMA2, HMUL2, HSET2, HMNMX2, FFMA2,
 * FADD2, FCHK, MUFU */
static const uint16_t of_float[] = {0x008, 0x009, 0x00b, 0x020, 0x021, 0x023, 0x028, 0x029, 0x02a, 0x02b,
                                    0x030, 0x031, 0x032, 0x033, 0x035, 0x040, 0x049, 0x04b, 0x102, 0x108};
/* ISETP, VIMNMX3, IADD3, LEA, LOP3, IABS, VABSDIFF, VABSDIFF4, IMNMX, SHF, SGXT, PLOP3, IMAD, IDP, VIADD, VIADDMNMX,
 * VIMNMX, UVIMNMX, UISETP, UIADD3, ULEA, ULOP3, USHF, USGXT, UPLOP3, UIMAD, UFLO, UPOPC, FLO, BREV, POPC */
static const uint16_t of_integer[] = {0x00c, 0x00f, 0x010, 0x011, 0x012, 0x013, 0x014, 0x015, 0x017,
                                      0x019, 0x01a, 0x01c, 0x024, 0x025, 0x026, 0x027, 0x036, 0x046,
                                      0x048, 0x04a, 0x08c, 0x090, 0x091, 0x092, 0x097, 0x099, 0x09a,
                                      0x09c, 0x0a4, 0x0a5, 0x0a6, 0x0bd, 0x0bf, 0x100, 0x101, 0x109};
/* F2FP, I2FP, UI2F, UF2I, F2F, F2I, I2F */
static const uint16_t of_convert[] = {0x03e, 0x045, 0x05a, 0x05c, 0x104, 0x105, 0x106, 0x110, 0x111, 0x112};
/* MOV, P2R, R2P, CS2R, VOTE, SEL, PRMT, ELECT, MOVM, UMOV, UP2UR, VOTEU, USEL, UPRMT, ULDC, R2UR, CS2UR, CREDUX, S2R,
 * B2R, LEPC, LDC, SHFL, MATCH, QSPC, LDCU, S2UR, REDUX */
static const uint16_t of_move[] = {0x002, 0x003, 0x004, 0x005, 0x006, 0x007, 0x016, 0x02f, 0x03a, 0x082,
                                   0x083, 0x086, 0x087, 0x096, 0x0b9, 0x0bb, 0x0ca, 0x0cb, 0x0cc, 0x119,
                                   0x11c, 0x14e, 0x182, 0x189, 0x1a1, 0x1aa, 0x1ac, 0x1c2, 0x1c3, 0x1c4};
/* TEX, TLD, LDG, LD, SULD, LDGMC */
static const uint16_t of_load_global[] = {0x160, 0x166, 0x17e, 0x180, 0x181, 0x199, 0x1a4};
/* STG, ST, SUST */
static const uint16_t of_store_global[] = {0x17f, 0x185, 0x186, 0x19d};
/* LDSM, LDS */
static const uint16_t of_load_shared[] = {0x03b, 0x184};
/* STSM, STS, STAS */
static const uint16_t of_store_shared[] = {0x044, 0x188, 0x1bd};
/* LDL, STL */
static const uint16_t of_local[] = {0x183, 0x187};
/* LDGSTS, UTMALDG, UTMASTG, UTMAREDG, UTMAPF, UBLKCP, UBLKRED, UBLKPF */
static const uint16_t of_copy[] = {0x1ae, 0x1b4, 0x1b5, 0x1b6, 0x1b8, 0x1ba, 0x1bb, 0x1bc};
/* UTCATOMSWS, UTCSHIFT, UTCCP, STTM, LDTM */
static const uint16_t of_tensor_memory[] = {0x1e3, 0x1e6, 0x1e7, 0x1ed, 0x1ee};
/* ATOM, ATOMS, RED, REDG, ATOMG */
static const uint16_t of_atomic[] = {0x18a, 0x18c, 0x18d, 0x18e, 0x1a2, 0x1a3, 0x1a6, 0x1a8, 0x1a9};
/* PREEXIT, ACQBULK, DEPBAR, ENDCOLLECTIVE, BAR, CCTL, YIELD, WARPSYNC, NANOSLEEP, MEMBAR, SYNCS, CGAERRBAR, ERRBAR,
 * LDGDEPBAR, ARRIVES, UTMACMDFLUSH, UTMACCTL, WARPGROUP, FENCE, UCGABAR_ARV, UCGABAR_WAIT, UTCBAR */
static const uint16_t of_barrier[] = {0x02d, 0x02e, 0x11a, 0x11b, 0x11d, 0x140, 0x146, 0x148,
                                      0x15d, 0x18f, 0x192, 0x1a7, 0x1ab, 0x1af, 0x1b0, 0x1b1,
                                      0x1b2, 0x1b7, 0x1b9, 0x1c5, 0x1c6, 0x1c7, 0x1e9};
/* UVIRTCOUNT, BSYNC, BREAK, CALL, BSSY, BRA, BRX, EXIT, RET, BRXU, BPT, USETMAXREG, USETSHMSZ, UGETNEXTWORKID */
static const uint16_t of_control[] = {0x04c, 0x141, 0x142, 0x143, 0x144, 0x145, 0x147, 0x149,
                                      0x14d, 0x150, 0x158, 0x15c, 0x1c8, 0x1c9, 0x1ca};

#define LIST(class, opcodes)                                                                                           \
    {                                                                                                                  \
        class, opcodes, sizeof(opcodes) / sizeof(opcodes)[0]                                                           \
    }
static const struct {
    enum mix_class class;
    const uint16_t *opcodes;
    size_t n;
} lists[] = {LIST(MIX_TENSOR, of_tensor),
             LIST(MIX_FLOAT, of_float),
             LIST(MIX_INTEGER, of_integer),
             LIST(MIX_CONVERT, of_convert),
             LIST(MIX_MOVE, of_move),
             LIST(MIX_LOAD_GLOBAL, of_load_global),
             LIST(MIX_STORE_GLOBAL, of_store_global),
             LIST(MIX_LOAD_SHARED, of_load_shared),
             LIST(MIX_STORE_SHARED, of_store_shared),
             LIST(MIX_LOCAL, of_local),
             LIST(MIX_COPY, of_copy),
             LIST(MIX_TENSOR_MEMORY, of_tensor_memory),
             LIST(MIX_ATOMIC, of_atomic),
             LIST(MIX_BARRIER, of_barrier),
             LIST(MIX_CONTROL, of_control)};

/* What it is for this architecture: two opcodes were given another meaning. */
static void fill(int cc, unsigned char class_of[OPCODES])
{
    memset(class_of, MIX_OTHER, OPCODES);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (size_t j = 0; j < lists[i].n; j++)
            class_of[lists[i].opcodes[j]] = (unsigned char)lists[i].class;
    if (cc >= 100)
        class_of[0x035] = MIX_INTEGER; /* IADD; before, HFMA2.MMA */
    if (cc >= 100 && cc < 120)
        class_of[0x04a] = MIX_FLOAT; /* FMUL2; from 120 on, UVIMNMX */
}

void mix_count(const unsigned char *code, size_t length, int cc, struct mix *out)
{
    unsigned char class_of[OPCODES];
    fill(cc, class_of);
    *out = (struct mix){.total = 0};
    for (size_t at = 0; at + INSTRUCTION <= length; at += INSTRUCTION) {
        unsigned opcode = (code[at] | (unsigned)code[at + 1] << 8) % OPCODES;
        if (opcode == OPCODE_NOP)
            continue;
        out->count[class_of[opcode]]++;
        out->total++;
    }
}
