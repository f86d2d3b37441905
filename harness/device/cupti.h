/*
 * cupti.h - NVIDIA's recorder of GPU activity, bound at run time: libcupti by dlopen, its calls and records declared
 * here, because cupti.h comes with the toolkit. From cupti_open on the whole process is recorded, and slower for it.
 */
#ifndef CUDAL2_DEVICE_CUPTI_H
#define CUDAL2_DEVICE_CUPTI_H

#include "device/activity.h"

/* Names the library to load instead of the usual ones. */
#define CUPTI_VARIABLE "CUDAL2_CUPTI"
/* The oldest whose records have the form that is read here: CUDA 12.0. */
#define CUPTI_OLDEST 19u

struct cupti;

/* Where the library's calls come from: NULL when it has no such symbol. */
typedef void *(*cupti_resolver)(void *library, const char *symbol);

/* Loads the library and starts recording: call it before the device is opened. One at a time. EXIT_CODE_UNAVAILABLE
 * with what was tried, or with the call that is missing or failed. */
int cupti_open(struct cupti **out, struct error *err);
/* The same over calls of the caller's own (tests). */
int cupti_open_with(cupti_resolver resolve, void *library, struct cupti **out, struct error *err);
/* Stops recording. The library stays loaded: it has exit handlers. */
void cupti_close(struct cupti *c);

/* Whether it could be opened, without recording anything: version and path[512]. */
int cupti_look(unsigned *version, char *path, struct error *err);

/* Forgets what was recorded up to now. The device must be idle. */
int cupti_start(struct cupti *c, struct error *err);
/* Everything since cupti_start, by start. The device must be idle. */
int cupti_take(struct cupti *c, struct activity_log *out, struct error *err);
/* The number that a stream has in the records. */
int cupti_stream(struct cupti *c, void *context, void *stream, uint32_t *out, struct error *err);
/* Now, on the records' clock; 0 unknown. */
uint64_t cupti_now(struct cupti *c);

unsigned cupti_version(const struct cupti *c);
const char *cupti_path(const struct cupti *c);

#endif
