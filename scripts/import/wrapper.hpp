/*
 * wrapper.hpp - stands behind an unmodified kernel source in one translation unit (import.py writes the two #includes):
 * calls CUDAL2_ENTRY with tensors, lets no exception out, and stands in for the calls of the CUDA runtime that the
 * linker is told to wrap: work for the default stream goes to the harness's, as it goes to PyTorch's current one, and
 * the rest is counted.
 */
#pragma once

#include "imported.h"
#ifdef CUDAL2_REAL_TORCH
#include "real_torch.hpp"
#else
#include "stand_in.hpp"
#endif
#include "memory.hpp"

#define WRAPPED(type, name, ...)                                                                                       \
    extern "C" type __real_##name(__VA_ARGS__) __attribute__((weak));                                                  \
    extern "C" type __wrap_##name(__VA_ARGS__)

extern "C" cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *) __attribute__((weak));

namespace cudal2_stand_in
{
inline imported_counts &counted()
{
    static imported_counts counts;
    return counts;
}
inline cudaStream_t stream_for(cudaStream_t asked)
{
    return asked == nullptr || asked == cudaStreamLegacy || asked == cudaStreamPerThread ? call().stream : asked;
}
/* Into a graph: nothing runs, so there is nothing to wait for, and the runtime refuses to. */
inline bool is_captured(cudaStream_t stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return stream && cudaStreamIsCapturing && cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
           status == cudaStreamCaptureStatusActive;
}
} // namespace cudal2_stand_in

#define COUNT(what) ::cudal2_stand_in::counted().what++
#define STREAM(asked) ::cudal2_stand_in::stream_for(asked)

WRAPPED(cudaError_t, cudaLaunchKernel, const void *f, dim3 grid, dim3 block, void **arguments, size_t shared,
        cudaStream_t s)
{
    COUNT(launches);
    return __real_cudaLaunchKernel(f, grid, block, arguments, shared, STREAM(s));
}
/* What <<<>>> becomes from CUDA 13 on. */
WRAPPED(cudaError_t, __cudaLaunchKernel, cudaKernel_t f, dim3 grid, dim3 block, void **arguments, size_t shared,
        cudaStream_t s)
{
    COUNT(launches);
    return __real___cudaLaunchKernel(f, grid, block, arguments, shared, STREAM(s));
}
WRAPPED(cudaError_t, cudaLaunchCooperativeKernel, const void *f, dim3 grid, dim3 block, void **arguments, size_t shared,
        cudaStream_t s)
{
    COUNT(launches);
    return __real_cudaLaunchCooperativeKernel(f, grid, block, arguments, shared, STREAM(s));
}
WRAPPED(cudaError_t, cudaLaunchKernelExC, const cudaLaunchConfig_t *config, const void *f, void **arguments)
{
    cudaLaunchConfig_t own = *config;
    own.stream = STREAM(own.stream);
    COUNT(launches);
    return __real_cudaLaunchKernelExC(&own, f, arguments);
}
WRAPPED(cudaError_t, cudaMemsetAsync, void *to, int value, size_t bytes, cudaStream_t s)
{
    COUNT(copies);
    return __real_cudaMemsetAsync(to, value, bytes, STREAM(s));
}
WRAPPED(cudaError_t, cudaMemset, void *to, int value, size_t bytes)
{
    COUNT(copies);
    return __real_cudaMemsetAsync(to, value, bytes, STREAM(nullptr));
}
WRAPPED(cudaError_t, cudaMemcpyAsync, void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s)
{
    COUNT(copies);
    return __real_cudaMemcpyAsync(to, from, bytes, kind, STREAM(s));
}
WRAPPED(cudaError_t, cudaMemcpy, void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    COUNT(copies);
    COUNT(synchronisations);
    const cudaError_t status = __real_cudaMemcpyAsync(to, from, bytes, kind, STREAM(nullptr));
    return status == cudaSuccess ? cudaStreamSynchronize(STREAM(nullptr)) : status;
}
WRAPPED(cudaError_t, cudaGraphLaunch, cudaGraphExec_t graph, cudaStream_t s)
{
    COUNT(launches);
    return __real_cudaGraphLaunch(graph, STREAM(s));
}
WRAPPED(cudaError_t, cudaMallocAsync, void **out, size_t bytes, cudaStream_t s)
{
    COUNT(allocations);
    return __real_cudaMallocAsync(out, bytes, STREAM(s));
}
WRAPPED(cudaError_t, cudaFreeAsync, void *memory, cudaStream_t s)
{
    COUNT(allocations);
    return __real_cudaFreeAsync(memory, STREAM(s));
}
WRAPPED(cudaError_t, cudaStreamWaitEvent, cudaStream_t s, cudaEvent_t event, unsigned flags)
{
    COUNT(events);
    return __real_cudaStreamWaitEvent(STREAM(s), event, flags);
}
WRAPPED(cudaError_t, cudaStreamSetAttribute, cudaStream_t s, cudaStreamAttrID which, const cudaStreamAttrValue *value)
{
    COUNT(streams);
    return __real_cudaStreamSetAttribute(STREAM(s), which, value);
}
WRAPPED(cudaError_t, cudaStreamCreateWithPriority, cudaStream_t *out, unsigned flags, int priority)
{
    COUNT(streams);
    return __real_cudaStreamCreateWithPriority(out, flags, priority);
}
WRAPPED(cudaError_t, cudaMalloc, void **out, size_t bytes)
{
    COUNT(allocations);
    return __real_cudaMalloc(out, bytes);
}
WRAPPED(cudaError_t, cudaFree, void *memory)
{
    COUNT(allocations);
    return __real_cudaFree(memory);
}
WRAPPED(cudaError_t, cudaDeviceSynchronize, void)
{
    COUNT(synchronisations);
    return ::cudal2_stand_in::is_captured(STREAM(nullptr)) ? cudaSuccess : __real_cudaDeviceSynchronize();
}
WRAPPED(cudaError_t, cudaStreamSynchronize, cudaStream_t s)
{
    COUNT(synchronisations);
    return ::cudal2_stand_in::is_captured(STREAM(s)) ? cudaSuccess : __real_cudaStreamSynchronize(STREAM(s));
}
WRAPPED(cudaError_t, cudaEventSynchronize, cudaEvent_t event)
{
    COUNT(synchronisations);
    return __real_cudaEventSynchronize(event);
}
WRAPPED(cudaError_t, cudaEventRecord, cudaEvent_t event, cudaStream_t s)
{
    COUNT(events);
    return __real_cudaEventRecord(event, STREAM(s));
}
WRAPPED(cudaError_t, cudaStreamCreate, cudaStream_t *out)
{
    COUNT(streams);
    return __real_cudaStreamCreate(out);
}
WRAPPED(cudaError_t, cudaStreamCreateWithFlags, cudaStream_t *out, unsigned flags)
{
    COUNT(streams);
    return __real_cudaStreamCreateWithFlags(out, flags);
}

namespace cudal2_stand_in
{

/* While it lives nothing is counted: padding is not the kernel's doing. */
struct Uncounted {
    const imported_counts before = counted();

    ~Uncounted()
    {
        counted() = before;
    }
};

/* A padded copy of a matrix, zero where the padding is; kept from call to call. */
struct Padded {
    void *memory = nullptr;
    int64_t rows = 0, columns = 0;

    void take(int64_t r, int64_t c)
    {
        if (memory && r == rows && c == columns)
            return;
        release();
        const Uncounted ours;
        memory = take_zeroed(static_cast<size_t>(r * c) * 2);
        rows = r;
        columns = c;
    }
    void release()
    {
        const Uncounted ours;
        if (memory)
            drop(memory);
        memory = nullptr;
    }
};

inline Padded *paddings()
{
    static Padded all[3];
    return all;
}

inline void copy_rows(void *to, int64_t to_columns, const void *from, int64_t from_columns, int64_t rows,
                      int64_t columns)
{
    copy_bytes(to, static_cast<size_t>(to_columns) * 2, from, static_cast<size_t>(from_columns) * 2,
               static_cast<size_t>(columns) * 2, static_cast<size_t>(rows));
}

/* The matrix in its padded form; `from` itself where nothing is padded. */
inline void *pad(Padded &p, const void *from, int64_t rows, int64_t columns, int64_t more_rows, int64_t more_columns)
{
    if (more_rows == 0 && more_columns == 0)
        return const_cast<void *>(from);
    p.take(rows + more_rows, columns + more_columns);
    if (from)
        copy_rows(p.memory, p.columns, from, columns, rows, columns);
    return p.memory;
}

inline void run(const imported_call &c)
{
    const int64_t m = c.m + c.pad_m, n = c.n + c.pad_n, k = c.k + c.pad_k;
    Padded *p = paddings();
    void *a = pad(p[0], c.a, c.m, c.k, c.pad_m, c.pad_k);
    void *b = c.b_columns ? pad(p[1], c.b_columns, c.n, c.k, c.pad_n, c.pad_k)
                          : pad(p[1], c.b_rows, c.k, c.n, c.pad_k, c.pad_n);
    const bool padded = c.pad_m || c.pad_n;
    if (padded)
        p[2].take(m, n);
    void *out = padded ? p[2].memory : c.c;
    with_stream(c.b_rows ? "it reads B column-major: not in layout nn" : "it reads B row-major: not in layout tn", [&] {
        CUDAL2_ENTRY(tensor(a, m, k), tensor(b, k, n, c.b_rows != nullptr), tensor(b, k, n, c.b_columns != nullptr),
                     tensor(out, m, n));
    });
    if (padded)
        copy_rows(c.c, c.n, out, n, c.m, c.n);
}

inline int guarded(const imported_call *c, char *why)
{
    try {
        call().stream = static_cast<cudaStream_t>(c->stream);
        call().begin();
        run(*c);
        check_launches();
        return IMPORTED_OK;
    } catch (const std::domain_error &e) {
        std::snprintf(why, IMPORTED_WHY, "%s", e.what());
        return IMPORTED_UNSUPPORTED;
    } catch (const std::exception &e) {
        std::snprintf(why, IMPORTED_WHY, "it throws: %.200s", e.what());
    } catch (...) {
        std::snprintf(why, IMPORTED_WHY, "it throws what is no std::exception");
    }
    forget_error();
    return IMPORTED_THREW;
}

inline void tell(imported_counts *out)
{
    *out = counted();
    counted() = {};
}

inline void release()
{
    call().drop();
    for (int i = 0; i < 3; i++)
        paddings()[i].release();
}

} // namespace cudal2_stand_in

#define TEXT_OF(x) #x
#define ENTRY_TEXT(x) TEXT_OF(x)
extern "C" __attribute__((visibility("default"))) const imported cudal2_imported = {
    IMPORTED_ABI, ENTRY_TEXT(CUDAL2_ENTRY), cudal2_stand_in::guarded, cudal2_stand_in::tell, cudal2_stand_in::release};
