/*
 * model.h - how long a tiled GEMM kernel should take on a GPU, from its tile and the machine's figures: good enough to
 * choose which configurations are worth compiling and measuring, and for nothing else. Pure functions.
 *
 *   time  = launch + max(floor, fill + sum over waves of k steps * step + epilogues + exchange)
 *   step  = max(tensor, L2, latency / stages) of what runs on one multiprocessor at the same time
 *   floor = max(2MNK / rate, compulsory bytes / bandwidth), the bandwidth being the L2's for what fits into it
 *
 * Of two terms of which the longer hides the shorter, a twentieth of the shorter still shows: nothing hides perfectly,
 * and among configurations at the floor the one with less to hide comes first.
 *
 * The constants (model.c) are cycles, and bytes per cycle, of one multiprocessor. They were fitted by least squares of
 * log(predicted / measured) to the 2000 races of results/h200/2026-11-21-offline-f16; docs/kernels.md says how well.
 */
#ifndef CUDAL2_TUNE_MODEL_H
#define CUDAL2_TUNE_MODEL_H

#include "abi/contender.h"

#include <stdbool.h>

struct model_machine {
    double sm_count, l2_bytes;
    double clock_hz;           /* sustained under matrix load */
    double flops;              /* sustained matrix rate of the whole machine */
    double memory_bytes_per_s; /* sustained, from DRAM */
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
    bool wgmma;                  /* else mma.sync */
    bool direct;                 /* operands straight into registers */
    int overlaps; /* of a tile's epilogue with the next tile: 0 nothing, 1 its loads, 2 its products too */
};

/* Seconds of one launch. Infinite when a size or a tile's figure is not positive. */
double model_seconds(const struct model_machine *machine, const struct cudal2_problem *problem,
                     enum cudal2_layout layout, const struct model_tile *tile);

/* How often the machine is filled with CTAs; the last time perhaps in part. */
double model_waves(const struct model_machine *machine, const struct cudal2_problem *problem,
                   const struct model_tile *tile);

#endif
