/*
 * warmth.h - which submissions may be measured by a worker that has measured others: those of installed code alone, and
 * of the same code.
 */
#ifndef CUDAL2_SERVE_WARMTH_H
#define CUDAL2_SERVE_WARMTH_H

#include "serve/evaluate.h"

/* False for a submission that brings code of its own: it gets a worker that nobody had, and nobody has after it. Else
 * the key (run/warm.h): candidate or kernel, baseline, accumulate type, mode, and every file of the directories that
 * both come from, by size and time. */
bool warmth_key(const struct evaluation *e, char key[DIGEST_HEX]);

/* Every file of a kernel directory and of its tuned/, by name, size and time. */
void warmth_add_kernels(struct digest *d, const char *directory);

#endif
