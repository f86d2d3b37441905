/*
 * cmd_tune.c - the command `tune`: a run with the tuner as its director, and where its table goes. Relies on
 * tune/tune.h. Called by main.c.
 */
#include "cli/commands.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "choice/prune.h"
#include "cli/run_config.h"
#include "cli/shard.h"
#include "cli/terminal.h"
#include "device/chips.h"
#include "tune/preview.h"

#define NAME_SIZE 256 /* of a default output: a config's name and a few words */

/* Where the journal is when --output does not say: "cudal2-tune-<config>-f16-offline.json" in the current directory. */
static void default_output(const struct config *config, char out[NAME_SIZE])
{
    bool f32 = (config->accumulates & CUDAL2_BIT(CUDAL2_ACC_F32)) != 0;
    bool server = (config->modes & CUDAL2_BIT(MODE_SERVER)) != 0;
    snprintf(out, NAME_SIZE, "cudal2-tune-%s-%s-%s.json", config->name[0] ? config->name : "run",
             accumulate_names[f32 ? CUDAL2_ACC_F32 : CUDAL2_ACC_F16], mode_names[server ? MODE_SERVER : MODE_OFFLINE]);
    run_clean_name(out);
}

static void print_note(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static void print_counts(const struct merge_counts *c)
{
    printf(" (%zu replaced, %zu added, ", c->replaced, c->added);
    if (c->stayed > 0)
        printf("%zu stayed, ", c->stayed);
    printf("%zu kept)", c->kept);
}

static void print_summary(const struct tuner *tuner)
{
    const struct table_summary *s = tune_summary(tuner);
    if (s->entries == 0)
        return;
    char *name = plain_copy(s->name);
    printf("%s: %zu entries from %zu problems", name ? name : "", s->entries, s->cells);
    free(name);
    if (s->merged)
        print_counts(&s->counts);
    if (s->without > 0)
        printf(", %zu without a winner", s->without);
    if (s->rejected > 0)
        printf(", %zu variants rejected", s->rejected);
    if (isfinite(s->geomean))
        printf("; %.3fx of the fastest baseline (geometric mean), ahead in %zu", s->geomean, s->ahead);
    printf("\n");
    if (tune_table_path(tuner)[0])
        terminal_say(stdout, "table: ", tune_table_path(tuner));
}

static int search(const struct options *options, const struct tune_request *request, const struct run_spec *spec,
                  struct error *err)
{
    struct tuner *tuner = NULL;
    int code = tune_open(request, &tuner, err);
    if (!code) {
        const struct run_hooks hooks = {.director = tune_director(tuner)};
        code = run_with_progress(options, spec, &hooks, err);
        print_summary(tuner);
    }
    tune_close(tuner);
    return code;
}

/* ---- --dry-run ---- */

static int tell(const struct tune_request *request, const struct chip *chip, struct error *err)
{
    struct tuner *tuner = NULL;
    const struct device_info device = chip_info(chip);
    char *text = NULL;
    int code = tune_open(request, &tuner, err);
    if (!code)
        code = tune_prepare(tuner, &device, err);
    if (!code)
        code = preview_text(tuner, request->config, &device, &text, err);
    if (!code)
        fputs(text, stdout);
    free(text);
    tune_close(tuner);
    return code;
}

static int read_config(const struct options *options, struct run_config *out, struct error *err)
{
    if (run_config_described(options, out, err))
        return err->code;
    int code = tune_adjust(&out->config, err);
    if (code)
        run_config_close(out);
    return code;
}

static int dry_run(const struct options *options, struct error *err)
{
    struct run_config made;
    const struct chip *chip;
    if (strcmp(options->device, "cpu") == 0)
        return error_set(err, EXIT_CODE_USAGE, "tune: --dry-run tells of a GPU (--arch), not of --device cpu");
    if (chip_find(options->arch, &chip, err) || read_config(options, &made, err))
        return err->code;
    const struct tune_request request = {.config = &made.config,
                                         .kernel_directory = options->kernels,
                                         .breadth = (size_t)options->breadth,
                                         .explore = options->explore,
                                         .output = options->output,
                                         .update = options->update,
                                         .dry = true,
                                         .note = options->quiet ? NULL : print_note};
    int code = tell(&request, chip, err);
    run_config_close(&made);
    return code;
}

static int make_spec(const struct options *options, const struct run_config *made, const struct shard *shard,
                     struct run_spec **out, struct error *err)
{
    char own[NAME_SIZE];
    default_output(&made->config, own);
    if (spec_make(options, made, options_given(options, OPTION_OUTPUT) ? options->output : own, out, err) ||
        shard_apply(shard, *out, err))
        return err->code;
    (*out)->search = (*out)->no_tuned = true;
    (*out)->extends = options->update;
    (*out)->budget_seconds = options->budget_seconds;
    return 0;
}

static int tune(const struct options *options, struct run_config *made, const struct shard *shard, struct error *err)
{
    struct run_spec *spec = NULL;
    if (make_spec(options, made, shard, &spec, err)) {
        free(spec);
        return err->code;
    }
    const struct tune_request request = {
        .config = &made->config,
        .kernel_directory = options->kernels,
        .breadth = (size_t)options->breadth,
        .explore = options->explore,
        .output = options->output && shard->count ? spec->output : options->output, /* no table of all in a shard */
        .update = options->update,
        .stop = run_stop_flag(),
        .note = options->quiet ? NULL : print_note,
    };
    run_note_accumulate(options, made);
    int code = search(options, &request, spec, err);
    free(spec);
    return code;
}

int command_tune(const struct options *options, struct error *err)
{
    struct run_config made;
    struct shard shard;
    if (options->explore && !options_given(options, OPTION_OUTPUT))
        return error_set(err, EXIT_CODE_USAGE,
                         "tune: --explore gathers data and needs --output FILE: no kernel is to be chosen by it");
    if (options->breadth > PRUNE_MAX)
        return error_set(err, EXIT_CODE_USAGE, "tune: --breadth: a race takes %d configurations at most, not %" PRIu64,
                         PRUNE_MAX, options->breadth);
    if (options_given(options, OPTION_ARCH) && !options->dry_run)
        return error_set(err, EXIT_CODE_USAGE, "tune: --arch goes with --dry-run");
    if (options->dry_run)
        return dry_run(options, err);
    if (shard_open(options, &shard, err))
        return err->code;
    if (options->update && shard.count)
        return error_set(err, EXIT_CODE_USAGE,
                         "tune: a shard has no table to --update: merge the shards, then --update with --resume and "
                         "--shard none");
    if (run_config_open(options, &made, err))
        return err->code;
    int code = tune_adjust(&made.config, err);
    if (!code)
        code = tune(options, &made, &shard, err);
    run_config_close(&made);
    return code;
}
