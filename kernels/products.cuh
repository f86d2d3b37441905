/*
 * products.cuh - multiply_tile() of persistent.cu: what a consumer does with the stages of a tile, by PEEK; and release(),
 * by which it hands one back.
 */
#ifndef CUDAL2_PRODUCTS_CUH
#define CUDAL2_PRODUCTS_CUH

#include "persistent.cuh"

/* Tells every CTA that may copy into this stage that the warp is done with it, where it is. */
DEVICE void release_if(bool done, const struct work &w, int stage)
{
    const u32 lane = threadIdx.x % 32;
    if (CLUSTER == 1) {
        if (done && lane == 0) {
            barrier_arrive(w.empty + stage * 8);
        }
    } else if (done && lane < CLUSTER) {
        barrier_arrive_at(w.empty + stage * 8, lane);
    }
}

DEVICE void release(const struct work &w, int stage)
{
    release_if(true, w, stage);
}

/* Where step `k` of a tile has its operands: the left one's slot and the right one's. What is kept came with an earlier
 * tile's stage, for which a consumer may never have waited: of two that take turns the other has, for all of the tile,
 * before it passed the turn. */
DEVICE int2 find_slots(int stage, int k)
{
    return make_int2(HOLD && KEEPS_LEFT ? k : stage, HOLD && !KEEPS_LEFT ? k : stage);
}

/* Steps x to y of a stage's products, 16 of K each, as a group. */
DEVICE void multiply_steps(const struct work &w, accumulator &acc, int2 slots, int2 steps, int accumulate)
{
    const u32 left = w.left + slots.x * (LEFT_BYTES >> 4), right = w.right + slots.y * (RIGHT_BYTES >> 4);
#pragma unroll
    for (int k = steps.x; k < steps.y; ++k) {
#pragma unroll
        for (int i = 0; i < MI; ++i) {
            wgmma(acc[i], wgmma_descriptor(left + ((i * BOX_BYTES + k * (WG_LEFT_TRANSPOSED ? 2048 : 32)) >> 4)),
                  wgmma_descriptor(right + (k * (WG_RIGHT_TRANSPOSED ? 2048 : 32) >> 4)), accumulate || k);
        }
    }
    wgmma_commit();
}

#if PEEK
/* The products of the stage that `r` is at, which is there. While the tensor cores have work a stage that is `done` is
 * handed back, two before this one at least, and the next looked for: after the last product of a stage, where nothing
 * is under way but that, all this would keep them waiting. Returns whether the next stage, at which `r` is then, is there. */
DEVICE bool multiply_and_peek(const struct work &w, accumulator &acc, struct ring &r, int first, int done)
{
    const int2 slots = find_slots(r.stage, 0);
    wgmma_fence();
    multiply_steps(w, acc, slots, make_int2(0, PEEK), !first);
    advance(r);
    const bool ready = barrier_test(w.full + r.stage * 8, r.parity);
    wgmma_wait<2>(); /* not for the steps just asked for, nor for the last ones of the stage before */
    release_if(done >= 0, w, done);
    multiply_steps(w, acc, slots, make_int2(PEEK, BK / 16), 1);
    return ready;
}

/* One tile's products, as far as asking for them: the last ones are under way. Returns the last stage, which alone has
 * not been handed back. */
DEVICE int multiply_tile(const struct work &w, accumulator &acc, struct ring &r, int)
{
    int before = -1, previous = r.stage;
    barrier_wait(w.full + r.stage * 8, r.parity);
    bool ready = multiply_and_peek(w, acc, r, 1, -1);
#pragma unroll 4
    for (int k = w.k_begin + 1; k < w.k_end; ++k) {
        const int stage = r.stage;
        if (!ready) {
            barrier_wait(w.full + stage * 8, r.parity);
        }
        ready = multiply_and_peek(w, acc, r, 0, before);
        before = previous;
        previous = stage;
    }
    wgmma_wait<2>();
    release_if(before >= 0, w, before);
    return previous;
}
#else
/* Step `k` of a tile, whose operands are there. */
DEVICE void multiply_stage(const struct work &w, accumulator &acc, int stage, int k, int accumulate)
{
    wgmma_fence();
    multiply_steps(w, acc, find_slots(stage, k), make_int2(0, BK / 16), accumulate);
}

/* Before step `k` of a tile: the second consumer waits with the last TAIL of them until the first has asked for all of
 * its own, so that one stores while the tensor cores have the other's to do. No stage that either waits for needs one of
 * these to be handed back. */
DEVICE void let_ahead(const struct work &w, int k, int group)
{
    if (TAIL && group == 1 && k == larger(w.k_begin, w.k_end - TAIL)) {
        await_turn(1);
    }
}

/* One tile's products, as far as asking for them: the last ones are under way. The stage before the one being
 * multiplied is handed back. Returns the last stage, which is not. */
DEVICE int multiply_tile(const struct work &w, accumulator &acc, struct ring &r, int group)
{
    int previous = r.stage;
    let_ahead(w, w.k_begin, group);
    barrier_wait(w.full + r.stage * 8, r.parity);
    multiply_stage(w, acc, r.stage, w.k_begin, 0);
    advance(r);
    for (int k = w.k_begin + 1; k < w.k_end; ++k) {
        let_ahead(w, k, group);
        barrier_wait(w.full + r.stage * 8, r.parity);
        multiply_stage(w, acc, r.stage, k, 1);
        wgmma_wait<1>();
        release(w, previous);
        previous = r.stage;
        advance(r);
    }
    if (TAIL && group == 0) {
        pass_turn(0);
    }
    return previous;
}
#endif

#endif
