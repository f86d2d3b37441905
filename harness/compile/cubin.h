/*
 * cubin.h - what a cubin, which is an ELF file, says of one kernel in it: arguments, code, the launches it allows.
 */
#ifndef CUDAL2_COMPILE_CUBIN_H
#define CUDAL2_COMPILE_CUBIN_H

#include "base/error.h"

#include <stddef.h>

#define CUBIN_MAX_PARAMETERS 64

struct cubin_entry {
    size_t code_bytes;
    unsigned n_parameters;      /* that the file lists one by one */
    unsigned parameter_bytes;   /* of all of them with what aligns them; 0: it does not say */
    unsigned max_threads;       /* of a block, by __launch_bounds__; 0: no bound of its own */
    unsigned required_block[3]; /* by __block_size__; 0: none */
    unsigned cluster[3];        /* by __cluster_dims__; 0: none */
    unsigned sizes[CUBIN_MAX_PARAMETERS];
};

/* EXIT_CODE_DATA: no ELF, cut off, of more parameters than fit, or without this entry (the text names those it has).
 * Whatever the bytes are, nothing outside of them is read. */
int cubin_read(const void *bytes, size_t length, const char *entry, struct cubin_entry *out, struct error *err);

#endif
