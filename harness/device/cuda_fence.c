/*
 * cuda_fence.c - device memory that ends or begins beside an unmapped page (probe.h), from the driver's virtual memory
 * management. Relies on driver.h. Called by cuda_probe.c.
 */
#include "device/cuda_device.h"
#include "device/probe.h"

/* Mapping and unmapping take longer than what a small problem is verified by. What is not too large a part of the
 * memory is kept for the next fence: between two unmapped pages anything smaller has its place at either end. */
#define KEPT_SHARE 64

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static void give_back(struct cuda_device *c, struct probe_fence *fence)
{
    const struct driver *cu = &c->driver;
    if (fence->start)
        (void)cu->virtual_unmap(fence->start, fence->mapped);
    if (fence->handle)
        (void)cu->virtual_release(fence->handle);
    if (fence->base)
        (void)cu->virtual_free(fence->base, fence->reserved);
    *fence = (struct probe_fence){0};
}

static uint64_t most_kept(const struct cuda_device *c)
{
    return c->base.info.memory_bytes / KEPT_SHARE;
}

static bool keep(struct cuda_device *c, struct probe_fence *fence)
{
    for (int i = 0; i < KEPT_FENCES && fence->memory && fence->mapped <= most_kept(c); i++) {
        if (c->fences[i].base)
            continue;
        c->fences[i] = *fence;
        *fence = (struct probe_fence){0};
        return true;
    }
    return false;
}

void cuda_unfence(struct device *d, struct probe_fence *fence)
{
    struct cuda_device *c = cuda_of(d);
    if (!keep(c, fence))
        give_back(c, fence);
}

void cuda_fences_close(struct cuda_device *c)
{
    for (int i = 0; i < KEPT_FENCES; i++)
        give_back(c, &c->fences[i]);
}

/* One that is kept and large enough; a smaller one makes room for what will be mapped in its place. */
static bool take_kept(struct cuda_device *c, uint64_t bytes, struct probe_fence *out)
{
    struct probe_fence *small = NULL;
    for (int i = 0; i < KEPT_FENCES; i++) {
        struct probe_fence *f = &c->fences[i];
        if (f->base && f->mapped >= bytes) {
            *out = *f;
            *f = (struct probe_fence){0};
            return true;
        }
        small = f->base ? f : small;
    }
    if (small)
        give_back(c, small);
    return false;
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

/* What may be kept is mapped at a power of two, so that few sizes serve all. */
static uint64_t room_for(const struct cuda_device *c, uint64_t bytes)
{
    uint64_t room = 1;
    while (room < bytes)
        room *= 2;
    return room <= most_kept(c) ? room : bytes;
}

int cuda_fence(struct device *d, uint64_t bytes, bool at_end, struct probe_fence *out, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct cu_memory_kind kind = {.type = CU_MEMORY_PINNED, .location = {CU_LOCATION_DEVICE, c->handle}};
    uint64_t aligned = round_up(bytes, PROBE_FENCE_ALIGNMENT);
    int rc = 0;
    *out = (struct probe_fence){0};
    if (!take_kept(c, aligned, out)) {
        rc = reserve(c, &kind, room_for(c, aligned), out, err);
        if (rc == 0)
            rc = map(c, &kind, out, err);
    }
    if (rc == 0)
        out->memory = (void *)(uintptr_t)(out->start + (at_end ? out->mapped - aligned : 0));
    else
        give_back(c, out);
    return rc;
}
