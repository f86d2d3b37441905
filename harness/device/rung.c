/*
 * rung.c - the names of the ways in which a device time is taken. Relies on nothing. Used by cuda_segment.c,
 * measure/cell_loop.c and worker/audit.c, where a rung is written down or read back.
 */
#include "device/device.h"

const char *const device_rung_names[] = {"graph", "blocked", "events", NULL};
