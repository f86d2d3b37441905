/*
 * begin.cuh - how a CTA of persistent.cu begins: who makes which barriers, who is told of them, and when peers have
 * met.
 */
#ifndef CUDAL2_BEGIN_CUH
#define CUDAL2_BEGIN_CUH

#include "persistent.cuh"
#include "queue.cuh"
#include "split.cuh"

/* A CTA without a cluster knows when it is compiled where its shared memory begins, behind the system's 1 KB; among
 * peers addresses hold its rank. */
#define ALONE (CLUSTER * CLUSTER_K * ABREAST == 1)
#define SHARED_BEGIN 1024

/* Whether the producer's first warp opens with the first copies, before anybody knows who he is. What it does then
 * comes from memory the first time, as all code does: with K shared in clusters, where more stands ahead of the copies,
 * their data are there 150 cycles sooner for it, elsewhere 30 to 130 later (docs/kernels.md, the twenty-second run). */
#define OPENS (SPLIT_K > 1 && REDUCE == 1)

/* By one thread: what the first copies need. */
DEVICE void make_first_barriers(const struct work &w)
{
#pragma unroll
    for (int s = 0; s < PART_AHEAD; ++s) {
        barrier_init(w.full + s * 8, 1);
    }
    barrier_init_fence();
}

/* By one thread of a consumer, which has nothing else to do so early. */
DEVICE void prefetch_maps(const struct work &w)
{
#if !PACK
    tensor_prefetch(w.map_a);
    tensor_prefetch(w.map_b);
#endif
}

/* By one thread, the rest: barriers live at uniform addresses, and a loop over lanes costs a fence for each. */
DEVICE void make_barriers(const struct work &w)
{
    for (int s = 0; s < STAGES; ++s) {
        if (s >= PART_AHEAD) {
            barrier_init(w.full + s * 8, 1);
        }
        barrier_init(w.empty + s * 8, USERS * 4 * CLUSTER);
    }
#if SPLIT_K > 1 && REDUCE == 1
    barrier_init(w.arrived, 1);
    barrier_expect(w.arrived, bytes_owned(w.rank));
#endif
    make_queue(w);
    barrier_init_fence();
}

/* The producer's first two warps, when all barriers are made: by this they wait for nobody; consumers wait for them. */
DEVICE void announce_barriers()
{
    named_barrier_arrive<6>(CONSUMERS * 128 + 64);
}

DEVICE void await_barriers()
{
    named_barrier<6>(CONSUMERS * 128 + 64);
}

/* Between the second and the first, which goes on by what the other has made. */
DEVICE void hand_over_barriers()
{
    named_barrier_arrive<7>(64);
}

DEVICE void take_over_barriers()
{
    named_barrier<7>(64);
}

/* The same of those that the first copies need, before the second warp makes the rest. */
DEVICE void hand_over_first_barriers()
{
    named_barrier_arrive<8>(64);
}

DEVICE void take_over_first_barriers()
{
    named_barrier<8>(64);
}

/* By all threads, each when what it has made of its CTA's barriers is ready. */
DEVICE void arrive_at_cluster()
{
#if CLUSTER > 1 || SPLIT_K > 1 && REDUCE == 1
    cluster_arrive_relaxed(); /* the fences have made the barriers visible */
#endif
}

/* By all threads before their CTA does anything to its peers: the peers' barriers are ready. With REDUCE 1 only pieces
 * go there: finish_producing() and begin_consuming() wait instead. */
DEVICE void await_cluster()
{
#if CLUSTER > 1
    cluster_wait();
#endif
}

#endif
