/*
 * short.cuh - where short.cu finds what: plain functions of numbers, which tests/unit/kernels/test_short.c compiles for
 * the host as well.
 *
 * A tile takes whole rows of A and of B. In memory they lie one behind the other from an address of 16 on, and in shared
 * memory just so: a row begins at an odd element as often as at an even one.
 */
#ifndef CUDAL2_SHORT_CUH
#define CUDAL2_SHORT_CUH

/* Of `elements` of an operand's block those that the matrix has, which ends `left` elements behind the block's first. */
DEVICE int short_there(long long left, int elements)
{
    return left < elements ? (int)left : elements;
}

/* Bytes to copy of the eight elements from `ahead` on, where `there` of the block are there. */
DEVICE u32 short_bytes(int there, int ahead)
{
    return there - ahead >= 8 ? 16 : there > ahead ? (u32)(there - ahead) * 2 : 0;
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
    return (int)((u32)row % 8 * ((u32)n % 8) % 8);
}

/* The first column of the eight that the `place`-th lane stores at once, to an address of 16 in C. They may end behind the
 * tile's columns: then nobody stores them at once. */
DEVICE int short_begin(int place, int shift)
{
    return (place + (shift > 0)) * 8 - shift;
}

/* What lies ahead of the first whole eight of a row's `columns` and behind the last: the column that the `place`-th of 16
 * lanes stores alone; -1: none. Eight lanes store to one sector. */
DEVICE int short_end(int place, int shift, int columns)
{
    const int last = (int)((u32)(columns + shift) / 8), column = (place < 8 ? 0 : last * 8) - shift + (place & 7);
    const bool there = place < 8 ? shift > 0 : last > 0 || shift == 0;
    return there && column >= 0 && column < columns ? column : -1;
}

#endif
