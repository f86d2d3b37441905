/*
 * compiling.h - a submitted kernel, compiled and held against its manifest in a process of its own, ahead of the
 * device: the program's own `verify --compile-only`, with limits on time, memory and output. The cubin lies in the
 * cache then, where the worker finds it.
 */
#ifndef CUDAL2_SERVE_COMPILING_H
#define CUDAL2_SERVE_COMPILING_H

#include "serve/evaluate.h"

#define COMPILE_SECONDS 90

struct compiling {
    const struct evaluation *job; /* which submission, where; `code` and `device` are not looked at */
    const char *arch;             /* NULL: the default of `verify` */
    const char *program;          /* this program */
    double seconds;               /* at most */
};

/* Writes the kernel set of a kernel with parameters, named so. */
int compiling_write_set(const struct submission *s, const char *name, const char *path, struct error *err);

/* *outcome, when it is not NULL afterwards, is the end of the job: the candidate's fault. Else *code is what the
 * compiler said: registers, spills, shared memory, instructions. Both are owned by the caller. EXIT_CODE_INTERRUPTED:
 * *job->stop asked for it. Another code: the compiler or the disk is not there. */
int compile_submission(const struct compiling *c, cJSON **code, cJSON **outcome, struct error *err);

#endif
