/*
 * driver.h - the CUDA driver API as far as it is used here, declared by ourselves (cuda.h is absent without a toolkit)
 * and bound at run time: libcuda.so.1 by dlopen, every call through cuGetProcAddress with the version whose
 * signature stands below, because dlsym gives old versions of some calls.
 */
#ifndef CUDAL2_DEVICE_DRIVER_H
#define CUDAL2_DEVICE_DRIVER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define DRIVER_VERSION 12000 /* the pinned version: drivers from 525 on have it */

typedef int cu_result; /* 0 is CUDA_SUCCESS */
typedef int cu_device;
typedef uint64_t cu_pointer;
typedef struct cu_context_opaque *cu_context;
typedef struct cu_module_opaque *cu_module;
typedef struct cu_function_opaque *cu_function;
typedef struct cu_stream_opaque *cu_stream;
typedef struct cu_event_opaque *cu_event;
typedef struct cu_graph_opaque *cu_graph;
typedef struct cu_graph_exec_opaque *cu_graph_exec;
typedef struct cu_node_opaque *cu_node;

struct cu_uuid {
    unsigned char bytes[16];
};

enum cu_results {
    CU_OK = 0,
    CU_OUT_OF_MEMORY = 2,
    CU_DEINITIALIZED = 4,
    CU_DEVICE_LOST = 46, /* CUDA_ERROR_DEVICE_UNAVAILABLE */
    CU_NO_DEVICE = 100,
    CU_ECC = 214,
    CU_NVLINK = 220,
    CU_CONTAINED = 226,
    CU_ILLEGAL_ADDRESS = 700,
    CU_LAUNCH_TIMEOUT = 702,
    CU_CONTEXT_DESTROYED = 709,
    CU_ASSERT = 710,
    CU_HARDWARE_STACK = 714,
    CU_LAUNCH_FAILED = 719, /* 714..719: illegal instruction, misaligned address, ... */
    CU_TENSOR_MEMORY_LEAK = 721,
    CU_NOT_SUPPORTED = 801,
    CU_UNKNOWN = 999
};

enum cu_attributes {
    CU_ATTRIBUTE_CLOCK_KHZ = 13,
    CU_ATTRIBUTE_SM_COUNT = 16,
    CU_ATTRIBUTE_MEMORY_CLOCK_KHZ = 36,
    CU_ATTRIBUTE_BUS_BITS = 37,
    CU_ATTRIBUTE_L2_BYTES = 38,
    CU_ATTRIBUTE_MAJOR = 75,
    CU_ATTRIBUTE_MINOR = 76
};

enum cu_function_attributes {
    CU_FUNCTION_MAX_THREADS = 0,
    CU_FUNCTION_SHARED_BYTES = 1,
    CU_FUNCTION_LOCAL_BYTES = 3,
    CU_FUNCTION_REGISTERS = 4,
    CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
    CU_FUNCTION_NON_PORTABLE_CLUSTER = 14
};

enum cu_limits { CU_LIMIT_STACK = 0, CU_LIMIT_L2_FETCH = 5, CU_LIMIT_PERSISTING_L2 = 6 };

enum cu_node_types {
    CU_NODE_KERNEL = 0,
    CU_NODE_MEMCPY = 1,
    CU_NODE_MEMSET = 2,
    CU_NODE_HOST = 3,
    CU_NODE_EMPTY = 5,
    CU_NODE_EVENT_RECORD = 7,
    CU_NODE_MEM_ALLOC = 10,
    CU_NODE_MEM_FREE = 11
};

enum cu_flags {
    CU_STREAM_OWN = 1,     /* CU_STREAM_NON_BLOCKING: not ordered with the legacy stream */
    CU_CAPTURE_THREAD = 1, /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */
    CU_RECORD_EXTERNAL = 1,
    CU_HOST_PORTABLE_MAPPED = 3,
    CU_WAIT_GEQ = 0 /* until (int32_t)(*address - value) >= 0 */
};

enum cu_launch_attributes { CU_LAUNCH_ACCESS_WINDOW = 1, CU_LAUNCH_CLUSTER = 4, CU_LAUNCH_EARLY = 6 };

struct cu_access_window {
    void *base;
    size_t bytes;
    float hit_ratio;
    int hit, miss;
};

union cu_launch_value {
    char pad[64];
    struct cu_access_window window;
    struct {
        unsigned x, y, z;
    } cluster;
    int early; /* programmaticStreamSerializationAllowed */
};

struct cu_launch_attribute {
    int id;
    char pad[4];
    union cu_launch_value value;
};

struct cu_launch_config {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    cu_stream stream;
    struct cu_launch_attribute *attributes;
    unsigned n_attributes;
};

enum cu_memory_types { CU_MEMORY_HOST = 1 };

struct cu_copy_end {
    size_t x, y, z, lod;
    int memory_type;
    void *host;
    cu_pointer device;
    void *array, *reserved;
    size_t pitch, height;
};

/* CUDA_MEMCPY3D_v2. */
struct cu_copy {
    struct cu_copy_end from, to;
    size_t width_bytes, height, depth;
};

/* CUDA_KERNEL_NODE_PARAMS_v2: one of function and kernel is there. */
struct cu_kernel_node {
    cu_function function;
    unsigned grid[3], block[3], shared_bytes;
    void **arguments, **extra;
    void *kernel, *context, *reserved[16];
};

/* CUmemAllocationProp, and CUmemAccessDesc: memory of one device, pinned as all device memory is. */
enum cu_virtual { CU_MEMORY_PINNED = 1, CU_LOCATION_DEVICE = 1, CU_ACCESS_READ_WRITE = 3 };

struct cu_location {
    int type, id;
};

struct cu_memory_kind {
    int type, handle_types;
    struct cu_location location;
    void *unused;
    unsigned char flags[8];
};

struct cu_access {
    struct cu_location location;
    int flags;
};

enum cu_tensor_types { CU_TENSOR_F16 = 6, CU_TENSOR_F32 = 7, CU_TENSOR_BF16 = 9 };
enum cu_tensor_swizzle { CU_TENSOR_PLAIN, CU_TENSOR_SWIZZLE_32, CU_TENSOR_SWIZZLE_64, CU_TENSOR_SWIZZLE_128 };
enum cu_tensor_fill { CU_TENSOR_FILL_ZERO, CU_TENSOR_FILL_NAN };
enum cu_tensor_promotion { CU_TENSOR_L2_NONE, CU_TENSOR_L2_64, CU_TENSOR_L2_128, CU_TENSOR_L2_256 };

/* CUgraphEdgeData. */
enum cu_edge_types { CU_EDGE_PLAIN = 0, CU_EDGE_PROGRAMMATIC = 1 };
#define CU_PORT_PROGRAMMATIC 1 /* of a kernel: when it lets what depends on it begin */

struct cu_edge {
    unsigned char from_port, to_port, type, reserved[5];
};

/* X(member, symbol, parameters). */
#define DRIVER_CALLS(X)                                                                                                \
    X(init, "cuInit", (unsigned flags))                                                                                \
    X(driver_version, "cuDriverGetVersion", (int *version))                                                            \
    X(error_name, "cuGetErrorName", (cu_result result, const char **name))                                             \
    X(device_count, "cuDeviceGetCount", (int *count))                                                                  \
    X(device_get, "cuDeviceGet", (cu_device * device, int ordinal))                                                    \
    X(device_name, "cuDeviceGetName", (char *name, int length, cu_device device))                                      \
    X(device_uuid, "cuDeviceGetUuid", (struct cu_uuid * uuid, cu_device device))                                       \
    X(device_memory, "cuDeviceTotalMem", (size_t * bytes, cu_device device))                                           \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, cu_device device))                         \
    X(primary_retain, "cuDevicePrimaryCtxRetain", (cu_context * context, cu_device device))                            \
    X(primary_release, "cuDevicePrimaryCtxRelease", (cu_device device))                                                \
    X(context_set, "cuCtxSetCurrent", (cu_context context))                                                            \
    X(context_get, "cuCtxGetCurrent", (cu_context * context))                                                          \
    X(context_sync, "cuCtxSynchronize", (void))                                                                        \
    X(limit_get, "cuCtxGetLimit", (size_t * value, int limit))                                                         \
    X(limit_set, "cuCtxSetLimit", (int limit, size_t value))                                                           \
    X(persisting_reset, "cuCtxResetPersistingL2Cache", (void))                                                         \
    X(stream_create, "cuStreamCreate", (cu_stream * stream, unsigned flags))                                           \
    X(stream_destroy, "cuStreamDestroy", (cu_stream stream))                                                           \
    X(stream_sync, "cuStreamSynchronize", (cu_stream stream))                                                          \
    X(stream_wait_value, "cuStreamWaitValue32",                                                                        \
      (cu_stream stream, cu_pointer address, uint32_t value, unsigned flags))                                          \
    X(stream_attribute, "cuStreamSetAttribute", (cu_stream stream, int attribute, const union cu_launch_value *value)) \
    X(capture_begin, "cuStreamBeginCapture", (cu_stream stream, int mode))                                             \
    X(capture_end, "cuStreamEndCapture", (cu_stream stream, cu_graph * graph))                                         \
    X(event_create, "cuEventCreate", (cu_event * event, unsigned flags))                                               \
    X(event_destroy, "cuEventDestroy", (cu_event event))                                                               \
    X(event_record, "cuEventRecordWithFlags", (cu_event event, cu_stream stream, unsigned flags))                      \
    X(event_elapsed, "cuEventElapsedTime", (float *milliseconds, cu_event start, cu_event end))                        \
    X(graph_nodes, "cuGraphGetNodes", (cu_graph graph, cu_node * nodes, size_t * count))                               \
    X(node_type, "cuGraphNodeGetType", (cu_node node, int *type))                                                      \
    X(node_copy, "cuGraphMemcpyNodeGetParams", (cu_node node, struct cu_copy * copy))                                  \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",                                                                \
      (cu_graph_exec * exec, cu_graph graph, unsigned long long flags))                                                \
    X(graph_upload, "cuGraphUpload", (cu_graph_exec exec, cu_stream stream))                                           \
    X(graph_launch, "cuGraphLaunch", (cu_graph_exec exec, cu_stream stream))                                           \
    X(graph_exec_destroy, "cuGraphExecDestroy", (cu_graph_exec exec))                                                  \
    X(graph_destroy, "cuGraphDestroy", (cu_graph graph))                                                               \
    X(memory_info, "cuMemGetInfo", (size_t * free_bytes, size_t * total))                                              \
    X(memory_alloc, "cuMemAlloc", (cu_pointer * memory, size_t bytes))                                                 \
    X(memory_free, "cuMemFree", (cu_pointer memory))                                                                   \
    X(virtual_granularity, "cuMemGetAllocationGranularity",                                                            \
      (size_t * bytes, const struct cu_memory_kind *kind, int option))                                                 \
    X(virtual_reserve, "cuMemAddressReserve",                                                                          \
      (cu_pointer * address, size_t bytes, size_t alignment, cu_pointer wish, unsigned long long flags))               \
    X(virtual_free, "cuMemAddressFree", (cu_pointer address, size_t bytes))                                            \
    X(virtual_create, "cuMemCreate",                                                                                   \
      (unsigned long long *handle, size_t bytes, const struct cu_memory_kind *kind, unsigned long long flags))         \
    X(virtual_release, "cuMemRelease", (unsigned long long handle))                                                    \
    X(virtual_map, "cuMemMap",                                                                                         \
      (cu_pointer address, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags))          \
    X(virtual_unmap, "cuMemUnmap", (cu_pointer address, size_t bytes))                                                 \
    X(virtual_access, "cuMemSetAccess",                                                                                \
      (cu_pointer address, size_t bytes, const struct cu_access *access, size_t count))                                \
    X(host_alloc, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))                                     \
    X(host_free, "cuMemFreeHost", (void *memory))                                                                      \
    X(copy_in, "cuMemcpyHtoDAsync", (cu_pointer to, const void *from, size_t bytes, cu_stream stream))                 \
    X(copy_out, "cuMemcpyDtoHAsync", (void *to, cu_pointer from, size_t bytes, cu_stream stream))                      \
    X(memset8, "cuMemsetD8Async", (cu_pointer memory, unsigned char value, size_t bytes, cu_stream stream))            \
    X(module_load, "cuModuleLoadData", (cu_module * module, const void *image))                                        \
    X(module_unload, "cuModuleUnload", (cu_module module))                                                             \
    X(module_function, "cuModuleGetFunction", (cu_function * function, cu_module module, const char *name))            \
    X(function_get, "cuFuncGetAttribute", (int *value, int attribute, cu_function function))                           \
    X(function_set, "cuFuncSetAttribute", (cu_function function, int attribute, int value))                            \
    X(launch, "cuLaunchKernelEx",                                                                                      \
      (const struct cu_launch_config *config, cu_function function, void **arguments, void **extra))                   \
    X(tensor_map, "cuTensorMapEncodeTiled",                                                                            \
      (void *map, int type, uint32_t rank, void *memory, const uint64_t *dimensions, const uint64_t *strides,          \
       const uint32_t *box, const uint32_t *element_strides, int interleave, int swizzle, int promotion, int fill))

/* Calls that know kinds of edges, as of CUDA 12.3 (DRIVER_EDGES_VERSION). */
#define DRIVER_EDGES_VERSION 12030
#define DRIVER_EDGE_CALLS(X)                                                                                           \
    X(graph_edges, "cuGraphGetEdges",                                                                                  \
      (cu_graph graph, cu_node * from, cu_node * to, struct cu_edge * edges, size_t * count))                          \
    X(edges_add, "cuGraphAddDependencies",                                                                             \
      (cu_graph graph, const cu_node *from, const cu_node *to, const struct cu_edge *edges, size_t count))             \
    X(edges_remove, "cuGraphRemoveDependencies",                                                                       \
      (cu_graph graph, const cu_node *from, const cu_node *to, const struct cu_edge *edges, size_t count))             \
    X(capture_info, "cuStreamGetCaptureInfo",                                                                          \
      (cu_stream stream, int *status, uint64_t *id, cu_graph *graph, const cu_node **ends,                             \
       const struct cu_edge **edges, size_t *n_ends))                                                                  \
    X(node_attribute_get, "cuGraphKernelNodeGetAttribute", (cu_node node, int id, union cu_launch_value *value))       \
    X(node_attribute_set, "cuGraphKernelNodeSetAttribute", (cu_node node, int id, const union cu_launch_value *value))

/* What a graph's nodes are, as of CUDA 12.3. */
#define DRIVER_NAME_CALLS(X)                                                                                           \
    X(node_kernel, "cuGraphKernelNodeGetParams", (cu_node node, struct cu_kernel_node * kernel))                       \
    X(function_name, "cuFuncGetName", (const char **name, cu_function function))                                       \
    X(kernel_name, "cuKernelGetName", (const char **name, void *kernel))                                               \
    X(node_event, "cuGraphEventRecordNodeGetEvent", (cu_node node, cu_event * event))                                  \
    X(node_waits, "cuGraphNodeGetDependencies", (cu_node node, cu_node * from, struct cu_edge * edges, size_t * count))

/* Tell a profiler that waits for it (ncu --profile-from-start off) what to profile; without one they do nothing. */
#define DRIVER_PROFILER_CALLS(X)                                                                                       \
    X(profiler_start, "cuProfilerStart", (void))                                                                       \
    X(profiler_stop, "cuProfilerStop", (void))

#define DRIVER_MEMBER(member, symbol, parameters) cu_result(*member) parameters;
struct driver {
    DRIVER_CALLS(DRIVER_MEMBER)
    DRIVER_EDGE_CALLS(DRIVER_MEMBER)     /* NULL, all of them, where the driver lacks one */
    DRIVER_NAME_CALLS(DRIVER_MEMBER)     /* likewise */
    DRIVER_PROFILER_CALLS(DRIVER_MEMBER) /* likewise */
};
#undef DRIVER_MEMBER

/* As cuGetProcAddress. */
typedef cu_result (*driver_resolver)(const char *symbol, void **out, int version, uint64_t flags, int *status);

/* The driver's own resolver, from libcuda.so.1 by dlopen. EXIT_CODE_UNAVAILABLE with the loader's reason. */
int driver_find(driver_resolver *out, struct error *err);

/* Binds every call; no cuInit yet. EXIT_CODE_UNAVAILABLE names the first call that is missing, but for those
 * of edges and of a profiler. */
int driver_bind(struct driver *d, driver_resolver resolve, struct error *err);

/* 0 for success. Otherwise "<what>: CUDA_ERROR_..." with EXIT_CODE_UNAVAILABLE when the status is sticky (the
 * context is lost and every later call fails), else EXIT_CODE_INTERNAL. */
int driver_check(const struct driver *d, cu_result result, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "CUDA_ERROR_ILLEGAL_ADDRESS"; never NULL. */
const char *driver_error_name(const struct driver *d, cu_result result);

#endif
