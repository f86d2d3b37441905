/*
 * spec.h - from options and a run's config to the spec of the run, the only thing that run/ sees of a command line.
 */
#ifndef CUDAL2_CLI_SPEC_H
#define CUDAL2_CLI_SPEC_H

#include "cli/options.h"
#include "cli/run_config.h"
#include "run/run_spec.h"

/* What every command's run takes alike: config, devices, directories, what goes into the record. The caller sets the
 * rest (tuned, search, budget ...) before the run, and frees it; `made` and the options are borrowed. Fails when the
 * device is not there (made->no_device), or when `output` can be no file's name. */
int spec_make(const struct options *options, const struct run_config *made, const char *output, struct run_spec **out,
              struct error *err);

#endif
