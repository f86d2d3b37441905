/*
 * compile_only.c - `verify --compile-only` from the options to the exit code. Relies on contender/inspect.h; the limits
 * of a device are checked in contender/fit.c. Called by cmd_verify.c.
 */
#include "cli/compile_only.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/name_check.h"
#include "cli/run_config.h"
#include "compile/nvrtc.h"

#define DEFAULT_VARIANTS 64u
#define MOST_VARIANTS 65536u

/* Sizes of all kinds, so that a kernel for some of them has a launch to look at. */
static const char default_shapes[] =
    "{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"compile\",\"shapes\":[{\"m\":64,\"n\":64,"
    "\"k\":64},{\"m\":200,\"n\":136,\"k\":264},{\"m\":256,\"n\":384,\"k\":128},{\"m\":256,\"n\":256,\"k\":8192},"
    "{\"m\":16,\"n\":4096,\"k\":4096},{\"m\":1,\"n\":4096,\"k\":4096},{\"m\":4096,\"n\":4096,\"k\":4096}]}";

/* What else `verify` takes says something of a GPU, of a run, or of another contender. */
static int check_options(const struct options *options, struct error *err)
{
    static const enum option_id taken[] = {OPTION_COMPILE_ONLY, OPTION_ARCH,       OPTION_VARIANTS, OPTION_CONFIG,
                                           OPTION_SHAPE,        OPTION_WHERE,      OPTION_LIMIT,    OPTION_KERNELS,
                                           OPTION_FORMAT,       OPTION_ACCUMULATE, OPTION_QUIET,    OPTION_NO_COLOR};
    uint64_t allowed = 0;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        allowed |= (uint64_t)1 << taken[i];
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_given(options, (enum option_id)id) && !((allowed >> id) & 1u))
            return error_set(err, EXIT_CODE_USAGE, "verify: --%s does not go with --compile-only, which runs nothing",
                             option_table[id].name);
    for (size_t i = 0; i < options->n_operands; i++) {
        size_t length = strlen(options->operands[i]);
        if (length > 3 && strcmp(options->operands[i] + length - 3, ".so") == 0)
            return error_set(err, EXIT_CODE_USAGE,
                             "verify: %.200s: --compile-only takes manifests and kernel sets; a plugin is compiled",
                             options->operands[i]);
    }
    if (options_given(options, OPTION_VARIANTS) && (options->variants < 1 || options->variants > MOST_VARIANTS))
        return error_set(err, EXIT_CODE_USAGE, "--variants: expected a number within 1..%u", MOST_VARIANTS);
    return 0;
}

static int read_shapes(const struct options *options, struct run_config *out, struct error *err)
{
    int code = options->config
                   ? run_config_read(options, false, out, err)
                   : config_parse(default_shapes, strlen(default_shapes), "verify's own shapes", &out->config, err);
    if (code)
        return code;
    code = shapes_choose(options, &out->config, err);
    if (code)
        run_config_close(out);
    return code;
}

static int inspect_operand(const char *name, const struct options *options, struct inspect_request *request,
                           struct compiled_kernel *out, struct error *err)
{
    struct device described = {.info = chip_info(request->chip)};
    struct module_set *set = NULL;
    if (module_set_open(name, options->kernels, &described, &set, err))
        return err->code;
    snprintf(out->name, sizeof out->name, "%s", module_set_name(set));
    int code = inspect_set(set, request, &out->found, err);
    module_set_close(set);
    return code;
}

static int inspect_all(const struct options *options, const struct config *config, struct compiled *out,
                       struct error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct cudal2_problem *problems = calloc(config->n_shapes + 1, sizeof *problems);
    bool any_dtype = !options->config || config->dtype_native;
    struct inspect_request request = {.chip = out->chip,
                                      .dtypes = any_dtype ? UINT32_MAX : CUDAL2_BIT(config->dtype),
                                      .layouts = config->layouts,
                                      .accumulates = options_given(options, OPTION_ACCUMULATE)
                                                         ? CUDAL2_BIT(options->accumulate)
                                                         : CUDAL2_BIT(CUDAL2_ACC_F16) | CUDAL2_BIT(CUDAL2_ACC_F32),
                                      .problems = problems,
                                      .n_problems = config->n_shapes,
                                      .most = options->variants ? (size_t)options->variants : DEFAULT_VARIANTS,
                                      .threads = cpus < 1 ? 1 : (unsigned)cpus};
    int code = problems ? 0 : error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu shapes", config->n_shapes);
    for (size_t i = 0; i < config->n_shapes && !code; i++)
        problems[i] =
            (struct cudal2_problem){.m = config->shapes[i].m, .n = config->shapes[i].n, .k = config->shapes[i].k};
    for (size_t i = 0; i < options->n_operands && !code; i++)
        code = inspect_operand(options->operands[i], options, &request, &out->kernels[out->n++], err);
    free(problems);
    return code;
}

static int print(const struct options *options, const struct compiled *c, struct error *err)
{
    bool json = strcmp(format_choices[options->format], "json") == 0;
    char *text = json ? compiled_json(c) : compiled_text(c);
    if (!text)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a table");
    printf("%s%s", text, json ? "\n" : "");
    free(text);
    return compiled_outcome(c, err);
}

int compile_only(const struct options *options, struct error *err)
{
    struct compiled *c = calloc(1, sizeof *c);
    struct run_config made = {.path = ""};
    struct error ignored;
    bool open = false;
    int code = c ? check_options(options, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for verdicts");
    if (!code)
        code = chip_find(options->arch, &c->chip, err);
    if (!code)
        (void)nvrtc_version(&c->nvrtc[0], &c->nvrtc[1], &ignored); /* binaries need none */
    if (!code)
        code = name_check_operands(options, err);
    if (!code)
        code = read_shapes(options, &made, err);
    if (!code) {
        open = true;
        c->n_shapes = made.config.n_shapes;
        code = inspect_all(options, &made.config, c, err);
    }
    if (!code)
        code = print(options, c, err);
    for (size_t i = 0; c && i < c->n; i++)
        inspection_free(&c->kernels[i].found);
    if (open)
        run_config_close(&made);
    free(c);
    return code;
}
