/*
 * host_plain.h - the plain kernel of a chain (device_ops.plain) in the host's memory, for the CPU device and the
 * scripted one.
 */
#ifndef CUDAL2_DEVICE_HOST_PLAIN_H
#define CUDAL2_DEVICE_HOST_PLAIN_H

#include "device/device.h"

/* Writes all of plain->out. */
void host_plain(const struct device_plain *plain);

/* As device_ops.plain_differs. */
int host_plain_differs(const struct device_plain *plain, uint64_t *elements, struct error *err);

/* What C is multiplied with before the bias is added. */
float plain_scale(const struct cudal2_problem *problem);

#endif
