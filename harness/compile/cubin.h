/*
 * cubin.h - what a cubin, which is an ELF file, says of itself and of one kernel in it: architecture, arguments, code,
 * the launches it allows.
 */
#ifndef CUDAL2_COMPILE_CUBIN_H
#define CUDAL2_COMPILE_CUBIN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define CUBIN_MAX_PARAMETERS 64

struct cubin_entry {
    const unsigned char *code; /* within the bytes that were read, and as long as they are there */
    size_t code_bytes;
    int registers;                /* of a thread; 0: it does not say */
    unsigned static_shared_bytes; /* of a block */
    unsigned stack_bytes;         /* of a thread, spills among them */
    unsigned n_parameters;        /* that the file lists one by one */
    unsigned parameter_bytes;     /* of all of them with what aligns them; 0: it does not say */
    unsigned max_threads;         /* of a block, by __launch_bounds__; 0: no bound of its own */
    unsigned required_block[3];   /* by __block_size__; 0: none */
    unsigned cluster[3];          /* by __cluster_dims__; 0: none */
    unsigned sizes[CUBIN_MAX_PARAMETERS];
};

struct cubin_arch {
    int cc;      /* 90 for sm_90 and sm_90a */
    bool alone;  /* "a": for no later architecture; or "f": for those of its family */
    bool family; /* "f" */
};

/* EXIT_CODE_DATA: no ELF, cut off, of more parameters than fit, or without this entry (the text names those it has).
 * Whatever the bytes are, nothing outside of them is read. */
int cubin_read(const void *bytes, size_t length, const char *entry, struct cubin_entry *out, struct error *err);

/* What it was compiled for. EXIT_CODE_DATA: no ELF, cut off, or none of a GPU's. */
int cubin_arch_of(const void *bytes, size_t length, struct cubin_arch *out, struct error *err);
/* Whether a GPU of this compute capability takes it: the same major number and no lesser minor one. */
bool cubin_runs_on(const struct cubin_arch *arch, int cc);
/* "", "a" or "f", behind sm_90. */
const char *cubin_arch_suffix(const struct cubin_arch *arch);

#endif
