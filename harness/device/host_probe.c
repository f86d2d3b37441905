/*
 * host_probe.c - probes of memory that the host can read: the tables of the CPU device, and of the scripted one. Relies
 * on host_*.c. Called by cpu.c and fake.c.
 */
#include "device/probe.h"
#include "base/clock.h"
#include "base/half.h"
#include "base/sanitized.h"
#include "device/fill.h"
#include "device/host_check.h"
#include "device/host_pages.h"
#include "device/host_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t digest_of(const unsigned char *bytes, uint64_t n)
{
    uint64_t sum = n;
    uint64_t words = n / sizeof(uint64_t);
    for (uint64_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, bytes + i * sizeof word, sizeof word);
        sum += fill_mix(word + (i + 1) * FILL_GOLDEN);
    }
    for (uint64_t i = words * sizeof(uint64_t); i < n; i++)
        sum += fill_mix(bytes[i] + (i + 1) * FILL_GOLDEN);
    return sum;
}

static int host_digest(struct device *d, const struct probe_region *regions, size_t n, uint64_t *out, struct error *err)
{
    for (size_t i = 0; i < n; i++)
        out[i] = digest_of(regions[i].memory, regions[i].bytes);
    return d->ops->sync(d, err);
}

static int host_pattern(struct device *d, const struct probe_region *regions, size_t n, unsigned char byte,
                        struct error *err)
{
    for (size_t i = 0; i < n; i++)
        memset(regions[i].memory, byte, regions[i].bytes);
    return d->ops->sync(d, err);
}

static int host_gaps(struct device *d, const struct cudal2_problem *p, const void *c, uint64_t *written,
                     struct error *err)
{
    const struct matrix_extent e = problem_c(p);
    size_t bytes = dtype_bytes(p->dtype), gap = (size_t)(e.stride - e.length) * bytes;
    *written = 0;
    for (int64_t line = 0; line + 1 < e.lines; line++) {
        const unsigned char *at = (const unsigned char *)c + (size_t)(line * e.stride + e.length) * bytes;
        for (size_t i = 0; i < gap; i++)
            *written += at[i] != PROBE_GUARD;
    }
    return d->ops->sync(d, err);
}

/* ---- NaN among elements ---- */

/* One process has one device. */
static uint64_t nan_counter;

static void poison_element(void *c, enum cudal2_dtype dtype, uint64_t index)
{
    size_t bytes = dtype_bytes(dtype);
    memset((unsigned char *)c + index * bytes, PROBE_POISON, bytes);
}

static int host_sprinkle(struct device *d, void *c, enum cudal2_dtype dtype, uint64_t elements, uint64_t seed,
                         char *why)
{
    uint64_t key = fill_key(seed);
    (void)d;
    (void)why;
    for (uint64_t first = 0; first < elements; first += PROBE_SPRINKLE)
        poison_element(c, dtype, probe_place(key, first, elements));
    return CUDAL2_OK;
}

/* Bit patterns, not values: work that is a few microseconds late must still be missing when its place is looked at. */
static uint64_t count_words(const uint32_t *words, uint64_t n)
{
    uint64_t nans = 0;
    for (uint64_t i = 0; i < n; i++)
        nans += (words[i] & 0x7fffffffu) > 0x7f800000u;
    return nans;
}

static uint64_t count_halves(const uint16_t *halves, uint64_t n, uint16_t infinity)
{
    uint64_t nans = 0;
    for (uint64_t i = 0; i < n; i++)
        nans += (halves[i] & 0x7fffu) > infinity;
    return nans;
}

static int host_count(struct device *d, const void *c, enum cudal2_dtype dtype, uint64_t elements, char *why)
{
    (void)d;
    (void)why;
    if (dtype == CUDAL2_F32)
        nan_counter += count_words(c, elements);
    else
        nan_counter += count_halves(c, elements, dtype == CUDAL2_BF16 ? 0x7f80u : 0x7c00u);
    return CUDAL2_OK;
}

static int host_read_count(struct device *d, uint64_t *nans, struct error *err)
{
    *nans = nan_counter;
    nan_counter = 0;
    return d->ops->sync(d, err);
}

/* ---- fences ---- */

static int host_fence(struct device *d, uint64_t bytes, bool at_end, struct probe_fence *out, struct error *err)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t aligned = (bytes + PROBE_FENCE_ALIGNMENT - 1) / PROBE_FENCE_ALIGNMENT * PROBE_FENCE_ALIGNMENT;
    uint64_t mapped = (aligned + page - 1) / page * page, reserved = mapped + 2 * page;
    *out = (struct probe_fence){0};
    if (d->pages && host_pages_are_shared(d->pages)) {
        out->memory = host_pages_fence(d->pages, aligned, at_end);
        return out->memory ? 0 : error_set(err, EXIT_CODE_INTERNAL, "no memory for fenced bytes that are shared");
    }
    char *base = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %llu fenced bytes", (unsigned long long)bytes);
    if (mprotect(base + page, mapped, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, reserved);
        return error_set(err, EXIT_CODE_INTERNAL, "the pages between two fences cannot be made writable");
    }
    *out = (struct probe_fence){.memory = base + page + (at_end ? mapped - aligned : 0),
                                .base = (uint64_t)(uintptr_t)base,
                                .reserved = reserved};
    return 0;
}

static void host_unfence(struct device *d, struct probe_fence *fence)
{
    if (fence->memory && !(d->pages && host_pages_unfence(d->pages, fence->memory)))
        munmap((void *)(uintptr_t)fence->base, fence->reserved);
    *fence = (struct probe_fence){0};
}

/* ---- the process ---- */

/* Memory that is the process's own, in the machine or swapped out. Pages of files, code above all, come and go as
 * others need memory; swapped pages come back when they are touched. Neither is taken by whoever runs then. */
static uint64_t sum_of_status(const char *path, const char *const *names)
{
    uint64_t sum = 0;
    char line[128];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        for (size_t i = 0; names[i]; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0)
                sum += strtoull(line + strlen(names[i]), NULL, 10);
    if (file)
        fclose(file);
    return sum;
}

/* What plugins' own processes share with this one is counted here. */
static uint64_t host_held(struct device *d)
{
    static const char *const own[] = {"RssAnon:", "RssShmem:", "VmSwap:", NULL}, *const theirs[] = {
                                                                                     "RssAnon:", "VmSwap:", NULL};
    /* A sanitizer keeps what the harness has freed: where plugins have processes, theirs alone tell of them. */
    bool of_plugins_alone = SANITIZED && d->n_others > 0;
    uint64_t kilobytes = of_plugins_alone ? 0 : sum_of_status("/proc/self/status", own);
    for (size_t i = 0; i < d->n_others; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/status", (int)d->others[i]);
        kilobytes += sum_of_status(path, theirs);
    }
    return kilobytes << 10;
}

static void host_changes(struct device *d, char what[128])
{
    host_state_changes(&d->host, what);
    if (d->pages)
        host_pages_changes(d->pages, what);
}

const struct probe_ops probe_host = {
    .digest = host_digest,
    .pattern = host_pattern,
    .gaps = host_gaps,
    .product = host_product,
    .spots = host_spots,
    .band = host_band,
    .renew = host_renew,
    .deliver = host_deliver,
    .disturb = host_disturb,
    .pool_elements = HOST_POOL_ELEMENTS,
    .sprinkle = host_sprinkle,
    .count = host_count,
    .read_count = host_read_count,
    .upset = host_upset,
    .count_kept = host_count_kept,
    .read_kept = host_read_kept,
    .fence = host_fence,
    .unfence = host_unfence,
    .changes = host_changes,
    .held = host_held,
    .threads = host_state_threads,
    .raw_now = clock_raw_ns,
};

const struct probe_ops probe_host_scripted = {
    .digest = host_digest,
    .pattern = host_pattern,
    .gaps = host_gaps,
    .product = host_product,
    .spots = host_spots,
    .band = host_band,
    .renew = host_renew,
    .disturb = host_disturb,
    .pool_elements = HOST_POOL_ELEMENTS,
    .sprinkle = host_sprinkle,
    .count = host_count,
    .read_count = host_read_count,
    .upset = host_upset,
    .count_kept = host_count_kept,
    .read_kept = host_read_kept,
    .fence = host_fence,
    .unfence = host_unfence,
    .held = host_held,
};
