/*
 * bulk.cuh - where bulk.cu puts what: plain functions of numbers, which tests/unit/kernels/test_bulk.c compiles for the
 * host as well and runs whole tiles with. Where fragments lie is decode.cuh's.
 */
#ifndef CUDAL2_BULK_CUH
#define CUDAL2_BULK_CUH

/* Bytes from a row to the next in shared memory: 16 more than it has, so that eight rows of one column of chunks touch
 * all banks. Rows have an even number of chunks of 8 elements. */
DEVICE int bulk_pitch(int elements)
{
    return elements * 2 + 16;
}

/* Byte of a chunk of 8 elements in rows of so many elements. */
DEVICE int bulk_place(int row, int chunk, int elements)
{
    return row * bulk_pitch(elements) + chunk * 16;
}

/* How many of `most` are there, from `at` on, before the end. */
DEVICE int bulk_inside(int at, int most, int end)
{
    return end - at < most ? end - at : most;
}

/* Sums are dealt out among the CTAs of a cluster in runs of eight quads (of four weights of a token): which CTA stores
 * quad u, and at which place among its own. */
DEVICE int bulk_owner(int u, int shares)
{
    return u / 8 % shares;
}

DEVICE int bulk_own_place(int u, int shares)
{
    return u / 8 / shares * 8 + u % 8;
}

/* Quad number `place` of CTA `rank`: the inverse. */
DEVICE int bulk_quad(int place, int rank, int shares)
{
    return (place / 8 * shares + rank) * 8 + place % 8;
}

/* Quads that CTA `rank` stores, of a total that is a multiple of eight. */
DEVICE int bulk_own_quads(int rank, int shares, int total)
{
    return (total / 8 - rank + shares - 1) / shares * 8;
}

#endif
