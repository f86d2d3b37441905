/*
 * fit.h - a kernel's machine code held against its manifest, before anything of it runs: entry, arguments, and the
 * limits of a launch. Shared by inspect.c and module_load.c.
 */
#ifndef CUDAL2_CONTENDER_FIT_H
#define CUDAL2_CONTENDER_FIT_H

#include "compile/compile.h"
#include "compile/cubin.h"
#include "contender/manifest.h"
#include "device/chips.h"
#include "model/verdict.h"

#define FIT_WHY 256

/* What was found: a verdict and its reason. */
struct fit {
    enum verdict verdict; /* VERDICT_OK: nothing is wrong */
    char why[FIT_WHY];
};

/* Only the first fault is kept. */
void fit_fail(struct fit *fit, enum verdict verdict, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What the log of a compiler says of the entry; where it says nothing, what the code does. */
struct compile_usage fit_usage(const char *log, const char *entry, const struct cubin_entry *code);

/* VERDICT_WRONG_ARGUMENTS: the kernel takes others, in number or size, than the manifest gives. */
void fit_arguments(const struct manifest *m, const struct cubin_entry *code, struct fit *fit);

/* VERDICT_OVER_LIMIT: the launch breaks a limit of the kernel or of the architecture. */
void fit_launch(const struct chip *chip, const struct manifest_plan *plan, const struct cubin_entry *code,
                const struct compile_usage *usage, struct fit *fit);

#endif
