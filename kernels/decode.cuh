/*
 * decode.cuh - where decode.cu puts what: plain functions of numbers, which tests/unit/kernels/test_decode.c compiles for the host
 * as well and runs a whole tile with. Rows in shared memory are a multiple of eight chunks of 16 bytes.
 */
#ifndef CUDAL2_DECODE_CUH
#define CUDAL2_DECODE_CUH

/* Byte of a chunk in a tile of rows of `chunks`: eight rows of one column of chunks touch all banks. */
DEVICE int decode_place(int row, int chunk, int chunks)
{
    return (row * chunks + (chunk ^ (row & 7))) * 16;
}

/* What a lane addresses for ldmatrix.x4 of 16 rows by two chunks, the second chunk after all rows of the first:
 * fragments of weights, TN. */
DEVICE int decode_tall_row(int lane)
{
    return lane % 16;
}

DEVICE int decode_tall_chunk(int lane)
{
    return lane / 16;
}

/* The same, both chunks of eight rows first: fragments of tokens, and, transposed, of weights, NN. */
DEVICE int decode_wide_row(int lane)
{
    return lane / 16 * 8 + lane % 8;
}

DEVICE int decode_wide_chunk(int lane)
{
    return lane / 8 % 2;
}

/* The element of C, turned, that register `e` of a lane's m16n8 product stands for: weight (0..15) and token (0..7). */
DEVICE int decode_weight_of(int lane, int e)
{
    return lane / 4 + e / 2 * 8;
}

DEVICE int decode_token_of(int lane, int e)
{
    return lane % 4 * 2 + e % 2;
}

/* Place of a partial sum in its CTA's shared memory, in floats. The four tokens that a warp stores at once lie eight
 * banks apart. */
DEVICE int decode_sum_at(int token, int weight, int weights)
{
    return token * (weights + 4) + weight;
}

/* The first step of k of share `rank` of `shares`. */
DEVICE int decode_share(int rank, int shares, int steps)
{
    return (int)((i64)rank * steps / shares);
}

/* Of eight elements from k on, how many lie before the limit. */
DEVICE int decode_inside(int k, int limit)
{
    return limit - k >= 8 ? 8 : limit > k ? limit - k : 0;
}

#endif
