/*
 * confirm.h - the run that `compare --confirm` measures: NEW's own config, with the suspects' shapes, modes and
 * accumulate types only.
 */
#ifndef CUDAL2_CLI_CONFIRM_H
#define CUDAL2_CLI_CONFIRM_H

#include "compare/compare.h"
#include "cli/run_config.h"

#include <limits.h>

struct confirm {
    struct run_config made; /* owned; a fresh seed, the contenders and all other settings of NEW; the path is NEW's */
    const char *device;     /* "cpu" or "cuda", as NEW; points into the comparison */
    char output[PATH_MAX];  /* beside NEW: x.confirm.json, or x.confirm-2.json, ... where that exists */
    bool resumes;           /* `output` is there, begun and not finished */
    int lock;               /* descriptor of NEW's journal */
};

/* EXIT_CODE_DATA when NEW's journal holds no config that can be run. Shapes and modes are restricted each by itself: a
 * shape suspected in one mode and another one in the other are both measured in both. */
/* Nobody else measures suspects of this NEW until confirm_free, nor NEW itself: EXIT_CODE_TEMPORARY where somebody
 * does. With `resume` the newest second look beside NEW is gone on with unless it is finished, and without one a new
 * one is begun; EXIT_CODE_DATA when it was begun for other suspects. */
int confirm_prepare(const struct compare_runs *runs, bool resume, struct confirm *out, struct error *err);
void confirm_free(struct confirm *c);

#endif
