/*
 * gzip_read.h - reads what gzip wrote (RFC 1952), by zlib, so that results can be kept compressed.
 */
#ifndef CUDAL2_BASE_GZIP_READ_H
#define CUDAL2_BASE_GZIP_READ_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes begin as a gzip file does. */
bool gzip_is(const void *bytes, size_t length);

struct gzip_input {
    const char *source; /* names the file in errors */
    const void *bytes;
    size_t length;
    size_t max_bytes; /* of what it may unpack to */
};

/* Unpacks all members of a gzip file. *out is NUL-terminated and owned by the caller (free). EXIT_CODE_DATA when it is
 * cut short or damaged (zlib checks lengths and CRCs) or unpacks to more than max_bytes; EXIT_CODE_INTERNAL out of
 * memory.
 */
int gzip_read(const struct gzip_input *input, char **out, size_t *length, struct error *err);

/* file_read for a file that may be compressed; which it is, its first bytes say, not its name. max_bytes is the limit
 * of the unpacked size too. */
int gzip_read_file(const char *path, size_t max_bytes, char **bytes, size_t *length, struct error *err);

#endif
