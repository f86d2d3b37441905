/*
 * cuda_health.c - what the GPU is, how it is doing, and undoing what a contender may have changed. Relies on driver.h
 * and nvml.h. Called through device.h after each group and between contenders.
 */
#include "device/cuda_device.h"

#include <stdio.h>
#include <string.h>

static const int limit_ids[N_LIMITS] = {CU_LIMIT_STACK, CU_LIMIT_L2_FETCH, CU_LIMIT_PERSISTING_L2};

static int attribute(const struct cuda_device *c, int which)
{
    int value = 0;
    return c->driver.device_attribute(&value, which, c->handle) == CU_OK ? value : 0;
}

/* Dense fp16 tensor FLOP per clock and SM (fp16 accumulate, where that is faster). */
static double flops_per_clock(int cc)
{
    switch (cc) {
    case 70:
    case 75:
    case 86:
    case 89:
    case 120:
        return 1024;
    case 80:
        return 2048;
    case 90:
        return 4096;
    case 100:
        return 8192;
    default:
        return 0;
    }
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ...": the first word that is digits with two dots or
 * one. */
static void driver_from_proc(char out[32])
{
    char line[256] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        char *save = NULL;
        for (char *word = strtok_r(line, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save)) {
            if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
                snprintf(out, 32, "%.31s", word);
                break;
            }
        }
    }
    fclose(file);
}

static void format_uuid(const struct cu_uuid *uuid, char out[64])
{
    int used = snprintf(out, 64, "GPU-");
    for (int i = 0; i < 16; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        used += snprintf(out + used, 64 - (size_t)used, "%s%02x", dash, uuid->bytes[i]);
    }
}

static void read_peaks(struct device_info *info)
{
    info->peak_flops = flops_per_clock(info->cc) * info->sm_count * info->max_sm_clock_mhz * 1e6;
    info->peak_bytes_per_s = 2.0 * info->max_memory_clock_mhz * 1e6 * info->memory_bus_bits / 8.0;
}

void cuda_read_info(struct cuda_device *c, int ordinal)
{
    struct device_info *info = &c->base.info;
    struct cu_uuid uuid = {{0}};
    struct error ignored;
    size_t bytes = 0;
    int cuda_version = 0;
    uint32_t all = timing_bits(CUDAL2_ON_CUDA);
    *info = (struct device_info){.kind = "cuda", .device_bit = CUDAL2_ON_CUDA, .timings = all, .ordinal = ordinal};
    info->threads = 1;
    (void)c->driver.device_name(info->name, (int)sizeof info->name, c->handle);
    if (c->driver.device_uuid(&uuid, c->handle) == CU_OK)
        format_uuid(&uuid, info->uuid);
    (void)c->driver.device_memory(&bytes, c->handle);
    (void)c->driver.driver_version(&cuda_version);
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", cuda_version / 1000, cuda_version % 1000 / 10);
    driver_from_proc(info->driver);
    info->memory_bytes = bytes;
    info->cc = attribute(c, CU_ATTRIBUTE_MAJOR) * 10 + attribute(c, CU_ATTRIBUTE_MINOR);
    info->sm_count = attribute(c, CU_ATTRIBUTE_SM_COUNT);
    info->max_sm_clock_mhz = attribute(c, CU_ATTRIBUTE_CLOCK_KHZ) / 1000;
    info->max_memory_clock_mhz = attribute(c, CU_ATTRIBUTE_MEMORY_CLOCK_KHZ) / 1000;
    info->memory_bus_bits = attribute(c, CU_ATTRIBUTE_BUS_BITS);
    info->l2_bytes = (uint64_t)attribute(c, CU_ATTRIBUTE_L2_BYTES);
    if (nvml_open(info->uuid, &c->nvml, &ignored) == 0)
        nvml_info(c->nvml, info);
    read_peaks(info);
}

void cuda_health(struct device *d, struct device_health *out)
{
    struct cuda_device *c = cuda_of(d);
    *out = (struct device_health){.known = false};
    if (c->nvml)
        nvml_health(c->nvml, out);
}

void cuda_throttle(struct device *d, struct device_health *out)
{
    struct cuda_device *c = cuda_of(d);
    *out = (struct device_health){.known = false};
    if (c->nvml)
        nvml_throttle(c->nvml, out);
}

bool cuda_energy(struct device *d, uint64_t *millijoules)
{
    struct cuda_device *c = cuda_of(d);
    return c->nvml && nvml_energy(c->nvml, millijoules);
}

void cuda_remember_limits(struct cuda_device *c)
{
    for (int i = 0; i < N_LIMITS; i++)
        if (c->driver.limit_get(&c->limits[i], limit_ids[i]) != CU_OK)
            c->limits[i] = SIZE_MAX;
}

static int restore_limits(struct cuda_device *c, struct error *err)
{
    int rc = 0;
    for (int i = 0; i < N_LIMITS && rc == 0; i++) {
        size_t now;
        if (c->limits[i] == SIZE_MAX || c->driver.limit_get(&now, limit_ids[i]) != CU_OK || now == c->limits[i])
            continue;
        rc = driver_check(&c->driver, c->driver.limit_set(limit_ids[i], c->limits[i]), err,
                          "cuCtxSetLimit(%d, %zu) to undo a contender's %zu", limit_ids[i], c->limits[i], now);
    }
    return rc;
}

/* The driver itself raises the stack size for kernels that need more, so that one tells nothing. */
void cuda_changes(struct device *d, char what[128])
{
    static const char *const names[N_LIMITS] = {NULL, "L2 fetch granularity", "persisting L2 size"};
    const struct cuda_device *c = cuda_of(d);
    cu_context current = NULL;
    size_t now;
    host_state_changes(&d->host, what);
    for (int i = 0; i < N_LIMITS; i++)
        if (names[i] && c->limits[i] != SIZE_MAX && c->driver.limit_get(&now, limit_ids[i]) == CU_OK &&
            now != c->limits[i])
            snprintf(what, 128, "%s was set from %zu to %zu for the whole process", names[i], c->limits[i], now);
    if (c->driver.context_get(&current) == CU_OK && current != c->context)
        snprintf(what, 128, "another context was left current");
}

/* A contender may have made another context current; ours is the primary one. */
static int restore_context(struct cuda_device *c, struct error *err)
{
    cu_context now = NULL;
    int rc = driver_check(&c->driver, c->driver.context_get(&now), err, "cuCtxGetCurrent");
    if (rc == 0 && now != c->context)
        rc = driver_check(&c->driver, c->driver.context_set(c->context), err, "cuCtxSetCurrent");
    return rc;
}

int cuda_settle(struct device *d, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    union cu_launch_value no_window = {.pad = {0}};
    host_state_restore(&d->host);
    int rc = restore_context(c, err);
    if (rc == 0)
        rc = driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize");
    if (rc != 0) {
        /* A context that cannot be synchronised serves nobody, whatever the status is called. */
        err->code = EXIT_CODE_UNAVAILABLE;
        return err->code;
    }
    /* Not every GPU has a persisting L2; those answer CUDA_ERROR_NOT_SUPPORTED and have nothing to reset. */
    (void)c->driver.stream_attribute(c->stream, CU_LAUNCH_ACCESS_WINDOW, &no_window);
    cu_result reset = c->driver.persisting_reset();
    if (reset != CU_NOT_SUPPORTED)
        rc = driver_check(&c->driver, reset, err, "cuCtxResetPersistingL2Cache");
    return rc == 0 ? restore_limits(c, err) : rc;
}
