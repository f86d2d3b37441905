/*
 * cmd_compile.c - the command `compile`: compiles into a directory what a run of a config would compile before its
 * first cell, without a GPU. Relies on precompile_list.c for which kernels they are and on cubins.h. Called by main.c.
 */
#include "cli/commands.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/compile_progress.h"
#include "cli/run_config.h"
#include "cli/terminal.h"
#include "choice/portfolio.h"
#include "compile/cubins.h"
#include "compile/kernels.h"
#include "compile/nvrtc.h"
#include "contender/module.h"
#include "device/chips.h"
#include "device/cuda.h"
#include "worker/precompile.h"
#include "worker/precompile_choices.h"
#include "worker/precompile_list.h"

struct ahead {
    const struct options *options;
    const struct chip *chip; /* the first of its architecture */
    struct run_config made;
    struct device described; /* has only info: nothing here touches a device */
    char kernels[PATH_MAX], directory[PATH_MAX];
    struct module_set *sets[CONFIG_NAMES_MAX];
    const char *families[CONFIG_NAMES_MAX];
    size_t n_sets;
    struct tuned_tables tuned;
    enum cudal2_dtype dtype;
    int nvrtc[2];
};

/* ---- what a run would be told ---- */

static int open_sets(struct ahead *a, struct error *err)
{
    char *const *names = a->made.config.candidates;
    for (size_t i = 0; names[i]; i++) {
        if (text_ends_with(names[i], ".so"))
            continue; /* a plugin comes compiled */
        if (module_set_open(names[i], a->options->kernels, &a->described, &a->sets[a->n_sets], err))
            return err->code;
        a->families[a->n_sets] = module_set_name(a->sets[a->n_sets]);
        a->n_sets++;
    }
    return 0;
}

static int open_tables(struct ahead *a, struct error *err)
{
    const char *const *files = a->options->tuned;
    bool none = files[0] && strcmp(files[0], "none") == 0;
    const struct tuned_request request = {.files = none ? NULL : files,
                                          .directory = a->kernels,
                                          .none = none,
                                          .device = &a->described.info,
                                          .dtype = a->dtype,
                                          .accumulates = config_accumulates(&a->made.config, a->dtype),
                                          .modes = a->made.config.modes};
    return tuned_tables_open(&request, &a->tuned, err);
}

/* The directory that a run finds by itself, unless another is named. From here on it is the one that is looked into. */
static int open_directory(struct ahead *a, struct error *err)
{
    char found[PATH_MAX];
    const char *own = getenv(CUBINS_VARIABLE),
               *named = options_given(a->options, OPTION_OUTPUT) ? a->options->output : own;
    bool usual = !named || !named[0] || (named == own && strcmp(own, CUBINS_NONE) == 0);
    int n = snprintf(a->directory, sizeof a->directory, "%s%s", usual ? a->kernels : named, usual ? "/../cubins" : "");
    if (n < 0 || (size_t)n >= sizeof a->directory)
        return error_set(err, EXIT_CODE_CANTCREATE, "compile: the path of the directory is too long");
    if (file_make_directories(a->directory, err))
        return err->code;
    if (realpath(a->directory, found)) /* without "kernels/.." */
        memcpy(a->directory, found, sizeof found);
    if (setenv(CUBINS_VARIABLE, a->directory, 1) != 0)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    return cubins_find(NULL, found, sizeof found)
               ? 0
               : error_set(err, EXIT_CODE_USAGE,
                           "compile: %s is in the cache, where workers write: choose another with --output", found);
}

/* ---- compiling ---- */

/* The tables' kernels, and the set's entries where nobody chooses. */
static void compile_listed(const struct ahead *a, const struct precompile_list_request *question,
                           struct precompile_request *request)
{
    struct precompile_list wanted;
    precompile_list_collect(question, &wanted);
    request->keys_only = !wanted.own;
    request->keys = wanted.keys;
    request->n_keys = wanted.n;
    for (size_t i = 0; i < a->n_sets; i++)
        module_set_precompile(a->sets[i], request);
    precompile_list_free(&wanted);
}

/* On each usual GPU of the architecture: which kernels race depends on its L2 and memory. */
static void collect_chosen(struct ahead *a, const struct precompile_list_request *question,
                           const struct module_set *set, struct precompile_choices *out)
{
    for (const struct chip *chip = a->chip; chip; chip = chip_next(chip)) {
        a->described.info = chip_info(chip); /* the set's device too: its plans ask for the L2 */
        struct ranker *ranker = ranker_open(&a->described.info, precompile_threads());
        const struct precompile_choices_request request = {question, set, &a->described, ranker};
        if (ranker && a->made.config.choice == CHOICE_PORTFOLIO)
            ranker_keep_portfolio(ranker);
        if (ranker)
            precompile_choices_collect(&request, out);
        ranker_close(ranker);
    }
    a->described.info = chip_info(a->chip);
}

/* What would race for problems that no table has, which a run compiles in their cells. */
static void compile_chosen(struct ahead *a, const struct precompile_list_request *question,
                           struct precompile_request *request)
{
    for (size_t i = 0; i < a->n_sets; i++) {
        struct precompile_choices chosen = {0};
        collect_chosen(a, question, a->sets[i], &chosen);
        request->keys_only = true;
        request->keys = chosen.keys;
        request->n_keys = chosen.n;
        module_set_precompile(a->sets[i], request);
        precompile_choices_free(&chosen);
    }
}

/* All of the sets' portfolios and own entries, whatever the problems: who chooses among them may name any. */
static void compile_portfolios(const struct ahead *a, const struct precompile_request *types)
{
    struct precompile_request request = *types;
    struct precompile_key keys[PORTFOLIO_MAX];
    for (size_t i = 0; i < a->n_sets; i++) {
        struct portfolio *p = portfolio_open(a->sets[i]);
        for (int accumulate = 0; p && accumulate < 2; accumulate++) {
            if (!(request.accumulates & CUDAL2_BIT(accumulate)))
                continue;
            request.keys_only = false;
            request.keys = keys;
            request.n_keys = portfolio_keys(p, (enum cudal2_accumulate)accumulate, keys, PORTFOLIO_MAX);
            module_set_precompile(a->sets[i], &request);
        }
        portfolio_close(p);
    }
}

static void compile_sets(struct ahead *a, const struct compile_watch *watch)
{
    const struct config *config = &a->made.config;
    const struct precompile_list_request question = {.config = config,
                                                     .families = a->families,
                                                     .n_families = a->n_sets,
                                                     .dtype = a->dtype,
                                                     .accumulates = config_accumulates(config, a->dtype),
                                                     .tuned = &a->tuned,
                                                     .chooses = choice_races(config->choice)};
    struct precompile_request request = {.dtype = a->dtype,
                                         .accumulates = question.accumulates,
                                         .layouts = config->layouts,
                                         .threads = precompile_threads(),
                                         .watch = watch};
    compile_listed(a, &question, &request);
    compile_chosen(a, &question, &request);
    if (config->choice == CHOICE_PORTFOLIO)
        compile_portfolios(a, &request);
}

static int compile_all(struct ahead *a, struct error *err)
{
    struct compile_progress *progress = compile_progress_open(a->directory, a->options->quiet, err);
    if (!progress)
        return err->code;
    const struct compile_watch watch = compile_progress_watch(progress);
    const struct cuda_own own = {.kernel_directory = a->kernels,
                                 .cc = a->described.info.cc,
                                 .dtype = a->dtype,
                                 .threads = precompile_threads(),
                                 .all = true,
                                 .watch = &watch};
    compile_sets(a, &watch);
    cuda_compile_own(&own);
    return compile_progress_close(progress, err);
}

static int prepare(struct ahead *a, struct error *err)
{
    int code = kernel_directory_find(a->options->kernels, a->kernels, sizeof a->kernels, err);
    if (!code)
        code = nvrtc_version(&a->nvrtc[0], &a->nvrtc[1], err);
    if (!code && !nvrtc_supports(a->described.info.cc))
        code = error_set(err, EXIT_CODE_UNAVAILABLE, "compile: NVRTC %d.%d cannot compile for sm_%d", a->nvrtc[0],
                         a->nvrtc[1], a->described.info.cc);
    if (!code)
        code = open_sets(a, err);
    if (!code)
        code = open_tables(a, err);
    return code ? code : open_directory(a, err);
}

int command_compile(const struct options *options, struct error *err)
{
    struct ahead *a = calloc(1, sizeof *a);
    int code = a ? chip_find(options->arch, &a->chip, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    if (code)
        goto out;
    a->options = options;
    a->described.info = chip_info(a->chip);
    code = run_config_described(options, &a->made, err);
    if (code)
        goto out;
    a->dtype = config_dtype(&a->made.config, true);
    code = prepare(a, err);
    if (!code)
        code = compile_all(a, err);
    if (!code && !options->quiet)
        printf("made by NVRTC %d.%d for sm_%d%s: a run with another version compiles its own\n", a->nvrtc[0],
               a->nvrtc[1], a->chip->cc, a->chip->cc >= 90 ? "a" : "");
    tuned_tables_close(&a->tuned);
    for (size_t i = 0; i < a->n_sets; i++)
        module_set_close(a->sets[i]);
    run_config_close(&a->made);
out:
    free(a);
    return code;
}
