/*
 * arrivals.h - the idle gaps of server mode (paper 2.4.2; MLPerf's server scenario draws Poisson arrivals).
 */
#ifndef CUDAL2_MEASURE_ARRIVALS_H
#define CUDAL2_MEASURE_ARRIVALS_H

#include "base/random.h"
#include "config/config.h"
#include "device/device.h"

/* One gap in ns: exponential, uniform in 0.5..1.5 of the mean, or the mean itself. Exponential gaps are cut at 10
 * means, so that one draw in 22,000 cannot stall a run; the cut moves the mean by 0.05%. */
double arrivals_draw(const struct gap_config *gap, struct random *random);

/* The longest that arrivals_draw returns, in ns. */
double arrivals_longest(const struct gap_config *gap);

/* Leaves the device idle for gap_ns from now without any driver call, then returns the gap that really passed. */
double arrivals_wait(struct device *device, double gap_ns);

#endif
