/*
 * cmd_verify.c - the command `verify`: contenders checked and nothing timed, in a worker or in this process, with
 * `--memcheck` under NVIDIA's tools. verify_form.c chooses the exit code. Relies on run/ and worker/cell.h. Called by
 * main.c.
 */
#include "cli/cmd_verify.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/compile_only.h"
#include "cli/here.h"
#include "cli/name_check.h"
#include "cli/one_launch.h"
#include "cli/run_config.h"
#include "cli/verify_counters.h"
#include "record/journal.h"
#include "report/roofline.h"
#include "run/counters.h"
#include "run/plan.h"
#include "worker/cell.h"
#include "worker/environment.h"

#define DEFAULT_SEED 1u /* of --in-process, which has no run to draw one */

/* One of each kind: one tile, uneven tiles, long K (where half and float accumulation part), wide, ragged. What a
 * kernel does not take it says. */
static const char default_config[] =
    "{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"verify\",\"modes\":[\"offline\"],"
    "\"dtype\":\"native\",\"accumulate\":[\"f16\",\"f32\"],\"baselines\":[\"torch.matmul\",\"cublas\",\"cublaslt-"
    "heuristic\",\"openblas\"],\"optional\":[\"torch.matmul\",\"cublas\",\"cublaslt-heuristic\",\"openblas\"],"
    "\"shapes\":[{\"m\":64,\"n\":64,\"k\":64},{\"m\":256,\"n\":384,\"k\":128},{\"m\":256,\"n\":256,\"k\":4096},"
    "{\"m\":64,\"n\":1536,\"k\":512},{\"m\":200,\"n\":136,\"k\":264},{\"m\":1024,\"n\":1024,\"k\":1024}]}";

/* ---- what to check ---- */

/* "none" is a list of no baselines: for sanitizers, and for a look at a kernel alone. A worker's config has some. */
static int drop_baselines(const struct options *options, struct config *config, struct error *err)
{
    if (options->baselines == NULL || strcmp(options->baselines, "none") != 0)
        return 0;
    config_drop_names(config->baselines);
    return options->in_process ? 0 : error_set(err, EXIT_CODE_USAGE, "--baselines none goes with --in-process only");
}

static int add_kernels(const struct options *options, struct config *config, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < options->n_operands && code == 0; i++)
        code = config_add_name(config->candidates, options->operands[i], err);
    if (code == EXIT_CODE_DATA) /* the same complaint, but about the command line */
        code = err->code = EXIT_CODE_USAGE;
    return code != 0 ? error_wrap(err, "verify") : name_check_operands(options, err);
}

/* The kernels named are the only candidates; everything that is for timing is off. */
static int fill_config(const struct options *options, struct run_config *made, struct error *err)
{
    struct config *config = &made->config;
    run_config_devices(options->device, made);
    config_drop_names(config->candidates);
    config->candidates_given = true;
    config->optional_candidates = 0;
    config->modes = CUDAL2_BIT(MODE_OFFLINE);
    config->verify = true;
    config->verify_only = options->roofline == NULL;
    config->verify_cache = config->aa = config->time_anyway = false;
    int code = shapes_choose(options, config, err);
    if (code == 0)
        code = add_kernels(options, config, err);
    if (code == 0)
        code = options_apply(options, config, err);
    if (code == 0)
        code = config_settle(config, made->devices.on_cuda, err);
    return code == 0 ? drop_baselines(options, config, err) : code;
}

static int make_config(const struct options *options, struct run_config *out, struct error *err)
{
    int code = 0;
    if (options->config != NULL)
        code = run_config_read(options, false, out, err);
    else
        code = config_parse(default_config, strlen(default_config), "verify's own config", &out->config, err);
    if (code != 0)
        return code;
    code = fill_config(options, out, err);
    if (code != 0)
        run_config_close(out);
    return code;
}

/* ---- in a worker ---- */

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct findings *f = context;
    struct cell_record *record = NULL;
    if (strcmp(kind, "env") == 0) {
        const cJSON *name = json_member(json_member(data, "device"), "name").node;
        snprintf(f->device, sizeof f->device, "%s", cJSON_IsString(name) ? name->valuestring : "");
        cJSON_Delete(f->origins);
        f->origins = cJSON_Duplicate(json_member(data, "named").node, true);
    }
    if (strcmp(kind, "cell") != 0)
        return 0;
    if (record_from_json(data, &record, err) != 0)
        return err->code;
    bool applied = activity_book_apply(&f->book, record);
    if (applied)
        findings_add(f, record);
    record_free(record);
    return applied ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the verdicts");
}

static int check_in_worker(const struct options *options, const struct run_spec *spec, struct findings *f,
                           struct error *err)
{
    struct options quiet = *options;
    quiet.quiet = true;
    int code = run_with_progress(options->quiet || options->format != 0 ? &quiet : options, spec, NULL, err);
    /* These are verdicts on kernels, which the journal tells one by one. */
    if (code != 0 && code != EXIT_CODE_VERIFICATION && code != EXIT_CODE_INCOMPARABLE)
        return code;
    code = activity_book_read(spec->journal, &f->book, err);
    return code != 0 ? code : journal_read(spec->journal, visit, f, NULL, err);
}

/* ---- in this process ---- */

static int check_cells(const struct config *config, const struct cell_context *context, struct findings *f,
                       struct error *err)
{
    struct plan plan = {0};
    bool on_cuda = context->device->info.device_bit == CUDAL2_ON_CUDA;
    struct cell_request *request = calloc(1, sizeof *request);
    if (request == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a request");
    uint64_t seed = config->seed_given ? config->seed : DEFAULT_SEED;
    int code = plan_build(config, on_cuda, seed, &plan, err);
    for (size_t i = 0; code == 0 && i < plan.n_cells; i++) {
        struct cell_record *record = NULL;
        request->problem = plan.cells[i].problem;
        request->mode = plan.cells[i].mode;
        request->seed = plan.cells[i].seed;
        code = cell_conduct(context, request, &record, err);
        if (code == 0)
            findings_add(f, record);
        record_free(record);
    }
    plan_free(&plan);
    free(request);
    return code;
}

static int check_here(const struct options *options, const struct config *config, struct findings *f, struct error *err)
{
    struct here here;
    int code = here_open(options, config, &here, err);
    if (code == 0) {
        const struct cell_context context = {
            .config = config, .device = here.device, .registry = here.registry, .identity = ""};
        snprintf(f->device, sizeof f->device, "%s", here.device->info.name);
        f->origins = environment_named(here.registry);
        code = check_cells(config, &context, f, err);
    }
    here_close(&here);
    return code;
}

/* ---- under a sanitizer ---- */

#define SANITIZED_ARGUMENTS 150

struct argument_list {
    const char *words[SANITIZED_ARGUMENTS + 1];
    size_t n;
};

static void add(struct argument_list *list, const char *word)
{
    if (list->n < SANITIZED_ARGUMENTS)
        list->words[list->n++] = word;
}

static void add_option(struct argument_list *list, const char *name, const char *value)
{
    if (value != NULL)
        add(list, name);
    if (value != NULL)
        add(list, value);
}

/* The kernels alone: what the sanitizer finds is theirs, and libraries under it take minutes. */
static void sanitized_command(const struct options *options, struct argument_list *list)
{
    add(list, "verify");
    for (size_t i = 0; i < options->n_operands; i++)
        add(list, options->operands[i]);
    add(list, "--in-process");
    add(list, "--quiet");
    add_option(list, "--baselines", "none");
    add_option(list, "--config", options->config);
    add_option(list, "--device", options->device);
    add_option(list, "--plugins", options->plugins);
    add_option(list, "--kernels", options->kernels);
    if (options_given(options, OPTION_ACCUMULATE))
        add_option(list, "--accumulate", accumulate_names[options->accumulate]);
    for (size_t i = 0; options->shapes[i] != NULL; i++)
        add_option(list, "--shape", options->shapes[i]);
    add_option(list, "--where", options->where);
}

static int sanitize(const struct options *options, const char *directory, struct findings *f, struct error *err)
{
    static const char *const tools[] = {"memcheck", "racecheck"};
    const bool wanted[] = {options->memcheck, options->racecheck};
    struct argument_list list = {.n = 0};
    sanitized_command(options, &list);
    for (size_t i = 0; i < 2; i++) {
        struct sanitize_result result;
        const struct sanitize_request request = {.tool = tools[i],
                                                 .arguments = list.words,
                                                 .directory = directory,
                                                 .seconds = options->timeout_seconds > 0 ? options->timeout_seconds
                                                                                         : SANITIZE_SECONDS};
        if (!wanted[i])
            continue;
        if (sanitize_run(&request, &result, err) != 0)
            return err->code;
        findings_add_sanitizer(f, tools[i], &result);
    }
    return 0;
}

/* ---- the command ---- */

static int print(const struct options *options, const struct findings *f, struct error *err)
{
    bool json = strcmp(format_choices[options->format], "json") == 0;
    char *text = json ? findings_json(f) : findings_text(f);
    if (text == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the verdicts");
    printf("%s%s", text, json ? "\n" : "");
    free(text);
    return 0;
}

/* What runs under a sanitizer or ncu is another process of this program, which reads the config again. */
static int check_input(const struct options *options, struct error *err)
{
    bool twice = (options->memcheck || options->racecheck || options->counters != NULL) && options->config;
    if (!twice || strcmp(options->config, CONFIG_INPUT) != 0)
        return options->counters != NULL ? counters_check(options->counters, err) : 0;
    return error_set(err, EXIT_CODE_USAGE,
                     "verify: --memcheck, --racecheck and --counters need --config FILE: standard input is read once");
}

/* What only --compile-only reads. */
static int check_compile_only(const struct options *options, struct error *err)
{
    bool alone = options_given(options, OPTION_ARCH) || options_given(options, OPTION_VARIANTS);
    return !alone || options->compile_only
               ? 0
               : error_set(err, EXIT_CODE_USAGE, "verify: --arch and --variants go with --compile-only");
}

/* What is launched for a profiler is launched in the process that it has started. */
static int check_one_launch(const struct options *options, struct error *err)
{
    return options->one_launch == NULL || (options->in_process && options->counters == NULL)
               ? 0
               : error_set(
                     err, EXIT_CODE_USAGE,
                     "verify: --one-launch goes with --in-process and without --counters, which starts it itself");
}

/* What would come out only after all is measured. */
static int check_roofline(const struct options *options, struct error *err)
{
    char directory[PATH_MAX];
    if (options->roofline == NULL)
        return 0;
    if (options->in_process || options->compile_only)
        return error_set(err, EXIT_CODE_USAGE,
                         "verify: --roofline times in a worker: without --in-process and "
                         "--compile-only");
    const char *slash = strrchr(options->roofline, '/');
    snprintf(directory, sizeof directory, "%.*s", slash != NULL ? (int)(slash - options->roofline) + 1 : 1,
             slash != NULL ? options->roofline : ".");
    if (access(directory, W_OK) == 0)
        return 0;
    return error_set(err, EXIT_CODE_CANTCREATE, "--roofline %s: %s cannot be written to", options->roofline, directory);
}

static int check_format(const struct options *options, struct error *err)
{
    const char *name = format_choices[options->format];
    if (strcmp(name, "text") == 0 || strcmp(name, "json") == 0)
        return 0;
    return error_set(err, EXIT_CODE_USAGE, "verify: there is no format \"%s\" (expected text or json)", name);
}

/* A directory of verify's own for what a run leaves. */
struct desk {
    char directory[PATH_MAX], output[PATH_MAX + 16], journal[PATH_MAX + 32];
};

static int desk_open(struct desk *desk, struct error *err)
{
    const char *base = getenv("TMPDIR");
    snprintf(desk->directory, sizeof desk->directory, "%.4000s/cudal2-verify-XXXXXX",
             base != NULL && base[0] ? base : "/tmp");
    if (mkdtemp(desk->directory) == NULL)
        return error_set(err, EXIT_CODE_CANTCREATE, "verify: %s cannot be created", desk->directory);
    snprintf(desk->output, sizeof desk->output, "%s/verify.json", desk->directory);
    snprintf(desk->journal, sizeof desk->journal, "%s/verify.journal.jsonl", desk->directory);
    return 0;
}

static void desk_clear(const struct desk *desk)
{
    unlink(desk->output);
    unlink(desk->journal);
    rmdir(desk->directory);
}

static int check_by_run(const struct options *options, const struct run_config *made, const struct desk *desk,
                        struct findings *f, struct error *err)
{
    struct run_spec *spec = NULL;
    if (spec_make(options, made, desk->output, &spec, err) != 0)
        return err->code;
    spec->no_tuned = options->roofline == NULL;
    spec->temporary = true;
    int code = check_in_worker(options, spec, f, err);
    free(spec);
    return code;
}

static int check_at(const struct desk *desk, const struct options *options, const struct run_config *made,
                    struct findings *f, struct error *err)
{
    run_note_accumulate(options, made);
    int code =
        options->in_process ? check_here(options, &made->config, f, err) : check_by_run(options, made, desk, f, err);
    findings_close(f, &made->config);
    if (code == 0 && options->roofline != NULL && roofline_write(desk->journal, options->roofline, err) != 0)
        f->undrawn = *err;
    if (code == 0 && options->counters != NULL)
        code = verify_counters(options, &made->devices, f, err);
    return code != 0 ? code : sanitize(options, desk->directory, f, err);
}

/* Everything that needs a config. */
static int verify(const struct options *options, const struct run_config *made, struct findings *f, struct error *err)
{
    struct desk *desk = calloc(1, sizeof *desk);
    if (desk == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a directory's name");
    int code = desk_open(desk, err);
    if (code == 0) {
        code = check_at(desk, options, made, f, err);
        desk_clear(desk);
    }
    free(desk);
    if (code == 0)
        code = print(options, f, err);
    if (code == 0)
        code = findings_outcome(f, err);
    if (code == 0 && f->undrawn.code != 0) {
        *err = f->undrawn;
        code = err->code;
    }
    return code;
}

int command_verify(const struct options *options, struct error *err)
{
    struct run_config made = {.path = ""};
    struct findings findings;
    int code = check_format(options, err);
    if (code == 0)
        code = check_compile_only(options, err);
    if (code == 0)
        code = check_roofline(options, err);
    if (code == 0 && options->compile_only)
        return compile_only(options, err);
    if (code == 0)
        code = check_one_launch(options, err);
    if (code == 0)
        code = check_input(options, err);
    if (code == 0)
        code = make_config(options, &made, err);
    if (code != 0)
        return code;
    if (options->one_launch != NULL) {
        code = one_launch(options, &made.config, err);
        run_config_close(&made);
        return code;
    }
    findings_open(&findings);
    code = verify(options, &made, &findings, err);
    findings_free(&findings);
    run_config_close(&made);
    return code;
}
