/*
 * cuda.c - the GPU as a device: opening it on the primary context, memory, and the table of operations. Relies on
 * driver.c and on cuda_*.c, each with one part. Called by open.c and `doctor`.
 */
#include "device/cuda_device.h"
#include "base/clock.h"
#include "compile/kernels.h"
#include "device/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct cuda_device *device_new(void)
{
    struct cuda_device *c = aligned_alloc(DRIVER_PAGES, sizeof *c);
    if (c)
        memset(c, 0, sizeof *c);
    return c;
}

static void device_free(struct cuda_device *c)
{
    (void)mprotect(c->driver_pages, sizeof c->driver_pages, PROT_READ | PROT_WRITE);
    free(c);
}

static int bind_driver(struct cuda_device *c, driver_resolver resolve, struct error *err)
{
    int rc = driver_bind(&c->driver, resolve, err);
    if (rc == 0 && mprotect(c->driver_pages, sizeof c->driver_pages, PROT_READ) != 0)
        rc = error_set(err, EXIT_CODE_INTERNAL, "mprotect of the driver's calls: %s", strerror(errno));
    return rc;
}

static void cuda_close(struct device *d)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    if (c->context) {
        (void)cu->context_set(c->context);
        cuda_kernels_close(c);
        cuda_probes_close(c);
        cuda_fences_close(c);
        cuda_fills_close(c);
        cuda_disturb_close(c);
        cuda_plain_close(c);
        if (c->flush_buffer)
            cu->memory_free(c->flush_buffer);
        if (c->compare_parts)
            cu->memory_free(c->compare_parts);
        if (c->signals)
            cu->host_free(c->signals);
        if (c->start)
            cu->event_destroy(c->start);
        if (c->stop)
            cu->event_destroy(c->stop);
        if (c->stream)
            cu->stream_destroy(c->stream);
        cu->primary_release(c->handle);
    }
    nvml_close(c->nvml);
    device_free(c);
}

static int cuda_alloc(struct device *d, size_t bytes, void **out, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    cu_pointer memory = 0;
    int rc = driver_check(&c->driver, c->driver.memory_alloc(&memory, bytes ? bytes : 1), err, "cuMemAlloc(%zu bytes)",
                          bytes);
    *out = rc == 0 ? (void *)(uintptr_t)memory : NULL;
    return rc;
}

static void cuda_release(struct device *d, void *memory)
{
    if (memory)
        (void)cuda_of(d)->driver.memory_free((cu_pointer)(uintptr_t)memory);
}

static int cuda_memory_free(struct device *d, uint64_t *bytes, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    size_t free_bytes = 0, total = 0;
    int rc = driver_check(&c->driver, c->driver.memory_info(&free_bytes, &total), err, "cuMemGetInfo");
    *bytes = free_bytes;
    return rc;
}

/* Copies run on our stream, which the legacy stream's implicit order does not cover. */
static int cuda_upload(struct device *d, void *to, const void *from, size_t bytes, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    cu_result result = bytes ? c->driver.copy_in((cu_pointer)(uintptr_t)to, from, bytes, c->stream) : CU_OK;
    int rc = driver_check(&c->driver, result, err, "cuMemcpyHtoDAsync(%zu bytes)", bytes);
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

static int cuda_download(struct device *d, void *to, const void *from, size_t bytes, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    cu_result result = bytes ? c->driver.copy_out(to, (cu_pointer)(uintptr_t)from, bytes, c->stream) : CU_OK;
    int rc = driver_check(&c->driver, result, err, "cuMemcpyDtoHAsync(%zu bytes)", bytes);
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

static int cuda_sync(struct device *d, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    return driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize");
}

static uint64_t cuda_now(struct device *d)
{
    (void)d;
    return clock_now_ns();
}

static uint64_t cuda_wait_until(struct device *d, uint64_t deadline_ns)
{
    (void)d;
    return clock_wait_until(deadline_ns);
}

static const struct device_ops cuda_ops = {
    .close = cuda_close,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .memory_free = cuda_memory_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .fill = cuda_fill,
    .fill_many = cuda_fill_many,
    .sync = cuda_sync,
    .flush = cuda_flush,
    .reference = cuda_reference,
    .reference_binary = cuda_reference_binary,
    .reference_wide = cuda_reference_wide,
    .compare = cuda_compare,
    .prepare = cuda_prepare,
    .rung = cuda_rung,
    .rung_reason = cuda_rung_reason,
    .held = cuda_segment_held,
    .reorder = cuda_reorder,
    .early = cuda_segment_early,
    .borrowed = cuda_segment_borrowed,
    .joined = cuda_segment_joined,
    .measure = cuda_measure,
    .release_segment = cuda_release_segment,
    .time_event = cuda_time_event,
    .time_wall = cuda_time_wall,
    .profiled = cuda_profiled,
    .graph_work = cuda_graph_work,
    .release_graph_work = cuda_release_graph_work,
    .plain = cuda_plain,
    .plain_differs = cuda_plain_differs,
    .settle = cuda_settle,
    .health = cuda_health,
    .throttle = cuda_throttle,
    .energy = cuda_energy,
    .now = cuda_now,
    .wait_until = cuda_wait_until,
};

/* Driver and GPU; no context yet. */
static int find_gpu(struct cuda_device *c, int ordinal, driver_resolver resolve, struct error *err)
{
    const struct driver *cu = &c->driver;
    int count = 0;
    int rc = bind_driver(c, resolve, err);
    if (rc != 0)
        return rc;
    cu_result result = cu->init(0);
    if (result == CU_NO_DEVICE)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "the NVIDIA driver is here but shows no GPU");
    rc = driver_check(cu, result, err, "cuInit");
    if (rc == 0)
        rc = driver_check(cu, cu->device_count(&count), err, "cuDeviceGetCount");
    if (rc == 0 && (ordinal < 0 || ordinal >= count))
        rc = error_set(err, EXIT_CODE_UNAVAILABLE, "there is no GPU %d: the driver shows %d", ordinal, count);
    if (rc == 0)
        rc = driver_check(cu, cu->device_get(&c->handle, ordinal), err, "cuDeviceGet(%d)", ordinal);
    return rc;
}

/* The primary context is the one cudart, cuBLAS and torch use, so pointers and streams are theirs too. */
static int enter_context(struct cuda_device *c, struct error *err)
{
    const struct driver *cu = &c->driver;
    void *signals = NULL;
    int rc = driver_check(cu, cu->primary_retain(&c->context, c->handle), err, "cuDevicePrimaryCtxRetain");
    if (rc == 0)
        rc = driver_check(cu, cu->context_set(c->context), err, "cuCtxSetCurrent");
    if (rc == 0)
        rc = driver_check(cu, cu->stream_create(&c->stream, CU_STREAM_OWN), err, "cuStreamCreate");
    if (rc == 0)
        rc = driver_check(cu, cu->event_create(&c->start, 0), err, "cuEventCreate");
    if (rc == 0)
        rc = driver_check(cu, cu->event_create(&c->stop, 0), err, "cuEventCreate");
    if (rc == 0)
        rc = driver_check(cu, cu->host_alloc(&signals, sizeof *c->signals, CU_HOST_PORTABLE_MAPPED), err,
                          "cuMemHostAlloc");
    c->signals = signals;
    c->base.stream = c->stream;
    return rc;
}

/* The blocker must never be the first launch of anything, its own included: run it once, released in advance. */
static int warm_kernels(struct cuda_device *c, struct error *err)
{
    cu_function blocker, null_kernel;
    uint64_t limit = 1000000;
    volatile uint32_t *released = &c->signals->released, *timed_out = &c->signals->timed_out;
    void *arguments[] = {&released, &timed_out, &limit};
    int rc = kernel_directory_find(NULL, c->kernel_directory, sizeof c->kernel_directory, err);
    if (rc == 0)
        rc = cuda_kernel_get(c, KERNEL_NULL, 0, &null_kernel, err);
    if (rc == 0)
        rc = cuda_kernel_get(c, KERNEL_BLOCKER, 0, &blocker, err);
    if (rc == 0)
        rc = cuda_null_run(c, err);
    *released = 1;
    if (rc == 0)
        rc = cuda_kernel_run(c, blocker, 1, 1, arguments, err);
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

int cuda_open_with(driver_resolver resolve, int ordinal, struct device **out, struct error *err)
{
    struct cuda_device *c = device_new();
    *out = NULL;
    if (!c)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for the CUDA device");
    c->base.ops = &cuda_ops;
    c->base.cuda = c;
    c->base.probes = &probe_cuda;
    host_state_read(&c->base.host);
    int rc = find_gpu(c, ordinal, resolve, err);
    if (rc == 0)
        rc = enter_context(c, err);
    if (rc == 0) {
        cuda_read_info(c, ordinal);
        cuda_remember_limits(c);
        rc = warm_kernels(c, err);
        if (rc == 0)
            rc = cuda_try_hold(c, err);
    }
    if (rc == 0)
        *out = &c->base;
    else
        cuda_close(&c->base);
    return rc;
}

int device_open_cuda(int ordinal, struct device **out, struct error *err)
{
    driver_resolver resolve;
    *out = NULL;
    int rc = driver_find(&resolve, err);
    if (rc == 0)
        rc = cuda_open_with(resolve, ordinal, out, err);
    if (rc == 0)
        return 0;
    err->code = EXIT_CODE_UNAVAILABLE;
    return error_wrap(err, "cuda:%d", ordinal);
}
