/*
 * persistent.cuh - what persistent.cu's roles share: sizes, what a CTA works on, the order of tiles. The parameters are
 * told there.
 */
#ifndef CUDAL2_PERSISTENT_CUH
#define CUDAL2_PERSISTENT_CUH

#include "consumers.cuh"
#include "walk.cuh"

#ifndef PACK
#define PACK 0 /* 1: odd.cu */
#endif
#define BK 64
#define CLUSTER (CLUSTER_M * CLUSTER_N)
#define CLUSTER_K (REDUCE == 2 ? 1 : SPLIT_K)
#define THREADS (CONSUMERS * 128 + (CONSUMERS == 1 ? 64 : 128))
#define SHARES (SPLIT_K * PARTS)                  /* of K */
#define TALL (ACROSS ? BN : BM)                   /* the side of a tile along which the products' rows lie */
#define ROWS (PINGPONG ? TALL : TALL / CONSUMERS) /* of it that a consumer multiplies */
#define MI (ROWS / 64)
#define A_BYTES (BM * BK * 2)
#define BOX_BYTES (64 * 64 * 2)
#define BOXES ((BN + 63) / 64) /* 64 columns wide, of a tile */
#define B_BYTES (LAYOUT_TN ? BN * BK * 2 : BOXES * BOX_BYTES)
#define LEFT_BYTES (ACROSS ? B_BYTES : A_BYTES) /* of a stage: what has the products' rows, and the rest */
#define RIGHT_BYTES (ACROSS ? A_BYTES : B_BYTES)
/* Slots for a step's box of either operand: as many as stages, but for the one that KEEP names with HOLD. */
#define HELD (HOLD ? HOLD : STAGES)
#define A_SLOTS (KEEP == 1 ? HELD : STAGES)
#define B_SLOTS (KEEP == 2 ? HELD : STAGES)
#define KEEPS_LEFT (KEEP == (ACROSS ? 2 : 1))
#define SLOT_BYTES (SPLIT_K > 1 && REDUCE == 1 ? SPLIT_K * OWNED * SLOT : 0) /* beside the stages */
#define STAGING_BYTES                                                                                                  \
    (SPLIT_K > 1 || ONE_TILE ? 0 : CONSUMERS * BOX_BYTES * (EPILOGUE == 1 ? 2 : EPILOGUE >= 2 ? 1 : 0))
#define USERS (PINGPONG ? 1 : CONSUMERS) /* consumers of a stage */
/* In clusters of four that share one operand a CTA asks for its own of the other before it has met, and for what is
 * shared when it has: with a short K what each copies for itself is a fifth of all that the L2 gives out. */
#define PARTLY (CLUSTER >= 4 && (CLUSTER_M == 1 || CLUSTER_N == 1) && BM * BN <= 12288)
/* Stages that are asked for before the CTA meets; with CLUSTER_M or CLUSTER_N each by its CTA alone. */
#define FIRST_AHEAD (PARTLY ? 0 : BM * BN > 12288 ? 1 : CLUSTER > 1 || BM * BN > 4096 ? 2 : STAGES < 4 ? STAGES : 4)
#define PART_AHEAD (!PARTLY ? FIRST_AHEAD : STAGES < 4 ? STAGES : 4) /* and those of which a part is */

typedef wgmma_register accumulator[MI][WG_REGISTERS];

struct work {
    const TensorMap *map_a, *map_b, *map_c, *map_narrow;
    u16 *c;
    int m, n;
    struct walk walk;
    int k_begin, k_end; /* in stages */
    u32 stages_a, stages_b, stages_c, full, empty;
    u32 left, right;    /* of stage 0: the low words of the operands' descriptors, for this consumer */
    u32 rank;           /* among the CTAs that split K */
    int cm, cn;         /* place in the cluster's CLUSTER_M x CLUSTER_N tiles */
    u32 slots, arrived; /* of the pieces of the sum */
    u32 queue;          /* of tiles */
    float4 *workspace;
#if PACK
    const unsigned char *packed_a, *packed_b; /* stages of A and B, by tile, then by step */
    int steps;                                /* of a tile */
#endif
};

/* --- the order of tiles ----------------------------------------------------------------------------------- */

DEVICE struct place place_tile(const struct work &w, int index)
{
    int row, col;
    follow(w.walk, index, row, col);
    struct place p = {(row * CLUSTER_M + w.cm) * BM, (col * CLUSTER_N + w.cn) * BN, 0};
    return p;
}

#endif
