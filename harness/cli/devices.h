/*
 * devices.h - from the words of --device to the devices of a run: how many GPUs the driver shows, which are meant, and
 * the names of their locks. No CUDA context is made.
 */
#ifndef CUDAL2_CLI_DEVICES_H
#define CUDAL2_CLI_DEVICES_H

#include "run/devices.h"

/* Of this machine. "auto" is cuda:0 where the driver shows a GPU, else cpu; "cuda" is cuda:0; "cuda:0,1" names two,
 * "cuda:all" all that the driver shows. EXIT_CODE_USAGE for bad syntax or a GPU named twice, EXIT_CODE_UNAVAILABLE when
 * a GPU is asked for that is not there; out->on_cuda says which was meant even then. */
int devices_find(const char *text, struct devices *out, struct error *err);

/* The same of a machine that shows so many GPUs; locks are left without names. */
int devices_resolve(const char *text, int gpus, struct devices *out, struct error *err);

#endif
