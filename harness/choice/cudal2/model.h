/*
 * model.h - how long a tiled GEMM kernel should take on a GPU, from its tile and the machine's figures: good enough to
 * choose which configurations are worth compiling and measuring, and for nothing else. Pure functions.
 *
 *   time  = launch + max(floor, fill + sum over waves of k steps * step + epilogues + exchange)
 *   step  = max(tensor, shared memory, what one multiprocessor takes in, what the L2 gives out to all of them,
 *               latency / stages)
 *   floor = max(2MNK / rate, bytes / bandwidth), the bandwidth being the L2's for what fits into it
 *
 * Of two terms of which the longer hides the shorter, a ninth of the shorter still shows: nothing hides perfectly,
 * and among configurations at the floor the one with less to hide comes first.
 *
 * A launch costs less where the kernel begins before the one ahead has ended, and less again where its CTAs fit beside
 * that one's. But then two of them may come to one multiprocessor, and where K is shared through the workspace
 * neighbours in the walk come apart.
 *
 * What the L2 gives out is not what multiprocessors take in: neighbours that ask for the same lines at the same time
 * are served once, two on one port always, those of a GPC in part. That is why it matters which operand the CTAs of a
 * pair share, and in which order tiles are walked.
 *
 * The constants (model.c) are cycles, and bytes per cycle, of one multiprocessor where nothing else is said. They are
 * fitted by least squares of log(predicted / measured) to half of the problems of two searches with fp32 accumulators
 * (results/h200/2026-11-22h-tune, split and walk); what these did not ask about (rates of the tensor cores, the power
 * limit, memory) is from half of the shapes of results/h200/2026-11-21c-offline-f16, 2026-11-21c-offline-f32 and
 * 2026-11-21c-kernels. docs/kernels.md says how well they do on the other half.
 */
#ifndef CUDAL2_CHOICE_MODEL_H
#define CUDAL2_CHOICE_MODEL_H

#include "abi/contender.h"

#include <stdbool.h>

struct model_machine {
    double sm_count, l2_bytes;
    double clock_hz;           /* sustained under matrix load */
    double flops;              /* sustained matrix rate of the whole machine, fp16 accumulators */
    double memory_bytes_per_s; /* sustained, from DRAM */
};

/* How CTAs that share a tile's k add up what they have. */
enum model_exchange {
    MODEL_EXCHANGE_BARRIERS,  /* shared memory of the cluster, between two barriers of it */
    MODEL_EXCHANGE_ARRIVALS,  /* the same, each piece announcing itself to its owner */
    MODEL_EXCHANGE_WORKSPACE, /* the workspace; all wait for each other */
    MODEL_EXCHANGE_PARTS,     /* ARRIVALS in clusters, then the workspace between them */
};

/* What the model knows of a configuration. */
struct model_tile {
    double m, n;                 /* of a CTA's tile */
    double step_k;               /* elements of k in a step: a stage, or one turn of all warps that slice k */
    double stages;               /* steps in flight */
    double split;                /* CTAs that share a tile's k */
    double cluster;              /* CTAs of a cluster */
    double per_sm;               /* CTAs that a multiprocessor holds */
    double warps;                /* of a CTA, that multiply */
    double a_readers, b_readers; /* CTAs of a cluster that one copy of A (of B) serves */
    double slices;               /* partial sums of a tile inside a CTA */
    double band;                 /* tiles side by side before the walk goes on to the next row (column) of tiles */
    bool down;                   /* bands are rows of tiles, walked column by column; else columns, row by row */
    bool wgmma;                  /* operands by TMA; else mma.sync, operands by cp.async */
    bool direct;                 /* operands straight into registers */
    bool evicts;                 /* what is stored leaves the L2 first */
    bool own_rows;               /* each warp stores its rows when they are ready, waiting for no other */
    int overlaps;                /* of a tile's epilogue with the next tile: 0 nothing, 1 its loads, 2 its products */
    int streams;                 /* the operand that leaves the L2 first: 0 none, 1 A, 2 B */
    int fetch;                   /* bytes that the L2 fetches where one is missing; 0: as many as it can */
    int exchange;                /* enum model_exchange; asked only when split > 1 */
    int copied_n;                /* columns of B that are copied for a tile; 0: n */
    bool early;                  /* begins before the launch ahead has ended */
    int fits;                    /* CTAs that a multiprocessor has room for, of this launch and the next; 0: per_sm */
    bool queue;                  /* tiles are given to whoever asks next */
    int abreast;                 /* tiles of a cluster, if its CTAs share the k of more than one; 0: one */
    bool tail;                   /* of a tile's two consumers one ends first, and stores while the other multiplies */
    int keeps;                   /* the operand that stays for a CTA's next tiles: 0 none, 1 A, 2 B */
    double kept_for;             /* steps of it that the CTA has room for */
    int streams_k; /* the last wave is dealt out by steps of k to all CTAs: 0 no, 1 it alone, 2 with one more */
    /* What model.c takes no account of and the trees (features.h) do. */
    int across; /* the products are of C transposed */
    int peek;   /* how the pieces of a sum are waited for */
    int narrow; /* elements that a copy of a row takes at once, where fewer than eight; 0: eight */
    /* What neither does: C has the room of one more stage, which another configuration has where a CTA has one tile. */
    bool roomless;
};

/* Seconds of one launch. Infinite when a size or a tile's figure is not positive. */
double model_seconds(const struct model_machine *machine, const struct cudal2_problem *problem,
                     enum cudal2_layout layout, const struct model_tile *tile);

/* Tiles along a side of C, where clusters take `abreast` of them at once: those beyond the edge have CTAs too. */
double model_tiles(double size, double tile, double abreast);

/* How often the machine is filled with CTAs; the last time perhaps in part. */
double model_waves(const struct model_machine *machine, const struct cudal2_problem *problem,
                   const struct model_tile *tile);

#endif
