/*
 * store.cuh - store_tile() of persistent.cu: how a tile reaches C, by EPILOGUE, or by REDUCE where CTAs share its K;
 * and finish_producing(), what the producer owes to the latter.
 */
#ifndef CUDAL2_STORE_CUH
#define CUDAL2_STORE_CUH

#include "epilogue.cuh"
#include "persistent.cuh"
#include "split.cuh"

DEVICE void store_pair(const struct work &w, int row, int col, u32 pair)
{
    if (row < w.m && col < w.n) {
        store_global4(w.c + (i64)row * w.n + col, pair);
    }
}

/* The pairs of n8-tile j in rows `row` and `row` + 8, by their holder; `col` is its column in n8-tile 0. */
DEVICE void store_n8(const struct work &w, const wgmma_register (&d)[WG_REGISTERS], int j, int row, int col)
{
    store_pair(w, row, col + j * 8, packed(d, j, 0));
    store_pair(w, row + 8, col + j * 8, packed(d, j, 1));
}

#if SPLIT_K > 1
DEVICE void store_fragment(const struct work &w, const struct place &p, int thread, int f, float4 sum)
{
    const int lane = thread % 32, top = p.row + thread / 128 * ROWS + thread % 128 / 32 * 16 + lane / 4;
    const int row = top + f / (BN / 8) * 64, col = p.col + f % (BN / 8) * 8 + lane % 4 * 2;
    store_pair(w, row, col, pack2(sum.x, sum.y));
    store_pair(w, row + 8, col, pack2(sum.z, sum.w));
}
#endif

#if REDUCE == 2
DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &)
{
    const int thread = group * 128 + (int)threadIdx.x % 128, tile = (int)blockIdx.x;
#pragma unroll
    for (int f = 0; f < FRAGMENTS; ++f) {
        *left_at(w.workspace, tile, f / OWNED, w.rank, f % OWNED, thread) = make_piece(acc[f / (BN / 8)], f % (BN / 8));
    }
    named_barrier<1>(REDUCERS);
    if (thread == 0) {
        meet(tile);
    }
    named_barrier<1>(REDUCERS);
    float4 sums[OWNED]; /* all loaded before the first is stored */
#pragma unroll
    for (int i = 0; i < OWNED; ++i) {
        sums[i] = sum_left(w.workspace, tile, w.rank, i, thread);
    }
#pragma unroll
    for (int i = 0; i < OWNED; ++i) {
        const int f = (int)w.rank * OWNED + i;
        if (f < FRAGMENTS) {
            store_fragment(w, p, thread, f, sums[i]);
        }
    }
}

DEVICE void finish_producing()
{
}
#elif SPLIT_K > 1
/* Fragment f belongs to CTA f % SPLIT_K; the piece from CTA r lands in slot r of its owner. */
DEVICE void send_pieces(const struct work &w, const accumulator &acc, int thread)
{
#pragma unroll
    for (int f = 0; f < FRAGMENTS; ++f) {
        const u32 slot = w.slots + (w.rank * OWNED + f / SPLIT_K) * SLOT + thread * PIECE_BYTES;
        send_piece(slot, f % SPLIT_K, make_piece(acc[f / (BN / 8)], f % (BN / 8)), w.arrived);
    }
}

DEVICE void store_owned(const struct work &w, const struct place &p, int thread)
{
    const u32 slots = w.slots + thread * PIECE_BYTES;
#if PARTS == 1
    for (int f = (int)w.rank; f < FRAGMENTS; f += SPLIT_K) {
        store_fragment(w, p, thread, f, sum_pieces(slots, f / SPLIT_K));
    }
#else
    const int owner = (int)(blockIdx.x * SPLIT_K + w.rank), part = (int)blockIdx.z / SPLIT_K;
    for (int f = (int)w.rank; f < FRAGMENTS; f += SPLIT_K) {
        *part_at(w.workspace, owner, part, f / SPLIT_K, thread) = sum_pieces(slots, f / SPLIT_K);
    }
    if (last_of_parts(owner, thread)) {
        float4 sums[OWNED]; /* all loaded before the first is stored */
#pragma unroll
        for (int i = 0; i < OWNED; ++i) {
            sums[i] = sum_parts(w.workspace, owner, i, thread);
        }
#pragma unroll
        for (int i = 0; i < OWNED; ++i) {
            const int f = (int)w.rank + i * SPLIT_K;
            if (f < FRAGMENTS) {
                store_fragment(w, p, thread, f, sums[i]);
            }
        }
    }
#endif
}

/* The cluster's barriers here and in finish_producing() match. */
DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &)
{
    const int thread = group * 128 + (int)threadIdx.x % 128;
#if REDUCE == 0
    cluster_arrive_relaxed(); /* every stage of the cluster has been read */
    cluster_wait();
    send_pieces(w, acc, thread);
    cluster_arrive();
    cluster_wait();
#else
    cluster_wait(); /* of meet_all(): the owners' barriers are ready */
    send_pieces(w, acc, thread);
    barrier_wait_cluster(w.arrived, 0);
#endif
    store_owned(w, p, thread);
}

/* The barriers of store_tile(), by threads with nothing of their own to make visible. */
DEVICE void finish_producing()
{
#if REDUCE == 0
    cluster_arrive_relaxed();
    cluster_wait();
    cluster_arrive_relaxed();
    cluster_wait();
#else
    cluster_wait();
#endif
}
#elif EPILOGUE == 0
DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &)
{
    const int thread = (int)threadIdx.x % 128, lane = thread % 32;
    const int top = p.row + (PINGPONG ? 0 : group * ROWS) + thread / 32 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < MI; ++i) {
#pragma unroll
        for (int j = 0; j < BN / 8; ++j) {
            store_n8(w, acc[i], j, top + i * 64, p.col + lane % 4 * 2);
        }
    }
}
#elif EPILOGUE == 2
/* 16 rows of a box, from shared memory to C, by the warp that has put them there. */
DEVICE void store_rows(const struct work &w, u32 rows, int top, int left, int columns)
{
    const int lane = (int)threadIdx.x % 32, col = lane % 8 * 8;
    uint4 v[4]; /* all loaded before the first is stored */
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = i * 4 + lane / 8;
        v[i] = load_shared16(rows + row * 128 + (lane % 8 ^ (row & 7)) * 16);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = top + i * 4 + lane / 8;
        if (row < w.m && col < columns && left + col < w.n) {
            store_global16(w.c + (i64)row * w.n + left + col, v[i]);
        }
    }
}

DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &)
{
    const int thread = (int)threadIdx.x % 128, warp_row = thread / 32 * 16;
    const int top = p.row + (PINGPONG ? 0 : group * ROWS) + warp_row;
    const u32 buffer = w.stages_c + group * BOX_BYTES;
#pragma unroll
    for (int i = 0; i < MI; ++i) {
#pragma unroll
        for (int box = 0; box < BOXES; ++box) {
            fill_box<true>(buffer, acc[i], box * 8, thread);
            __syncwarp();
            store_rows(w, buffer + warp_row * 128, top + i * 64, p.col + box * 64, BN - box * 64);
            __syncwarp();
        }
    }
}
#else
/* By one thread. `n8`: the first of the accumulator's that the box holds. What is no whole box leaves in boxes 16 wide,
 * across in boxes 8 high; in either the box of n8-tile j lies 1024 * j bytes behind the first. */
DEVICE void store_box(const struct work &w, u32 buffer, int col, int row, int n8)
{
    const int right = ACROSS ? 0 : 8, down = ACROSS ? 8 : 0, step = ACROSS ? 1 : 2;
    if (n8 < WG_N / 64 * 8) {
        tensor_store<EVICT>(w.map_c, buffer, col + n8 * right, row + n8 * down);
    } else {
#pragma unroll
        for (int j = 0; n8 + j + step <= WG_N / 8; j += step) {
            tensor_store<EVICT>(w.map_narrow, buffer + j * 1024, col + (n8 + j) * right, row + (n8 + j) * down);
        }
    }
    tensor_store_commit();
}

/*
 * Boxes of 64 x 64 through two buffers of this warpgroup, swizzled as the tensor maps say. `box_count` runs on from
 * tile to tile: with an odd number of boxes a tile, counting afresh would reuse the buffer that is still being stored.
 */
DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &box_count)
{
    const int thread = (int)threadIdx.x % 128, first = PINGPONG ? 0 : group * ROWS;
#pragma unroll
    for (int i = 0; i < MI; ++i) {
        const int row = p.row + (ACROSS ? 0 : first + i * 64), col = p.col + (ACROSS ? first + i * 64 : 0);
#pragma unroll
        for (int n8 = 0; n8 < WG_N / 8; n8 += 8) {
            const u32 buffer = w.stages_c + (group * 2 + box_count++ % 2) * BOX_BYTES;
            if (thread == 0) {
                tensor_store_wait<1>(); /* the store before the last has left this buffer */
            }
            group_barrier(group);
#if ACROSS
            fill_box_across(buffer, acc[i], n8, thread);
#else
            fill_box<false>(buffer, acc[i], n8, thread);
#endif
            proxy_fence();
            group_barrier(group);
            if (thread == 0) {
                store_box(w, buffer, col, row, n8);
            }
        }
        if (!ACROSS && BN % 16 != 0) { /* 8 columns are too narrow for a box with the swizzle */
            store_n8(w, acc[i], WG_N / 8 - 1, row + thread / 32 * 16 + thread % 32 / 4, col + thread % 4 * 2);
        }
    }
}
#endif

#endif
