/*
 * output.h - where a report goes: named files in a directory, or everything to one stream.
 */
#ifndef CUDAL2_REPORT_OUTPUT_H
#define CUDAL2_REPORT_OUTPUT_H

#include "base/error.h"
#include "base/text.h"

#include <stdio.h>

struct output {
    const char *directory; /* NULL: to stream */
    FILE *stream;
};

/* Makes the directory if there is to be one. */
int output_begin(const struct output *out, struct error *err);
/* Writes one whole file (atomically), or appends to the stream. text->failed is EXIT_CODE_INTERNAL. */
int output_write(const struct output *out, const char *name, const struct text *text, struct error *err);

#endif
