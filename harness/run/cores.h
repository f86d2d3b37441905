/*
 * cores.h - the processor's cores given out to the workers of a run, so that one worker's compiler, libraries and waits
 * do not sit on another's core: each gets whole cores of its own, near its GPU where the kernel tells which those are.
 */
#ifndef CUDAL2_RUN_CORES_H
#define CUDAL2_RUN_CORES_H

#include "run/devices.h"

#include <sched.h>

/* What there is to give out. Large: not for a small stack. */
struct cores_view {
    int devices;
    cpu_set_t room[DEVICES_MAX]; /* processors that this process may use and that are near the device */
    int core_of[CPU_SETSIZE];    /* number of the core that a processor is a thread of */
};

/* Reads it from the running kernel; `root` is "/sys", or a test's. Where no node is known, or nodes are half the same,
 * every device's room is all that this process may use. */
void cores_read(const char *root, const struct devices *devices, struct cores_view *out);

/* Gives each device processors of its own: whole cores, shared evenly by the devices that have the same room. False,
 * and nothing given, for fewer than two devices and for fewer cores than devices that share them. */
bool cores_share(const struct cores_view *view, cpu_set_t out[DEVICES_MAX]);

#endif
