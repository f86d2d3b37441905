/*
 * cmd_report.c - the command `report`: options to a report_request. Relies on report/report.h. Called by main.c.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "compare/agree.h"
#include "report/load.h"
#include "report/outcome.h"
#include "report/report.h"
#include "report/screen.h"

#define BETWEEN_MAX 320

static struct screen_options screen_of_terminal(const struct options *options)
{
    return (struct screen_options){
        .columns = terminal_columns(),
        .colour = !options->no_color && terminal_has_colour(STDOUT_FILENO),
        .all = options->all,
    };
}

static int print_screen(const struct load_request *request, const struct options *options, struct error *err)
{
    struct result *result = NULL;
    char *text = NULL;
    struct screen_options screen = screen_of_terminal(options);
    int code = load_results(request, &result, err);
    if (!code && options->command == COMMAND_REPORT)
        code = outcome_expect_measured(result, err);
    /* Without a cell there is nothing to show, not even on which device. */
    if ((!code || code == EXIT_CODE_INCOMPARABLE) && result && result->n_cells > 0 &&
        screen_report(result, &screen, &text, err))
        code = request->n == 1 ? error_wrap(err, "%s", request->paths[0]) : err->code;
    if (text)
        fputs(text, stdout);
    free(text);
    result_free(result);
    return code;
}

int report_print(const char *path, const struct options *options, struct error *err)
{
    const struct load_request request = {&path, 1, false, stderr, false};
    return print_screen(&request, options, err);
}

static size_t count(const char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

/* A bare `report FILE` is what a run shows at its end; anything asked for in particular is a report of tables. */
static bool wants_screen(const struct options *o)
{
    return o->n_operands > 0 && !options_given(o, OPTION_FORMAT) && !options_given(o, OPTION_TABLE) &&
           !options_given(o, OPTION_TIMING) && !options_given(o, OPTION_PUBLISHED) && !o->output;
}

/* Nothing without --between. */
static int read_between(const struct options *options, char *out, size_t capacity, struct error *err)
{
    struct agreement agreement;
    out[0] = '\0';
    if (!options->between)
        return 0;
    if (options->n_operands != 1)
        return error_set(err, EXIT_CODE_USAGE, "report --between needs one RESULT to hold the other run against");
    const struct agree_request request = {
        .bases = &options->between, .n_bases = 1, .fresh = options->operands[0], .force = options->mixed};
    if (agree_open(&request, &agreement, err))
        return error_wrap(err, "--between");
    agree_between(&agreement, out, capacity);
    agree_free(&agreement);
    return 0;
}

int command_report(const struct options *options, struct error *err)
{
    char between[BETWEEN_MAX];
    if (read_between(options, between, sizeof between, err))
        return err->code;
    struct report_request request = {
        .results = options->operands,
        .n_results = options->n_operands,
        .published = options->published,
        .n_published = count(options->published),
        .format = (enum report_format)options->format, /* the parser let no other command's pass */
        .table = options->table > INT_MAX ? -1 : (int)options->table,
        .timing = options_given(options, OPTION_TIMING) ? timing_names[options->timing.first] : NULL,
        .between = between,
        .mixed = options->mixed,
        .output = options->output && strcmp(options->output, "-") != 0 ? options->output : NULL,
        .stream = stdout,
        .notes = stderr,
    };
    const struct load_request load = {options->operands, options->n_operands, options->mixed, stderr, false};
    if (wants_screen(options)) {
        int code = print_screen(&load, options, err);
        if (between[0])
            printf("%s\n", between);
        return code;
    }
    if (options_given(options, OPTION_TABLE) && request.table == 0)
        request.table = -1;
    if ((options->timing.bits & (options->timing.bits - 1)) != 0)
        return error_set(err, EXIT_CODE_USAGE, "--timing: report takes one timing; give it once for each report");
    return report_main_from(&request, err);
}
