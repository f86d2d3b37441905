/*
 * shares.cuh - how stream.cuh deals out the steps of tiles: plain functions of numbers, which tests/unit/kernels/test_shares.c compiles
 * for the host as well. All tiles have the same number of steps, 1 and more.
 */
#ifndef CUDAL2_SHARES_CUH
#define CUDAL2_SHARES_CUH

/* What is walked, and by how many: `tiles` of `steps`, clusters that run at once, and STREAM_K. */
struct deal {
    int tiles, steps, sharers, kind;
};

/* The part of a tile that a CTA multiplies now. */
struct round {
    int tile, begin, end; /* steps of it */
    int rest;             /* steps of the CTA's share that come behind; below 0: whole tiles have begun */
};

/* Tiles whose steps are dealt out, the first of the walk: those of a last wave that is not full, with kind 2 and those of
 * a full one. */
DEVICE int dealt_tiles(struct deal d)
{
    return (int)((u32)d.tiles % (u32)d.sharers) + (d.kind == 2 ? d.sharers : 0);
}

/* Where share `number` begins, in steps of these tiles; that of `sharers` is their end. The manifest refuses what does
 * not fit into 32 bits. */
DEVICE int share_begins(struct deal d, int number)
{
    return (int)((u32)number * (u32)(dealt_tiles(d) * d.steps) / (u32)d.sharers);
}

/* The first part of a share. */
DEVICE struct round begin_share(struct deal d, int number)
{
    const int from = share_begins(d, number), length = share_begins(d, number + 1) - from;
    struct round r;
    r.tile = (int)((u32)from / (u32)d.steps);
    r.begin = from - r.tile * d.steps;
    r.end = r.begin + length < d.steps ? r.begin + length : d.steps;
    r.rest = length - (r.end - r.begin);
    return r;
}

/* The one behind `r`: more of the share, then whole tiles, one for each sharer in turn. A tile beyond the walk: there is
 * none. */
DEVICE struct round next_part(struct deal d, int number, struct round r)
{
    const int of_share = r.rest;
    r.begin = 0;
    r.end = of_share > 0 && of_share < d.steps ? of_share : d.steps;
    r.rest = of_share > 0 ? of_share - r.end : -1;
    r.tile = of_share > 0 ? r.tile + 1 : of_share < 0 ? r.tile + d.sharers : dealt_tiles(d) + number;
    return r;
}

/* Whether share `number`, behind that with the first step of `tile`, has some of it: it leaves what it has. */
DEVICE int leaves_some_of(struct deal d, int tile, int number)
{
    return share_begins(d, number) < (tile + 1) * d.steps;
}

#endif
