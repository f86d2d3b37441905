/*
 * config.c - reads a config: parse, defaults, each part by its reader, then the checks between parts. All faults are
 * collected (faults.c). Relies on fields.c and shapes.c. Called by the commands and by the worker.
 */
#include "config/config.h"
#include "base/file.h"
#include "base/utf8.h"
#include "config/comments.h"
#include "config/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_NAME "standard input"

static const char *const dtype_choices[] = {"f16", "bf16", "f32", "native", NULL};
#define DTYPE_NATIVE 3

enum cudal2_dtype config_dtype(const struct config *c, bool on_cuda)
{
    if (!c->dtype_native)
        return c->dtype;
    return on_cuda ? CUDAL2_F16 : CUDAL2_F32;
}

uint32_t config_accumulates(const struct config *c, enum cudal2_dtype dtype)
{
    return dtype == CUDAL2_F16 ? c->accumulates : CUDAL2_BIT(CUDAL2_ACC_F32);
}

/* ---- readers: each reads what it can and adds what it cannot to the faults ---- */

/* The index of a word; false when the key is not there, or is none of them. */
static bool read_word(struct json_at at, const char *const words[], int *out, struct faults *faults)
{
    struct error err;
    return at.node && faults_none(faults, json_read_choice(at, words, out, &err), &err);
}

/* A non-empty list of distinct words, as bits of their indices. Without one *bits stays as it is. */
static void read_bits(struct json_at at, const char *const names[], uint32_t *bits, struct faults *faults)
{
    const cJSON *node = NULL;
    struct json_at element;
    struct error err;
    uint32_t read = 0;
    int count, index, choice;
    if (!at.node || !faults_none(faults, json_read_array(at, 1, &count, &err), &err))
        return;
    while (json_each(at, &node, &index, &element)) {
        if (!read_word(element, names, &choice, faults))
            continue;
        if (read & (1u << choice))
            faults_none(faults, json_fail(element, &err, "\"%s\" is there twice", names[choice]), &err);
        read |= 1u << choice;
    }
    *bits = read;
}

/* Remarks are for readers only: text, or a list of lines. */
static int check_remark(struct json_at at, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index;
    if (!at.node || cJSON_IsString(at.node))
        return 0;
    if (!cJSON_IsArray(at.node))
        return json_fail(at, err, "expected a string or an array of strings");
    while (json_each(at, &node, &index, &element)) {
        if (!cJSON_IsString(node))
            return json_fail(element, err, "expected a string");
    }
    return 0;
}

/* Whether this is a config at all: what says that it is something else is told as that, and not by its keys. */
static bool read_kind(struct json_at root, struct faults *faults)
{
    static const char *const schemas[] = {CONFIG_SCHEMA, NULL};
    struct json_at schema = json_member(root, "schema"), version = json_member(root, "schema_version");
    struct error err;
    int which;
    int64_t found;
    if (!cJSON_IsObject(root.node))
        return faults_none(faults, json_expected(root, &err, "an object"), &err);
    return (!schema.node || read_word(schema, schemas, &which, faults)) &&
           (!version.node || faults_none(faults, json_read_int(version, 1, 1, &found, &err), &err));
}

static void read_head(struct json_at root, struct config *c, struct faults *faults)
{
    struct json_at link = json_member(root, "$schema"), name = json_member(root, "name");
    struct error err;
    const char *ignored;
    config_check_keys(root, "", faults);
    if (link.node)
        faults_none(faults, json_read_string(link, &ignored, &err), &err);
    faults_none(faults, check_remark(json_member(root, "description"), &err), &err);
    if (name.node)
        faults_none(faults, config_read_short(name, c->name, &err), &err);
}

static void read_types(struct json_at root, struct config *c, struct faults *faults)
{
    int dtype = DTYPE_NATIVE;
    read_word(json_member(root, "dtype"), dtype_choices, &dtype, faults);
    c->dtype_native = dtype == DTYPE_NATIVE;
    c->dtype = c->dtype_native ? CUDAL2_F16 : (enum cudal2_dtype)dtype;
    c->accumulates = c->dtype == CUDAL2_F16 ? CUDAL2_BIT(CUDAL2_ACC_F16) : CUDAL2_BIT(CUDAL2_ACC_F32);
    read_bits(json_member(root, "accumulate"), accumulate_names, &c->accumulates, faults);
    read_bits(json_member(root, "layouts"), layout_names, &c->layouts, faults);
    read_bits(json_member(root, "modes"), mode_names, &c->modes, faults);
}

static void read_fields(struct json_at root, struct config *c, struct faults *faults)
{
    for (int i = 0; config_sections[i]; i++) {
        struct json_at section = json_member(root, config_sections[i]);
        if (section.node)
            config_check_keys(section, config_sections[i], faults);
    }
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *field = &config_fields[i];
        struct json_at object = field->section[0] ? json_member(root, field->section) : root;
        struct json_at at = config_field_find(field, object);
        struct error err;
        if (at.node)
            faults_none(faults, config_field_read(field, at, c, &err), &err);
    }
}

static int read_aa(struct json_at at, struct config *c, struct error *err)
{
    if (!at.node)
        return 0;
    if (cJSON_IsBool(at.node)) {
        c->aa = cJSON_IsTrue(at.node);
        return 0;
    }
    if (!cJSON_IsString(at.node))
        return json_fail(at, err, "expected true, false or the name of a contender");
    c->aa = true;
    return config_read_short(at, c->aa_contender, err);
}

/* A name, or a list of them: the first is the headline, the others are taken beside it. */
static void read_timings(struct json_at at, struct config *c, struct faults *faults)
{
    struct json_at first = cJSON_IsArray(at.node) ? json_element(at, 0) : at;
    uint32_t bits = 0;
    int headline = (int)c->headline;
    c->headline_given = at.node != NULL || c->overlap == OVERLAP_LAUNCHES;
    if (cJSON_IsArray(at.node))
        read_bits(at, timing_names, &bits, faults);
    if (!cJSON_IsArray(at.node) || bits != 0)
        read_word(first, timing_names, &headline, faults);
    c->headline = (enum timing)headline;
    if (c->overlap == OVERLAP_LAUNCHES && c->headline == TIMING_DEVICE)
        c->headline = TIMING_DEVICE_ROW;
    c->timings |= bits | CUDAL2_BIT(c->headline);
}

static void read_rest(struct json_at root, struct config *c, struct faults *faults)
{
    struct json_at timing = json_member(root, "timing"), seed = json_member(root, "seed");
    struct error err;
    read_timings(timing, c, faults);
    c->seed_given = seed.node != NULL;
    c->rivals_given = json_member(json_member(root, "verify"), "rivals").node != NULL;
    if (seed.node)
        faults_none(faults, json_read_u64(seed, &c->seed, &err), &err);
    faults_none(faults, read_aa(json_member(root, "aa"), c, &err), &err);
}

/* ---- what no single key can tell ---- */

double stop_cell_seconds(const struct stop_config *stop, enum mode mode)
{
    return stop->max_cell_seconds[mode] > 0 ? stop->max_cell_seconds[mode] : stop->max_cell_seconds[MODE_OFFLINE];
}

static int check_stop(const struct config *c, struct error *err)
{
    const struct stop_config *stop = &c->stop;
    if (stop->max_blocks < stop->min_blocks)
        return error_set(err, EXIT_CODE_DATA, "$.stop.max_blocks: %u is below min_blocks, %u", stop->max_blocks,
                         stop->min_blocks);
    if (stop->min_blocks % stop->group_blocks || stop->look_every % stop->group_blocks)
        return error_set(err, EXIT_CODE_DATA,
                         "$.stop.group_blocks: %u does not divide min_blocks, %u, and look_every, %u",
                         stop->group_blocks, stop->min_blocks, stop->look_every);
    if (stop->min_blocks / stop->group_blocks < 2)
        return error_set(err, EXIT_CODE_DATA, "$.stop.min_blocks: %u is one group of %u, an interval needs two",
                         stop->min_blocks, stop->group_blocks);
    if (stop->least_blocks > stop->max_blocks)
        return error_set(err, EXIT_CODE_DATA, "$.stop.least_blocks: %u is above max_blocks, %u", stop->least_blocks,
                         stop->max_blocks);
    return 0;
}

static int check_types(const struct config *c, struct error *err)
{
    if (!(c->accumulates & CUDAL2_BIT(CUDAL2_ACC_F16)) || c->dtype == CUDAL2_F16)
        return 0;
    return error_set(err, EXIT_CODE_DATA, "$.accumulate: f16 needs dtype f16 or native, this is %s",
                     dtype_names[c->dtype]);
}

static int check_roles(const struct config *c, struct error *err)
{
    for (int i = 0; c->baselines[i]; i++) {
        for (int j = 0; c->candidates[j]; j++) {
            if (strcmp(c->baselines[i], c->candidates[j]) == 0)
                return error_set(err, EXIT_CODE_DATA, "$.candidates[%d]: \"%.60s\" is also a baseline", j,
                                 c->candidates[j]);
        }
    }
    return 0;
}

/* The paper's loop times single launches. */
static int check_modes(const struct config *c, struct error *err)
{
    if (c->protocol == PROTOCOL_PAPER && (c->modes & CUDAL2_BIT(MODE_CHAIN)))
        return error_set(err, EXIT_CODE_DATA, "$.modes: chain is not for the paper's protocol");
    return 0;
}

/* Of B in each layout; A and C were checked when they were read. A chain makes A of C, and both are packed. */
static int check_strides(const struct config *c, struct error *err)
{
    for (size_t i = 0; i < c->n_shapes; i++) {
        const struct shape *s = &c->shapes[i];
        const struct cudal2_problem problem = shape_problem(s, CUDAL2_F16, CUDAL2_ACC_F16);
        for (int layout = CUDAL2_NN; layout <= CUDAL2_TN && s->ldb; layout++) {
            int64_t least = layout == CUDAL2_TN ? s->k : s->n;
            if ((c->layouts & CUDAL2_BIT(layout)) && s->ldb < least)
                return error_set(err, EXIT_CODE_DATA,
                                 "$.shapes[%zu].ldb: layout %s needs %" PRId64 " or more, found %" PRId64, i,
                                 layout_names[layout], least, s->ldb);
        }
        if (!problem_is_plain(&problem) && (c->modes & CUDAL2_BIT(MODE_CHAIN)))
            return error_set(err, EXIT_CODE_DATA,
                             "$.shapes[%zu]: mode chain takes packed problems only, without alpha and beta", i);
    }
    return 0;
}

static int check_places(const struct config *c, struct error *err)
{
    return check_modes(c, err) || check_strides(c, err) ? err->code : 0;
}

int config_check(const struct config *c, struct error *err)
{
    if (check_types(c, err) || check_roles(c, err) || check_places(c, err))
        return err->code;
    return check_stop(c, err);
}

/* ---- the whole ---- */

struct step {
    void (*read)(struct json_at root, struct config *c, struct faults *faults);
    int (*check)(const struct config *c, struct error *err); /* of what it has read without a fault; NULL: none */
};

static void read_config(struct json_at root, struct config *c, struct faults *faults)
{
    static const struct step steps[] = {{read_head, NULL},         {config_read_shapes, NULL},
                                        {read_types, check_types}, {config_read_contenders, check_roles},
                                        {read_fields, check_stop}, {read_rest, check_places}};
    if (!read_kind(root, faults))
        return;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct error err;
        size_t before = faults->count;
        steps[i].read(root, c, faults);
        if (!steps[i].check || faults->count > before || !steps[i].check(c, &err))
            continue;
        error_wrap(&err, "%s", root.source);
        faults_none(faults, err.code, &err);
    }
}

/* Of text that is the caller's and may be written to. */
static void read_text(char *text, size_t length, const char *source, struct config *out, struct faults *faults)
{
    cJSON *tree = NULL;
    struct error err;
    int code = comments_blank(text, length, source, &err);
    if (!code)
        code = json_parse(text, length, CONFIG_TEXT_BYTES, source, &tree, &err);
    if (faults_none(faults, code, &err))
        read_config(json_root(tree, source), out, faults);
    cJSON_Delete(tree);
}

/* What a reader of one error is told; nothing is left to free then. */
static int first_fault(struct faults *faults, struct config *out, struct error *err)
{
    int code = faults->first.code;
    if (code) {
        *err = faults->first;
        config_free(out);
    }
    faults_free(faults);
    return code;
}

int config_parse(const char *text, size_t length, const char *source, struct config *out, struct error *err)
{
    struct faults faults = {.count = 0};
    memset(out, 0, sizeof *out);
    if (length > CONFIG_TEXT_BYTES)
        return error_set(err, EXIT_CODE_DATA, "%s: %zu bytes, the limit is %u", source, length, CONFIG_TEXT_BYTES);
    char *copy = malloc(length + 1);
    if (!copy)
        return error_set(err, EXIT_CODE_INTERNAL, "%s: no memory for %zu bytes", source, length);
    memcpy(copy, text, length);
    copy[length] = '\0';
    config_defaults(out);
    read_text(copy, length, source, out, &faults);
    free(copy);
    return first_fault(&faults, out, err);
}

/* "my" of dir/my.json, for a config that has no name of its own. */
static void name_after(const char *path, char name[CONFIG_LABEL_MAX])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base), read = 0;
    while (read < length && read + 4 < CONFIG_LABEL_MAX && utf8_length(base + read, length - read) > 0)
        read += utf8_length(base + read, length - read);
    char plain[CONFIG_LABEL_MAX];
    snprintf(plain, sizeof plain, "%.*s", (int)read, base);
    if (read > 0 && config_text_plain(plain))
        memcpy(name, plain, sizeof plain);
}

void config_read(const char *path, struct config *out, struct faults *faults)
{
    char *text = NULL;
    size_t length = 0;
    struct error err;
    bool is_input = strcmp(path, CONFIG_INPUT) == 0;
    config_defaults(out);
    int code = is_input ? file_read_input(INPUT_NAME, CONFIG_MAX_BYTES, &text, &length, &err)
                        : file_read(path, CONFIG_MAX_BYTES, &text, &length, &err);
    if (!faults_none(faults, code, &err))
        return;
    if (!is_input)
        name_after(path, out->name);
    read_text(text, length, is_input ? INPUT_NAME : path, out, faults);
    if (!is_input)
        config_rebase(out, path, faults);
    free(text);
}

int config_load(const char *path, struct config *out, struct error *err)
{
    struct faults faults = {.count = 0};
    config_read(path, out, &faults);
    return first_fault(&faults, out, err);
}

void config_free(struct config *c)
{
    free(c->shapes);
    config_drop_names(c->baselines);
    config_drop_names(c->candidates);
    memset(c, 0, sizeof *c);
}
