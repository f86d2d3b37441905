/*
 * nvml.h - clocks, power, temperature and identity of GPUs by dlopen of libnvidia-ml.so.1; makes no CUDA context.
 */
#ifndef CUDAL2_DEVICE_NVML_H
#define CUDAL2_DEVICE_NVML_H

#include "device/device.h"

#define NVML_MAX_GPUS DEVICE_GPUS

struct nvml; /* the loaded library and one GPU */

/* The GPU with this UUID ("GPU-..."). EXIT_CODE_UNAVAILABLE: no library, or no such GPU. */
int nvml_open(const char *uuid, struct nvml **out, struct error *err);
void nvml_close(struct nvml *n);

void nvml_health(const struct nvml *n, struct device_health *out);
/* Of it only throttle_reasons and slowdown; known where NVML tells them. */
void nvml_throttle(const struct nvml *n, struct device_health *out);
/* What the GPU has used since its driver was loaded. False: from before Volta, or a library that does not tell. */
bool nvml_energy(const struct nvml *n, uint64_t *millijoules);
/* Fills driver, max clocks, power limit and bus width where NVML knows them; leaves the other fields. */
void nvml_info(const struct nvml *n, struct device_info *info);

/* 90 for sm_90; 0 where NVML does not know. */
int nvml_capability(const struct nvml *n);

/* UUIDs of all GPUs in NVML's (PCI bus) order, and where they are plugged in ("0000:3b:00.0"; "" where it is not known;
 * NULL: nobody asks); returns how many, 0 without a driver. */
int nvml_gpus(char uuids[NVML_MAX_GPUS][64], char (*buses)[DEVICE_BUS]);

#endif
