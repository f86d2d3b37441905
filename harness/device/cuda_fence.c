/* Device memory that ends or begins beside an unmapped page (probe.h), from the driver's virtual memory management. */
#include "device/cuda_device.h"
#include "device/probe.h"

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

void cuda_unfence(struct device *d, struct probe_fence *fence)
{
    const struct driver *cu = &cuda_of(d)->driver;
    if (fence->start)
        (void)cu->virtual_unmap(fence->start, fence->mapped);
    if (fence->handle)
        (void)cu->virtual_release(fence->handle);
    if (fence->base)
        (void)cu->virtual_free(fence->base, fence->reserved);
    *fence = (struct probe_fence){0};
}

/* Addresses for one piece more on either side, which stay unmapped. */
static int reserve(struct cuda_device *c, const struct cu_memory_kind *kind, uint64_t bytes, struct probe_fence *f,
                   struct error *err)
{
    const struct driver *cu = &c->driver;
    size_t piece = 0;
    cu_pointer base = 0;
    int rc = driver_check(cu, cu->virtual_granularity(&piece, kind, 0), err, "cuMemGetAllocationGranularity");
    if (rc != 0)
        return rc;
    f->mapped = round_up(bytes, piece);
    f->reserved = f->mapped + 2 * piece;
    rc = driver_check(cu, cu->virtual_reserve(&base, f->reserved, 0, 0, 0), err, "cuMemAddressReserve");
    f->base = base;
    f->start = 0;
    return rc;
}

static int map(struct cuda_device *c, const struct cu_memory_kind *kind, struct probe_fence *f, struct error *err)
{
    const struct driver *cu = &c->driver;
    const struct cu_access access = {kind->location, CU_ACCESS_READ_WRITE};
    unsigned long long handle = 0;
    cu_pointer start = f->base + (f->reserved - f->mapped) / 2;
    int rc = driver_check(cu, cu->virtual_create(&handle, f->mapped, kind, 0), err, "cuMemCreate(%llu bytes)",
                          (unsigned long long)f->mapped);
    f->handle = handle;
    if (rc == 0)
        rc = driver_check(cu, cu->virtual_map(start, f->mapped, 0, handle, 0), err, "cuMemMap");
    if (rc == 0)
        f->start = start;
    return rc == 0 ? driver_check(cu, cu->virtual_access(start, f->mapped, &access, 1), err, "cuMemSetAccess") : rc;
}

int cuda_fence(struct device *d, uint64_t bytes, bool at_end, struct probe_fence *out, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct cu_memory_kind kind = {.type = CU_MEMORY_PINNED, .location = {CU_LOCATION_DEVICE, c->handle}};
    uint64_t aligned = round_up(bytes, PROBE_FENCE_ALIGNMENT);
    *out = (struct probe_fence){0};
    int rc = reserve(c, &kind, aligned, out, err);
    if (rc == 0)
        rc = map(c, &kind, out, err);
    if (rc == 0)
        out->memory = (void *)(uintptr_t)(out->start + (at_end ? out->mapped - aligned : 0));
    else
        cuda_unfence(d, out);
    return rc;
}
