/*
 * borrowed.h - whose matrix product it is, by what a library is known for: names of its kernels, and of what it
 * exports. A name proves nothing: it is told, and no verdict follows.
 */
#ifndef CUDAL2_MODEL_BORROWED_H
#define CUDAL2_MODEL_BORROWED_H

#include <stdbool.h>
#include <stddef.h>

#define BORROWED_TEXT 128 /* "OpenBLAS: libopenblas.so.0" */

/* The library that a GPU kernel is of, by its name, mangled or not: "cuBLAS", "cuDNN", "CUTLASS" (templates that
 * anybody may build), or NULL. */
const char *borrowed_kernel(const char *name);

/* The library that exports one of these names, which lie one behind the other and end with NUL each, as in an ELF
 * file's table of strings: "OpenBLAS", "MKL", ...; "BLAS" where only the common interface is there; else NULL. */
const char *borrowed_exports(const char *names, size_t bytes);

/* The library whose code holds such words (variables of the environment that nobody else asks for), which stay when it
 * is linked statically and stripped; NULL: none. */
const char *borrowed_words(const char *bytes, size_t n);

/* Whether names as for borrowed_exports hold this one, whole. */
bool borrowed_has_name(const char *names, size_t bytes, const char *name);

/* The library of "OpenBLAS: libopenblas.so.0", out of the tables of this file; NULL: it begins with none. */
const char *borrowed_library(const char *text);

/* Whether the text says the library's name itself, in any case. */
bool borrowed_is_said(const char *text, const char *library);

#endif
