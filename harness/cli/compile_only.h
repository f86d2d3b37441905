/*
 * compile_only.h - `verify --compile-only`: kernels compiled and held against their manifests, without a GPU. Private
 * to the cmd_verify.c, compile_*.c files and their test.
 */
#ifndef CUDAL2_CLI_COMPILE_ONLY_H
#define CUDAL2_CLI_COMPILE_ONLY_H

#include "cli/options.h"
#include "contender/inspect.h"

/* What became of one operand. */
struct compiled_kernel {
    char name[MANIFEST_NAME_MAX];
    struct inspection found;
};

struct compiled {
    const struct chip *chip;
    int nvrtc[2]; /* version */
    size_t n_shapes, n;
    struct compiled_kernel kernels[OPTIONS_OPERANDS_MAX];
};

/* The command. EXIT_CODE_VERIFICATION for a variant with a fault, EXIT_CODE_INCOMPARABLE for a kernel without a legal
 * variant, EXIT_CODE_UNAVAILABLE without NVRTC for the architecture. */
int compile_only(const struct options *options, struct error *err);

/* Owned by the caller; NULL out of memory. */
char *compiled_text(const struct compiled *c);
char *compiled_json(const struct compiled *c);
/* The exit code, with a text that counts and names the first fault. */
int compiled_outcome(const struct compiled *c, struct error *err);

#endif
