/*
 * cpu_peak.h - what a CPU can do at most, for the floor below which no time is believed: from its instruction set, the
 * threads that contenders may use and the highest clock there can be. Where a machine does not tell (a virtual one
 * hides its clocks), the figure is that of the fastest one there is: a floor too low misses a cheat, one too high
 * accuses.
 */
#ifndef CUDAL2_DEVICE_CPU_PEAK_H
#define CUDAL2_DEVICE_CPU_PEAK_H

#include "device/device.h"

/* What the instruction set offers, as far as it counts here. */
struct cpu_features {
    bool fma, avx, avx2, avx512, avx512_bf16, avx512_fp16, amx; /* x86 */
    bool arm, sme;
    unsigned sve_bytes; /* of a vector; 0 without SVE */
};

void cpu_features_read(struct cpu_features *out);

/* FLOP a thread can finish in one cycle: of f32 products, and of 16-bit ones. 0 for an architecture not known here. */
double cpu_flops_per_cycle(const struct cpu_features *features, bool f32);

/* The highest clock of any CPU: what cpufreq below `root` ("" for this machine) says where its driver counts boost,
 * else 6.5 GHz. */
double cpu_max_hz(const char *root);

/* Fills peak_flops, peak_flops_f32 and peak_bytes_per_s of a CPU with info->threads. */
void cpu_peak_read(struct device_info *info);

#endif
