/*
 * fatbin.h - a fat binary, which holds a kernel's machine code for several architectures, and its PTX: which part a GPU
 * takes.
 */
#ifndef CUDAL2_COMPILE_FATBIN_H
#define CUDAL2_COMPILE_FATBIN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define FATBIN_MOST_BYTES (64u << 20) /* of one part, unpacked */

struct fatbin_part {
    char *bytes; /* owned (free), with a NUL behind them */
    size_t length;
    bool ptx; /* a text, to be assembled; else a cubin */
};

/* The part for a GPU of this compute capability: code for it alone before code for its family, the latest, before PTX.
 * EXIT_CODE_DATA: no fat binary, cut off, or packed in a way that is not known. EXIT_CODE_INCOMPARABLE: it has none for
 * it (the text names what it has). EXIT_CODE_UNAVAILABLE: packed, and the library that unpacks is not there. Whatever
 * the bytes are, nothing outside of them is read. */
int fatbin_choose(const void *bytes, size_t length, int cc, struct fatbin_part *out, struct error *err);

#endif
