/*
 * help.h - --help, the man page and shell completions, all made from the tables of options.h.
 */
#ifndef CUDAL2_CLI_HELP_H
#define CUDAL2_CLI_HELP_H

#include "base/text.h"
#include "cli/options.h"

/* Help of the whole program. */
void help_program(struct text *out);
/* Help of one subcommand. */
void help_command(struct text *out, enum command command);
/* Page 1 of the manual in roff (man macros). */
void help_man(struct text *out);
/* A completion script, to be sourced (bash) or put on fpath as _cudal2-bench (zsh). */
void help_completion(struct text *out, enum completion_shell shell);

/* What `help ...`, `--help` or `--version` asked for: true when *o asks for one of them, and then *out holds it. */
bool help_wanted(const struct options *o, struct text *out);

#endif
