/*
 * compiling.c - writes the kernel of a submission into its job's directory and runs the compiler on it as a child with
 * limits. Relies on run/tool.h and `verify --compile-only --format json`. Called by server_work.c on compiling
 * threads.
 */
#include "serve/compiling.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sanitized.h"
#include "base/tree.h"
#include "run/tool.h"
#include "serve/base64.h"
#include "serve/outcome.h"
#include "serve/verdict.h"

#define COMPILE_GIB 8 /* of address space */
#define COMPILE_MEMORY ((rlim_t)COMPILE_GIB << 30)
#define COMPILE_FILE ((rlim_t)64 << 20)
#define ANSWER_BYTES (1u << 20)
#define ARGUMENTS 20
#define DIGITS_OF(n) #n
#define DIGITS(n) DIGITS_OF(n)
#define LAYOUTS "2" /* of a kernel, the first of which is told about */

/* ---- the kernel's files ---- */

static cJSON *set_of(const struct submission *s, const char *name)
{
    cJSON *set = cJSON_CreateObject(), *entries = cJSON_AddArrayToObject(set, "entries"), *entry = NULL;
    if (entries && cJSON_AddItemToArray(entries, cJSON_CreateObject()))
        entry = cJSON_GetArrayItem(entries, 0);
    cJSON *values = entry ? cJSON_Duplicate(s->parameters, true) : NULL;
    if (values && cJSON_AddStringToObject(set, "schema", "cudal2-bench/kernel-set") &&
        cJSON_AddNumberToObject(set, "schema_version", 1) && cJSON_AddStringToObject(set, "name", name) &&
        cJSON_AddStringToObject(entry, "kernel", s->name) && cJSON_AddStringToObject(entry, "when", "1") &&
        cJSON_AddItemToObject(entry, "parameters", values))
        return set;
    cJSON_Delete(set);
    return NULL;
}

/* The client's manifest with our names: its source lies beside it, whatever it says. */
static cJSON *manifest_of(const struct submission *s)
{
    char source[32];
    const char *const ours[][2] = {{"name", EVALUATE_FAMILY}, {"source", source}};
    snprintf(source, sizeof source, "kernel%s", source_format_endings[s->format]);
    cJSON *manifest = cJSON_Duplicate(s->manifest, true);
    for (size_t i = 0; manifest && i < 2; i++) {
        cJSON_DeleteItemFromObjectCaseSensitive(manifest, ours[i][0]);
        if (!cJSON_AddStringToObject(manifest, ours[i][0], ours[i][1])) {
            cJSON_Delete(manifest);
            manifest = NULL;
        }
    }
    return manifest;
}

/* As text, or what its base64 stands for. */
static int write_source(const struct submission *s, const char *path, struct error *err)
{
    size_t length = strlen(s->source);
    if (s->format == SOURCE_CUDA || s->format == SOURCE_PTX)
        return file_write_atomic(path, s->source, length, err);
    unsigned char *bytes = base64_length(s->source, &length) ? malloc(length + 1) : NULL;
    if (!bytes)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a binary");
    base64_decode(s->source, bytes);
    int code = file_write_atomic(path, bytes, length, err);
    free(bytes);
    return code;
}

/* Takes the tree, which is NULL out of memory. */
static int write_tree(cJSON *tree, const char *path, struct error *err)
{
    char *text = tree ? json_print(tree, true) : NULL;
    int code = text ? file_write_atomic(path, text, strlen(text), err)
                    : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a manifest");
    cJSON_Delete(tree);
    free(text);
    return code;
}

int compiling_write_set(const struct submission *s, const char *name, const char *path, struct error *err)
{
    return write_tree(set_of(s, name), path, err);
}

static int write_manifest(const struct submission *s, const char *path, struct error *err)
{
    return s->kind == CANDIDATE_KERNEL ? compiling_write_set(s, EVALUATE_FAMILY, path, err)
                                       : write_tree(manifest_of(s), path, err);
}

static int write_kernel(const struct evaluation *e, struct error *err)
{
    char path[PATH_MAX], leaf[48];
    const struct submission *s = e->submission;
    snprintf(leaf, sizeof leaf, "kernel/kernel%s", source_format_endings[s->format]);
    int code = store_path(e->store, e->id, "kernel", path, err);
    if (!code)
        code = file_make_directories(path, err);
    if (!code)
        code = store_path(e->store, e->id, "kernel/kernel.json", path, err);
    if (!code)
        code = write_manifest(s, path, err);
    if (!code && s->source)
        code = store_path(e->store, e->id, leaf, path, err);
    return code || !s->source ? code : write_source(s, path, err);
}

/* For the child: every layout that will be measured is compiled by it, and none while a device waits. */
static int write_problems(const struct submission *s, const char *path, struct error *err)
{
    cJSON *config = cJSON_CreateObject();
    if (evaluate_put_problems(config, s) && cJSON_AddStringToObject(config, "dtype", dtype_names[CUDAL2_F16]))
        return write_tree(config, path, err);
    cJSON_Delete(config);
    return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a compiler's problems");
}

/* ---- the child ---- */

struct child {
    const char *arguments[ARGUMENTS + 1];
    char kernel[PATH_MAX], problems[PATH_MAX], answer[PATH_MAX], complaint[PATH_MAX];
};

static void prepare(const struct compiling *c, struct child *child)
{
    const struct submission *s = c->job->submission;
    size_t n = 0;
    const char *const fixed[] = {"cudal2-bench",
                                 "verify",
                                 "--compile-only",
                                 "--format",
                                 "json",
                                 "--accumulate",
                                 accumulate_names[s->accumulate],
                                 "--variants",
                                 LAYOUTS,
                                 "--config",
                                 child->problems};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        child->arguments[n++] = fixed[i];
    if (c->arch) {
        child->arguments[n++] = "--arch";
        child->arguments[n++] = c->arch;
    }
    if (c->job->kernels) {
        child->arguments[n++] = "--kernels";
        child->arguments[n++] = c->job->kernels;
    }
    child->arguments[n++] = child->kernel;
    child->arguments[n] = NULL;
}

static enum tool_end run_compiler(const struct compiling *c, const struct child *child, int *status)
{
    const struct tool compiler = {.program = c->program,
                                  .arguments = child->arguments,
                                  .out = child->answer,
                                  .told = child->complaint,
                                  .seconds = c->seconds,
                                  .stop = c->job->stop,
                                  .processor_seconds = (rlim_t)COMPILE_SECONDS,
                                  .memory_bytes = SANITIZED ? 0 : COMPILE_MEMORY,
                                  .file_bytes = COMPILE_FILE};
    return tool_run(&compiler, status);
}

/* ---- what it said ---- */

/* However a compiler ends that was given too little: killed when its time is up or the machine's memory is, or with one
 * of several sentences, as its own memory happens to be short. A fault of its own may come of that, too. */
#define OUTGROWN                                                                                                       \
    "it takes more than the compiler is given: " DIGITS(COMPILE_SECONDS) " s and " DIGITS(COMPILE_GIB) " GiB"
static const char *const outgrown = OUTGROWN, *const died_of_it = "the compiler died of it, or " OUTGROWN;

static bool is_own_fault(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGXCPU;
}

static bool is_out_of_memory(const char *said)
{
    return strstr(said, "catastrophic error: out of memory") || strstr(said, "NVRTC_ERROR_OUT_OF_MEMORY");
}

/* The first variant, with the kernel's reason where there is none. */
static const cJSON *find_variant(const cJSON *answer, const char **none)
{
    const cJSON *kernels = tree_member(answer, "kernels");
    const cJSON *kernel = cJSON_IsArray(kernels) ? cJSON_GetArrayItem(kernels, 0) : NULL;
    const cJSON *variants = tree_member(kernel, "variants");
    *none = tree_text(kernel, "reason");
    return cJSON_IsArray(variants) ? cJSON_GetArrayItem(variants, 0) : NULL;
}

static cJSON *failure_of(const struct compiling *c, const struct outcome_failure *failure)
{
    char directory[PATH_MAX];
    struct error ignored;
    if (store_path(c->job->store, c->job->id, "kernel", directory, &ignored))
        directory[0] = '\0';
    const struct outcome_input in = {.submission = c->job->submission, .hide = {directory, c->job->kernels}};
    return outcome_of_failure(&in, failure);
}

/* A variant with a fault, or none that is legal for this device and accumulate type. */
static int judge_variant(const struct compiling *c, const cJSON *answer, cJSON **code, cJSON **outcome)
{
    const char *none;
    const cJSON *variant = find_variant(answer, &none);
    enum verdict verdict = variant ? verdict_of_outcome(variant) : VERDICT_UNSUPPORTED;
    const char *log = tree_text(variant, "log"), *reason = tree_text(variant, "reason");
    const struct outcome_failure failure = {verdict, "compile",
                                            !variant                                            ? none
                                            : is_out_of_memory(log) || is_out_of_memory(reason) ? outgrown
                                            : log[0]                                            ? log
                                                                                                : reason};
    if (verdict == VERDICT_OK)
        *code = cJSON_Duplicate(variant, true);
    else
        *outcome = failure_of(c, &failure);
    return *code || *outcome ? 0 : -1;
}

/* "cudal2-bench: " and the line's end are not for clients. */
static char *trim(char *text)
{
    static const char program[] = "cudal2-bench: ";
    text[strcspn(text, "\n")] = '\0';
    return strncmp(text, program, sizeof program - 1) == 0 ? text + sizeof program - 1 : text;
}

/* No answer in JSON: a manifest that is refused, a kernel that is not here, or a compiler that is not. */
static int judge_complaint(const struct compiling *c, const struct child *child, int status, cJSON **outcome,
                           struct error *err)
{
    char *text = NULL;
    size_t length;
    struct error ignored;
    const char *why = file_read(child->complaint, ANSWER_BYTES, &text, &length, &ignored) == 0 ? trim(text) : "";
    int number = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const struct outcome_failure invalid = {VERDICT_INVALID, "load", why};
    const struct outcome_failure died = {VERDICT_COMPILE_ERROR, "compile",
                                         is_own_fault(status) ? died_of_it : outgrown};
    int code = 0;
    if (number == EXIT_CODE_DATA || number == EXIT_CODE_USAGE)
        *outcome = failure_of(c, &invalid);
    else if (WIFSIGNALED(status) || is_out_of_memory(why))
        *outcome = failure_of(c, &died);
    else
        code = error_set(err, number > 0 && number != 127 ? number : EXIT_CODE_UNAVAILABLE, "compiling: %s",
                         why[0] ? why : "the compiler's process did not start");
    free(text);
    return code;
}

static int judge(const struct compiling *c, const struct child *child, int status, cJSON *trees[2], struct error *err)
{
    cJSON *answer = NULL;
    struct error ignored;
    bool told = WIFEXITED(status) && json_read_file(child->answer, ANSWER_BYTES, &answer, &ignored) == 0;
    int code =
        told ? judge_variant(c, answer, &trees[0], &trees[1]) : judge_complaint(c, child, status, &trees[1], err);
    cJSON_Delete(answer);
    return code >= 0 ? code : error_set(err, EXIT_CODE_INTERNAL, "out of memory for an outcome");
}

static int conclude(const struct compiling *c, const struct child *child, cJSON *trees[2], struct error *err)
{
    const struct outcome_failure late = {VERDICT_COMPILE_ERROR, "compile", outgrown};
    int status;
    switch (run_compiler(c, child, &status)) {
    case TOOL_FAILED:
        return error_set(err, EXIT_CODE_UNAVAILABLE, "no process for a compiler: %s", strerror(errno));
    case TOOL_STOPPED:
        return error_set(err, EXIT_CODE_INTERRUPTED, "the server was stopped while this compiled");
    case TOOL_LATE:
        trees[1] = failure_of(c, &late);
        return trees[1] ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for an outcome");
    default:
        return judge(c, child, status, trees, err);
    }
}

static int run_child(const struct compiling *c, struct child *child, cJSON *trees[2], struct error *err)
{
    const struct evaluation *e = c->job;
    if (store_path(e->store, e->id, "kernel/kernel.json", child->kernel, err) ||
        store_path(e->store, e->id, "kernel/problems.json", child->problems, err) ||
        write_problems(e->submission, child->problems, err) ||
        store_path(e->store, e->id, "kernel/compiled.json", child->answer, err) ||
        store_path(e->store, e->id, "kernel/complaint", child->complaint, err))
        return err->code;
    prepare(c, child);
    int code = conclude(c, child, trees, err);
    unlink(child->problems);
    unlink(child->answer);
    unlink(child->complaint);
    return code;
}

int compile_submission(const struct compiling *c, cJSON **code, cJSON **outcome, struct error *err)
{
    cJSON *trees[2] = {NULL, NULL};
    struct child *child = calloc(1, sizeof *child);
    int result = child ? write_kernel(c->job, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a compiler");
    if (!result)
        result = run_child(c, child, trees, err);
    free(child);
    *code = trees[0];
    *outcome = trees[1];
    return result;
}
