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
};

/* Tile `index` of rows x cols, in bands `wide` wide. A launch that stands alone waits for these lines: where bands are
 * a power of two wide, which most are, nothing is divided. */
DEVICE void band(int wide, int index, int rows, int cols, int &row, int &col)
{
    int first = 0, within = index;
    if (index >= wide * rows) {
        first = index / (wide * rows) * wide;
        within = index % (wide * rows);
    }
    const int width = smaller(wide, cols - first);
    if ((width & (width - 1)) == 0) {
        row = within >> (31 - __clz(width));
        col = first + (within & (width - 1));
    } else {
        row = within / width;
        col = first + within % width;
    }
}

#endif
