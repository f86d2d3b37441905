/*
 * cubins.h - a directory of kernels that were compiled ahead, on a machine that needs no GPU (`compile`). It is looked
 * into before the cache and by the same keys, so that a cubin of another source, other options or another NVRTC is
 * never taken. Only `compile` writes there: a worker cannot. Who can write there is trusted as with the kernels.
 */
#ifndef CUDAL2_COMPILE_CUBINS_H
#define CUDAL2_COMPILE_CUBINS_H

#include "compile/compile.h"

#define CUBINS_VARIABLE "CUDAL2_CUBINS"
#define CUBINS_NONE "none"

/* $CUDAL2_CUBINS ("none": no directory), else cubins/ beside the kernel directory (NULL: none). False where there is no
 * such directory, or where it lies in the cache, where workers write; `out` is its path either way, "" where there is
 * nothing to name. */
bool cubins_find(const char *kernel_directory, char *out, size_t capacity);

/* Fills cubin, log and `ahead` by out->key; false: it is not there, and nothing is owned. Sets `damaged` where it is
 * there and cut off. */
bool cubins_get(const char *kernel_directory, struct compile_result *out);

/* Writes cubin, log and what was asked. EXIT_CODE_CANTCREATE or EXIT_CODE_IO. Whole or not at all, also when several
 * processes write. */
int cubins_put(const char *directory, const struct compile_result *result, struct error *err);

/* The version of NVRTC by which the directory's kernels were made, the latest of several: a machine without NVRTC takes
 * those. False where that is not known. */
bool cubins_nvrtc(const char *kernel_directory, int nvrtc[2]);

struct cubins_count {
    size_t all, usable;
    size_t other_nvrtc; /* made by another version than this machine's */
    size_t stale;       /* of sources or headers that are others now, or gone */
    size_t damaged;
    uint64_t bytes; /* of the usable */
    int nvrtc[2];   /* of one of those of another version */
};

/* What a directory has for this machine's NVRTC and kernels. EXIT_CODE_DATA when it cannot be read,
 * EXIT_CODE_UNAVAILABLE without NVRTC. */
int cubins_look(const char *directory, const char *kernel_directory, struct cubins_count *out, struct error *err);

#endif
