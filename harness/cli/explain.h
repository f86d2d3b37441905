/*
 * explain.h - the last words of `run --explain`: what was measured, what it means, what to type next.
 */
#ifndef CUDAL2_CLI_EXPLAIN_H
#define CUDAL2_CLI_EXPLAIN_H

#include "base/text.h"
#include "result/result.h"

#include <cjson/cJSON.h>

/* What was measured, what it means, what to type next, about the result at `path`; `program` is how it was called,
 * `kernels` the kernel directory that was given, or NULL. Nothing when it cannot be read: that has been told. */
void explain_print(const char *path, const char *program, const char *kernels);

/* The same as text, of a result. */
struct explain_names {
    const char *path, *program, *kernels;
};
void explain_add(struct text *out, const struct result *result, const struct explain_names *names);

#endif
