/*
 * store.cuh - store_tile() of persistent.cu: how a tile reaches C, by EPILOGUE, or by REDUCE where CTAs share its K;
 * find_outlet(), what of it can be known before the products; and finish_producing(), what the producer owes to it.
 */
#ifndef CUDAL2_STORE_CUH
#define CUDAL2_STORE_CUH

#include "epilogue.cuh"
#include "pack.cuh"
#include "persistent.cuh"
#include "split.cuh"
#if EPILOGUE == 4
#define FUNNEL(low, high, bits) __funnelshift_r(low, high, bits)
#include "slide.cuh"
#endif

#if SPLIT_K > 1 || EPILOGUE >= 2
/* Where a lane's share of a tile goes, as far as it can be known before the products. */
struct outlet {
    u16 *to;           /* its first element of C */
    int rows, columns; /* of C from there on; with ENDS_WITH_TILE no more columns than the tile has */
    u32 put, take; /* EPILOGUE 2, in the warpgroup's box of 64 x 64: for stmatrix, and its first 16 bytes; 3: its pair
                      of the warp's first row; 4: that row */
#if REDUCE == 2
    struct meeting meeting;
#endif
};

/* A lane stores pairs as it holds them, or with EPILOGUE 2 16 bytes of every fourth of its warp's 16 rows, or with 3
 * and 4 some of every row. */
#if SPLIT_K > 1
#define LANES_A_ROW 4
#define LANE_COLUMNS 2
#elif EPILOGUE >= 3
#define LANES_A_ROW 32
#define LANE_COLUMNS 0
#else
#define LANES_A_ROW 8
#define LANE_COLUMNS 8
#endif

/* CTA r of those that share a tile owns every SPLIT_K-th fragment from the r-th on, in each row of them; where they
 * have one row only, the last of these may lie beyond the tile. */
#define OWNS_EVENLY (BN / 8 % SPLIT_K == 0)
#define OWNS_COLUMNS (SPLIT_K > 1 && REDUCE == 1 && PARTS == 1 && (OWNS_EVENLY || FRAGMENTS == BN / 8))
#define ENDS_WITH_TILE (SPLIT_K == 1 || OWNS_COLUMNS && !OWNS_EVENLY)

/* Here, where the copies are waited for anyhow: after the products it would take as long as they do. */
DEVICE struct outlet find_outlet(const struct work &w, const struct place &p, int group)
{
    const u32 thread = threadIdx.x % 128, lane = thread % 32, in = thread / 32 * 16 + lane % 16;
    const u32 out = thread / 32 * 16 + lane / LANES_A_ROW, box = w.stages_c + group * BOX_BYTES;
    const int row = p.row + (PINGPONG ? 0 : group * ROWS) + (int)out;
    const int column = (int)(lane % LANES_A_ROW * LANE_COLUMNS + (OWNS_COLUMNS ? w.rank * 8 : 0));
    struct outlet o;
    o.to = w.c + (i64)row * w.n + p.col + column;
    o.rows = w.m - row;
    o.columns = (ENDS_WITH_TILE ? smaller(w.n - p.col, BN) : w.n - p.col) - column;
    settle(o.to), settle((u32)o.rows), settle((u32)o.columns);
#if REDUCE == 2
    o.meeting = find_meeting(w.workspace, (int)blockIdx.x, w.rank, group * 128 + (int)thread);
#endif
#if SPLIT_K == 1
    o.put = box + in * 128 + (lane / 16 ^ in % 8) * 16;
    o.take = box + out * 128 + (EPILOGUE == 4 ? 0 : EPILOGUE == 3 ? lane * 4 : (lane % 8 ^ lane / 8) * 16);
    settle(o.put), settle(o.take);
#endif
    return o;
}
#else
typedef struct place outlet;

DEVICE outlet find_outlet(const struct work &, const struct place &p, int)
{
    settle((u32)p.row), settle((u32)p.col);
    return p;
}
#endif

/* What is asked for long before it is needed; a barrier would wait for it. */
DEVICE void ask_ahead(outlet &o)
{
#if REDUCE == 2
    o.meeting.before = load_relaxed4(o.meeting.count);
#endif
}

/* Two elements of a row, of which `columns` are there. Rows that may begin anywhere have even ones by chance. */
DEVICE void store_two(u16 *to, int columns, u32 pair)
{
#if PACK
    if (columns > 0) {
        store_global2(to, pair);
    }
    if (columns > 1) {
        store_global2(to + 1, pair >> 16);
    }
#else
    if (columns > 0) {
        store_global4(to, pair);
    }
#endif
}

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
/* 16 x 8 of the tile, by the warp that owns its sum. */
DEVICE void store_fragment(const outlet &o, int f, float4 sum, int n)
{
    const int down = f / (BN / 8) * 64, right = f % (BN / 8) * 8;
    u16 *to = o.to + (i64)n * down + right;
    if (down < o.rows) {
        store_two(to, o.columns - right, pack2(sum.x, sum.y));
    }
    if (down + 8 < o.rows) {
        store_two(to + (i64)n * 8, o.columns - right, pack2(sum.z, sum.w));
    }
}
#endif

#if REDUCE == 2
/* Owner r has fragments r * OWNED and on. */
DEVICE void leave_pieces(const struct work &w, const accumulator &acc, const struct meeting &t)
{
#pragma unroll
    for (int f = 0; f < FRAGMENTS; ++f) {
        if (f / OWNED != (int)w.rank) {
            leave_piece(t, f / OWNED, f % OWNED, make_piece(acc[f / (BN / 8)], f % (BN / 8)));
        }
    }
}

/* Where it is called: as many moves as there are accumulators, which take no time while others are waited for. */
DEVICE void keep_own(const struct work &w, const accumulator &acc, piece (&own)[OWNED])
{
#pragma unroll
    for (int f = 0; f < FRAGMENTS; ++f) {
        if (f < OWNED || f / OWNED == (int)w.rank) {
            own[f % OWNED] = make_piece(acc[f / (BN / 8)], f % (BN / 8));
        }
    }
#pragma unroll
    for (int i = 0; i < OWNED; ++i) {
        stay(own[i]);
    }
}

DEVICE void store_tile(const struct work &w, const accumulator &acc, const outlet &o, int group, u32 &)
{
    const int thread = group * 128 + (int)threadIdx.x % 128;
    piece own[OWNED], all[SPLIT_K][OWNED];
    leave_pieces(w, acc, o.meeting);
    arrive(o.meeting, thread);
    keep_own(w, acc, own);
    await_all(o.meeting, thread);
    take_pieces(o.meeting, w.rank, own, all);
#pragma unroll
    for (int i = 0; i < OWNED; ++i) {
        const int f = (int)w.rank * OWNED + i;
        if (f < FRAGMENTS) {
            store_fragment(o, f, sum_taken(all, i), w.n);
        }
    }
}

DEVICE void finish_producing()
{
}
#elif SPLIT_K > 1
/* Where in the cluster the CTA is that has share `rank` of this tile's K. */
DEVICE u32 peer_with(int rank)
{
    return rank * ABREAST + blockIdx.x % ABREAST;
}

/* Fragment f belongs to CTA f % SPLIT_K; the piece from CTA r lands in slot r of its owner. */
DEVICE void send_pieces(const struct work &w, const accumulator &acc, int thread)
{
    const u32 slots = w.slots + w.rank * OWNED * SLOT + thread * PIECE_BYTES;
#pragma unroll
    for (int owner = 0; owner < SPLIT_K; ++owner) {
        const u32 peer = peer_with(owner);
        const u32 to = cluster_address(slots, peer), arrived = cluster_address(w.arrived, peer);
#pragma unroll
        for (int f = owner; f < FRAGMENTS; f += SPLIT_K) {
            const piece v = make_piece(acc[f / (BN / 8)], f % (BN / 8));
            send_or_keep(owner == (int)w.rank, slots + f / SPLIT_K * SLOT, to + f / SPLIT_K * SLOT, v, arrived);
        }
    }
}

DEVICE void store_owned(const struct work &w, const outlet &o, int thread)
{
    const u32 slots = w.slots + thread * PIECE_BYTES;
#if OWNS_COLUMNS
    float4 sums[OWNED]; /* all loaded before the first is stored; find_outlet() is `rank` fragments to the right */
#pragma unroll
    for (int i = 0; i < OWNED; ++i) {
        sums[i] = sum_pieces(slots, i);
    }
#pragma unroll
    for (int i = 0; i < OWNED; ++i) {
        store_fragment(o, i * SPLIT_K, sums[i], w.n);
    }
#elif PARTS == 1
    for (int f = (int)w.rank; f < FRAGMENTS; f += SPLIT_K) {
        store_fragment(o, f, sum_pieces(slots, f / SPLIT_K), w.n);
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
                store_fragment(o, f, sums[i], w.n);
            }
        }
    }
#endif
}

/* The cluster's barriers here and in finish_producing() match. */
DEVICE void store_tile(const struct work &w, const accumulator &acc, const outlet &o, int group, u32 &)
{
    const int thread = group * 128 + (int)threadIdx.x % 128;
#if REDUCE == 0
    cluster_arrive_relaxed(); /* every stage of the cluster has been read */
    cluster_wait();
    send_pieces(w, acc, thread);
    cluster_arrive();
    cluster_wait();
#else
    send_pieces(w, acc, thread); /* the owners' barriers are ready: begin_consuming() */
    barrier_wait(w.arrived,
                 0); /* as for what peers multicast: it lies in shared memory, no cache is between to be dropped */
#endif
    store_owned(w, o, thread);
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
DEVICE void store_tile(const struct work &w, const accumulator &acc, const outlet &p, int group, u32 &)
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
#elif EPILOGUE >= 2
#if EPILOGUE == 3
/* The box's share of row `row` of the warp, from `to` on; the lane has `pair` of it. By the whole warp. */
DEVICE void store_part_of_row(u16 *to, int columns, u32 pair)
{
    const int odd = (int)((u64)to >> 1 & 1);
    const struct pack_store s = pack_store_of((int)threadIdx.x % 32, odd, columns);
    const u32 next = __shfl_down_sync(~0u, pair, 1), shifted = odd ? pair >> 16 | next << 16 : pair;
    if (s.many == 2) {
        store_global4(to + s.at, shifted);
    } else if (s.many == 1) {
        store_global2(to + s.at, shifted);
    }
    if (s.head) {
        store_global2(to, pair);
    }
}
#elif EPILOGUE == 4
DEVICE void store_if(bool wanted, u16 *to, const u32 (&v)[4])
{
    asm volatile(
        "{.reg .pred p;\n setp.ne.u32 p, %0, 0;\n @p st.global.v4.u32 [%1], {%2, %3, %4, %5};}" ::"r"((u32)wanted),
        "l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
        : "memory");
}

/* Element i of the staged row at `from`, number `row` of its warp, to `to`, where that is wanted. Without a branch. */
DEVICE void store_one_if(bool wanted, u16 *to, u32 from, int row, int i)
{
    asm volatile("{.reg .pred p;\n .reg .b16 v;\n setp.ne.u32 p, %0, 0;\n @p ld.shared.b16 v, [%2];\n"
                 " @p st.global.b16 [%1], v;}" ::"r"((u32)wanted),
                 "l"(to + i), "r"(from + (i / 8 ^ row % 8) * 16 + i % 8 * 2)
                 : "memory");
}

/* Four rows of the box from `first` on, eight lanes each; the warp's first row begins at `to`. */
DEVICE void store_four_rows(const outlet &o, u16 *to, int first, int left, int columns, int n)
{
    const int chunk = (int)threadIdx.x % 8, row = first + (int)threadIdx.x % 32 / 8;
    const u32 from = o.take + row * 128;
    u16 *const begin = to + (i64)n * row;
    const struct pack_wide s = pack_wide_of(chunk, (int)((u64)begin >> 1 & 7), row < left ? columns : 0);
    const uint4 low = load_shared16(from + (chunk ^ row % 8) * 16);
    const uint4 high = load_shared16(from + ((chunk + 1) % 8 ^ row % 8) * 16);
    const u32 chunks[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    u32 pairs[4];
    slide_pairs(pairs, chunks, s.head);
    store_if(s.whole, begin + s.at, pairs);
    store_one_if(s.first, begin, from, row, chunk);
    store_one_if(s.last >= 0, begin, from, row, s.last);
}
#endif

/* A box of the tile, `below` its first row: each warp puts its 16 rows into shared memory and stores them. */
DEVICE void store_rows(const outlet &o, const wgmma_register (&d)[WG_REGISTERS], int below, int box, int n)
{
#pragma unroll
    for (int j = 0; j < 8 && box * 8 + j + 1 < BN / 8; j += 2) {
        const int n8 = box * 8 + j;
        stmatrix4(o.put ^ (j * 16), packed(d, n8, 0), packed(d, n8, 1), packed(d, n8 + 1, 0), packed(d, n8 + 1, 1));
    }
    __syncwarp();
#if EPILOGUE == 3
#pragma unroll 1 /* written out it takes seconds to compile */
    for (int first = 0; first < 16; first += 4) {
        u32 pair[4]; /* all loaded before the first is stored */
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            pair[i] = load_shared4((o.take ^ ((first + i) % 8 * 16)) + (first + i) * 128);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (below + first + i < o.rows) {
                store_part_of_row(o.to + (i64)n * (below + first + i) + box * 64, o.columns - box * 64, pair[i]);
            }
        }
    }
#elif EPILOGUE == 4
    constexpr int at_once = MI * WG_REGISTERS > 128 ? 1 : 2; /* what registers hold */
#pragma unroll at_once
    for (int first = 0; first < 16; first += 4) {
        store_four_rows(o, o.to + (i64)n * below + box * 64, first, o.rows - below, o.columns - box * 64, n);
    }
#else
    uint4 v[4]; /* all loaded before the first is stored */
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        v[i] = load_shared16((o.take ^ (i % 2 * 64)) + i * 512);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (below + i * 4 < o.rows && box * 64 < o.columns) {
            store_global16(o.to + (i64)n * (below + i * 4) + box * 64, v[i]);
        }
    }
#endif
    __syncwarp();
}

DEVICE void store_tile(const struct work &w, const accumulator &acc, const outlet &o, int, u32 &)
{
#pragma unroll
    for (int i = 0; i < MI; ++i) {
#pragma unroll
        for (int box = 0; box < BOXES; ++box) {
            store_rows(o, acc[i], i * 64, box, w.n);
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

#if ONE_TILE
/* The stages are read: every box has a place of its own there. */
DEVICE u32 find_buffer(const struct work &w, int group, u32 box, int)
{
    if (box == 0 && CONSUMERS > 1) {
        named_barrier<4>(CONSUMERS * 128);
    } else if (box == 0) {
        group_barrier(group);
    }
    return w.stages_a + (group * MI * ((WG_N + 63) / 64) + box) * BOX_BYTES;
}
#else
/* One of two. */
DEVICE u32 find_buffer(const struct work &w, int group, u32 box, int thread)
{
    if (thread == 0) {
        tensor_store_wait<1>(); /* the store before the last has left this buffer */
    }
    group_barrier(group);
    return w.stages_c + (group * 2 + box % 2) * BOX_BYTES;
}
#endif

/*
 * Boxes of 64 x 64 through buffers of this warpgroup, swizzled as the tensor maps say. `box_count` runs on from tile to
 * tile: with an odd number of boxes a tile, counting afresh would reuse the buffer that is still being stored.
 */
DEVICE void store_tile(const struct work &w, const accumulator &acc, const outlet &p, int group, u32 &box_count)
{
    const int thread = (int)threadIdx.x % 128, first = PINGPONG ? 0 : group * ROWS;
#pragma unroll
    for (int i = 0; i < MI; ++i) {
        const int row = p.row + (ACROSS ? 0 : first + i * 64), col = p.col + (ACROSS ? first + i * 64 : 0);
#pragma unroll
        for (int n8 = 0; n8 < WG_N / 8; n8 += 8) {
            const u32 buffer = find_buffer(w, group, box_count++, thread);
#if ACROSS
            fill_box_across(buffer, acc[i], n8, thread);
#else
            fill_box(buffer, acc[i], n8, thread);
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
