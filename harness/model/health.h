/*
 * health.h - the clocks, power and temperature of a device at one moment, and what slowed it. device/ reads it, a
 * cell's record keeps it.
 */
#ifndef CUDAL2_MODEL_HEALTH_H
#define CUDAL2_MODEL_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

struct device_health {
    bool known;
    int sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c;
    uint64_t throttle_reasons; /* NVML clocks-event reasons bit mask */
    bool slowdown;             /* thermal or hardware slowdown: the only reasons that drop a block */
};

#endif
