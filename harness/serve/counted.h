/*
 * counted.h - hardware counters for an outcome that asks for them: of one launch for each problem, of the very layout
 * and variant that was timed (run/counters.h). They change nothing else of it.
 * Plugins have none: ncu's process is less confined than a worker (counters.h), and their code would run in it.
 */
#ifndef CUDAL2_SERVE_COUNTED_H
#define CUDAL2_SERVE_COUNTED_H

#include "serve/evaluate.h"

/* Puts "counters" into each problem of an outcome that is ok; nothing into any other, or where none are asked for. No
 * worker must hold the device. */
void counted_add(const struct evaluation *e, cJSON *outcome);

#endif
