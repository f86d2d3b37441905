/*
 * run_config.c - from options to the config of a run: file, installed name or none, then what options change and which
 * shapes are left. Relies on config/. Called by run, tune and verify.
 */
#include "cli/run_config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/name_check.h"
#include "run/plan.h"

#define CONFIGS_VARIABLE "CUDAL2_CONFIGS"
#define A_CONFIG "smoke.json" /* of every directory of configs */
#define LONG_HOURS 1.0        /* from here on a run says so beforehand */

/* ---- which file is meant ---- */

/* A directory of configs, when it is one. */
static bool take_directory(const char *base, const char *below, char out[PATH_MAX])
{
    char path[PATH_MAX + 64], probe[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s%s", base, below);
    snprintf(probe, sizeof probe, "%s/" A_CONFIG, path);
    return access(probe, R_OK) == 0 && realpath(path, out);
}

/* Beside the program, above its build directory, or where make install puts them. */
static bool find_directory(char out[PATH_MAX])
{
    static const char *const places[] = {"/configs", "/../configs", "/../../share/" PROGRAM_NAME "/configs"};
    char here[PATH_MAX];
    struct error ignored;
    const char *named = getenv(CONFIGS_VARIABLE);
    if (named && named[0])
        return take_directory(named, "", out);
    if (file_executable_directory(here, sizeof here, &ignored))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (take_directory(here, places[i], out))
            return true;
    return false;
}

/* directory/name or directory/name.json; "" is the current directory. */
static bool take_file(const char *directory, const char *name, char out[PATH_MAX])
{
    static const char *const endings[] = {"", ".json"};
    for (size_t i = 0; i < 2; i++) {
        int length = snprintf(out, PATH_MAX, "%s%s%s%s", directory, directory[0] ? "/" : "", name, endings[i]);
        if (length < PATH_MAX && access(out, F_OK) == 0)
            return true;
    }
    return false;
}

static int refuse_name(const char *name, const char *directory, struct error *err)
{
    struct names there = {0};
    struct text list = {0};
    names_add_files(directory, ".json", &there);
    for (size_t i = 0; i < there.count; i++)
        if (!strstr(there.list[i], ".schema"))
            text_add(&list, "%s%s", list.length ? ", " : "", there.list[i]);
    char stem[64];
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "."), name);
    const char *near = nearest_name(stem, (const char *const *)there.list, there.count);
    if (near)
        error_set(err, EXIT_CODE_DATA, "%.200s: no such config, here or in %s (did you mean %s?)", name, directory,
                  near);
    else
        error_set(err, EXIT_CODE_DATA, "%.200s: no such config, here or in %s, which has %s", name, directory,
                  list.bytes ? list.bytes : "none");
    text_free(&list);
    names_free(&there);
    return err->code;
}

int run_config_find(const char *name, char out[PATH_MAX], struct error *err)
{
    char directory[PATH_MAX] = "";
    if (strcmp(name, CONFIG_INPUT) == 0 || strchr(name, '/') || access(name, F_OK) == 0) {
        if (snprintf(out, PATH_MAX, "%s", name) < PATH_MAX)
            return 0;
        return error_set(err, EXIT_CODE_DATA, "%.60s...: %s", name, strerror(ENAMETOOLONG));
    }
    bool installed = find_directory(directory);
    if (take_file("", name, out) || (installed && take_file(directory, name, out)))
        return 0;
    return installed ? refuse_name(name, directory, err)
                     : error_set(err, EXIT_CODE_DATA, "%.200s: cannot be read: %s", name, strerror(errno));
}

/* ---- what it says ---- */

/* One fault is the error itself; of several each is a line, and the error says what there is to go by. */
static int tell(const struct faults *faults, const char *path, struct error *err)
{
    *err = faults->first;
    if (faults->count == 1)
        return err->code;
    fprintf(stderr, "%s", faults->lines.bytes ? faults->lines.bytes : "");
    if (faults->count > FAULTS_SHOWN)
        fprintf(stderr, "and %zu more\n", faults->count - FAULTS_SHOWN);
    return error_set(err, faults->first.code,
                     "%.400s: %zu faults, listed above (\"" PROGRAM_NAME
                     " init\" writes a config that explains every key)",
                     path, faults->count);
}

int run_config_read(const struct options *options, bool check_names, struct run_config *out, struct error *err)
{
    struct faults faults = {.count = 0};
    memset(out, 0, sizeof *out);
    if (!options->config) {
        config_defaults(&out->config);
        snprintf(out->config.name, sizeof out->config.name, "shapes");
        return 0;
    }
    if (run_config_find(options->config, out->path, err))
        return err->code;
    if (!options->quiet && strcmp(options->config, out->path) != 0)
        fprintf(stderr, "config: %s\n", out->path);
    config_read(out->path, &out->config, &faults);
    if (check_names)
        name_check_config(options, &out->config, out->path, &faults);
    int code = faults.count ? tell(&faults, out->path, err) : 0;
    faults_free(&faults);
    if (code)
        config_free(&out->config);
    return code;
}

/* ---- the whole ---- */

void run_config_devices(const char *device, struct run_config *c)
{
    c->no_device.code = 0;
    devices_find(device, &c->devices, &c->no_device);
}

static int fill(const struct options *options, struct run_config *c, struct error *err)
{
    if (shapes_choose(options, &c->config, err) || options_apply(options, &c->config, err) ||
        name_check_options(options, &c->config, err))
        return err->code;
    return config_settle(&c->config, c->devices.on_cuda, err);
}

int run_config_described(const struct options *options, struct run_config *out, struct error *err)
{
    if (run_config_read(options, true, out, err))
        return err->code;
    out->devices.on_cuda = true;
    int code = fill(options, out, err);
    if (code)
        run_config_close(out);
    return code;
}

/* Whom a GPU would race as well: nobody named them, so that they are no contenders that are missing. */
static void note_device(const struct options *options, const struct run_config *c)
{
    bool candidates_given = c->config.candidates_given || options->candidates[0];
    if (c->devices.on_cuda || (c->config.baselines_given && candidates_given))
        return;
    fprintf(stderr, "device cpu: left out%s%s, which need a CUDA GPU (" PROGRAM_NAME " doctor says what is missing)\n",
            c->config.baselines_given ? "" : " cublas, cublaslt-heuristic, cublaslt-autotuning",
            candidates_given            ? ""
            : c->config.baselines_given ? " cudal2"
                                        : " and cudal2");
}

static double seconds_of(const struct run_config *c)
{
    struct plan plan = {0};
    struct error ignored;
    double seconds = 0;
    if (plan_build(&c->config, c->devices.on_cuda, 0, &plan, &ignored) == 0)
        for (size_t i = 0; i < plan.n_cells; i++)
            seconds += plan.cells[i].cost_seconds;
    plan_free(&plan);
    return seconds;
}

static void note_time(const struct options *options, const struct run_config *c)
{
    double hours = seconds_of(c) / 3600;
    if (hours < LONG_HOURS)
        return;
    fprintf(stderr, "%zu shape%s about %.0f hours here: ", c->config.n_shapes,
            c->config.n_shapes == 1 ? " takes" : "s take", hours);
    if (!options_given(options, OPTION_LIMIT))
        fprintf(stderr, "--limit 20 measures the 20 smallest, --where \"M<=1024 && K<=1024\" those; ");
    fprintf(stderr, "Ctrl-C ends a run, and --resume goes on with it\n");
}

/* A config may name what another machine has; who waits for hours learns it ahead of them. */
static void note_missing(const char *role, char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (strchr(names[i], '/') && access(names[i], R_OK) != 0)
            fprintf(stderr, "%s %s: %s: it will be measured in no cell\n", role, names[i], strerror(errno));
}

int run_config_open(const struct options *options, struct run_config *out, struct error *err)
{
    if (run_config_read(options, true, out, err))
        return err->code;
    run_config_devices(options->device, out);
    if (fill(options, out, err)) {
        config_free(&out->config);
        return err->code;
    }
    if (!options->quiet) {
        note_device(options, out);
        note_missing("baseline", out->config.baselines);
        note_missing("candidate", out->config.candidates);
        note_time(options, out);
    }
    return 0;
}

void run_config_close(struct run_config *c)
{
    config_free(&c->config);
}
