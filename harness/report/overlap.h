/*
 * overlap.h - what a table calls a device time: "device" is that of a launch alone, "device-row" that of a launch in a
 * row whose launches may overlap, which says something of throughput alone. For everything that shows times or speedups
 * of a result.
 */
#ifndef CUDAL2_REPORT_OVERLAP_H
#define CUDAL2_REPORT_OVERLAP_H

#include "result/result.h"

#include <stdbool.h>

/* rows[mode]: some contender's launches may have overlapped in that mode. */
void overlap_find(const struct result *result, bool rows[MODE_COUNT]);

/* The timing as it is to be called in that mode. */
const char *overlap_timing(const bool rows[MODE_COUNT], const char *mode, const char *timing);

#endif
