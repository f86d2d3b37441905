/*
 * cuda.h - what kernel modules need from the CUDA device beyond device.h: load cubins, launch with cluster and
 * shared-memory attributes, encode tensor maps, clear memory in stream order. Each function that takes a device fails
 * with EXIT_CODE_UNAVAILABLE ("... is not a CUDA device") for another kind.
 */
#ifndef CUDAL2_DEVICE_CUDA_H
#define CUDAL2_DEVICE_CUDA_H

#include "device/device.h"

struct cuda_module; /* a loaded cubin */

struct cuda_function {
    void *handle; /* CUfunction */
    int registers, local_bytes, static_shared_bytes, max_threads;
};

/* Loads a cubin; the bytes may be freed afterwards. */
int cuda_module_load(struct device *d, const void *cubin, struct cuda_module **out, struct error *err);
void cuda_module_unload(struct cuda_module *module);
/* Looks up an entry and its attributes, and lets it take `shared_bytes` of dynamic shared memory and any cluster size.
 */
int cuda_module_function(struct cuda_module *module, const char *entry, unsigned shared_bytes,
                         struct cuda_function *out, struct error *err);

struct cuda_launch {
    void *function; /* cuda_function.handle */
    unsigned grid[3], block[3];
    unsigned cluster[3]; /* 1,1,1: no cluster attribute */
    unsigned shared_bytes;
    bool early; /* may begin before the kernel ahead of it in the stream has ended, for whose end it waits itself */
    void **arguments;
};

/* Enqueues on the device's stream. CUDAL2_OK or CUDAL2_LIBRARY_ERROR with the call and status in why (CUDAL2_WHY). */
int cuda_launch(struct device *d, const struct cuda_launch *launch, char *why);
/* Enqueues a memset of bytes (a memset node under capture). */
int cuda_clear(struct device *d, void *memory, size_t bytes, char *why);

struct cuda_tensor_map {
    _Alignas(64) uint64_t opaque[16];
};

#define CUDA_TENSOR_RANK 5
#define CUDA_TENSOR_UNKNOWN INT64_MIN /* of a request that is only checked: not known yet, and taken for right */

/* A tensor of `rank` dimensions, and the box of it that one copy moves. Dimension 0 is the innermost: its elements lie
 * side by side. All lengths are in elements. */
struct cuda_tensor_request {
    const void *memory;
    enum cudal2_dtype dtype;
    size_t rank;
    int64_t dims[CUDA_TENSOR_RANK];
    int64_t strides[CUDA_TENSOR_RANK]; /* from one index of a dimension to the next; that of dimension 0 is 1 */
    int64_t box[CUDA_TENSOR_RANK];
    int64_t element_strides[CUDA_TENSOR_RANK]; /* every so many elements of the box are moved */
    int64_t swizzle; /* bytes of a row of the box that are swizzled as one: 0 (none), 32, 64, 128 */
    int64_t fetch;   /* bytes that the L2 fetches where one is missing: 0 (what is asked for), 64, 128, 256 */
    bool nan;        /* elements out of bounds read as NaN; else as zero */
};

/* What is wrong with a request. */
struct cuda_tensor_fault {
    char where[32]; /* the member, as manifests call it: "box[1]" */
    char text[128];
    bool of_problem; /* another problem, or another value of a parameter, may do */
};

/* The harness's own kernels, for operands of one type. */
struct cuda_own {
    const char *kernel_directory;
    int cc;
    enum cudal2_dtype dtype;
    unsigned threads;
    bool all;                          /* those too that opening a device or a chain has compiled */
    const struct compile_watch *watch; /* NULL: nobody is told */
};

/* Compiles them into the cache on disk, without a GPU. What cannot be compiled says so where it is used. */
void cuda_compile_own(const struct cuda_own *own);
/* The same for an open device; nothing on another kind of device. */
void cuda_compile_of(struct device *d, enum cudal2_dtype dtype, unsigned threads);
/* Tells the sink what that would compile, and compiles nothing. */
struct compile_sink;
void cuda_compile_list(struct device *d, enum cudal2_dtype dtype, const struct compile_sink *sink);

/* Whether cuTensorMapEncodeTiled takes it (interleave none); *fault says what it does not take. Needs no driver. */
bool cuda_tensor_check(const struct cuda_tensor_request *request, struct cuda_tensor_fault *fault);

/* Of a request that passes cuda_tensor_check: else EXIT_CODE_DATA. */
int cuda_tensor_map_encode(struct device *d, const struct cuda_tensor_request *request, struct cuda_tensor_map *out,
                           struct error *err);

#endif
