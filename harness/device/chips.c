/*
 * chips.c - the table of chips.h, from NVIDIA's data sheets and the table of compute capabilities of the CUDA
 * programming guide. Relies on device.h's types alone. Called by cli/.
 */
#include "device/chips.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB 1024u
#define MIB (1u << 20)

static const struct chip chips[] = {
    {80, "NVIDIA A100", 163 * KIB, 1, 108, 1410, 40 * MIB, 2048, 2039e9},
    {86, "NVIDIA RTX A6000", 99 * KIB, 1, 84, 1800, 6 * MIB, 1024, 768e9},
    {89, "NVIDIA GeForce RTX 4090", 99 * KIB, 1, 128, 2520, 72 * MIB, 1024, 1008e9},
    {90, "NVIDIA H200", 227 * KIB, 16, 132, 1980, 60 * MIB, 4096, 4814e9},
    {90, "NVIDIA H100 80GB HBM3", 227 * KIB, 16, 132, 1980, 50 * MIB, 4096, 3352e9},
    {100, "NVIDIA B200", 227 * KIB, 16, 148, 1965, 126 * MIB, 8192, 8000e9},
    {103, "NVIDIA B300", 227 * KIB, 16, 148, 1965, 126 * MIB, 8192, 8000e9},
    {120, "NVIDIA GeForce RTX 5090", 99 * KIB, 8, 170, 2407, 96 * MIB, 1024, 1792e9},
};
#define N_CHIPS (sizeof chips / sizeof chips[0])

int chip_find(const char *arch, const struct chip **out, struct error *err)
{
    const char *digits = !arch ? "" : strncmp(arch, "sm_", 3) == 0 ? arch + 3 : arch;
    char *end, list[N_CHIPS * 8] = "";
    long cc = arch ? strtol(digits, &end, 10) : CHIP_DEFAULT_CC;
    bool well = !arch || (end != digits && (*end == '\0' || strcmp(end, "a") == 0));
    size_t used = 0;
    for (size_t i = 0; i < N_CHIPS; i++) {
        bool told = i > 0 && chips[i].cc == chips[i - 1].cc;
        int n = told ? 0 : snprintf(list + used, sizeof list - used, "%ssm_%d", i ? ", " : "", chips[i].cc);
        used += n > 0 && used + (size_t)n < sizeof list ? (size_t)n : 0;
        *out = &chips[i];
        if (well && chips[i].cc == cc)
            return 0;
    }
    return error_set(err, EXIT_CODE_USAGE, "--arch: there is no architecture \"%.40s\" here (expected %s)",
                     arch ? arch : "", list);
}

const struct chip *chip_next(const struct chip *chip)
{
    const struct chip *next = chip + 1;
    return next < chips + N_CHIPS && next->cc == chip->cc ? next : NULL;
}

/* ---- what a multiprocessor has room for ---- */

#define WARP 32u
#define REGISTERS_OF_SIDE 16384u /* four sides of a multiprocessor have each a file of their own */
#define SIDES 4u
#define REGISTERS_AT_ONCE 256u /* a warp gets them by so many */
#define SHARED_AT_ONCE 128u
#define SHARED_OF_SYSTEM (1 * KIB) /* of each block */

/* In the order 8.0, 9.0, 10.x; the others are smaller. */
static bool is_large(const struct chip *chip)
{
    return chip->cc == 80 || chip->cc / 10 == 9 || chip->cc / 10 == 10;
}

unsigned chip_warps(const struct chip *chip)
{
    return is_large(chip) ? 64 : 48;
}

static unsigned up_to(unsigned n, unsigned step)
{
    return (n + step - 1) / step * step;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned chip_blocks(const struct chip *chip, const struct chip_launch *launch)
{
    unsigned warps = (launch->threads + WARP - 1) / WARP, held = up_to(launch->registers * WARP, REGISTERS_AT_ONCE);
    unsigned shared = up_to(launch->shared_bytes + SHARED_OF_SYSTEM, SHARED_AT_ONCE);
    unsigned most = is_large(chip) ? 32 : chip->cc == 86 ? 16 : 24;
    if (warps == 0 || warps > 32 || launch->shared_bytes > chip->shared_bytes)
        return 0;
    most = least(most, chip_warps(chip) / warps);
    most = least(most, (chip->shared_bytes + SHARED_OF_SYSTEM) / shared);
    return held ? least(most, REGISTERS_OF_SIDE / held * SIDES / warps) : most;
}

struct device_info chip_info(const struct chip *chip)
{
    struct device_info info = {.kind = "cuda",
                               .device_bit = CUDAL2_ON_CUDA,
                               .cc = chip->cc,
                               .sm_count = chip->sm_count,
                               .max_sm_clock_mhz = chip->sm_clock_mhz,
                               .l2_bytes = chip->l2_bytes,
                               .peak_flops = chip->flops_per_clock * chip->sm_count * chip->sm_clock_mhz * 1e6,
                               .peak_bytes_per_s = chip->bytes_per_s};
    snprintf(info.name, sizeof info.name, "%s", chip->name);
    return info;
}
