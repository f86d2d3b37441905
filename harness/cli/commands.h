/*
 * commands.h - one function for each subcommand. They print to stdout (progress and notes to stderr) and return the
 * exit code; a failure is in err and main() prints it once.
 */
#ifndef CUDAL2_CLI_COMMANDS_H
#define CUDAL2_CLI_COMMANDS_H

#include "cli/options.h"
#include "cli/run_config.h"
#include "cli/spec.h"
#include "run/supervisor.h"

int command_run(const struct options *options, struct error *err);
int command_tune(const struct options *options, struct error *err);
int command_compile(const struct options *options, struct error *err);
int command_serve(const struct options *options, struct error *err);
int command_init(struct error *err);
int command_list(const struct options *options, struct error *err);
int command_doctor(const struct options *options, struct error *err);
int command_report(const struct options *options, struct error *err);
int command_compare(const struct options *options, struct error *err);
int command_merge(const struct options *options, struct error *err);
int command_watch(const struct options *options, struct error *err);
int command_verify(const struct options *options, struct error *err);

/* compare --agreement. */
int command_agree(const struct options *options, struct error *err);

/* run_supervise with progress on stderr as the options want it, ended early by INT and TERM. Of `hooks` (NULL: none)
 * observer and stop are not read. */
int run_with_progress(const struct options *options, const struct run_spec *spec, const struct run_hooks *hooks,
                      struct error *err);

/* Tells on stderr when --accumulate f16 asks for what this device has not: dtype native is f32 on the CPU. */
void run_note_accumulate(const struct options *options, const struct run_config *made);

/* Makes a file name of it: what is not a letter, a digit, '-', '_' or '.' becomes '-'. */
void run_clean_name(char *name);

/* What a signal handler sets for run_with_progress: 0 as long as nobody asked for an end. */
const volatile int *run_stop_flag(void);

/* Prints the tables of a result file, or of the result that a journal (.jsonl) makes. */
int report_print(const char *path, const struct options *options, struct error *err);

#endif
