/*
 * chips.h - GPUs that need not be here: for each architecture the limits of a launch, and its usual GPUs as
 * device_info describes one. For what is worked out without a device: verify --compile-only, tune --dry-run.
 */
#ifndef CUDAL2_DEVICE_CHIPS_H
#define CUDAL2_DEVICE_CHIPS_H

#include "device/device.h"

#define CHIP_DEFAULT_CC 90

struct chip {
    int cc;
    const char *name;        /* of a usual GPU */
    unsigned shared_bytes;   /* of a block, static and dynamic, at most */
    unsigned cluster_blocks; /* at most; 1: no clusters */
    int sm_count, sm_clock_mhz;
    uint64_t l2_bytes;
    double flops_per_clock; /* of a multiprocessor, dense fp16 */
    double bytes_per_s;
};

/* "sm_90a", "sm_90" or "90"; NULL: the default. The first of the architecture. EXIT_CODE_USAGE lists what there is. */
int chip_find(const char *arch, const struct chip **out, struct error *err);

/* Another GPU of the same architecture: kernels chosen by L2 and memory differ between them. NULL after the last. */
const struct chip *chip_next(const struct chip *chip);

/* A kernel as it is launched. */
struct chip_launch {
    unsigned registers;             /* of a thread */
    unsigned threads, shared_bytes; /* of a block; static and dynamic */
};

/* Warps that a multiprocessor holds at most. */
unsigned chip_warps(const struct chip *chip);
/* Blocks of the kernel that a multiprocessor has room for, as the driver's occupancy calculator counts them; 0: none.
 */
unsigned chip_blocks(const struct chip *chip, const struct chip_launch *launch);

/* The GPU as a device would describe itself. */
struct device_info chip_info(const struct chip *chip);

#endif
