/*
 * quantization.h - what a clock's steps hide. Times that all fall on one or two steps scatter by less than the clock
 * shows: then an interval is narrow, of width zero even, because nothing could be seen, and not because much is known.
 */
#ifndef CUDAL2_ANALYSIS_QUANTIZATION_H
#define CUDAL2_ANALYSIS_QUANTIZATION_H

#include "analysis/pair.h"

/* How far, in log units, the ratio of a pair may lie from what its times say: half a step of either side that has at
 * most two different times, one of them more than once. The step is their distance, of a side that has one time only
 * the least distance in the other; with one time on both sides it is not known: INFINITY. 0 where both sides have three
 * times or more, since their mean tells more than one step does. */
double pair_quantization(const struct pair *p);

#endif
