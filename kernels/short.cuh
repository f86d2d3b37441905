/*
 * short.cuh - where short.cu finds what: plain functions of numbers, which tests/unit/kernels/test_short.c compiles for
 * the host as well.
 *
 * A tile takes whole rows of A and of B. In memory they lie one behind the other from an address of 16 on, and in shared
 * memory just so: a row begins at an odd element as often as at an even one.
 */
#ifndef CUDAL2_SHORT_CUH
#define CUDAL2_SHORT_CUH

/* Bytes of the eight elements `ahead` of an operand's block that the matrix has, which ends `left` elements behind the
 * block's first. */
DEVICE u32 short_bytes(long long left, int ahead)
{
    const long long there = left - ahead;
    return there >= 8 ? 16 : there > 0 ? (u32)there * 2 : 0;
}

/* Four successive elements from element `at` of a block on, as two pairs, out of the three words from word at / 2 on.
 * Of them `there` belong to the row; the others are zero. FUNNEL(low, high, bits) is the low word of both shifted
 * right. */
DEVICE void short_four(u32 *out, const u32 *words, int at, int there)
{
    const int bits = at % 2 * 16;
    const u32 low = there >= 2 ? 0xffffffffu : there == 1 ? 0xffffu : 0u;
    const u32 high = there >= 4 ? 0xffffffffu : there == 3 ? 0xffffu : 0u;
    out[0] = FUNNEL(words[0], words[1], bits) & low;
    out[1] = FUNNEL(words[1], words[2], bits) & high;
}

/* Elements between an address of 16 and where row `row` of a tile begins in C, whose rows have n: tiles begin at rows and
 * columns that are multiples of eight. In shared memory the row begins so many elements late. */
DEVICE int short_shift(int row, int n)
{
    return row % 8 * (n % 8) % 8;
}

/* The first column of eight that lie at an address of 16 in C; the first eight may begin ahead of the row, and the last
 * end behind it. */
DEVICE int short_begin(int part, int shift)
{
    return part * 8 - shift;
}

#endif
