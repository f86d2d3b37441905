/*
 * cpu_peak.c - instruction set by cpuid or hwcaps, highest clock from sysfs, and the peak made of them. Where nothing
 * is told it assumes the fastest there is. Called by device/cpu.c for the arithmetic floor.
 */
#include "device/cpu_peak.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#define HIGHEST_HZ 6.5e9 /* no processor that is sold goes beyond 6.2 GHz */
/* What one core can draw from memory at most: desktop and server cores come to 20 to 60 GB/s, Apple's to 100. */
#define CORE_BYTES_PER_S 128e9

/* ---- the instruction set ---- */

#if defined(__x86_64__)
static bool bit(unsigned word, int index)
{
    return (word >> index & 1u) != 0;
}

void cpu_features_read(struct cpu_features *out)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    *out = (struct cpu_features){0};
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        out->fma = bit(c, 12);
        out->avx = bit(c, 28);
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        out->avx2 = bit(b, 5);
        out->avx512 = bit(b, 16);
        out->avx512_fp16 = bit(d, 23);
        out->amx = bit(d, 24);
    }
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
        out->avx512_bf16 = bit(a, 5);
}
#elif defined(__aarch64__)
#define HAS_SVE (1ul << 22) /* of AT_HWCAP */
#define HAS_SME (1ul << 23) /* of AT_HWCAP2 */
#define SVE_GET_LENGTH 51   /* PR_SVE_GET_VL */
#define SVE_LENGTH_MASK 0xffff

void cpu_features_read(struct cpu_features *out)
{
    *out = (struct cpu_features){.arm = true};
    out->sme = (getauxval(AT_HWCAP2) & HAS_SME) != 0;
    if ((getauxval(AT_HWCAP) & HAS_SVE) == 0)
        return;
    int length = prctl(SVE_GET_LENGTH);
    out->sve_bytes = length > 0 ? (unsigned)length & SVE_LENGTH_MASK : 0;
}
#else
void cpu_features_read(struct cpu_features *out)
{
    *out = (struct cpu_features){0};
}
#endif

/* A tile product takes 16 cycles for 16 x 16 x 32 products of 16 bits. An f32 product by three of bf16 is nearly as
 * good as one, so a third of that, and what the vector units add, is to be had for f32. */
#define AMX_FLOPS 1024.0
#define SME_FLOPS 1024.0

static double x86_flops(const struct cpu_features *f, bool f32)
{
    double vector = f->avx512 ? 64 : f->fma && f->avx2 ? 32 : f->avx ? 16 : 8;
    double narrow = f->avx512_bf16 || f->avx512_fp16 ? 128 : vector;
    double tile = f->amx ? (f32 ? AMX_FLOPS / 2 : AMX_FLOPS) : 0;
    return tile + (f32 ? vector : narrow);
}

/* Four pipes of 128 bits (two of longer vectors), each a product and a sum a lane; 16-bit matrix instructions four
 * times that. */
static double arm_flops(const struct cpu_features *f, bool f32)
{
    double vector = f->sve_bytes > 16 ? 2 * 2 * f->sve_bytes / 4.0 : 4 * 2 * 4;
    return (f->sme ? SME_FLOPS : 0) + (f32 ? vector : 4 * vector);
}

double cpu_flops_per_cycle(const struct cpu_features *features, bool f32)
{
    if (features->arm)
        return arm_flops(features, f32);
#if defined(__aarch64__) || defined(__x86_64__)
    return x86_flops(features, f32);
#else
    return 0;
#endif
}

/* ---- the clock ---- */

static bool read_line(const char *path, char line[64])
{
    FILE *file = fopen(path, "re");
    bool there = file && fgets(line, 64, file);
    if (file)
        fclose(file);
    return there;
}

/* Others, acpi-cpufreq above all, call the clock without boost the highest. */
static bool counts_boost(const char *root)
{
    static const char *const drivers[] = {"intel_pstate", "intel_cpufreq", "amd-pstate", "amd-pstate-epp"};
    char path[512], line[64];
    snprintf(path, sizeof path, "%.400s/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", root);
    if (!read_line(path, line))
        return false;
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++)
        if (strcmp(line, drivers[i]) == 0)
            return true;
    return false;
}

double cpu_max_hz(const char *root)
{
    char pattern[512], line[64];
    double highest = 0, khz;
    glob_t found;
    snprintf(pattern, sizeof pattern, "%.400s/sys/devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq", root);
    if (!counts_boost(root) || glob(pattern, 0, NULL, &found) != 0)
        return HIGHEST_HZ;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (read_line(found.gl_pathv[i], line) && sscanf(line, "%lf", &khz) == 1 && khz * 1e3 > highest)
            highest = khz * 1e3;
    globfree(&found);
    return highest >= 1e8 && highest < HIGHEST_HZ ? highest : HIGHEST_HZ;
}

void cpu_peak_read(struct device_info *info)
{
    struct cpu_features features;
    double hz = cpu_max_hz("");
    cpu_features_read(&features);
    info->peak_flops = cpu_flops_per_cycle(&features, false) * hz * info->threads;
    info->peak_flops_f32 = cpu_flops_per_cycle(&features, true) * hz * info->threads;
    info->peak_bytes_per_s = CORE_BYTES_PER_S * info->threads;
}
