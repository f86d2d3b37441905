/*
 * name_check.c - the names of families, sets and plugins that there are, and errors with the nearest one for those that
 * are not. Relies on base/nearest.h. Called by the commands before anything runs.
 */
#include "cli/name_check.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "compile/kernels.h"
#include "contender/contender.h"

#define DIRECTORY_MAX 4096
#define MANIFEST_MAX_BYTES (16u << 20)

/* ---- lists of names ---- */

static void names_add(struct names *n, const char *text, size_t length)
{
    if (n->count + 1 >= n->capacity) {
        size_t capacity = n->capacity ? 2 * n->capacity : 32;
        char **grown = realloc(n->list, capacity * sizeof *grown);
        n->failed |= !grown;
        if (!grown)
            return;
        n->list = grown;
        n->capacity = capacity;
    }
    n->list[n->count] = strndup(text, length);
    n->failed |= !n->list[n->count];
    n->count += n->list[n->count] != NULL;
    n->list[n->count] = NULL;
}

void names_free(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->list[i]);
    free(n->list);
    *n = (struct names){0};
}

static bool has_name(const char *const names[], const char *name, size_t length)
{
    for (size_t i = 0; names && names[i]; i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    return false;
}

static bool names_have(const struct names *n, const char *name, size_t length)
{
    return has_name((const char *const *)n->list, name, length);
}

void names_add_files(const char *directory, const char *ending, struct names *out)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (text_ends_with(entries[i]->d_name, ending))
            names_add(out, entries[i]->d_name, strlen(entries[i]->d_name) - strlen(ending));
        free(entries[i]);
    }
    free(entries);
}

/* ---- what is here ---- */

/* Whether a family of the project lives in the plugin of this name: cublaslt holds cublaslt-heuristic. */
static bool is_baseline_plugin(const char *name, size_t length)
{
    for (size_t i = 0; family_names[i]; i++)
        if (strncmp(family_names[i], name, length) == 0 && strchr("-.", family_names[i][length]))
            return true;
    return false;
}

/* Kernel sets, or the single kernels that they are made of; false when there is no kernel directory. */
static bool add_kernels(const struct options *options, const char *where, struct names *out)
{
    char directory[DIRECTORY_MAX], path[DIRECTORY_MAX + 8];
    struct error ignored;
    if (kernel_directory_find(options->kernels, directory, sizeof directory, &ignored))
        return false;
    snprintf(path, sizeof path, "%s%s", directory, where);
    names_add_files(path, ".json", out);
    return true;
}

static void add_plugins(const struct options *options, struct names *out)
{
    char directory[DIRECTORY_MAX], plugins[DIRECTORY_MAX + 16];
    struct error ignored;
    if (!options->plugins && file_executable_directory(directory, sizeof directory, &ignored))
        return;
    snprintf(plugins, sizeof plugins, "%s/plugins", directory);
    names_add_files(options->plugins ? options->plugins : plugins, ".so", out);
}

/* ---- names of a run ---- */

struct run_names {
    struct names words[2]; /* by role: families of the project, other plugins, and for candidates kernel sets */
    struct names others;   /* plugins that are not the project's baselines */
    bool has_sets;         /* without a kernel directory any set may exist; the run says that there is none */
    int code;              /* of an unknown name: whose mistake it is, a file's or the command line's */
};

static void add_all(struct names *out, const char *const names[])
{
    for (size_t i = 0; names && names[i]; i++)
        names_add(out, names[i], strlen(names[i]));
}

static void run_names_open(const struct options *options, int code, struct run_names *k)
{
    struct names plugins = {0};
    *k = (struct run_names){.code = code};
    add_plugins(options, &plugins);
    for (size_t i = 0; i < plugins.count; i++)
        if (!is_baseline_plugin(plugins.list[i], strlen(plugins.list[i])))
            names_add(&k->others, plugins.list[i], strlen(plugins.list[i]));
    names_free(&plugins);
    for (int role = ROLE_BASELINE; role <= ROLE_CANDIDATE; role++) {
        add_all(&k->words[role], family_names);
        add_all(&k->words[role], (const char *const *)k->others.list);
    }
    k->has_sets = add_kernels(options, "/sets", &k->words[ROLE_CANDIDATE]);
    add_kernels(options, "", &k->words[ROLE_CANDIDATE]);
}

static void run_names_close(struct run_names *k)
{
    names_free(&k->words[ROLE_BASELINE]);
    names_free(&k->words[ROLE_CANDIDATE]);
    names_free(&k->others);
}

void name_check_candidates(const struct options *options, struct names *out)
{
    struct run_names k;
    add_kernels(options, "/sets", out);
    run_names_open(options, EXIT_CODE_USAGE, &k);
    add_all(out, (const char *const *)k.others.list);
    add_all(out, options->candidates);
    out->failed |= k.others.failed;
    run_names_close(&k);
}

static bool is_known(const struct run_names *k, const char *name, enum contender_role role)
{
    /* A plugin of somebody else's may hold any family whose first word is the file's name. */
    return text_is_contender_file(name) || names_have(&k->words[role], name, strlen(name)) ||
           names_have(&k->others, name, strcspn(name, "-.")) || (role == ROLE_CANDIDATE && !k->has_sets);
}

/* What a manifest names as its source. */
static bool is_source(const char *name)
{
    static const char *const ends[] = {".cu", ".cubin", ".fatbin", ".ptx"};
    bool is = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        is = is || text_ends_with(name, ends[i]);
    return is;
}

static int refuse(const struct run_names *k, const char *name, enum contender_role role, struct error *err)
{
    if (role == ROLE_CANDIDATE && is_source(name))
        return error_set(err, k->code,
                         "\"%.60s\": expected a manifest (.json) that names it as its source "
                         "(docs/any-kernel.md)",
                         name);
    const struct names *words = &k->words[role];
    const char *near = nearest_name(name, (const char *const *)words->list, words->count);
    const char *what = role == ROLE_CANDIDATE ? "family, kernel or plugin" : "family or plugin";
    if (near)
        return error_set(err, k->code, "there is no %s \"%.60s\" (did you mean %s?)", what, name, near);
    if (names_have(&k->words[ROLE_CANDIDATE], name, strlen(name)))
        return error_set(err, k->code, "\"%.60s\" is a kernel, which is a candidate (or give the path of %s.json)",
                         name, name);
    return error_set(err, k->code, "there is no %s \"%.60s\" (see " PROGRAM_NAME " list)", what, name);
}

/* Refuses the first name that is unknown. */
static int check_known(const struct run_names *k, const char *const names[], enum contender_role role,
                       struct error *err)
{
    for (int i = 0; names[i]; i++)
        if (!is_known(k, names[i], role))
            return refuse(k, names[i], role, err);
    return 0;
}

static int check_readable(const char *path, struct error *err)
{
    return access(path, R_OK) == 0
               ? 0
               : error_set(err, EXIT_CODE_DATA, "%.200s: cannot be read: %s", path, strerror(errno));
}

/* A result or a config in a manifest's place. What else may be wrong with a manifest is told of the contender. */
static int check_manifest(const char *path, struct error *err)
{
    static const char *const schemas[] = {"cudal2-bench/kernel", "cudal2-bench/kernel-set", NULL};
    cJSON *tree = NULL;
    int which;
    if (json_read_file(path, MANIFEST_MAX_BYTES, &tree, err))
        return err->code;
    int code = json_read_choice(json_member(json_root(tree, path), "schema"), schemas, &which, err);
    cJSON_Delete(tree);
    return code;
}

/* A config may name what is built elsewhere; who types a path means a file, and would miss it in the table only after
 * everything else is measured. */
static int check_files(const char *const names[], struct error *err)
{
    for (int i = 0; names[i]; i++) {
        if (!text_is_contender_file(names[i]))
            continue;
        if (check_readable(names[i], err) || (text_ends_with(names[i], ".json") && check_manifest(names[i], err)))
            return err->code;
    }
    return 0;
}

/* What was typed: known, and there where it is a path. */
static int check_typed(const struct run_names *k, const char *const names[], enum contender_role role,
                       struct error *err)
{
    int code = check_known(k, names, role, err);
    return code ? code : check_files(names, err);
}

static int check_memory(const struct run_names *k, struct error *err)
{
    bool failed = k->others.failed || k->words[ROLE_BASELINE].failed || k->words[ROLE_CANDIDATE].failed;
    return failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for names") : 0;
}

static void check_list(const struct run_names *k, enum contender_role role, char *const names[], struct json_at at,
                       struct faults *faults)
{
    for (int i = 0; names[i]; i++) {
        struct error cause, err;
        if (is_known(k, names[i], role))
            continue;
        refuse(k, names[i], role, &cause);
        snprintf(at.path, sizeof at.path, "$.%s[%d]", role == ROLE_BASELINE ? "baselines" : "candidates", i);
        faults_none(faults, json_fail(at, &err, "%s", cause.text), &err);
    }
}

void name_check_config(const struct options *options, const struct config *config, const char *source,
                       struct faults *faults)
{
    struct run_names k;
    struct error err;
    struct json_at at = json_root(NULL, source);
    run_names_open(options, EXIT_CODE_DATA, &k);
    if (check_memory(&k, &err))
        faults_none(faults, err.code, &err);
    check_list(&k, ROLE_BASELINE, config->baselines, at, faults);
    check_list(&k, ROLE_CANDIDATE, config->candidates, at, faults);
    run_names_close(&k);
}

/* "none" is a word, and no file. What is in a table is for the worker to say, which knows the device. */
static int check_tables(const struct options *options, struct error *err)
{
    for (size_t i = 0; options->tuned[i]; i++) {
        bool none = strcmp(options->tuned[i], "none") == 0;
        if (none && options->tuned[1])
            return error_set(err, EXIT_CODE_USAGE, "--tuned: none goes with no other table");
        if (!none && check_readable(options->tuned[i], err))
            return error_wrap(err, "--tuned");
    }
    return 0;
}

int name_check_options(const struct options *options, const struct config *config, struct error *err)
{
    struct run_names k;
    run_names_open(options, EXIT_CODE_USAGE, &k);
    int code = check_memory(&k, err);
    if (!code && options_given(options, OPTION_BASELINES) &&
        check_typed(&k, (const char *const *)config->baselines, ROLE_BASELINE, err))
        code = error_wrap(err, "--baselines");
    if (!code && check_typed(&k, options->candidates, ROLE_CANDIDATE, err))
        code = error_wrap(err, "--candidate");
    run_names_close(&k);
    return code ? code : check_tables(options, err);
}

int name_check_operands(const struct options *options, struct error *err)
{
    struct run_names k;
    run_names_open(options, EXIT_CODE_USAGE, &k);
    int code = check_memory(&k, err);
    if (!code)
        code = check_typed(&k, options->operands, ROLE_CANDIDATE, err);
    run_names_close(&k);
    return code;
}

static int check_plugins(const char *path, struct error *err)
{
    DIR *directory = opendir(path);
    if (!directory)
        return error_set(err, EXIT_CODE_DATA, "--plugins: %.200s: %s (expected a directory of plugins, *.so)", path,
                         strerror(errno));
    closedir(directory);
    return 0;
}

int name_check_directories(const struct options *options, struct error *err)
{
    char found[DIRECTORY_MAX];
    if (options->plugins && check_plugins(options->plugins, err))
        return err->code;
    if (!options->kernels || kernel_directory_find(options->kernels, found, sizeof found, err) == 0)
        return 0;
    return error_set(err, EXIT_CODE_DATA, "--kernels: %.200s: %s (expected a directory of kernels, with %s)",
                     options->kernels, access(options->kernels, F_OK) == 0 ? "not one" : strerror(errno),
                     KERNEL_PRELUDE);
}
