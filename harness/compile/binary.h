/*
 * binary.h - kernels that come compiled: a cubin, a fat binary or PTX in place of a source.
 */
#ifndef CUDAL2_COMPILE_BINARY_H
#define CUDAL2_COMPILE_BINARY_H

#include "compile/compile.h"

#define BINARY_MOST_BYTES (64u << 20)

/* By the end of its name: ".cubin", ".fatbin" or ".ptx". */
bool binary_is(const char *path);

/* The cubin for request->cc, by compile_cubin's contract; of the request only path and cc count. The log has the
 * instructions of PTX; what was machine code already leaves them to sass.h. EXIT_CODE_DATA: cut off, damaged, no such
 * file, or PTX that does not assemble. EXIT_CODE_INCOMPARABLE: not for this architecture. EXIT_CODE_UNAVAILABLE: the
 * library that assembles PTX or unpacks is not there. */
int binary_load(const struct compile_request *request, struct compile_result *out, struct error *err);

/* Adds name and bytes, so that another binary gives another hash. */
int binary_digest(const char *path, struct digest *digest, struct error *err);

#endif
