/*
 * devices.c - resolves `--device` to the CPU or a list of GPUs, and names their locks by UUID. Relies on device.h for
 * what the driver shows (NVML). Called by run_config.c.
 */
#include "cli/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

#define CUDA "cuda:"

static long ordinal_of(const char *spec)
{
    return strtol(spec + strlen(CUDA), NULL, 10);
}

static int add_gpu(long ordinal, int gpus, struct devices *out, struct error *err)
{
    if (gpus == 0)
        return error_set(err, EXIT_CODE_UNAVAILABLE,
                         "--device cuda: no usable NVIDIA GPU here (see `cudal2-bench doctor`); use --device cpu");
    if (ordinal >= gpus)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "--device cuda:%ld: the driver shows %d GPU%s, numbered from 0",
                         ordinal, gpus, gpus == 1 ? "" : "s");
    for (int i = 0; i < out->count; i++)
        if (ordinal_of(out->spec[i]) == ordinal)
            return error_set(err, EXIT_CODE_USAGE, "--device names cuda:%ld twice", ordinal);
    if (out->count == DEVICES_MAX)
        return error_set(err, EXIT_CODE_USAGE, "--device names more than %d GPUs", DEVICES_MAX);
    snprintf(out->spec[out->count++], sizeof out->spec[0], CUDA "%d", (int)ordinal);
    return 0;
}

static int bad_device(const char *text, struct error *err)
{
    return error_set(err, EXIT_CODE_USAGE, "--device %s: expected auto, cpu, cuda, cuda:N, cuda:N,N,... or cuda:all",
                     text);
}

static int resolve_list(const char *text, int gpus, struct devices *out, struct error *err)
{
    const char *at = text + strlen(CUDA);
    for (;;) {
        char *end;
        long ordinal = strtol(at, &end, 10);
        if (*at < '0' || *at > '9' || end - at > 4 || (*end != ',' && *end != '\0'))
            return bad_device(text, err);
        if (add_gpu(ordinal, gpus, out, err))
            return err->code;
        if (*end == '\0')
            return 0;
        at = end + 1;
    }
}

static int add_all(int gpus, struct devices *out, struct error *err)
{
    int code = add_gpu(0, gpus, out, err);
    for (int i = 1; i < gpus && code == 0; i++)
        code = add_gpu(i, gpus, out, err);
    return code;
}

int devices_resolve(const char *text, int gpus, struct devices *out, struct error *err)
{
    *out = (struct devices){.on_cuda = true};
    if (strcmp(text, "cpu") == 0 || (strcmp(text, "auto") == 0 && gpus <= 0)) {
        out->on_cuda = false;
        out->count = 1;
        strcpy(out->spec[0], "cpu");
        return 0;
    }
    if (strcmp(text, "auto") == 0 || strcmp(text, "cuda") == 0)
        return add_gpu(0, gpus, out, err);
    if (strcmp(text, CUDA "all") == 0)
        return add_all(gpus, out, err);
    return strncmp(text, CUDA, strlen(CUDA)) == 0 ? resolve_list(text, gpus, out, err) : bad_device(text, err);
}

/* Names its lock, and says where it is plugged in, which decides the cores that are near it (run/cores.h). Without NVML
 * the UUID is unknown before CUDA runs: the ordinal serves, as long as everybody sees the same GPUs. */
static void identify(const struct device_gpu *gpu, long ordinal, char lock[DEVICES_LOCK_MAX], char bus[DEVICES_BUS_MAX])
{
    if (gpu->uuid[0] == '\0')
        snprintf(lock, DEVICES_LOCK_MAX, "cuda-%ld", ordinal);
    else
        snprintf(lock, DEVICES_LOCK_MAX, "%.47s", gpu->uuid);
    snprintf(bus, DEVICES_BUS_MAX, "%s", gpu->bus);
}

int devices_find(const char *text, struct devices *out, struct error *err)
{
    struct device_gpu gpus[DEVICE_GPUS];
    if (devices_resolve(text, device_gpus(gpus), out, err))
        return err->code;
    for (int i = 0; i < out->count && out->on_cuda; i++)
        identify(&gpus[ordinal_of(out->spec[i])], ordinal_of(out->spec[i]), out->lock[i], out->bus[i]);
    return 0;
}
