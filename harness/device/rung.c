/*
 * rung.c - the names of the ways in which a device time is taken. Relies on nothing. Read where a rung is written down
 * or read back: cuda_segment.c, measure/ and worker/.
 */
#include "device/device.h"

const char *const device_rung_names[] = {"graph", "blocked", "events", NULL};
