/*
 * run_config.h - from the command line to the config of a run: which file is meant, what it says, what the options
 * change, which shapes are left. run, tune and verify call it; everything that is wrong with the file is told at once.
 */
#ifndef CUDAL2_CLI_RUN_CONFIG_H
#define CUDAL2_CLI_RUN_CONFIG_H

#include "cli/devices.h"
#include "cli/options.h"

#include <limits.h>

struct run_config {
    struct config config;   /* owned */
    char path[PATH_MAX];    /* of its file; "-" standard input, "" when there is none (--shape) */
    struct devices devices; /* on_cuda is right also where one is not there */
    struct error no_device; /* code 0, or why one that --device names is not there: for the run to refuse */
};

/* The config of --config or --shape with the options applied, every name known, and the defaults of the device. Notes
 * on stderr say what a reader might not expect: which installed file was taken, whom the device leaves out, that it
 * will take hours. On failure *out needs no run_config_close; several faults of a file are printed, and *err counts
 * them. */
int run_config_open(const struct options *options, struct run_config *out, struct error *err);
void run_config_close(struct run_config *c);

/* The file that --config means: a path, a file of the current directory (".json" may be left out), or one of the
 * installed configs. EXIT_CODE_DATA with what there is. */
int run_config_find(const char *name, char out[PATH_MAX], struct error *err);

/* Reads that file, and its names; what is wrong is told as above. `check_names` is off for who brings his own. */
int run_config_read(const struct options *options, bool check_names, struct run_config *out, struct error *err);

/* As run_config_open, of a run on a GPU which nobody asks whether it is here: `tune --dry-run`, `compile`. */
int run_config_described(const struct options *options, struct run_config *out, struct error *err);

/* Finds what `device` (--device) means here: c->devices, and c->no_device. */
void run_config_devices(const char *device, struct run_config *c);

/* The shapes that --shape, --where and --limit leave, in the config's order. EXIT_CODE_USAGE for a bad one, and when
 * none is left. */
int shapes_choose(const struct options *options, struct config *config, struct error *err);

#endif
