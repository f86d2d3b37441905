/*
 * spoil.h - what C is made to hold before what is timed (probe.h, enum probe_spoil).
 */
#ifndef CUDAL2_MEASURE_SPOIL_H
#define CUDAL2_MEASURE_SPOIL_H

#include <stdbool.h>

#include "base/random.h"
#include "device/probe.h"
#include "measure/bench.h"

/* Any kind, each as likely as the others. */
enum probe_spoil spoil_draw(struct random *random);

/* One of those that change some elements and leave what most of C holds. */
enum probe_spoil spoil_draw_some(struct random *random);

/* Whether few elements must do. As a rule all of C is written, whatever the kind (kernels/harness/spoil.cuh). A launch
 * of server mode finds in the caches what its primer left. Of a C that is about as large as the L2, that is a part
 * which depends on who wrote it last: where all of it had been spoiled, launches took up to a third more or less
 * (docs/lab/trust-details.md). */
bool spoil_is_sparse(const struct bench *bench);

#endif
