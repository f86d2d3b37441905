/*
 * unpack.h - what nvcc packs parts of a fat binary with. The libraries are opened when they are first needed
 * (libzstd.so.1, liblz4.so.1: every Debian and Ubuntu has them).
 */
#ifndef CUDAL2_COMPILE_UNPACK_H
#define CUDAL2_COMPILE_UNPACK_H

#include "base/error.h"

#include <stddef.h>

enum packing { PACKING_ZSTD, PACKING_LZ4 };

struct packed {
    const void *bytes;
    size_t length;
    enum packing by;
};

/* Unpacks to exactly `length` bytes. EXIT_CODE_DATA: it is damaged, or of another length. EXIT_CODE_UNAVAILABLE: the
 * library is not there; the text names it. May be called from several threads. */
int unpack(const struct packed *from, void *to, size_t length, struct error *err);

#endif
