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

/* Tile `index` of rows x cols, in bands RASTER wide. */
DEVICE void band(int index, int rows, int cols, int &row, int &col)
{
    const int first = index / (RASTER * rows) * RASTER, within = index % (RASTER * rows);
    const int width = smaller(RASTER, cols - first);
    row = within / width;
    col = first + within % width;
}

#endif
