/*
 * cmd_compare.c - the command `compare`: options to a request, `--confirm`, output and exit code. Relies on compare/
 * and confirm.c. Called by main.c.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/confirm.h"
#include "cli/terminal.h"
#include "compare/forms.h"

static int find_format(const struct options *options, enum compare_format *out, struct error *err)
{
    const char *name = format_choices[options->format];
    *out = COMPARE_TEXT;
    for (int i = 0; compare_format_names[i]; i++)
        if (strcmp(compare_format_names[i], name) == 0) {
            *out = (enum compare_format)i;
            return 0;
        }
    return error_set(err, EXIT_CODE_USAGE, "compare: there is no format \"%s\" (text, markdown, json, junit, html)",
                     name);
}

static int read_request(const struct options *options, struct compare_request *out, struct error *err)
{
    if (options->n_operands != 2)
        return error_set(err, EXIT_CODE_USAGE,
                         "compare needs two runs, BASE and NEW, not %zu (--agreement takes several BASE)",
                         options->n_operands);
    if (options->delta_percent >= 100)
        return error_set(err, EXIT_CODE_USAGE, "--delta: expected a percentage below 100, found %g",
                         options->delta_percent);
    if (options->resume && (!options->confirm || options->confirm[0]))
        return error_set(err, EXIT_CODE_USAGE,
                         "--resume goes on with a second look: it needs --confirm without a FILE");
    *out = (struct compare_request){.base = options->operands[0],
                                    .fresh = options->operands[1],
                                    .delta = options->delta_percent / 100,
                                    .force = options->force};
    return 0;
}

/* What is asked, and told, before a worker of the second look is given its first cell. */
struct admission {
    const struct options *options;
    const struct compare_runs *runs;
    const struct confirm *confirm;
    bool told, refused;
};

static void say_again(const struct admission *a)
{
    char ours[96];
    snprintf(ours, sizeof ours, "measuring again what looks slower (%zu): ", compare_suspects(a->runs));
    terminal_say(stderr, ours, a->confirm->output);
}

static int admit(void *context, const cJSON *env, struct error *err)
{
    struct admission *a = context;
    a->refused = !a->options->force && compare_check_again(a->runs, env, err) != 0;
    if (a->refused)
        return err->code;
    if (!a->told && !a->options->quiet)
        say_again(a);
    a->told = true;
    return 0;
}

/* Measures the suspects and judges by that. */
static int measure_again(const struct options *options, const struct confirm *confirm, struct compare_runs *runs,
                         struct error *err)
{
    struct run_spec *spec = NULL;
    struct admission admission = {.options = options, .runs = runs, .confirm = confirm};
    const struct run_hooks hooks = {.admit = admit, .admit_context = &admission};
    if (spec_make(options, &confirm->made, confirm->output, &spec, err))
        return err->code;
    spec->resume = confirm->resumes;
    int code = run_with_progress(options, spec, &hooks, err);
    free(spec);
    /* A run that came to its end says in its result what failed. */
    bool ended = code == EXIT_CODE_OK || code == EXIT_CODE_VERIFICATION || code == EXIT_CODE_INCOMPARABLE;
    return ended && !admission.refused ? compare_confirm(runs, confirm->output, options->force, err) : code;
}

/* By an earlier confirmation, or by one that is measured now. */
static int confirm_suspects(const struct options *options, struct compare_runs *runs, struct error *err)
{
    struct confirm confirm;
    if (options->confirm[0])
        return compare_confirm(runs, options->confirm, options->force, err);
    if (confirm_prepare(runs, options->resume, &confirm, err))
        return err->code;
    run_config_devices(options_given(options, OPTION_DEVICE) ? options->device : confirm.device, &confirm.made);
    int code = measure_again(options, &confirm, runs, err);
    confirm_free(&confirm);
    return code;
}

/* A terminal, a log or a pipe that takes both. */
static bool is_one_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int print(const struct compare_runs *runs, enum compare_format format, const struct options *options,
                 struct error *err)
{
    char *text = NULL;
    struct compare_style style = {!options->no_color && terminal_has_colour(STDOUT_FILENO), terminal_columns()};
    if (compare_print(runs, format, style, &text, err))
        return err->code;
    fputs(text, stdout);
    free(text);
    int code = compare_outcome(runs, err);
    /* The table ends with that line: who sees both streams has read it. */
    if (format == COMPARE_TEXT && is_one_file(STDOUT_FILENO, STDERR_FILENO))
        err->text[0] = '\0';
    return code;
}

/* What went wrong, in a form that is not for people at a terminal: one that says nothing is taken for a job that has
 * not run. The error stays as it is. */
static void print_failure(const struct options *options, enum compare_format format, const struct error *why)
{
    const struct compare_failure failure = {options->operands[0], options->operands[1], why};
    struct error ignored;
    char *text = NULL;
    if (compare_print_failure(&failure, format, &text, &ignored) == 0 && text)
        fputs(text, stdout);
    free(text);
}

/* Once both runs are read. */
static int judge(const struct options *options, struct compare_runs *runs, struct error *err)
{
    bool again = options->confirm && compare_suspects(runs) > 0;
    return again ? confirm_suspects(options, runs, err) : 0;
}

int command_compare(const struct options *options, struct error *err)
{
    struct compare_request request;
    enum compare_format format;
    if (options->agreement)
        return command_agree(options, err);
    if (read_request(options, &request, err) || find_format(options, &format, err))
        return err->code;
    struct compare_runs *runs = calloc(1, sizeof *runs);
    if (!runs)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    int code = compare_open(&request, runs, err);
    bool opened = !code;
    if (opened)
        code = judge(options, runs, err);
    if (code)
        print_failure(options, format, err);
    else
        code = print(runs, format, options, err);
    if (opened)
        compare_free(runs);
    free(runs);
    return code;
}
