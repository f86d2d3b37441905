/*
 * tuned.c - tuning tables: which one is for this device, and which variant it names for a problem or its neighbours.
 * Relies on base/file.h and base/json.h. Called by tuned_tables.c, which opens them, measure/variants.c,
 * worker/precompile_list.c and tune/.
 */
#include "contender/tuned.h"
#include "base/file.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE (1 << 30)
#define MAX_NS 1e15

static const char *const top_keys[] = {"schema",   "schema_version", "device", "driver",   "dtype",     "accumulate",
                                       "mode",     "timing",         "cache",  "commit",   "libraries", "families",
                                       "variants", "entries",        "cc",     "sm_count", NULL};
static const char *const entry_keys[] = {
    "m",      "n",       "k",         "family",       "layout",    "variant",      "time_ns",
    "low_ns", "high_ns", "runner_up", "runner_up_ns", "reference", "reference_ns", "commit",
    NULL};

/* ---- reading ---- */

static int read_text(struct json_at at, char *out, size_t capacity, struct error *err)
{
    const char *text;
    if (json_read_string(at, &text, err))
        return err->code;
    if (strlen(text) >= capacity)
        return json_fail(at, err, "more than %zu bytes", capacity - 1);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int read_index(struct json_at at, size_t count, int *out, struct error *err)
{
    int64_t value;
    if (json_read_int(at, 0, (int64_t)count - 1, &value, err))
        return err->code;
    *out = (int)value;
    return 0;
}

/* An absent time is NaN. */
static int read_ns(struct json_at at, bool required, double *out, struct error *err)
{
    *out = (double)NAN;
    if (!at.node && !required)
        return 0;
    if (json_read_number(at, 0, MAX_NS, out, err))
        return err->code;
    return *out > 0 ? 0 : json_fail(at, err, "a time is more than 0");
}

static int read_sizes(struct json_at at, struct tuned_entry *e, struct error *err)
{
    int64_t *const sizes[] = {&e->m, &e->n, &e->k};
    const char *const keys[] = {"m", "n", "k"};
    for (int i = 0; i < 3; i++)
        if (json_read_int(json_member(at, keys[i]), 1, MAX_SIZE, sizes[i], err))
            return err->code;
    return 0;
}

static int read_times(struct json_at at, struct tuned_entry *e, struct error *err)
{
    if (read_ns(json_member(at, "time_ns"), true, &e->time_ns, err) ||
        read_ns(json_member(at, "low_ns"), false, &e->low_ns, err) ||
        read_ns(json_member(at, "high_ns"), false, &e->high_ns, err) ||
        read_ns(json_member(at, "runner_up_ns"), false, &e->runner_up_ns, err) ||
        read_ns(json_member(at, "reference_ns"), false, &e->reference_ns, err))
        return err->code;
    if (e->low_ns > e->time_ns || e->high_ns < e->time_ns)
        return json_fail(at, err, "time_ns is not between low_ns and high_ns");
    return 0;
}

static int read_entry(struct json_at at, const struct tuned_table *t, struct tuned_entry *e, struct error *err)
{
    struct json_at runner_up = json_member(at, "runner_up"), reference = json_member(at, "reference"),
                   commit = json_member(at, "commit");
    int layout = 0;
    e->runner_up = -1;
    if (json_only_keys(at, entry_keys, err) || read_sizes(at, e, err) ||
        read_index(json_member(at, "family"), t->n_families, &e->family, err) ||
        json_read_choice(json_member(at, "layout"), layout_names, &layout, err) ||
        read_index(json_member(at, "variant"), t->n_variants, &e->variant, err) ||
        (runner_up.node && read_index(runner_up, t->n_variants, &e->runner_up, err)) ||
        (reference.node && read_text(reference, e->reference, sizeof e->reference, err)) ||
        (commit.node && read_text(commit, e->commit, sizeof e->commit, err)))
        return err->code;
    e->layout = (enum cudal2_layout)layout;
    return read_times(at, e, err);
}

/* Strings of at most `capacity` bytes each, one after the other in *out. */
static int read_texts(struct json_at at, size_t capacity, void **out, size_t *n, struct error *err)
{
    const cJSON *node = NULL;
    int count, index;
    struct json_at element;
    if (json_read_array(at, 1, &count, err))
        return err->code;
    if (count > TUNED_MAX_VARIANTS)
        return json_fail(at, err, "more than %d", TUNED_MAX_VARIANTS);
    char *texts = calloc((size_t)count, capacity);
    if (!texts)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
    *out = texts;
    while (json_each(at, &node, &index, &element))
        if (read_text(element, texts + capacity * (*n)++, capacity, err))
            return err->code;
    return 0;
}

/* For a sort that brings the same problem of the same contender together. */
static int by_problem(const void *a, const void *b)
{
    const struct tuned_entry *x = *(const struct tuned_entry *const *)a, *y = *(const struct tuned_entry *const *)b;
    const int64_t left[] = {x->family, (int64_t)x->layout, x->m, x->n, x->k};
    const int64_t right[] = {y->family, (int64_t)y->layout, y->m, y->n, y->k};
    for (int i = 0; i < 5; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int refuse_twice(const struct tuned_table *t, struct json_at at, struct error *err)
{
    const struct tuned_entry **order = malloc(t->n_entries * sizeof *order);
    char key[80];
    int code = 0;
    if (!order)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
    for (size_t i = 0; i < t->n_entries; i++)
        order[i] = &t->entries[i];
    qsort(order, t->n_entries, sizeof *order, by_problem);
    for (size_t i = 1; i < t->n_entries && !code; i++) {
        if (by_problem(&order[i - 1], &order[i]) != 0)
            continue;
        tuned_entry_key(order[i], key);
        code = json_fail(at, err, "%s is there twice for %s", key, t->families[order[i]->family]);
    }
    free(order);
    return code;
}

static int read_entries(struct json_at at, struct tuned_table *t, struct error *err)
{
    const cJSON *node = NULL;
    int count, index;
    struct json_at element;
    if (json_read_array(at, 1, &count, err))
        return err->code;
    t->entries = calloc((size_t)count, sizeof *t->entries);
    if (!t->entries)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
    while (json_each(at, &node, &index, &element))
        if (read_entry(element, t, &t->entries[t->n_entries++], err))
            return err->code;
    return refuse_twice(t, at, err);
}

/* What the device is alike; tables of before 2026-11-25 may not say it. */
static int read_class(struct json_at root, struct tuned_table *t, struct error *err)
{
    struct json_at cc = json_member(root, "cc"), sms = json_member(root, "sm_count");
    int64_t values[2] = {0, 0};
    if ((cc.node && json_read_int(cc, 1, 1000, &values[0], err)) ||
        (sms.node && json_read_int(sms, 1, 100000, &values[1], err)))
        return err->code;
    t->cc = (int)values[0];
    t->sm_count = (int)values[1];
    return 0;
}

static int read_head(struct json_at root, struct tuned_table *t, struct error *err)
{
    int dtype, accumulate, mode, timing, cache;
    if (json_read_head(root, TUNED_SCHEMA, TUNED_SCHEMA_VERSION, top_keys, err) ||
        read_text(json_member(root, "device"), t->device, sizeof t->device, err) ||
        read_text(json_member(root, "driver"), t->driver, sizeof t->driver, err) ||
        read_text(json_member(root, "commit"), t->commit, sizeof t->commit, err) ||
        json_read_choice(json_member(root, "dtype"), dtype_names, &dtype, err) ||
        json_read_choice(json_member(root, "accumulate"), accumulate_names, &accumulate, err) ||
        json_read_choice(json_member(root, "mode"), mode_names, &mode, err) ||
        json_read_choice(json_member(root, "timing"), timing_names, &timing, err) ||
        json_read_choice(json_member(root, "cache"), cache_state_names, &cache, err))
        return err->code;
    t->dtype = (enum cudal2_dtype)dtype;
    t->accumulate = (enum cudal2_accumulate)accumulate;
    t->mode = (enum mode)mode;
    t->timing = (enum timing)timing;
    t->cache = (enum cache_state)cache;
    return read_class(root, t, err);
}

static int read_table(struct json_at root, struct tuned_table *t, struct error *err)
{
    void *families = NULL, *variants = NULL;
    int code = read_head(root, t, err);
    if (!code)
        code = read_texts(json_member(root, "families"), sizeof *t->families, &families, &t->n_families, err);
    if (!code)
        code = read_texts(json_member(root, "variants"), sizeof *t->variants, &variants, &t->n_variants, err);
    t->families = families;
    t->variants = variants;
    return code ? code : read_entries(json_member(root, "entries"), t, err);
}

static void keep_name(struct tuned_table *t, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(t->name, sizeof t->name, "%.*s", (int)sizeof t->name - 1, slash ? slash + 1 : path);
    char *ending = strrchr(t->name, '.');
    if (ending && strcmp(ending, ".json") == 0)
        *ending = '\0';
}

int tuned_load(const char *path, struct tuned_table **out, struct error *err)
{
    char *text = NULL;
    size_t length = 0;
    cJSON *tree = NULL;
    struct digest digest;
    struct tuned_table *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
    int code = file_read(path, TUNED_MAX_BYTES, &text, &length, err);
    if (!code)
        code = json_parse(text, length, TUNED_MAX_BYTES, path, &tree, err);
    if (!code) {
        keep_name(t, path);
        digest_start(&digest);
        digest_add(&digest, text, length);
        digest_finish(&digest, t->hash);
        code = read_table(json_root(tree, path), t, err);
    }
    cJSON_Delete(tree);
    free(text);
    if (code)
        tuned_free(t);
    else
        *out = t;
    return code;
}

void tuned_free(struct tuned_table *t)
{
    if (!t)
        return;
    free(t->families);
    free(t->variants);
    free(t->entries);
    free(t);
}

bool tuned_is_of_class(const struct tuned_table *t, const struct device_info *device)
{
    return t->cc > 0 && t->sm_count > 0 && t->cc == device->cc && t->sm_count == device->sm_count;
}

int tuned_check_device(const struct tuned_table *t, const struct device_info *device, struct error *err)
{
    if (strcmp(t->device, device->name) == 0 || tuned_is_of_class(t, device))
        return 0;
    return error_set(err, EXIT_CODE_DATA,
                     "the tuning table %s was made on \"%s\", this is \"%s\": tune here, or use it all the same with "
                     "--force",
                     t->name, t->device, device->name);
}

/* ---- looking up ---- */

static double octaves(int64_t a, int64_t b)
{
    return fabs(log2((double)a / (double)b));
}

static double distance(const struct tuned_entry *e, const struct tuned_query *q)
{
    return octaves(e->m, q->problem.m) + octaves(e->n, q->problem.n) + octaves(e->k, q->problem.k) +
           (e->layout == q->layout ? 0.0 : TUNED_OTHER_LAYOUT);
}

/* Puts the match in its place among the n there are; the last one falls off when there is no room. */
static size_t insert(struct tuned_match *out, size_t n, size_t capacity, struct tuned_match match)
{
    size_t at = n;
    while (at > 0 && out[at - 1].distance > match.distance)
        at--;
    if (at == capacity)
        return n;
    size_t moved = (n < capacity ? n : capacity - 1) - at;
    memmove(&out[at + 1], &out[at], moved * sizeof *out);
    out[at] = match;
    return n < capacity ? n + 1 : n;
}

/* bf16 takes the code path of f16, in kernels of the same size. */
static bool answers(const struct tuned_table *t, const struct tuned_query *q)
{
    bool type = t->dtype == q->problem.dtype || (t->dtype == CUDAL2_F16 && q->problem.dtype == CUDAL2_BF16);
    return type && t->accumulate == q->problem.accumulate;
}

static bool of_family(const struct tuned_table *t, const struct tuned_entry *e, const struct tuned_query *q)
{
    return strcmp(t->families[e->family], q->family) == 0;
}

bool tuned_knows(const struct tuned_table *t, const struct tuned_query *query)
{
    for (size_t i = 0; answers(t, query) && i < t->n_entries; i++)
        if (of_family(t, &t->entries[i], query))
            return true;
    return false;
}

const struct tuned_entry *tuned_exact(const struct tuned_table *t, const struct tuned_query *query)
{
    const struct cudal2_problem *p = &query->problem;
    for (size_t i = 0; answers(t, query) && i < t->n_entries; i++) {
        const struct tuned_entry *e = &t->entries[i];
        if (e->m == p->m && e->n == p->n && e->k == p->k && e->layout == query->layout && of_family(t, e, query))
            return e;
    }
    return NULL;
}

size_t tuned_keys(const struct tuned_table *t, const struct tuned_entry *e, const char *keys[2])
{
    bool close = e->runner_up >= 0 && e->runner_up_ns <= TUNED_CLOSE * e->time_ns;
    keys[0] = t->variants[e->variant].key;
    keys[1] = close ? t->variants[e->runner_up].key : NULL;
    return close ? 2 : 1;
}

size_t tuned_nearest(const struct tuned_table *t, const struct tuned_query *query, struct tuned_match *out,
                     size_t capacity)
{
    size_t n = 0;
    if (capacity == 0 || !answers(t, query))
        return 0;
    for (size_t i = 0; i < t->n_entries; i++) {
        const struct tuned_entry *e = &t->entries[i];
        if (of_family(t, e, query))
            n = insert(out, n, capacity, (struct tuned_match){e, distance(e, query)});
    }
    return n;
}

/* ---- names ---- */

void tuned_name(const struct device_info *device, const struct cudal2_problem *problem, enum mode mode,
                char out[TUNED_NAME_MAX])
{
    size_t n = 0;
    for (const char *c = device->name; *c; c++) {
        if (isalnum((unsigned char)*c))
            out[n++] = (char)tolower((unsigned char)*c);
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
    }
    if (n > 0 && out[n - 1] != '-')
        out[n++] = '-';
    if (problem->dtype != CUDAL2_F16)
        n += (size_t)snprintf(out + n, TUNED_NAME_MAX - n, "%s-", dtype_names[problem->dtype]);
    n += (size_t)snprintf(out + n, TUNED_NAME_MAX - n, "%s", accumulate_names[problem->accumulate]);
    if (mode != MODE_OFFLINE)
        snprintf(out + n, TUNED_NAME_MAX - n, "-%s", mode_names[mode]);
}

void tuned_entry_key(const struct tuned_entry *e, char out[80])
{
    snprintf(out, 80, "%" PRId64 "x%" PRId64 "x%" PRId64 "/%s", e->m, e->n, e->k, layout_names[e->layout]);
}
