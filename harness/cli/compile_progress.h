/*
 * compile_progress.h - what `compile` tells of its kernels, and writes: each goes into the directory as it is there.
 */
#ifndef CUDAL2_CLI_COMPILE_PROGRESS_H
#define CUDAL2_CLI_COMPILE_PROGRESS_H

#include "compile/compile.h"

struct compile_progress;

/* NULL with EXIT_CODE_INTERNAL out of memory. Progress goes to stderr, but for a quiet one. */
struct compile_progress *compile_progress_open(const char *directory, bool quiet, struct error *err);

/* For cuda_compile_own and module_set_precompile; valid until close. */
struct compile_watch compile_progress_watch(struct compile_progress *p);

/* Prints what it came to and frees it. EXIT_CODE_VERIFICATION: some do not compile. EXIT_CODE_CANTCREATE or
 * EXIT_CODE_IO: the directory cannot be written. */
int compile_progress_close(struct compile_progress *p, struct error *err);

#endif
