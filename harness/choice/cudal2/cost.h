/*
 * cost.h - how long a search over the kernel set cudal2 takes, measured: what `tune --dry-run` promises. Used by
 * tune/preview.c.
 */
#ifndef CUDAL2_CHOICE_CUDAL2_COST_H
#define CUDAL2_CHOICE_CUDAL2_COST_H

#include "model/problem.h"

/* Of a problem on an H200: 291 in 255 s in a row, 48 configurations a layout (results/h200/2026-11-24c-tune); 231 in
 * 295 s from idle, 64 (2026-11-23e-tune). */
static const double race_seconds[MODE_COUNT] = {[MODE_OFFLINE] = 0.9, [MODE_SERVER] = 1.3};

#define COMPILE_SECONDS 1.2 /* of one kernel on one core */

#endif
