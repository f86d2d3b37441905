/*
 * verify_counters.h - hardware counters beside the verdicts of `verify`. They change no verdict and no exit code.
 */
#ifndef CUDAL2_CLI_VERIFY_COUNTERS_H
#define CUDAL2_CLI_VERIFY_COUNTERS_H

#include "cli/cmd_verify.h"
#include "cli/options.h"
#include "run/devices.h"

/* Adds "counters" (run/counters.h) to each kernel that passed, on the first device: of the contender's own choice of
 * variant. EXIT_CODE_INTERNAL out of memory alone. */
int verify_counters(const struct options *options, const struct devices *devices, struct findings *f,
                    struct error *err);

#endif
