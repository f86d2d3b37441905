/*
 * name_check.h - which names a run may call its contenders by here, so that a misspelt one is an error before anything
 * is measured and not a contender that is missing from the table.
 */
#ifndef CUDAL2_CLI_NAME_CHECK_H
#define CUDAL2_CLI_NAME_CHECK_H

#include "cli/options.h"

/* A list of owned names. */
struct names {
    char **list; /* owned, NULL-terminated once there is one */
    size_t count, capacity;
    bool failed; /* out of memory */
};
void names_free(struct names *n);

/* Adds every file of `directory` with this ending, in alphabetical order, without the ending. */
void names_add_files(const char *directory, const char *ending, struct names *out);

/* What can be a candidate here: the kernel sets, the plugins that are no baselines of the project (each in
 * alphabetical order), and what --candidate names. A directory that is not there holds none. */
void name_check_candidates(const struct options *options, struct names *out);

/* Adds a fault for each baseline and candidate of the config that nobody here can be: no family of the project (built
 * or not), no plugin, no kernel set, no path. `source` is the config's path; a fault names the JSON path and the
 * nearest name. Call before options_apply. */
void name_check_config(const struct options *options, const struct config *config, const char *source,
                       struct faults *faults);

/* The same for --baselines and --candidate (EXIT_CODE_USAGE); config has them applied, and is not looked at without
 * --baselines. A path that cannot be read, a .json that is neither a manifest nor a kernel set, and a --tuned that is
 * not there are refused too (EXIT_CODE_DATA): a config may name what another machine has, but who types a path means a
 * file. */
int name_check_options(const struct options *options, const struct config *config, struct error *err);

/* The same for operands that name kernels, paths included. */
int name_check_operands(const struct options *options, struct error *err);

/* Refuses a --plugins that is no directory and a --kernels without the kernels' prelude (EXIT_CODE_DATA), which would
 * otherwise make every name in them unknown. */
int name_check_directories(const struct options *options, struct error *err);

#endif
