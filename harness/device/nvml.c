/*
 * nvml.c - binds NVML by dlopen and reads clocks, power, throttle reasons and identity. No CUDA context is made.
 * Called by open.c and for the health of each group; `doctor` asks it first.
 */
#include "device/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvml_device_opaque *handle;

/* nvmlPciInfo_t: where the GPU is plugged in. */
struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, ids[2];
    char text[32];
};

/* The calls of nvml.h that are used here; a status is an int, 0 success. */
struct library {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver)(char *version, unsigned length);
    int (*count)(unsigned *count);
    int (*by_index)(unsigned index, handle *device);
    int (*by_uuid)(const char *uuid, handle *device);
    int (*uuid)(handle device, char *uuid, unsigned length);
    int (*pci)(handle device, struct pci_info *out);
    int (*clock)(handle device, int type, unsigned *mhz);
    int (*max_clock)(handle device, int type, unsigned *mhz);
    int (*power)(handle device, unsigned *milliwatts);
    int (*limit)(handle device, unsigned *milliwatts);
    int (*temperature)(handle device, int sensor, unsigned *celsius);
    int (*bus_width)(handle device, unsigned *bits);
    int (*reasons)(handle device, unsigned long long *mask);
    int (*energy)(handle device, unsigned long long *millijoules);
    int (*capability)(handle device, int *major, int *minor);
};

struct nvml {
    struct library lib;
    handle device;
};

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };

/* Hardware slowdown, software thermal, hardware thermal, hardware power brake. Neither the power cap nor idling. */
#define SLOWDOWN_REASONS (0x8ull | 0x20ull | 0x40ull | 0x80ull)

static bool bind(struct library *l, const char *name, void *to)
{
    void *symbol = dlsym(l->library, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* A call that an old library lacks stays NULL; only these are needed. */
static bool bind_all(struct library *l)
{
    bind(l, "nvmlSystemGetDriverVersion", &l->driver);
    bind(l, "nvmlDeviceGetClockInfo", &l->clock);
    bind(l, "nvmlDeviceGetMaxClockInfo", &l->max_clock);
    bind(l, "nvmlDeviceGetPowerUsage", &l->power);
    bind(l, "nvmlDeviceGetTotalEnergyConsumption", &l->energy);
    bind(l, "nvmlDeviceGetTemperature", &l->temperature);
    bind(l, "nvmlDeviceGetMemoryBusWidth", &l->bus_width);
    bind(l, "nvmlDeviceGetCudaComputeCapability", &l->capability);
    bind(l, "nvmlDeviceGetPciInfo_v3", &l->pci);
    if (!bind(l, "nvmlDeviceGetEnforcedPowerLimit", &l->limit))
        bind(l, "nvmlDeviceGetPowerManagementLimit", &l->limit);
    if (!bind(l, "nvmlDeviceGetCurrentClocksEventReasons", &l->reasons))
        bind(l, "nvmlDeviceGetCurrentClocksThrottleReasons", &l->reasons);
    return bind(l, "nvmlInit_v2", &l->init) && bind(l, "nvmlShutdown", &l->shutdown) &&
           bind(l, "nvmlDeviceGetCount_v2", &l->count) && bind(l, "nvmlDeviceGetHandleByIndex_v2", &l->by_index) &&
           bind(l, "nvmlDeviceGetHandleByUUID", &l->by_uuid) && bind(l, "nvmlDeviceGetUUID", &l->uuid);
}

static int library_open(struct library *l, struct error *err)
{
    memset(l, 0, sizeof *l);
    l->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!l->library)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "no NVML: %s", dlerror());
    int status = bind_all(l) ? l->init() : -1;
    if (status == 0)
        return 0;
    dlclose(l->library);
    return error_set(err, EXIT_CODE_UNAVAILABLE, "nvmlInit_v2: NVML status %d", status);
}

static void library_close(struct library *l)
{
    l->shutdown();
    dlclose(l->library);
}

int nvml_open(const char *uuid, struct nvml **out, struct error *err)
{
    struct nvml *n = calloc(1, sizeof *n);
    *out = NULL;
    if (!n)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for NVML");
    if (library_open(&n->lib, err) != 0) {
        free(n);
        return err->code;
    }
    int status = n->lib.by_uuid(uuid, &n->device);
    if (status != 0) {
        nvml_close(n);
        return error_set(err, EXIT_CODE_UNAVAILABLE, "nvmlDeviceGetHandleByUUID(%s): NVML status %d", uuid, status);
    }
    *out = n;
    return 0;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    library_close(&n->lib);
    free(n);
}

/* Value of a query, 0 when the call is missing or refuses. */
static int query(int (*call)(handle, unsigned *), handle device)
{
    unsigned value = 0;
    return call && call(device, &value) == 0 ? (int)value : 0;
}

static int query_type(int (*call)(handle, int, unsigned *), handle device, int type)
{
    unsigned value = 0;
    return call && call(device, type, &value) == 0 ? (int)value : 0;
}

int nvml_capability(const struct nvml *n)
{
    int major = 0, minor = 0;
    return n->lib.capability && n->lib.capability(n->device, &major, &minor) == 0 ? 10 * major + minor : 0;
}

void nvml_throttle(const struct nvml *n, struct device_health *out)
{
    unsigned long long reasons = 0;
    const struct library *l = &n->lib;
    bool known = l->reasons && l->reasons(n->device, &reasons) == 0;
    *out = (struct device_health){.known = known};
    if (known)
        out->throttle_reasons = reasons;
    out->slowdown = (out->throttle_reasons & SLOWDOWN_REASONS) != 0;
}

void nvml_health(const struct nvml *n, struct device_health *out)
{
    const struct library *l = &n->lib;
    nvml_throttle(n, out);
    out->sm_clock_mhz = query_type(l->clock, n->device, CLOCK_SM);
    out->memory_clock_mhz = query_type(l->clock, n->device, CLOCK_MEMORY);
    out->power_mw = query(l->power, n->device);
    out->temperature_c = query_type(l->temperature, n->device, SENSOR_GPU);
    out->known = out->sm_clock_mhz > 0;
}

bool nvml_energy(const struct nvml *n, uint64_t *millijoules)
{
    unsigned long long value = 0;
    bool known = n->lib.energy && n->lib.energy(n->device, &value) == 0;
    *millijoules = value;
    return known;
}

static void replace(int *field, int value)
{
    if (value > 0)
        *field = value;
}

void nvml_info(const struct nvml *n, struct device_info *info)
{
    char version[sizeof info->driver];
    const struct library *l = &n->lib;
    if (l->driver && l->driver(version, sizeof version) == 0)
        memcpy(info->driver, version, sizeof version);
    replace(&info->max_sm_clock_mhz, query_type(l->max_clock, n->device, CLOCK_SM));
    replace(&info->max_memory_clock_mhz, query_type(l->max_clock, n->device, CLOCK_MEMORY));
    replace(&info->power_limit_mw, query(l->limit, n->device));
    replace(&info->memory_bus_bits, query(l->bus_width, n->device));
}

/* As the kernel names it under /sys/bus/pci/devices. */
static void read_bus(const struct library *l, handle device, char bus[DEVICE_BUS])
{
    struct pci_info info = {.domain = 0};
    bus[0] = '\0';
    if (l->pci && l->pci(device, &info) == 0)
        snprintf(bus, DEVICE_BUS, "%04x:%02x:%02x.0", info.domain & 0xffffffu, info.bus & 0xffu, info.device & 0xffu);
}

int nvml_gpus(char uuids[NVML_MAX_GPUS][64], char (*buses)[DEVICE_BUS])
{
    struct library l;
    struct error ignored;
    unsigned count = 0;
    int found = 0;
    if (library_open(&l, &ignored) != 0)
        return 0;
    if (l.count(&count) != 0)
        count = 0;
    for (unsigned i = 0; i < count && i < NVML_MAX_GPUS; i++) {
        handle device;
        if (l.by_index(i, &device) != 0 || l.uuid(device, uuids[found], 64) != 0)
            continue;
        if (buses)
            read_bus(&l, device, buses[found]);
        found++;
    }
    library_close(&l);
    return found;
}
