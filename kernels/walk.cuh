/*
 * walk.cuh - where a persistent kernel is: its place in the ring of STAGES stages and in the grid of tiles.
 */
#ifndef CUDAL2_WALK_CUH
#define CUDAL2_WALK_CUH

#include "common.cuh"

/* Place in the ring of stages. */
struct ring {
    int stage;
    u32 parity;
};

DEVICE void advance(struct ring &r)
{
    if (++r.stage == STAGES) {
        r.stage = 0;
        r.parity ^= 1;
    }
}

DEVICE void skip(struct ring &r, int count)
{
    const int at = r.stage + count;
    r.parity ^= at / STAGES & 1;
    r.stage = at % STAGES;
}

struct place {
    int row, col; /* of the CTA's tile, in elements */
    int held;     /* KEEP: stages of its operand in a row that were of the same rows or columns before this tile's */
};

/* How the tiles are walked, in numbers that are worked out with the launch: one that stands alone waits for every line
 * that comes before its first copy, and divisions are long. An inverse is 2^30 / divisor, rounded up. */
struct walk {
    int wide;  /* tiles across a band; below 0: bands are walked column by column, and so many tiles high */
    int band;  /* tiles of a band */
    int lanes; /* tiles across all bands */
    int inverse_band, inverse_wide, inverse_last; /* of band, |wide|, and of what of it the last band has */
    int tiles;                                    /* of all bands */
};

/* index / by, and what is left, for an index below 2^30: with the inverse the quotient is right or one too large. */
DEVICE int divide(int index, int by, int inverse, int &left)
{
    int quotient = (int)__umulhi((u32)index * 4, (u32)inverse);
    left = index - quotient * by;
    if (left < 0) {
        left += by;
        --quotient;
    }
    return quotient;
}

/* Where the walk's tile `index` is, in tiles. */
DEVICE void follow(const struct walk &walk, int index, int &row, int &col)
{
    const bool down = walk.wide < 0;
    const int wide = down ? -walk.wide : walk.wide;
    int first = 0, within = index, width = wide, inverse = walk.inverse_wide, lane;
    if (index >= walk.band) {
        first = divide(index, walk.band, walk.inverse_band, within) * wide;
        if (walk.lanes - first < wide) {
            width = walk.lanes - first;
            inverse = walk.inverse_last;
        }
    }
    const int step = divide(within, width, inverse, lane);
    row = down ? first + lane : step;
    col = down ? step : first + lane;
}

#endif
