/*
 * main.c - cudal2-bench from its command line to its exit code: dispatches to the commands, and is the only place that
 * prints an error. Relies on cli/. Called by the system.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_locale.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/name_check.h"
#include "cli/options.h"
#include "worker/worker.h"

static int dispatch(const struct options *options, struct error *err)
{
    if (name_check_directories(options, err))
        return err->code;
    switch (options->command) {
    case COMMAND_RUN:
        return command_run(options, err);
    case COMMAND_TUNE:
        return command_tune(options, err);
    case COMMAND_COMPILE:
        return command_compile(options, err);
    case COMMAND_LIST:
        return command_list(options, err);
    case COMMAND_DOCTOR:
        return command_doctor(options, err);
    case COMMAND_REPORT:
        return command_report(options, err);
    case COMMAND_COMPARE:
        return command_compare(options, err);
    case COMMAND_MERGE:
        return command_merge(options, err);
    case COMMAND_WATCH:
        return command_watch(options, err);
    case COMMAND_VERIFY:
        return command_verify(options, err);
    case COMMAND_SERVE:
        return command_serve(options, err);
    case COMMAND_INIT:
        return command_init(err);
    case COMMAND_WORKER:
        return worker_main((char *const[]){NULL});
    default:
        return error_set(err, EXIT_CODE_USAGE, "no such command");
    }
}

/* Output that could not be written (a full disk behind a redirect) must not look like success. */
static int flush_stdout(int code, struct error *err)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    return code ? code : error_set(err, EXIT_CODE_IO, "cannot write to standard output");
}

/* The supervisor's words to a worker are not for people. */
static bool is_worker(int argc, char **argv)
{
    return argc > 2 && strcmp(argv[1], "worker") == 0 && argv[2][0] != '-';
}

int main(int argc, char **argv)
{
    struct options options;
    struct error err = {0};
    struct text help = {0};
    plain_locale_enter(); /* some commands load plugins here */
    if (is_worker(argc, argv))
        return worker_main(argv + 2);
    int code = options_parse(argc, argv, &options, &err);
    if (!code && help_wanted(&options, &help))
        fputs(help.bytes ? help.bytes : "", stdout);
    else if (!code)
        code = dispatch(&options, &err);
    code = flush_stdout(code, &err);
    if (code && err.text[0])
        fprintf(stderr, PROGRAM_NAME ": %s\n", err.text);
    text_free(&help);
    return code;
}
