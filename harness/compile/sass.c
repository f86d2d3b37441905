/*
 * sass.c - scans machine code for HMMA, HGMMA and the like, and notes in what type each accumulates. The encodings were
 * read off ptxas 12.9 and 13.0 for sm_80 to sm_120 (tests/unit/compile/test_sass.c has them). Relies on nothing. Called
 * by contender/ for binaries; verify/instructions.c judges what it found.
 */
#include "compile/sass.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define INSTRUCTION 16u
#define OPCODE_BITS 0x1ffu /* without the three that say where its operands are */
#define REGISTER_ZERO 255u

enum opcode {
    OPCODE_FFMA = 0x023,
    OPCODE_DFMA = 0x02b,
    OPCODE_HFMA2 = 0x031,
    OPCODE_HFMA2_MMA = 0x035, /* IADD from sm_100 on */
    OPCODE_HMMA = 0x03c,
    OPCODE_FFMA2 = 0x049,
    OPCODE_HGMMA = 0x1f0,
    OPCODE_TENSOR = 0x1ea /* UTCHMMA and its kin: a register says what it accumulates in */
};

static uint64_t half_of(const unsigned char *at)
{
    uint64_t value = 0;
    for (unsigned i = 8; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static bool bit(uint64_t upper, unsigned which)
{
    return upper >> which & 1u;
}

/* NULL: it multiplies no matrices. */
static const char *matrix_name(unsigned opcode, uint64_t upper)
{
    switch (opcode) {
    case OPCODE_HMMA:
        return !bit(upper, 12)  ? "hmma.f16.f16"
               : bit(upper, 18) ? "hmma.f32.bf16"
               : bit(upper, 19) ? "hmma.f32.tf32"
                                : "hmma.f32.f16";
    case OPCODE_HGMMA:
        return !bit(upper, 11)  ? "hgmma.f16.f16"
               : bit(upper, 12) ? "hgmma.f32.bf16"
               : bit(upper, 13) ? "hgmma.f32.tf32"
                                : "hgmma.f32.f16";
    case OPCODE_TENSOR:
        return "utcmma";
    default:
        return NULL;
    }
}

/* A product with the register that is always 0 is how the compiler writes a constant. */
static const char *scalar_name(unsigned opcode, uint64_t lower, uint64_t upper)
{
    if ((lower >> 24 & 0xff) == REGISTER_ZERO)
        return NULL;
    switch (opcode) {
    case OPCODE_FFMA:
    case OPCODE_FFMA2:
        return "ffma.f32";
    case OPCODE_DFMA:
        return "dfma.f64";
    case OPCODE_HFMA2:
    case OPCODE_HFMA2_MMA:
        return bit(upper, 21) ? "hfma2.bf16x2" : "hfma2.f16x2";
    default:
        return NULL;
    }
}

static void add_name(char *out, size_t capacity, const char *name)
{
    size_t used = strlen(out), length = strlen(name);
    const char *at = strstr(out, name);
    bool there = at && (at[length] == ' ' || at[length] == '\0');
    if (!there && used + length + 2 <= capacity)
        snprintf(out + used, capacity - used, "%s%s", used > 0 ? " " : "", name);
}

/* Of matrices or of numbers. */
struct sass_look {
    bool matrices;
    int cc;
};

static void scan(const unsigned char *code, size_t length, struct sass_look look, char *out, size_t capacity)
{
    for (size_t at = 0; at + INSTRUCTION <= length; at += INSTRUCTION) {
        uint64_t lower = half_of(code + at), upper = half_of(code + at + 8);
        unsigned opcode = (unsigned)(lower & OPCODE_BITS);
        const char *name = look.matrices ? matrix_name(opcode, upper) : scalar_name(opcode, lower, upper);
        if (name && !(look.cc >= 100 && opcode == OPCODE_HFMA2_MMA))
            add_name(out, capacity, name);
    }
}

void sass_instructions(const unsigned char *code, size_t length, int cc, char *out, size_t capacity)
{
    out[0] = '\0';
    scan(code, length, (struct sass_look){true, cc}, out, capacity);
    if (out[0] == '\0')
        scan(code, length, (struct sass_look){false, cc}, out, capacity);
}
