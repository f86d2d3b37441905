/*
 * commands.h - one function for each subcommand. They print to stdout (progress and notes to stderr) and return the
 * exit code; a failure is in err and main() prints it once.
 */
#ifndef CUDAL2_CLI_COMMANDS_H
#define CUDAL2_CLI_COMMANDS_H

#include "cli/options.h"

/* argc and argv as main() got them, for the record. */
int command_run(const struct options *options, int argc, char *const *argv, struct error *err);
int command_list(const struct options *options, struct error *err);
int command_doctor(const struct options *options, struct error *err);
int command_report(const struct options *options, struct error *err);

/* Prints the tables of a result file, or of the result that a journal (.jsonl) makes. */
int report_print(const char *path, const struct options *options, struct error *err);

#endif
