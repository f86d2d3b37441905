/*
 * cuda_module.c - loads, finds and launches kernels of candidates through the driver (cuda.h has the contract). Relies
 * on driver.h. Called by contender/module_load.c and module.c.
 */
#include "device/cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuda_module {
    struct cuda_device *device;
    cu_module module;
};

int cuda_module_load(struct device *d, const void *cubin, struct cuda_module **out, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    *out = NULL;
    if (!c)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "a kernel cannot be loaded: \"%s\" is not a CUDA device",
                         d->info.kind);
    struct cuda_module *module = calloc(1, sizeof *module);
    if (!module)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a module");
    module->device = c;
    int rc = driver_check(&c->driver, c->driver.module_load(&module->module, cubin), err, "cuModuleLoadData");
    if (rc != 0)
        free(module);
    else
        *out = module;
    return rc;
}

void cuda_module_unload(struct cuda_module *module)
{
    if (!module)
        return;
    module->device->driver.module_unload(module->module);
    free(module);
}

static int attributes(const struct driver *cu, cu_function function, struct cuda_function *out, struct error *err)
{
    const struct {
        int id;
        int *to;
    } wanted[] = {{CU_FUNCTION_REGISTERS, &out->registers},
                  {CU_FUNCTION_LOCAL_BYTES, &out->local_bytes},
                  {CU_FUNCTION_SHARED_BYTES, &out->static_shared_bytes},
                  {CU_FUNCTION_MAX_THREADS, &out->max_threads}};
    int rc = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && rc == 0; i++)
        rc = driver_check(cu, cu->function_get(wanted[i].to, wanted[i].id, function), err, "cuFuncGetAttribute(%d)",
                          wanted[i].id);
    return rc;
}

int cuda_module_function(struct cuda_module *module, const char *entry, unsigned shared_bytes,
                         struct cuda_function *out, struct error *err)
{
    struct cuda_device *c = module->device;
    const struct driver *cu = &c->driver;
    cu_function function = NULL;
    *out = (struct cuda_function){0};
    int rc =
        driver_check(cu, cu->module_function(&function, module->module, entry), err, "cuModuleGetFunction(%s)", entry);
    if (rc == 0)
        rc = attributes(cu, function, out, err);
    if (rc == 0 && shared_bytes > 0)
        rc = driver_check(cu, cu->function_set(function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)shared_bytes), err,
                          "cuFuncSetAttribute(%s, %u bytes of dynamic shared memory)", entry, shared_bytes);
    /* Clusters of more than 8 blocks need this; GPUs without clusters refuse it, which is no error here. */
    if (rc == 0 && c->base.info.cc >= 90)
        (void)cu->function_set(function, CU_FUNCTION_NON_PORTABLE_CLUSTER, 1);
    out->handle = function;
    return rc;
}

static int say(const struct driver *cu, cu_result result, const char *call, char *why)
{
    if (result == CU_OK)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%s: %s (%d)", call, driver_error_name(cu, result), result);
    return CUDAL2_LIBRARY_ERROR;
}

int cuda_launch(struct device *d, const struct cuda_launch *launch, char *why)
{
    struct cuda_device *c = (struct cuda_device *)d;
    const unsigned *cluster = launch->cluster;
    struct cu_launch_attribute attributes[2];
    struct cu_launch_config config = {
        .shared_bytes = launch->shared_bytes, .stream = c->stream, .attributes = attributes};
    memcpy(config.grid, launch->grid, sizeof config.grid);
    memcpy(config.block, launch->block, sizeof config.block);
    if (cluster[0] * cluster[1] * cluster[2] > 1)
        attributes[config.n_attributes++] = (struct cu_launch_attribute){
            .id = CU_LAUNCH_CLUSTER, .value.cluster = {cluster[0], cluster[1], cluster[2]}};
    bool early = launch->early && c->base.info.cc >= 90; /* GPUs before have no such launches */
    c->withheld += early && c->alone;
    if (early && !c->alone)
        attributes[config.n_attributes++] = (struct cu_launch_attribute){.id = CU_LAUNCH_EARLY, .value.early = 1};
    cu_result result = c->driver.launch(&config, (cu_function)launch->function, launch->arguments, NULL);
    return say(&c->driver, result, "cuLaunchKernelEx", why);
}

int cuda_clear(struct device *d, void *memory, size_t bytes, char *why)
{
    struct cuda_device *c = (struct cuda_device *)d;
    cu_result result = c->driver.memset8((cu_pointer)(uintptr_t)memory, 0, bytes, c->stream);
    return say(&c->driver, result, "cuMemsetD8Async", why);
}

/* -1: none of them. */
static int place_of(int64_t value, const int64_t bytes[4])
{
    for (int i = 0; i < 4; i++)
        if (bytes[i] == value)
            return i;
    return -1;
}

static int promotion_of(int64_t fetch)
{
    static const int64_t bytes[4] = {
        [CU_TENSOR_L2_NONE] = 0, [CU_TENSOR_L2_64] = 64, [CU_TENSOR_L2_128] = 128, [CU_TENSOR_L2_256] = 256};
    return place_of(fetch, bytes);
}

static int swizzle_of(int64_t swizzle)
{
    static const int64_t bytes[4] = {
        [CU_TENSOR_PLAIN] = 0, [CU_TENSOR_SWIZZLE_32] = 32, [CU_TENSOR_SWIZZLE_64] = 64, [CU_TENSOR_SWIZZLE_128] = 128};
    return place_of(swizzle, bytes);
}

int cuda_tensor_map_encode(struct device *d, const struct cuda_tensor_request *r, struct cuda_tensor_map *out,
                           struct error *err)
{
    static const int types[] = {CU_TENSOR_F16, CU_TENSOR_BF16, CU_TENSOR_F32};
    struct cuda_device *c = cuda_of(d);
    uint64_t dimensions[2] = {(uint64_t)r->columns, (uint64_t)r->rows};
    uint64_t strides[1] = {(uint64_t)r->stride * dtype_bytes(r->dtype)};
    uint32_t box[2] = {r->box_columns, r->box_rows}, ones[2] = {1, 1};
    if (!c)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "no tensor map: \"%s\" is not a CUDA device", d->info.kind);
    if (strides[0] % 16 != 0)
        return error_set(err, EXIT_CODE_DATA, "a tensor map needs rows of a multiple of 16 bytes; these have %llu",
                         (unsigned long long)strides[0]);
    int promotion = promotion_of(r->fetch), swizzle = swizzle_of(r->swizzle);
    if (promotion < 0)
        return error_set(err, EXIT_CODE_DATA, "a tensor map fetches 0, 64, 128 or 256 bytes, not %lld",
                         (long long)r->fetch);
    if (swizzle < 0)
        return error_set(err, EXIT_CODE_DATA, "a tensor map swizzles 0, 32, 64 or 128 bytes, not %lld",
                         (long long)r->swizzle);
    cu_result result = c->driver.tensor_map(out->opaque, types[r->dtype], 2, (void *)(uintptr_t)r->memory, dimensions,
                                            strides, box, ones, 0, swizzle, promotion, 0);
    return driver_check(&c->driver, result, err, "cuTensorMapEncodeTiled(%lld x %lld, box %u x %u, swizzle %lld)",
                        (long long)r->rows, (long long)r->columns, r->box_rows, r->box_columns, (long long)r->swizzle);
}
