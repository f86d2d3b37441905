/*
 * compile.h - kernel source + parameters -> cubin, taken from a directory of compiled kernels (cubins.h) or the cache
 * on disk, both by content, where it is there. Needs no GPU.
 */
#ifndef CUDAL2_COMPILE_COMPILE_H
#define CUDAL2_COMPILE_COMPILE_H

#include "base/digest.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPILE_MAX_DEFINES 64

struct compile_define {
    const char *name;
    int64_t value;
};

struct compile_request {
    const char *path;             /* of the .cu */
    const char *kernel_directory; /* where shared headers are */
    int cc;                       /* 80 gives sm_80; from 90 on the arch-specific sm_90a, which wgmma needs */
    const struct compile_define *defines;
    size_t n_defines;
};

struct compile_result {
    char *cubin;
    size_t length;
    char *log;             /* the compiler's whole output, ptxas -v included, and the line of compile_instructions_of */
    char key[DIGEST_HEX];  /* hash of NVRTC version, options, source and headers: the cache's key */
    char hash[DIGEST_HEX]; /* of the cubin */
    char *asked;           /* source and options as a text (asked.h); NULL of a kernel that comes compiled */
    bool cached;           /* from the cache */
    bool ahead;            /* from the directory of compiled kernels */
    bool damaged;          /* that directory has one, which is cut off or damaged: it was not taken */
};

/* Who is told how a list of compilations goes on; either may be NULL. */
struct compile_watch {
    void *context;
    void (*counted)(void *context, size_t n); /* so many follow */
    /* One is there, or not (`why`; else NULL), in any order, from several threads. */
    void (*told)(void *context, const char *name, const struct compile_result *result, const char *why);
};

/* Who takes down what is to be compiled. A request is valid during the call. */
struct compile_sink {
    void *context;
    void (*add)(void *context, const struct compile_request *request);
};

/* What ptxas said of one entry function. Zero where the log does not tell. */
struct compile_usage {
    int registers, shared_bytes, stack_bytes, spill_store_bytes, spill_load_bytes;
};

/* EXIT_CODE_DATA: does not compile ("tiny.cu(12): error: ..."), out->log has all of it. EXIT_CODE_UNAVAILABLE: no
 * NVRTC, or it does not know the architecture. A cache that cannot be written is no error. Free the result in every
 * case. May be called from several threads. */
int compile_cubin(const struct compile_request *request, struct compile_result *out, struct error *err);
void compile_result_free(struct compile_result *result);

/* Whether compile_cubin has it without compiling. May be called from several threads. */
bool compile_is_kept(const struct compile_request *request);

/* Resource usage of `entry` from the log of a successful compilation. */
struct compile_usage compile_usage_of(const char *log, const char *entry);

/* What the kernels of a successful compilation multiply with (instructions.h), from its log; "" where it does not tell.
 */
void compile_instructions_of(const char *log, char *out, size_t capacity);

#endif
