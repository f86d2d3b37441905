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
