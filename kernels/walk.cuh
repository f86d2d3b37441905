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

/* Tile `index` of rows x cols, in bands RASTER wide. A launch that stands alone waits for these lines: where bands are
 * a power of two wide, which most are, nothing is divided. */
DEVICE void band(int index, int rows, int cols, int &row, int &col)
{
    int first = 0, within = index;
    if (index >= RASTER * rows) {
        first = index / (RASTER * rows) * RASTER;
        within = index % (RASTER * rows);
    }
    const int width = smaller(RASTER, cols - first);
    if ((width & (width - 1)) == 0) {
        row = within >> (31 - __clz(width));
        col = first + (within & (width - 1));
    } else {
        row = within / width;
        col = first + within % width;
    }
}

#endif
