/*
 * mix.h - how many instructions of each class a kernel's machine code has: the static mix, each counted once wherever
 * it stands, whatever a loop or a branch makes of it. Needs no disassembler and no GPU. Called by contender/inspect.c.
 */
#ifndef CUDAL2_COMPILE_MIX_H
#define CUDAL2_COMPILE_MIX_H

#include <stddef.h>

enum mix_class {
    MIX_OTHER,         /* opcodes that are not known here */
    MIX_TENSOR,        /* products of matrices */
    MIX_FLOAT,         /* arithmetic and comparisons, of all floating-point types */
    MIX_INTEGER,       /* the same, addresses and logic among them */
    MIX_CONVERT,       /* between types of numbers */
    MIX_MOVE,          /* between registers, predicates, constants and lanes of a warp */
    MIX_LOAD_GLOBAL,   /* and by generic addresses, which may be of shared memory; textures too */
    MIX_STORE_GLOBAL,  /* the same */
    MIX_LOAD_SHARED,   /* ldmatrix among them */
    MIX_STORE_SHARED,  /* stmatrix among them */
    MIX_LOCAL,         /* loads and stores of a thread's own memory: spills, arrays with an index */
    MIX_COPY,          /* asynchronous, between global and shared memory: cp.async, TMA; prefetches */
    MIX_TENSOR_MEMORY, /* of sm_100 */
    MIX_ATOMIC,
    MIX_BARRIER, /* of threads, memory and copies: barriers, fences, waits */
    MIX_CONTROL, /* branches, calls, ends */
    MIX_CLASSES
};

/* As they are told: "tensor", "load_global". */
extern const char *const mix_class_names[MIX_CLASSES];

struct mix {
    size_t count[MIX_CLASSES];
    size_t total; /* of all classes; what only fills up (NOP) is in none */
};

/* Counts machine code of a GPU of this compute capability, 80 or later: some opcodes mean another thing from 100 on. A
 * last instruction that is cut off is not counted. */
void mix_count(const unsigned char *code, size_t length, int cc, struct mix *out);

#endif
