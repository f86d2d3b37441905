/*
 * imported.h - between the plugin of an import and the shared object of each of its kernels: one function, called with
 * matrices and a stream, and what it did beside launching. Included by wrapper.hpp (C++) and dispatch.c (C).
 */
#ifndef CUDAL2_IMPORTED_H
#define CUDAL2_IMPORTED_H

#include <stdint.h>

#define IMPORTED_ABI 1u
#define IMPORTED_WHY 256u

/* Row-major a (m x k) and c (m x n); of b one is NULL: row-major k x n, or n rows of k. Paddings are of zeros, behind
 * the sizes: the kernel is then given copies, which are made at each call. */
struct imported_call {
    const void *a, *b_rows, *b_columns;
    void *c;
    int64_t m, n, k, pad_m, pad_n, pad_k;
    void *stream;
};

/* Calls of the CUDA runtime since the last asking. */
struct imported_counts {
    uint64_t launches, allocations, synchronisations, streams, events, copies;
};

enum imported_status { IMPORTED_OK, IMPORTED_UNSUPPORTED, IMPORTED_THREW };

struct imported {
    uint32_t abi;
    const char *entry;
    int (*call)(const struct imported_call *call, char *why); /* enum imported_status; why has IMPORTED_WHY bytes */
    void (*counts)(struct imported_counts *out);
    void (*release)(void); /* what torch::empty and padding hold */
};

#endif
