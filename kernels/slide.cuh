/*
 * slide.cuh - where slide.cu puts what: plain functions of numbers, which tests/unit/kernels/test_slide.c compiles for
 * the host as well and runs a whole tile with.
 *
 * A line of shared memory holds a row of A or B, 16 bytes at a time from the address of 16 at or before the row's
 * begin: one chunk more than the step has. So a row's elements lie up to seven behind their places (its slip, the same
 * at every step), and are slid there on their way to the tensor cores.
 */
#ifndef CUDAL2_SLIDE_CUH
#define CUDAL2_SLIDE_CUH

/* The line, of eight, of which a lane's group g of a fragment takes elements. Of lanes that read at once the second
 * group's lines lie four chunks further, where a line has an odd number of them: no bank is asked twice. */
DEVICE int slide_line(int g)
{
    return g / 2 + g % 2 * 4;
}

/* Where in its line chunk `part` lies, of `parts` and one more. Each of `takers` (four lanes of every slice) takes as
 * many successive ones, and needs the one behind; takers' first chunks lie side by side, then their second ones. */
DEVICE int slide_place(int part, int parts, int takers)
{
    const int each = parts / takers;
    return part == parts ? parts : part % each * takers + part / each;
}

/* Elements between where row `row` of length k has its chunks begin and where it begins itself. Rows that are the same
 * modulo eight have the same. */
DEVICE int slide_slip(int row, int k)
{
    return row % 8 * (k % 8) % 8;
}

/* The element of the matrix with which row `row` of length k has its first chunk begin. */
DEVICE u32 slide_from(int row, int k)
{
    return (u32)row * (u32)k / 8 * 8;
}

/* Bytes of a chunk that are there and wanted: none past the row, no more than the matrix of `total` has. It is `ahead`
 * elements from where the row's first chunk begins, and at element `from` of the matrix. */
DEVICE u32 slide_bytes(int ahead, int slip, int k, u32 from, u32 total)
{
    const u32 left = total - from;
    return ahead - slip >= k ? 0 : left < 8 ? left * 2 : 16;
}

/* The pairs of eight elements that begin `slip` elements behind the first of two chunks. FUNNEL(low, high, bits) is the
 * low word of both shifted right. */
DEVICE void slide_pairs(u32 *out, const u32 *chunks, int slip)
{
    u32 by_four[6], by_two[5];
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int i = 0; i < 6; ++i) {
        by_four[i] = slip & 4 ? chunks[i + 2] : chunks[i];
    }
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int i = 0; i < 5; ++i) {
        by_two[i] = slip & 2 ? by_four[i + 1] : by_four[i];
    }
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int i = 0; i < 4; ++i) {
        out[i] = FUNNEL(by_two[i], by_two[i + 1], slip % 2 * 16);
    }
}

/* The element of C, in its tile of 16 x 8, that register e of a lane stands for. */
DEVICE int slide_row_of(int lane, int e)
{
    return slide_line(lane / 4) + e / 2 * 8;
}

DEVICE int slide_col_of(int lane, int e)
{
    return slide_line(lane % 4 * 2 + e % 2);
}

/* Place of a sum in its slice of shared memory, in floats. Rows that a warp stores at once touch all banks. */
DEVICE int slide_sum_at(int row, int col, int columns)
{
    return row * (columns + 4) + col;
}

/* How many rows of a tile share `share` of `shares` has: every shares-th from its own number on. */
DEVICE int slide_rows_of(int share, int shares, int rows)
{
    return (rows - share + shares - 1) / shares;
}

/* The first column of pair u of a row of the tile whose first element lies at place `at` of C: two columns that share
 * an address of four bytes; the first pair's first may be column -1. */
DEVICE int slide_pair(int at, int u)
{
    return 2 * u - at % 2;
}

/* What part `part` of a row of the tile stores, of which `columns` are there and which begins `place` elements behind
 * an address of 16 bytes. There are as many parts as eights, and at least eight. */
struct slide_wide {
    int at;    /* the first of eight elements that are stored at once */
    int whole; /* whether they are */
    int first; /* whether element `part` is stored by itself, of those ahead of the first such address */
    int last;  /* the element that is, of those behind the eights, or -1 */
};

DEVICE struct slide_wide slide_wide_of(int part, int place, int columns)
{
    const int ahead = (8 - place) % 8, head = ahead < columns ? ahead : columns;
    const int eights = (columns - head) / 8, last = head + eights * 8 + part;
    struct slide_wide s = {head + part * 8, part < eights, part < head, part < 8 && last < columns ? last : -1};
    return s;
}

#endif
