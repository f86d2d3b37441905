/*
 * kernels.h - where kernel sources live, and reading one with everything it includes.
 */
#ifndef CUDAL2_COMPILE_KERNELS_H
#define CUDAL2_COMPILE_KERNELS_H

#include "base/digest.h"
#include "base/error.h"

#include <stddef.h>

#define KERNEL_MAX_SOURCE (1u << 20) /* bytes of one source or header */
#define KERNEL_MAX_HEADERS 32
#define KERNEL_PRELUDE "harness/prelude.cuh" /* under the kernel directory; in front of every source */

/* Writes the kernel directory: `given` if not NULL, else $CUDAL2_KERNELS, else <executable>/../kernels, else
 * <executable>/kernels: the first that holds the prelude. EXIT_CODE_UNAVAILABLE lists where it looked. */
int kernel_directory_find(const char *given, char *out, size_t capacity, struct error *err);

/* A source and the closure of its #include "..." lines, prelude first. A header is looked for beside the source, then
 * in the kernel directory; every other way to read a file is refused (includes.h). */
struct kernel_source {
    char *name; /* file name without directory, for messages */
    char *text;
    size_t n_headers;
    char *header_names[KERNEL_MAX_HEADERS]; /* as written in the #include line */
    char *header_texts[KERNEL_MAX_HEADERS];
};

/* EXIT_CODE_DATA when a file is missing or too large, with the including file and line. Free on success only. */
int kernel_source_read(const char *path, const char *kernel_directory, struct kernel_source *out, struct error *err);
void kernel_source_free(struct kernel_source *s);

/* Adds every name and text, so that a changed header changes the hash. */
void kernel_source_digest(const struct kernel_source *s, struct digest *digest);

#endif
