/*
 * inspect.c - what inspect.h says: compiles the list of variants by several threads, then holds each cubin against its
 * manifest and the architecture's limits. Relies on inspect_list.c, fit.h and compile/cubin.h. Called by
 * cli/compile_only.c.
 */
#include "contender/inspect_list.h"

#include "compile/nvrtc.h"
#include "compile/sass.h"
#include "contender/fit.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64u

static void fail(struct inspected *v, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The first fault stands. */
static void fail(struct inspected *v, enum verdict verdict, const char *format, ...)
{
    va_list args;
    if (v->verdict != VERDICT_OK)
        return;
    v->verdict = verdict;
    va_start(args, format);
    vsnprintf(v->why, sizeof v->why, format, args);
    va_end(args);
}

static void take_fault(const struct fit *fit, struct inspected *v)
{
    if (fit->verdict != VERDICT_OK)
        fail(v, fit->verdict, "%s", fit->why);
}

/* ---- compiling ---- */

struct compilation {
    const struct module_set *set;
    const struct inspect_list *list;
    struct inspected *items;
    atomic_size_t next;
};

/* Of a source that does not compile: what the compiler said, with line and column. */
static void keep_log(const struct compile_result *result, struct inspected *v)
{
    if (result->log && result->log[0])
        v->log = strndup(result->log, INSPECT_LOG_BYTES);
}

/* "wrong_arch: ...": the word before the colon is the verdict. */
static void fail_compile(struct inspected *v, const char *why)
{
    static const enum verdict verdicts[] = {VERDICT_COMPILE_ERROR, VERDICT_LOAD_ERROR, VERDICT_WRONG_ARCH,
                                            VERDICT_WRONG_ARGUMENTS};
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        size_t length = strlen(verdict_name(verdicts[i]));
        if (strncmp(why, verdict_name(verdicts[i]), length) == 0 && why[length] == ':')
            fail(v, verdicts[i], "%s", why + length + 2);
    }
    fail(v, VERDICT_COMPILE_ERROR, "%s", why);
}

static void look_at_instructions(const struct compile_result *result, struct inspected *v)
{
    struct cubin_arch arch;
    struct error ignored;
    if (cubin_arch_of(result->cubin, result->length, &arch, &ignored) != 0)
        return;
    mix_count(v->code.code, v->code.code_bytes, arch.cc, &v->mix);
    if (v->instructions[0] == '\0')
        sass_instructions(v->code.code, v->code.code_bytes, arch.cc, v->instructions, sizeof v->instructions);
}

static void read_code(const struct compile_result *result, const char *entry, struct inspected *v)
{
    struct error err;
    int rc = cubin_read(result->cubin, result->length, entry, &v->code, &err);
    v->usage = fit_usage(result->log, entry, &v->code);
    compile_instructions_of(result->log, v->instructions, sizeof v->instructions);
    if (rc == 0)
        look_at_instructions(result, v);
    v->code.code = NULL; /* the bytes go */
    if (rc != 0)
        fail(v, VERDICT_WRONG_ENTRY, "%.250s", err.text);
}

static void compile_item(const struct compilation *c, size_t at)
{
    struct inspected *v = &c->items[at];
    struct compile_result result = {0};
    char why[CUDAL2_WHY] = "";
    if (set_compile_identity(c->set, &c->list->jobs[at], &result, why) != CUDAL2_OK) {
        fail_compile(v, why);
        keep_log(&result, v);
    } else {
        read_code(&result, c->set->kernels[c->list->jobs[at].kernel]->entry, v);
    }
    compile_result_free(&result);
}

static void *work(void *context)
{
    struct compilation *c = context;
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->list->n;)
        if (c->list->first[i] == i)
            compile_item(c, i);
    return NULL;
}

/* The caller is one of the threads. */
static void compile_all(struct compilation *c, unsigned threads)
{
    pthread_t started[MAX_THREADS];
    unsigned n = 0;
    while (n < MAX_THREADS && n + 1 < threads && n + 1 < c->list->n && !pthread_create(&started[n], NULL, work, c))
        n++;
    work(c);
    for (unsigned i = 0; i < n; i++)
        pthread_join(started[i], NULL);
}

/* Parameters of the launch alone share their code. */
static void share_code(const struct inspect_list *list, struct inspected *items)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct inspected *from = &items[list->first[i]];
        struct inspected *to = &items[i];
        if (list->first[i] == i)
            continue;
        to->verdict = from->verdict;
        memcpy(to->why, from->why, sizeof to->why);
        memcpy(to->instructions, from->instructions, sizeof to->instructions);
        to->mix = from->mix;
        to->usage = from->usage;
        to->code = from->code;
    }
}

/* ---- launches ---- */

static unsigned product(const unsigned three[3])
{
    return three[0] * three[1] * three[2];
}

static unsigned more(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static void note_launch(const struct manifest_plan *plan, struct inspected *v)
{
    v->threads = more(v->threads, product(plan->block));
    v->dynamic_bytes = more(v->dynamic_bytes, plan->shared_bytes);
    v->cluster_blocks = more(v->cluster_blocks, product(plan->cluster));
}

/* Whether the set means the variant for these sizes. An expression that fails is a fault of the set. */
static bool is_meant(const struct expr *when, const struct manifest_conditions *conditions, struct inspected *v)
{
    struct expr_variable names[MANIFEST_FIXED_NAMES];
    const struct expr_scope scope = {names, manifest_fixed_names(conditions, names)};
    struct error err;
    int64_t wanted = 1;
    if (when && expr_eval(when, &scope, &wanted, &err)) {
        fail(v, VERDICT_WRONG_LAUNCH, "when: %.200s", err.text);
        return false;
    }
    if (!wanted)
        snprintf(v->why, sizeof v->why, "no shape here has %.200s", expr_text(when));
    return wanted != 0;
}

static void launch_on(const struct inspect_request *request, const struct manifest_conditions *conditions,
                      const struct inspect_item *item, struct inspected *v)
{
    struct manifest_plan plan;
    char why[CUDAL2_WHY] = "";
    if (!is_meant(item->when, conditions, v))
        return;
    int status = manifest_plan(item->manifest, conditions, item->values, &plan, why);
    if (status == CUDAL2_OK)
        status = manifest_check_maps(item->manifest, conditions, &plan, why);
    if (status == CUDAL2_OK) {
        v->taken++;
        note_launch(&plan, v);
        struct fit fit = {0};
        fit_launch(request->chip, &plan, &v->code, &v->usage, &fit);
        take_fault(&fit, v);
    } else if (status == CUDAL2_UNSUPPORTED) {
        snprintf(v->why, sizeof v->why, "%s", why);
    } else {
        fail(v, VERDICT_WRONG_LAUNCH, "%.120s, at %lldx%lldx%lld", why, (long long)conditions->problem.m,
             (long long)conditions->problem.n, (long long)conditions->problem.k);
    }
}

static bool is_ok(const struct inspected *v)
{
    return v->verdict == VERDICT_OK;
}

static void launch_at(const struct module_set *set, const struct inspect_request *request, size_t at,
                      const struct inspect_item *item, struct inspected *v)
{
    struct cudal2_problem problem = request->problems[at];
    problem.dtype = v->dtype;
    problem.accumulate = v->accumulate;
    const struct manifest_conditions conditions = manifest_conditions_on(&set->device->info, &problem, v->layout);
    launch_on(request, &conditions, item, v);
}

/* None of the shapes is one that the set means the variant for. Any that its kernel takes shows a launch, and what
 * breaks a limit on all of them is a fault. */
static void launch_outside(const struct module_set *set, const struct inspect_request *request,
                           const struct inspect_item *item, struct inspected *v)
{
    struct inspect_item anywhere = *item;
    struct inspected last = *v;
    bool launched = false;
    anywhere.when = NULL;
    for (size_t i = 0; i < request->n_problems && !(launched && is_ok(&last)); i++) {
        struct inspected trial = *v;
        launch_at(set, request, i, &anywhere, &trial);
        if (trial.taken > 0)
            last = trial;
        launched |= trial.taken > 0;
    }
    v->verdict = last.verdict;
    v->threads = last.threads;
    v->dynamic_bytes = last.dynamic_bytes;
    v->cluster_blocks = last.cluster_blocks;
    if (!is_ok(v))
        memcpy(v->why, last.why, sizeof v->why);
}

static void check_item(const struct module_set *set, const struct inspect_request *request,
                       const struct inspect_item *item, struct inspected *v)
{
    struct fit fit = {0};
    if (is_ok(v))
        fit_arguments(item->manifest, &v->code, &fit);
    take_fault(&fit, v);
    for (size_t i = 0; i < request->n_problems && is_ok(v); i++)
        launch_at(set, request, i, item, v);
    if (is_ok(v) && v->taken == 0 && item->when)
        launch_outside(set, request, item, v);
    if (is_ok(v) && v->taken > 0)
        v->why[0] = '\0';
}

/* ---- all of it ---- */

/* Where everything is compiled already, there need be none. */
static int check_compiler(const struct module_set *set, const struct chip *chip, struct error *err)
{
    int major, minor;
    bool needed = false;
    for (size_t i = 0; i < set->n_kernels; i++)
        needed = needed || !set->kernels[i]->is_binary;
    if (!needed)
        return 0;
    if (nvrtc_version(&major, &minor, err))
        return err->code;
    return nvrtc_supports(chip->cc)
               ? 0
               : error_set(err, EXIT_CODE_UNAVAILABLE, "NVRTC %d.%d cannot compile for sm_%d", major, minor, chip->cc);
}

static int begin(const struct module_set *set, const struct inspect_list *list, struct inspection *out,
                 struct error *err)
{
    out->items = calloc(list->n + 1, sizeof *out->items);
    if (!out->items)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu variants", list->n);
    out->n = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const struct module_identity *job = &list->jobs[i];
        struct inspected *v = &out->items[i];
        v->verdict = VERDICT_OK;
        v->dtype = (enum cudal2_dtype)job->dtype;
        v->accumulate = (enum cudal2_accumulate)job->accumulate;
        v->layout = (enum cudal2_layout)job->layout;
        if (manifest_key(set->kernels[job->kernel], job->values, v->variant.key, sizeof v->variant.key))
            fail(v, VERDICT_WRONG_LAUNCH, "the variant's key is too long");
    }
    return 0;
}

int inspect_set(const struct module_set *set, const struct inspect_request *request, struct inspection *out,
                struct error *err)
{
    struct inspect_list list = {0};
    struct compilation c = {.set = set, .list = &list};
    *out = (struct inspection){0};
    int code = check_compiler(set, request->chip, err);
    if (!code)
        code = inspect_list_make(set, request, &list, err);
    if (!code)
        code = begin(set, &list, out, err);
    if (!code) {
        c.items = out->items;
        compile_all(&c, request->threads);
        share_code(&list, out->items);
        for (size_t i = 0; i < list.n; i++) {
            const struct inspect_item item = {set->kernels[list.jobs[i].kernel], list.whens[i], list.jobs[i].values};
            check_item(set, request, &item, &out->items[i]);
        }
        out->legal = list.legal;
        out->all_seen = list.all_seen;
        memcpy(out->none, list.none, sizeof out->none);
    }
    inspect_list_free(&list);
    return code;
}

void inspection_free(struct inspection *i)
{
    for (size_t v = 0; v < i->n; v++)
        free(i->items[v].log);
    free(i->items);
    *i = (struct inspection){0};
}
