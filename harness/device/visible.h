/*
 * visible.h - CUDA_VISIBLE_DEVICES as the driver reads it, so that the supervisor can count and lock GPUs without CUDA.
 */
#ifndef CUDAL2_DEVICE_VISIBLE_H
#define CUDAL2_DEVICE_VISIBLE_H

/* Writes into order[0..] the indices of the GPUs that CUDA will show, in its order, and returns how many.
 * `value` NULL (unset): all. Entries are indices or UUID prefixes ("GPU-3c"); the first invalid or ambiguous entry
 * ends the list, and a repeated one empties it, as in the driver. */
int visible_devices(const char *value, const char (*uuids)[64], int count, int *order);

#endif
