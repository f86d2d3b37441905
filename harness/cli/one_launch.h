/*
 * one_launch.h - `verify --in-process --one-launch`: what a profiler is pointed at.
 */
#ifndef CUDAL2_CLI_ONE_LAUNCH_H
#define CUDAL2_CLI_ONE_LAUNCH_H

#include "cli/options.h"

/* Sets up the contender that options->one_launch names, or every candidate, for each problem of the config, launches it
 * once and prints a line for each. "@FILE" instead of a name: the file's lines in their order, "MxNxK NAME[=VARIANT]"
 * of shapes of the config, or "-", a launch of an empty kernel that marks a place in the profile.
 * EXIT_CODE_INCOMPARABLE when one was not launched, with the reason. */
int one_launch(const struct options *options, const struct config *config, struct error *err);

#endif
