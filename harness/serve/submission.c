/*
 * submission.c - reads a submission from JSON with a limit on everything, and writes it in one form whatever its
 * spelling was. Relies on base/json.h. Called by api.c, gym.c, and server.c after a restart.
 */
#include "serve/submission.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "run/counters.h"
#include "serve/base64.h"

#define PARAMETERS_MAX 64
#define DEFAULT_HALF_WIDTH 0.005
#define DEFAULT_SECONDS 10.0
#define DEFAULT_ALPHA 0.01
#define DEFAULT_BETA 1e-6

static const char *const keys[] = {"candidate",  "kernel",   "parameters", "source",   "manifest",   "problem",
                                   "ptx",        "cubin",    "fatbin",     "baseline", "accumulate", "mode",
                                   "half_width", "seconds",  "screen",     "alpha",    "beta",       "priority",
                                   "again",      "counters", "share",      "layout",   NULL};

const char *const source_format_names[] = {"source", "ptx", "cubin", "fatbin", NULL};
const char *const source_format_endings[] = {".cu", ".ptx", ".cubin", ".fatbin", NULL};

bool submission_is_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= CONFIG_LABEL_MAX || !isalnum((unsigned char)name[0]))
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
            return false;
    return !(length > 3 && strcmp(name + length - 3, ".so") == 0) &&
           !(length > 5 && strcmp(name + length - 5, ".json") == 0);
}

bool submission_is_task(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.:", *c))
            return false;
    return name[0] != '\0';
}

/* ---- names ---- */

static bool is_listed(const char *name, const char *const list[])
{
    for (size_t i = 0; list[i]; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static int read_name(struct json_at at, const char *const list[], char out[CONFIG_LABEL_MAX], struct error *err)
{
    const char *name;
    size_t count = 0;
    if (json_read_string(at, &name, err))
        return err->code;
    if (!submission_is_name(name))
        return json_fail(at, err, "expected a name of letters, digits, '_', '-' and '.', no path");
    snprintf(out, CONFIG_LABEL_MAX, "%s", name);
    if (!list || is_listed(name, list))
        return 0;
    while (list[count])
        count++;
    const char *near = nearest_name(name, list, count);
    return near ? json_fail(at, err, "there is no \"%s\" here (did you mean %s?)", name, near)
                : json_fail(at, err, "there is no \"%s\" here (cudal2-bench list says what there is)", name);
}

/* ---- the candidate ---- */

static int check_bytes(struct json_at at, enum source_format format, const char *text, struct error *err)
{
    size_t most = format == SOURCE_CUDA ? SUBMISSION_SOURCE_BYTES : SUBMISSION_BINARY_BYTES, length;
    if (strlen(text) > most)
        return json_fail(at, err, "expected at most %zu bytes", most);
    if ((format == SOURCE_CUBIN || format == SOURCE_FATBIN) && !base64_length(text, &length))
        return json_expected(at, err, "base64");
    return 0;
}

static int read_source(struct json_at root, enum source_format format, struct submission *out, struct error *err)
{
    struct json_at source = json_member(root, source_format_names[format]), manifest = json_member(root, "manifest");
    const char *text;
    if (json_read_string(source, &text, err) || check_bytes(source, format, text, err))
        return err->code;
    if (!cJSON_IsObject(manifest.node))
        return json_expected(manifest, err, "the object that describes the kernel's launch (docs/abi.md)");
    out->kind = CANDIDATE_SOURCE;
    out->format = format;
    out->source = strdup(text);
    out->manifest = cJSON_Duplicate(manifest.node, true);
    return out->source && out->manifest ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a source");
}

static int read_parameters(struct json_at at, struct submission *out, struct error *err)
{
    const cJSON *value;
    if (!at.node)
        out->parameters = cJSON_CreateObject();
    else if (!cJSON_IsObject(at.node) || cJSON_GetArraySize(at.node) > PARAMETERS_MAX)
        return json_expected(at, err, "an object of at most 64 parameters");
    else
        out->parameters = cJSON_Duplicate(at.node, true);
    if (!out->parameters)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for parameters");
    cJSON_ArrayForEach(value, out->parameters)
    {
        int64_t ignored;
        if (json_read_int(json_member(at, value->string), INT32_MIN, INT32_MAX, &ignored, err))
            return err->code;
    }
    return 0;
}

/* Which of the source's members is there, and how many are. */
static int count_sources(struct json_at root, enum source_format *format)
{
    int n = 0;
    for (int i = 0; source_format_names[i]; i++)
        if (json_member(root, source_format_names[i]).node) {
            *format = (enum source_format)i;
            n++;
        }
    return n;
}

static int read_candidate(struct json_at root, const struct submission_rules *rules, struct submission *out,
                          struct error *err)
{
    struct json_at named = json_member(root, "candidate"), kernel = json_member(root, "kernel"),
                   parameters = json_member(root, "parameters");
    enum source_format format = SOURCE_CUDA;
    int sources = count_sources(root, &format);
    if ((named.node != NULL) + (kernel.node != NULL) + sources != 1)
        return json_fail(root, err,
                         "expected one of \"candidate\", \"kernel\", \"source\", \"ptx\", \"cubin\" and \"fatbin\"");
    if (parameters.node && !kernel.node)
        return json_fail(parameters, err, "parameters go with \"kernel\"");
    if (json_member(root, "manifest").node && !sources)
        return json_fail(root, err, "a manifest goes with \"source\", \"ptx\", \"cubin\" or \"fatbin\"");
    if (sources)
        return read_source(root, format, out, err);
    out->kind = named.node ? CANDIDATE_NAMED : CANDIDATE_KERNEL;
    if (read_name(named.node ? named : kernel, named.node ? rules->candidates : NULL, out->name, err))
        return err->code;
    return kernel.node ? read_parameters(parameters, out, err) : 0;
}

/* ---- the problems ---- */

static int read_problem(struct json_at at, struct submission *out, struct error *err)
{
    const char *text;
    struct shape *next = &out->problems[out->n_problems];
    struct error cause;
    if (json_read_string(at, &text, err))
        return err->code;
    if (shape_parse(text, next, &cause))
        return json_fail(at, err, "%s", cause.text);
    const struct cudal2_problem problem = shape_problem(next, CUDAL2_F16, CUDAL2_ACC_F16);
    if (!problem_is_plain(&problem))
        return json_fail(at, err, "expected MxNxK alone: the server takes packed problems, without alpha and beta");
    for (size_t i = 0; i < out->n_problems; i++)
        if (out->problems[i].m == next->m && out->problems[i].n == next->n && out->problems[i].k == next->k)
            return json_fail(at, err, "this problem is there twice");
    out->n_problems++;
    return 0;
}

static int read_problems(struct json_at at, struct submission *out, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index = 0, count = 0;
    if (cJSON_IsString(at.node))
        return read_problem(at, out, err);
    if (!cJSON_IsArray(at.node))
        return json_expected(at, err, "\"MxNxK\", or an array of them");
    if (json_read_array(at, 1, &count, err))
        return err->code;
    if (count > SUBMISSION_PROBLEMS)
        return json_fail(at, err, "expected at most %d problems", SUBMISSION_PROBLEMS);
    while (json_each(at, &node, &index, &element))
        if (read_problem(element, out, err))
            return err->code;
    return 0;
}

/* ---- the rest ---- */

struct number_rule {
    const char *key;
    double low, high;
    double *out;
};

static int read_numbers(struct json_at root, struct submission *out, struct error *err)
{
    const struct number_rule rules[] = {{"half_width", 0.0005, 0.5, &out->half_width},
                                        {"seconds", 0.05, 600, &out->seconds},
                                        {"screen", 0, 1000, &out->screen},
                                        {"alpha", 0, 1e6, &out->alpha},
                                        {"beta", 0, 1e6, &out->beta}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct json_at at = json_member(root, rules[i].key);
        if (at.node && json_read_number(at, rules[i].low, rules[i].high, rules[i].out, err))
            return err->code;
    }
    return 0;
}

static int read_flags(struct json_at root, struct submission *out, struct error *err)
{
    struct json_at again = json_member(root, "again"), share = json_member(root, "share");
    if (again.node && json_read_bool(again, &out->again, err))
        return err->code;
    return share.node ? json_read_bool(share, &out->share, err) : 0;
}

static int read_layout(struct json_at root, struct submission *out, struct error *err)
{
    struct json_at layout = json_member(root, "layout");
    int chosen = 0;
    if (!layout.node)
        return 0;
    if (json_read_choice(layout, layout_names, &chosen, err))
        return err->code;
    out->layouts = CUDAL2_BIT(chosen);
    return 0;
}

static int read_choices(struct json_at root, struct submission *out, struct error *err)
{
    static const char *const modes[] = {"offline", "server", NULL}; /* no reward is for a chain */
    struct json_at mode = json_member(root, "mode"), accumulate = json_member(root, "accumulate"),
                   priority = json_member(root, "priority");
    int chosen = 0;
    int64_t number = 0;
    if (mode.node && json_read_choice(mode, modes, &chosen, err))
        return err->code;
    out->mode = (enum mode)chosen;
    chosen = CUDAL2_ACC_F32;
    if (accumulate.node && json_read_choice(accumulate, accumulate_names, &chosen, err))
        return err->code;
    out->accumulate = (enum cudal2_accumulate)chosen;
    if (priority.node && json_read_int(priority, 0, SUBMISSION_PRIORITIES, &number, err))
        return err->code;
    out->priority = (int)number;
    return read_layout(root, out, err) ? err->code : read_flags(root, out, err);
}

static int read_baseline(struct json_at root, const struct submission_rules *rules, struct submission *out,
                         struct error *err)
{
    struct json_at at = json_member(root, "baseline");
    if (at.node)
        return read_name(at, rules->baselines, out->baseline, err);
    snprintf(out->baseline, sizeof out->baseline, "%s", rules->baseline ? rules->baseline : "");
    return out->baseline[0] ? 0 : json_expected(at, err, "a baseline");
}

int submission_read(struct json_at at, const struct submission_rules *rules, struct submission *out, struct error *err)
{
    *out = (struct submission){
        .half_width = DEFAULT_HALF_WIDTH, .seconds = DEFAULT_SECONDS, .alpha = DEFAULT_ALPHA, .beta = DEFAULT_BETA};
    int code = json_only_keys(at, keys, err);
    if (!code)
        code = read_candidate(at, rules, out, err);
    if (!code)
        code = read_problems(json_member(at, "problem"), out, err);
    if (!code)
        code = read_numbers(at, out, err);
    if (!code)
        code = read_choices(at, out, err);
    if (!code)
        code = read_baseline(at, rules, out, err);
    if (!code && json_member(at, "counters").node)
        code = counters_read(json_member(at, "counters"), &out->counters, err);
    if (code)
        submission_free(out);
    return code;
}

void submission_free(struct submission *s)
{
    free(s->source);
    free(s->counters);
    cJSON_Delete(s->manifest);
    cJSON_Delete(s->parameters);
    s->source = s->counters = NULL;
    s->manifest = s->parameters = NULL;
}

/* ---- one form ---- */

static bool put_copy(cJSON *object, const char *key, const cJSON *value)
{
    cJSON *copy = cJSON_Duplicate(value, true);
    if (copy && cJSON_AddItemToObject(object, key, copy))
        return true;
    cJSON_Delete(copy);
    return false;
}

static bool put_candidate(const struct submission *s, cJSON *object)
{
    switch (s->kind) {
    case CANDIDATE_NAMED:
        return cJSON_AddStringToObject(object, "candidate", s->name) != NULL;
    case CANDIDATE_KERNEL:
        return cJSON_AddStringToObject(object, "kernel", s->name) && put_copy(object, "parameters", s->parameters);
    default:
        return cJSON_AddStringToObject(object, source_format_names[s->format], s->source) &&
               put_copy(object, "manifest", s->manifest);
    }
}

static bool put_problems(const struct submission *s, cJSON *object)
{
    cJSON *list = cJSON_AddArrayToObject(object, "problem");
    for (size_t i = 0; list && i < s->n_problems; i++) {
        char text[80];
        snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)s->problems[i].m, (long long)s->problems[i].n,
                 (long long)s->problems[i].k);
        if (!cJSON_AddItemToArray(list, cJSON_CreateString(text)))
            return false;
    }
    return list != NULL;
}

/* As it is asked for; who asks for none has the form of before there were any. */
static bool put_counters(const struct submission *s, cJSON *object)
{
    if (!s->counters)
        return true;
    if (!s->counters[0])
        return cJSON_AddTrueToObject(object, "counters") != NULL;
    cJSON *list = cJSON_AddArrayToObject(object, "counters");
    for (const char *at = s->counters; list && *at;) {
        char name[COUNTERS_NAME_MAX];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (!cJSON_AddItemToArray(list, cJSON_CreateString(name)))
            return false;
        at += length + (at[length] == ',');
    }
    return list != NULL;
}

const char *submission_layout(const struct submission *s)
{
    bool tn = (s->layouts & CUDAL2_BIT(CUDAL2_TN)) != 0;
    return s->layouts == 0 ? NULL : layout_names[tn ? CUDAL2_TN : CUDAL2_NN];
}

static bool put_layout(const struct submission *s, cJSON *object)
{
    const char *layout = submission_layout(s);
    return layout == NULL || cJSON_AddStringToObject(object, "layout", layout);
}

cJSON *submission_to_json(const struct submission *s)
{
    cJSON *object = cJSON_CreateObject();
    bool good = object && put_candidate(s, object) && put_problems(s, object) &&
                cJSON_AddStringToObject(object, "baseline", s->baseline) &&
                cJSON_AddStringToObject(object, "accumulate", accumulate_names[s->accumulate]) &&
                cJSON_AddStringToObject(object, "mode", mode_names[s->mode]) &&
                cJSON_AddNumberToObject(object, "half_width", s->half_width) &&
                cJSON_AddNumberToObject(object, "seconds", s->seconds) &&
                cJSON_AddNumberToObject(object, "screen", s->screen) &&
                cJSON_AddNumberToObject(object, "alpha", s->alpha) &&
                cJSON_AddNumberToObject(object, "beta", s->beta) && put_counters(s, object) && put_layout(s, object) &&
                (!s->share || cJSON_AddTrueToObject(object, "share"));
    if (good)
        return object;
    cJSON_Delete(object);
    return NULL;
}

/* ---- two of them ---- */

static bool same_problems(const struct submission *a, const struct submission *b)
{
    bool same = a->n_problems == b->n_problems;
    for (size_t i = 0; same && i < a->n_problems; i++) {
        const struct shape *x = &a->problems[i], *y = &b->problems[i];
        same = x->m == y->m && x->n == y->n && x->k == y->k;
    }
    return same;
}

static bool is_shareable(const struct submission *s)
{
    return s->share && s->kind == CANDIDATE_KERNEL && !(s->screen > 0) && !s->counters;
}

static bool same_effort(const struct submission *a, const struct submission *b)
{
    return fabs(a->half_width - b->half_width) <= 0 && fabs(a->seconds - b->seconds) <= 0;
}

bool submission_may_share(const struct submission *a, const struct submission *b)
{
    return is_shareable(a) && is_shareable(b) && strcmp(a->name, b->name) == 0 &&
           strcmp(a->baseline, b->baseline) == 0 && a->accumulate == b->accumulate && a->mode == b->mode &&
           a->layouts == b->layouts && same_effort(a, b) && same_problems(a, b) &&
           !cJSON_Compare(a->parameters, b->parameters, true);
}
