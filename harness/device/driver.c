/*
 * driver.c - binds the CUDA driver's entry points by cuGetProcAddress before any plugin is loaded, and turns a
 * CUresult into one line. Called by all cuda_*.c files of this room.
 */
#include "device/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const symbol_names[] = {
#define SYMBOL_NAME(member, symbol, parameters) symbol,
    DRIVER_CALLS(SYMBOL_NAME)
#undef SYMBOL_NAME
};

#define N_SYMBOLS (sizeof symbol_names / sizeof *symbol_names)

static void member_addresses(struct driver *d, void *addresses[N_SYMBOLS])
{
    size_t i = 0;
#define MEMBER_ADDRESS(member, symbol, parameters) addresses[i++] = (void *)&d->member;
    DRIVER_CALLS(MEMBER_ADDRESS)
#undef MEMBER_ADDRESS
}

/* The library stays open for the life of the process: others that share it (cudart, cuBLAS) have exit handlers. */
int driver_find(driver_resolver *out, struct error *err)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "no NVIDIA driver here: %s", dlerror());
    void *entry = dlsym(library, "cuGetProcAddress_v2");
    if (!entry)
        return error_set(err, EXIT_CODE_UNAVAILABLE,
                         "libcuda.so.1 has no cuGetProcAddress_v2: the driver is older than 525 (CUDA 12.0)");
    memcpy(out, &entry, sizeof entry);
    return 0;
}

/* Calls that a driver may lack. */
struct optional_call {
    const char *symbol;
    void *member;
};

#define OPTIONAL_MOST 8

/* All or none: an edge that is seen can be changed, and what is begun can be ended. */
static void bind_together(const struct optional_call *calls, size_t n, int version, driver_resolver resolve)
{
    void *found[OPTIONAL_MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        int status = 0;
        if (resolve(calls[i].symbol, &found[i], version, 0, &status) != CU_OK || !found[i])
            return;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(calls[i].member, &found[i], sizeof found[i]);
}

static void bind_optional(struct driver *d, driver_resolver resolve)
{
#define OPTIONAL_CALL(member, symbol, parameters) {symbol, (void *)&d->member},
    const struct optional_call edges[] = {DRIVER_EDGE_CALLS(OPTIONAL_CALL)};
    const struct optional_call names[] = {DRIVER_NAME_CALLS(OPTIONAL_CALL)};
    const struct optional_call profiler[] = {DRIVER_PROFILER_CALLS(OPTIONAL_CALL)};
#undef OPTIONAL_CALL
    _Static_assert(sizeof edges / sizeof *edges <= OPTIONAL_MOST, "room for the calls of edges");
    bind_together(edges, sizeof edges / sizeof *edges, DRIVER_EDGES_VERSION, resolve);
    bind_together(names, sizeof names / sizeof *names, DRIVER_EDGES_VERSION, resolve);
    bind_together(profiler, sizeof profiler / sizeof *profiler, DRIVER_VERSION, resolve);
}

int driver_bind(struct driver *d, driver_resolver resolve, struct error *err)
{
    void *members[N_SYMBOLS];
    memset(d, 0, sizeof *d);
    member_addresses(d, members);
    for (size_t i = 0; i < N_SYMBOLS; i++) {
        void *symbol = NULL;
        int status = 0;
        cu_result result = resolve(symbol_names[i], &symbol, DRIVER_VERSION, 0, &status);
        if (result != CU_OK || !symbol)
            return error_set(err, EXIT_CODE_UNAVAILABLE, "libcuda.so.1 has no %s of CUDA %d.%d (result %d, status %d)",
                             symbol_names[i], DRIVER_VERSION / 1000, DRIVER_VERSION % 1000 / 10, result, status);
        memcpy(members[i], &symbol, sizeof symbol);
    }
    bind_optional(d, resolve);
    return 0;
}

const char *driver_error_name(const struct driver *d, cu_result result)
{
    const char *name = NULL;
    if (!d->error_name || d->error_name(result, &name) != CU_OK || !name)
        return "unknown CUDA status";
    return name;
}

/* After these the context answers every call with the same status. */
static bool is_sticky(cu_result result)
{
    switch (result) {
    case CU_DEINITIALIZED:
    case CU_DEVICE_LOST:
    case CU_ECC:
    case CU_NVLINK:
    case CU_CONTAINED:
    case CU_ILLEGAL_ADDRESS:
    case CU_LAUNCH_TIMEOUT:
    case CU_CONTEXT_DESTROYED:
    case CU_ASSERT:
    case CU_TENSOR_MEMORY_LEAK:
    case CU_UNKNOWN:
        return true;
    default:
        return result >= CU_HARDWARE_STACK && result <= CU_LAUNCH_FAILED;
    }
}

int driver_check(const struct driver *d, cu_result result, struct error *err, const char *format, ...)
{
    char what[256];
    va_list args;
    if (result == CU_OK)
        return 0;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_set(err, is_sticky(result) ? EXIT_CODE_UNAVAILABLE : EXIT_CODE_INTERNAL, "%s: %s (%d)", what,
                     driver_error_name(d, result), result);
}
