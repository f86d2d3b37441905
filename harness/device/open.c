/*
 * open.c - which device a spec means ("cuda:1"), and what can be known of GPUs without opening one. Relies on nvml.c
 * and visible.c. Called by the worker and cli/devices.c.
 */
#include "device/device.h"
#include "device/nvml.h"
#include "device/visible.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_auto(char *why_not, struct device **out, struct error *err)
{
    struct error gpu_error;
    if (device_open_cuda(0, out, &gpu_error) == 0)
        return 0;
    if (why_not)
        snprintf(why_not, 256, "%.255s", gpu_error.text);
    return device_open_cpu(out, err);
}

int device_open(const char *spec, char *why_not, struct device **out, struct error *err)
{
    char *end;
    *out = NULL;
    if (why_not)
        *why_not = 0;
    if (strcmp(spec, "auto") == 0)
        return open_auto(why_not, out, err);
    if (strcmp(spec, "cpu") == 0)
        return device_open_cpu(out, err);
    if (strcmp(spec, "cuda") == 0)
        return device_open_cuda(0, out, err);
    if (strncmp(spec, "cuda:", 5) == 0 && spec[5] >= '0' && spec[5] <= '9') {
        long ordinal = strtol(spec + 5, &end, 10);
        if (*end == 0 && ordinal < NVML_MAX_GPUS)
            return device_open_cuda((int)ordinal, out, err);
    }
    return error_set(err, EXIT_CODE_USAGE, "device \"%.40s\": expected auto, cpu or cuda:N", spec);
}

/* Without NVML (a container with compute but no utility libraries) the kernel module still lists its GPUs. */
static int count_in_proc(void)
{
    int count = 0;
    struct dirent *entry;
    DIR *directory = opendir("/proc/driver/nvidia/gpus");
    while (directory && (entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

int device_gpus(struct device_gpu list[DEVICE_GPUS])
{
    char uuids[NVML_MAX_GPUS][64] = {{0}}, buses[NVML_MAX_GPUS][DEVICE_BUS] = {{0}};
    int order[NVML_MAX_GPUS];
    int count = nvml_gpus(uuids, buses);
    if (count == 0)
        count = count_in_proc();
    if (count > NVML_MAX_GPUS)
        count = NVML_MAX_GPUS;
    int shown = visible_devices(getenv("CUDA_VISIBLE_DEVICES"), (const char(*)[64])uuids, count, order);
    for (int i = 0; i < shown; i++) {
        memcpy(list[i].uuid, uuids[order[i]], sizeof list[i].uuid);
        memcpy(list[i].bus, buses[order[i]], sizeof list[i].bus);
    }
    return shown;
}

int device_count_gpus(void)
{
    struct device_gpu list[DEVICE_GPUS];
    return device_gpus(list);
}

int device_gpu_capability(int ordinal)
{
    struct device_gpu list[DEVICE_GPUS];
    struct nvml *gpu = NULL;
    struct error ignored;
    if (ordinal < 0 || ordinal >= device_gpus(list) || nvml_open(list[ordinal].uuid, &gpu, &ignored))
        return 0;
    int capability = nvml_capability(gpu);
    nvml_close(gpu);
    return capability;
}
