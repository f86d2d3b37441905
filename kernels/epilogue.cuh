/*
 * epilogue.cuh - accumulators on their way to C: packed, and through shared memory in the boxes that TMA stores.
 */
#ifndef CUDAL2_EPILOGUE_CUH
#define CUDAL2_EPILOGUE_CUH

#include "wgmma.cuh"

#define NARROW_BYTES (64 * 16 * 2) /* a box of 64 x 16 */

/* The packed pair of n8-tile j, row half h. */
DEVICE u32 packed(const wgmma_register (&d)[WG_REGISTERS], int j, int h)
{
#if WIDE_ACCUMULATOR
    return pack2(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
#else
    return d[2 * j + h];
#endif
}

/* 64 x 64 of C in one swizzled box, or what BN leaves of it in boxes 16 wide; `n8` is the first of the accumulator's.
 * What is narrower than 16 is left out. */
DEVICE void fill_box(u32 buffer, const wgmma_register (&d)[WG_REGISTERS], int n8, int thread)
{
    const int lane = thread % 32, row = thread / 32 * 16 + lane % 16;
#pragma unroll
    for (int j = 0; j < 8 && n8 + j + 1 < BN / 8; j += 2) {
        const u32 wide = row * 128 + ((j + lane / 16) ^ (row & 7)) * 16,
                  narrow = j / 2 * NARROW_BYTES + row * 32 + ((lane / 16) ^ (row >> 2 & 1)) * 16;
        stmatrix4(buffer + (n8 < BN / 64 * 8 ? wide : narrow), packed(d, n8 + j, 0), packed(d, n8 + j, 1),
                  packed(d, n8 + j + 1, 0), packed(d, n8 + j + 1, 1));
    }
}

/* Where the products lie across: 64 rows x 64 columns of C in one swizzled box. n8-tile j of the accumulator are eight
 * rows, of which a warp holds 16 columns; what BM leaves of the last box fills it in part. */
DEVICE void fill_box_across(u32 buffer, const wgmma_register (&d)[WG_REGISTERS], int n8, int thread)
{
    const int lane = thread % 32, column = thread / 32 * 2 + lane / 8 % 2;
#pragma unroll
    for (int j = 0; j < 8 && n8 + j < WG_N / 8; j += 2) {
        const int row = (j + lane / 16) * 8 + lane % 8, next = n8 + j + (n8 + j + 1 < WG_N / 8);
        stmatrix4_transposed(buffer + row * 128 + (column ^ (row & 7)) * 16, packed(d, n8 + j, 0), packed(d, n8 + j, 1),
                             packed(d, next, 0), packed(d, next, 1));
    }
}

#endif
