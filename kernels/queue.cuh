/*
 * queue.cuh - tiles that are given to whoever asks next (QUEUE 1).
 *
 * With a fixed share of the tiles, CTAs that get their operands sooner run ahead of the others until what they read no
 * longer lies together in the L2 cache, and end while others have tiles left. Here the walk goes on as one, whoever
 * takes its next tile.
 *
 * A cluster's first tile is that of its place in the grid. The producer of its first CTA counts up in the GPU's memory
 * for the next, some steps before it is through with the one it has, and tells all of the cluster by a ring of two
 * entries in shared memory: `told` completes when an entry is there, `heard` (of the first CTA) when all who have to
 * read it have; who hears that there are no more tiles leaves without a word.
 */
#ifndef CUDAL2_QUEUE_CUH
#define CUDAL2_QUEUE_CUH

#include "persistent.cuh"

#if !STREAM_K /* there stream.cuh says what comes next */
/* Who has been through how much of the tiles of this CTA. */
struct round {
    int tile;  /* QUEUE 0: the tile of now */
    int entry; /* QUEUE 1: that is told or heard next */
};

DEVICE struct round first_round()
{
    struct round r = {(int)blockIdx.x / CLUSTER, 0};
    return r;
}
#endif

#if QUEUE
#define ENTRIES 2
#define ASK_AHEAD 8 /* steps, some 4 us of 128 x 192; a count in the L2 should be back in one. Neither was measured */
#define LISTENERS (CLUSTER * CONSUMERS * 4 + CLUSTER - 1) /* warps of consumers, and the others' producers */

/* Tiles taken in this launch beyond every cluster's first. Each of G clusters asks until it is refused, so T tiles are
 * asked for T times, after which the count is 0 again. There is one for the module: launches of it that run at the same
 * time would share it and leave tiles out (so would those of split.cuh's counts); one stream has them in turn. */
__device__ u32 taken;

DEVICE u32 told_at(const struct work &w, const struct round &r)
{
    return w.queue + r.entry % ENTRIES * 8;
}

DEVICE u32 heard_at(const struct work &w, const struct round &r)
{
    return w.queue + (ENTRIES + r.entry % ENTRIES) * 8;
}

DEVICE u32 slot_at(const struct work &w, const struct round &r)
{
    return w.queue + ENTRIES * 16 + r.entry % ENTRIES * 8;
}

DEVICE u32 parity_of(const struct round &r)
{
    return r.entry / ENTRIES & 1;
}

/* By one thread. */
DEVICE void make_queue(const struct work &w)
{
    for (int i = 0; i < ENTRIES; ++i) {
        barrier_init(w.queue + i * 8, 1);
        barrier_init(w.queue + (ENTRIES + i) * 8, LISTENERS);
    }
}

/* How many tiles were taken before, to lane 0 of the first CTA's producer: asked for here, waited for where it is used. */
DEVICE u32 ask_for_tile(const struct work &w)
{
    u32 before = 0;
    count_if(threadIdx.x % 32 == 0 && w.rank == 0, &taken, (u32)w.walk.tiles - 1, before);
    return before;
}

/* Waits for the entry. By whole warps. */
DEVICE int listen(const struct work &w, const struct round &r)
{
#if CLUSTER > 1
    barrier_wait_cluster(told_at(w, r), parity_of(r));
#else
    barrier_wait(told_at(w, r), parity_of(r));
#endif
    return __shfl_sync(~0u, (int)load_shared4(slot_at(w, r)), 0);
}

/* Which tile comes next (no tile of the walk: none does); each listener hears all entries. By whole warps. */
DEVICE int hear(const struct work &w, struct round &r)
{
    const int tile = listen(w, r);
    if (threadIdx.x % 32 == 0 && tile < w.walk.tiles) {
#if CLUSTER > 1
        barrier_arrive_at(heard_at(w, r), 0);
#else
        barrier_arrive(heard_at(w, r));
#endif
    }
    __syncwarp();
    ++r.entry;
    return tile;
}

/* Tells everybody which tile that makes, when they have heard the entry that was in its place, and returns it. By the
 * producer's whole warp, of every CTA. */
DEVICE int pass_tile(const struct work &w, struct round &r, u32 before)
{
    const int tile = (int)(gridDim.x / CLUSTER + before);
#if CLUSTER > 1
    if (w.rank > 0) {
        if (threadIdx.x % 32 == 0) {
            barrier_expect(told_at(w, r), 8); /* the entry in its place has been heard, by this very warp */
        }
        return hear(w, r);
    }
    barrier_wait(heard_at(w, r), parity_of(r) ^ 1);
    if (threadIdx.x % 32 == 0) {
        barrier_expect(told_at(w, r), 8); /* not before: its consumers' answers prove that the last phase is over */
        for (int rank = 0; rank < CLUSTER; ++rank) {
            store_async8(cluster_address(slot_at(w, r), rank), make_uint2(tile, 0), cluster_address(told_at(w, r), rank));
        }
    }
#else
    barrier_wait(heard_at(w, r), parity_of(r) ^ 1);
    if (threadIdx.x % 32 == 0) {
        store_shared4(slot_at(w, r), tile);
        barrier_arrive(told_at(w, r));
    }
#endif
    __syncwarp();
    ++r.entry;
    return __shfl_sync(~0u, tile, 0);
}

/* Until the others of the cluster have told the first CTA that they heard of their last tile: it stays for that. */
DEVICE void end_queue(const struct work &w, const struct round &r)
{
    if (CLUSTER > 1 && w.rank == 0) {
        barrier_wait(heard_at(w, r), parity_of(r) ^ 1);
    }
}

#else
DEVICE void make_queue(const struct work &)
{
}

#if !STREAM_K
/* The next tile of this CTA. */
DEVICE int hear(const struct work &, struct round &r)
{
    r.tile += (int)gridDim.x / CLUSTER;
    return r.tile;
}
#endif

DEVICE void end_queue(const struct work &, const struct round &)
{
}
#endif

#endif
