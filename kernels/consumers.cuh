/*
 * consumers.cuh - what the consumer warpgroups of a kernel share: registers, turns, barriers of their own.
 */
#ifndef CUDAL2_CONSUMERS_CUH
#define CUDAL2_CONSUMERS_CUH

#include "wgmma.cuh"

/* Register budgets: 64K registers over the CTA's threads, the producer's share given to the consumers. */
#if CONSUMERS == 2
#define PRODUCER_REGISTERS 40
#define CONSUMER_REGISTERS 232
#elif CONSUMERS == 3
#define PRODUCER_REGISTERS 56
#define CONSUMER_REGISTERS 152
#endif

/*
 * With PINGPONG the consumers issue their products in turn, tile by tile; with TAIL the second waits for the first once a
 * tile. Besides keeping the tensor cores to one tile at a time, the turns of PINGPONG keep a consumer from waiting on a
 * `full` barrier more than one phase ahead, where the parity would lie: the stages of the tile before have all been seen
 * full by then.
 */
DEVICE void await_turn(int group)
{
    if (group == 0) {
        named_barrier<4>(256);
    } else {
        named_barrier<5>(256);
    }
}

DEVICE void pass_turn(int group)
{
    if (group == 0) {
        named_barrier_arrive<5>(256);
    } else {
        named_barrier_arrive<4>(256);
    }
}

/* Among the threads of one consumer. The barrier's number must be a constant, or the compiler reserves all sixteen. */
DEVICE void group_barrier(int group)
{
    if (group == 0) {
        named_barrier<1>(128);
    } else if (group == 1) {
        named_barrier<2>(128);
    } else {
        named_barrier<3>(128);
    }
}

#endif
