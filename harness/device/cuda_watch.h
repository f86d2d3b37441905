/*
 * cuda_watch.h - watching one launch on a GPU by CUPTI. The launch stands between two kernels of the harness in its
 * stream, which is held before it until the launch has returned: what runs before the first or after the second does
 * not follow the stream, whatever number its own stream has. A fork that joins does.
 */
#ifndef CUDAL2_DEVICE_CUDA_WATCH_H
#define CUDAL2_DEVICE_CUDA_WATCH_H

#include "device/activity.h"
#include "device/cupti.h"

/* A watcher of CUDA devices. Call it before the device is opened. EXIT_CODE_UNAVAILABLE without a recorder. */
int cuda_watcher_open(struct watcher **out, struct error *err);
/* Over a recorder that is open already (tests, which close it and free the watcher). It is closed on failure. */
int cuda_watcher_over(struct cupti *cupti, struct watcher **out, struct error *err);

#endif
