/*
 * contenders.c - the names of a config: what may be one, who is raced where the config names nobody, whose directory a
 * path starts at. Relies on faults.c. Called by config.c when one is read, and by cli/ and serve/evaluate.c, which name
 * contenders themselves.
 */
#include "config/config.h"
#include "config/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_MAX_BYTES 1024 /* of a contender: it may be a path */

/* Everything that is shipped for such a device, and what this project has to say against it. */
static const char *const cuda_baselines[] = {"torch.matmul", "cublas", "cublaslt-heuristic", "cublaslt-autotuning",
                                             NULL};
/* Besides, where fp16 accumulation is allowed: nobody has to use it. */
static const char *const wider_baselines[] = {"cublaslt-autotuning-32f", NULL};
static const char *const cpu_baselines[] = {"torch.matmul", "openblas", NULL};
static const char *const cuda_candidates[] = {"cudal2", NULL};
static const char *const cpu_candidates[] = {"blocked", NULL};

/* A family or kernel set is one plain word; everything else must look like a path to a plugin or manifest. */
static bool name_valid(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_BYTES || !config_text_plain(name))
        return false;
    return text_is_contender_file(name) || (length < CONFIG_LABEL_MAX && strspn(name, plain) == length);
}

int config_add_name(char **names, const char *name, struct error *err)
{
    size_t count = 0;
    if (!name_valid(name))
        return error_set(
            err, EXIT_CODE_DATA,
            "expected a family, a kernel set, or the path of a plugin (.so) or manifest (.json), found \"%.60s\"",
            config_text_plain(name) ? name : "(control characters)");
    for (; names[count]; count++) {
        if (strcmp(names[count], name) == 0)
            return error_set(err, EXIT_CODE_DATA, "\"%.60s\" is there twice", name);
    }
    if (count == CONFIG_NAMES_MAX)
        return error_set(err, EXIT_CODE_DATA, "more than %d names", CONFIG_NAMES_MAX);
    names[count] = strdup(name);
    return names[count] ? 0 : error_set(err, EXIT_CODE_INTERNAL, "no memory for a name");
}

void config_drop_names(char **names)
{
    for (int i = 0; names[i]; i++) {
        free(names[i]);
        names[i] = NULL;
    }
}

/* Whether the list is there and has the length it must have. */
static bool has_list(struct json_at at, int minimum, struct faults *faults)
{
    struct error err;
    int count;
    return at.node && faults_none(faults, json_read_array(at, minimum, &count, &err), &err);
}

static void read_name(struct json_at at, char **names, struct faults *faults)
{
    struct error cause = {0}, err;
    const char *name;
    if (!faults_none(faults, json_read_string(at, &name, &err), &err) || !config_add_name(names, name, &cause))
        return;
    json_fail(at, &err, "%s", cause.text);
    err.code = cause.code;
    faults_none(faults, err.code, &err);
}

static void read_names(struct json_at at, int minimum, char **names, struct faults *faults)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index;
    if (!has_list(at, minimum, faults))
        return;
    while (json_each(at, &node, &index, &element))
        read_name(element, names, faults);
}

static int add_all(char **names, const char *const from[], struct error *err)
{
    int code = 0;
    for (int i = 0; from[i] && !code; i++)
        code = config_add_name(names, from[i], err);
    return code;
}

void config_read_contenders(struct json_at root, struct config *c, struct faults *faults)
{
    struct json_at baselines = json_member(root, "baselines"), candidates = json_member(root, "candidates");
    struct error err;
    c->baselines_given = baselines.node != NULL;
    c->candidates_given = candidates.node != NULL || c->baselines_given; /* baselines alone race one another */
    if (!c->baselines_given) {
        faults_none(faults, add_all(c->baselines, cuda_baselines, &err), &err);
        c->optional_baselines = ~0u;
    }
    read_names(baselines, 1, c->baselines, faults);
    read_names(candidates, 0, c->candidates, faults);
    config_read_optional(root, c, faults);
}

static bool has_name(char *const names[], const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The paper's protocol has the paper's baselines. */
static bool allows_wider(const struct config *c)
{
    return (c->accumulates & CUDAL2_BIT(CUDAL2_ACC_F16)) && c->protocol == PROTOCOL_ADAPTIVE;
}

int config_settle(struct config *c, bool on_cuda, struct error *err)
{
    const char *const *baselines = on_cuda ? cuda_baselines : cpu_baselines;
    const char *const *candidates = on_cuda ? cuda_candidates : cpu_candidates;
    int code = 0;
    if (!c->baselines_given) {
        config_drop_names(c->baselines);
        c->optional_baselines = ~0u;
        code = add_all(c->baselines, baselines, err);
        if (code == 0 && on_cuda && allows_wider(c))
            code = add_all(c->baselines, wider_baselines, err);
    }
    if (!c->candidates_given && !c->candidates[0])
        c->optional_candidates = ~0u;
    for (int i = 0; candidates[i] && !c->candidates_given && !c->candidates[0] && !code; i++)
        if (!has_name(c->baselines, candidates[i]))
            code = config_add_name(c->candidates, candidates[i], err);
    return code;
}

/* "dir/x.so" of "./x.so" in dir/c.json; what is absolute stays. */
static int rebase(char **name, const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/'), *rest = *name;
    if (!slash || rest[0] == '/' || !text_is_contender_file(rest))
        return 0;
    while (strncmp(rest, "./", 2) == 0)
        rest += 2;
    size_t directory = (size_t)(slash - path) + 1, length = directory + strlen(rest);
    if (length > NAME_MAX_BYTES)
        return error_set(err, EXIT_CODE_DATA, "%s: the path of \"%.60s\" is longer than %d bytes from here", path,
                         *name, NAME_MAX_BYTES);
    char *whole = malloc(length + 1);
    if (!whole)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a name");
    snprintf(whole, length + 1, "%.*s%s", (int)directory, path, rest);
    free(*name);
    *name = whole;
    return 0;
}

void config_rebase(struct config *c, const char *path, struct faults *faults)
{
    char **lists[] = {c->baselines, c->candidates};
    struct error err;
    for (size_t i = 0; i < 2; i++)
        for (int j = 0; lists[i][j]; j++)
            faults_none(faults, rebase(&lists[i][j], path, &err), &err);
}
