/*
 * cmd_run.c - the command `run`: config, output name, supervisor with progress, then the table. Relies on run_config.c
 * and run/supervisor.h. Called by main.c, which prints the error; tune and verify use its helpers.
 */
#include "cli/commands.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/explain.h"
#include "cli/progress.h"
#include "cli/run_config.h"
#include "cli/shard.h"
#include "cli/terminal.h"
#include "run/supervisor.h"

#define NUMBERS_MAX 1000 /* of results of typed shapes in one directory */
#define NAME_SIZE 256    /* of a default output: a config's name and a few words */

/* A handler can reach nothing but a file-scope variable. The first signal asks for a clean end, the second for a quick
 * one (supervisor.h). */
static volatile sig_atomic_t stop_flag;
static volatile sig_atomic_t is_quiet;

const volatile int *run_stop_flag(void)
{
    return &stop_flag;
}

/* A cell may take its time, so the first Ctrl-C is answered at once; write is all that a handler may do. */
static void answer(void)
{
    static const char text[] = "\nstopping when this cell is done; once more stops at once\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
}

static void on_signal(int number)
{
    if (number == SIGINT && !stop_flag && !is_quiet)
        answer();
    stop_flag = stop_flag ? -number : number;
}

/* A signal that our parent ignores stays ignored (nohup, background jobs of a shell). */
static void catch_signal(int number)
{
    struct sigaction before, action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static void catch_signals(void)
{
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is a failed write like a full disk */
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of the write, not the end of a measurement */
}

void run_clean_name(char *name)
{
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
            *c = '-';
}

/* "cudal2-<config>-<mode>.json" in the current directory; the config's name may hold anything. */
static void default_output(const struct config *config, char out[NAME_SIZE])
{
    const char *mode = "both";
    if (config->modes == CUDAL2_BIT(MODE_OFFLINE))
        mode = mode_names[MODE_OFFLINE];
    if (config->modes == CUDAL2_BIT(MODE_SERVER))
        mode = mode_names[MODE_SERVER];
    if (config->modes == CUDAL2_BIT(MODE_CHAIN))
        mode = mode_names[MODE_CHAIN];
    snprintf(out, NAME_SIZE, "cudal2-%s-%s.json", config->name[0] ? config->name : "run", mode);
    run_clean_name(out);
}

/* Shapes that were typed have no file to be told apart by: each run has the next name that is free. --resume goes on
 * with the last one that is there. */
static void number_output(bool resume, char out[NAME_SIZE])
{
    char base[NAME_SIZE], next[NAME_SIZE], journal[PATH_MAX];
    struct error ignored;
    snprintf(base, sizeof base, "%.*s", (int)(strlen(out) - strlen(".json")), out);
    for (int i = 1; i < NUMBERS_MAX; i++) {
        if (i == 1)
            snprintf(next, sizeof next, "%s", out);
        else
            snprintf(next, sizeof next, "%.*s-%d.json", NAME_SIZE - 32, base, i);
        bool taken = run_journal_path(next, journal, &ignored) == 0 && access(journal, F_OK) == 0;
        if (!taken && resume)
            return;
        snprintf(out, NAME_SIZE, "%s", next);
        if (!taken)
            return;
    }
}

static enum progress_style choose_style(const struct options *options)
{
    if (options->quiet)
        return PROGRESS_QUIET;
    return !options->no_color && terminal_is_live(STDERR_FILENO) ? PROGRESS_LIVE : PROGRESS_LINES;
}

int run_with_progress(const struct options *options, const struct run_spec *spec, const struct run_hooks *hooks,
                      struct error *err)
{
    struct progress progress;
    progress_start(&progress, stderr, choose_style(options));
    const struct run_observer observer = progress_observer(&progress);
    struct run_hooks all = hooks ? *hooks : (struct run_hooks){.director = NULL};
    all.observer = &observer;
    all.stop = &stop_flag;
    is_quiet = options->quiet;
    catch_signals();
    int code = run_supervise(spec, &all, err);
    progress_end(&progress);
    return code;
}

/* The first that is asked for and not there; -1: none. */
static int missing_timing(uint32_t asked, uint32_t able)
{
    for (int t = 0; t < TIMING_COUNT; t++)
        if (asked & ~able & CUDAL2_BIT(t))
            return t;
    return -1;
}

/* A config's timing gives way to what the device has; one that was asked for by name does not. */
static int check_timing(const struct options *options, const struct run_config *made, struct error *err)
{
    uint32_t asked = options_given(options, OPTION_TIMING) ? options->timing.bits : 0;
    uint32_t on_cpu = timing_bits(CUDAL2_ON_CPU);
    int missing = missing_timing(asked, on_cpu);
    if (missing < 0 || made->devices.on_cuda)
        return 0;
    return error_set(err, EXIT_CODE_UNAVAILABLE, "--timing %s: device cpu has %s times only", timing_names[missing],
                     timing_names[timing_choose((enum timing)missing, on_cpu, MODE_OFFLINE)]);
}

/* A run that came to its end has a table to show, whatever the verdict; any other ends with its error alone. */
static bool has_table(int code)
{
    return code == EXIT_CODE_OK || code == EXIT_CODE_VERIFICATION || code == EXIT_CODE_INCOMPARABLE;
}

/* Which contenders there are only the worker knows: its words are about the config's key, which an option may have set.
 */
static int blame_aa(const struct options *options, const struct run_spec *spec, int code, struct error *err)
{
    static const char key[] = "aa: ";
    if (code != EXIT_CODE_DATA || strncmp(err->text, key, strlen(key)) != 0)
        return code;
    memmove(err->text, err->text + strlen(key), strlen(err->text + strlen(key)) + 1);
    if (!options->aa || !options->aa[0])
        return error_wrap(err, "%s: $.aa", spec->config_path ? spec->config_path : "the config");
    err->code = EXIT_CODE_USAGE;
    return error_wrap(err, "--aa");
}

void run_note_accumulate(const struct options *options, const struct run_config *made)
{
    bool on_cuda = made->devices.on_cuda;
    if (options->quiet || !options_given(options, OPTION_ACCUMULATE) || options->accumulate != CUDAL2_ACC_F16 ||
        made->no_device.code)
        return;
    enum cudal2_dtype dtype = config_dtype(&made->config, on_cuda);
    if (!(config_accumulates(&made->config, dtype) & CUDAL2_BIT(CUDAL2_ACC_F16)))
        fprintf(stderr, "note: --accumulate f16 has no effect: dtype native is %s on device %s, accumulated in f32\n",
                dtype_names[dtype], on_cuda ? "cuda" : "cpu");
}

static void say_end(const struct options *options, const char *output)
{
    if (options->explain) {
        printf("\n");
        explain_print(output, options->argv[0], options->kernels);
    }
    fflush(stdout); /* or in one file for both, the last line stands in the middle of the table */
    if (!options->quiet)
        terminal_say(stderr, "result: ", output);
}

/* What --output says, or else a name made in own. */
static const char *choose_output(const struct options *options, const struct run_config *made, bool is_shard,
                                 char own[NAME_SIZE])
{
    if (options_given(options, OPTION_OUTPUT))
        return options->output;
    default_output(&made->config, own);
    if (!made->path[0] && !is_shard) /* shards must come to the same name */
        number_output(options->resume, own);
    return own;
}

static int make_spec(const struct options *options, const struct run_config *made, const struct shard *shard,
                     struct run_spec **out, struct error *err)
{
    char own[NAME_SIZE];
    const char *output = choose_output(options, made, shard->count > 0, own);
    if (check_timing(options, made, err) || spec_make(options, made, output, out, err) || shard_apply(shard, *out, err))
        return err->code;
    (*out)->tuned = options->tuned;
    bool equal = options_given(options, OPTION_EQUAL_BUDGET); /* a table is hours of racing */
    (*out)->no_tuned = options->tuned[0] ? strcmp(options->tuned[0], "none") == 0 : equal;
    (*out)->force_tuned = options->force;
    return 0;
}

static int run(const struct options *options, const struct run_spec *spec, struct error *err)
{
    struct error report_error;
    int code = blame_aa(options, spec, run_with_progress(options, spec, NULL, err), err);
    if (!has_table(code))
        return code;
    if (report_print(spec->output, options, &report_error) && !code) {
        *err = report_error;
        code = err->code;
    }
    say_end(options, spec->output);
    return code;
}

int command_run(const struct options *options, struct error *err)
{
    struct run_config made;
    struct run_spec *spec = NULL;
    struct shard shard;
    if (shard_open(options, &shard, err) || run_config_open(options, &made, err))
        return err->code;
    int code = make_spec(options, &made, &shard, &spec, err);
    if (!code) {
        run_note_accumulate(options, &made);
        code = run(options, spec, err);
    }
    free(spec);
    run_config_close(&made);
    return code;
}
