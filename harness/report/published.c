/*
 * published.c - the CSV files in which the authors of CUDA-L2 published their speedups for each shape. Relies on
 * base/gzip_read.h. Called by report.c for each file of the request.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip_read.h"
#include "report/dataset.h"

#define PUBLISHED_MAX_BYTES (16u << 20)
#define BASELINES_MAX 32

struct csv {
    const char *path;
    unsigned line;
    struct line like; /* identity but for the reference */
    size_t n_baselines;
    size_t baseline[BASELINES_MAX]; /* index into the dataset's lines: they may move while it grows */
};

static int bad(const struct csv *csv, struct error *err, const char *what)
{
    return error_set(err, EXIT_CODE_DATA, "%s: line %u: %s", csv->path, csv->line, what);
}

/* "cuBLASLt-auto-tuning-max" is our "cublaslt-autotuning-max". */
static void our_name(const char *theirs, char out[DATASET_NAME_MAX])
{
    char lower[DATASET_NAME_MAX];
    size_t i = 0;
    for (; theirs[i] && i + 1 < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)theirs[i]);
    lower[i] = '\0';
    char *dash = strstr(lower, "auto-tuning");
    if (dash)
        memmove(dash + 4, dash + 5, strlen(dash + 5) + 1);
    snprintf(out, DATASET_NAME_MAX, "%s", lower);
}

static int read_head(struct csv *csv, char *text, struct dataset *d, struct error *err)
{
    char *rest = text;
    char *field = strsep(&rest, ",");
    if (strcmp(field, "mnk") != 0)
        return bad(csv, err, "expected a head line that begins with mnk");
    while ((field = strsep(&rest, ","))) {
        if (csv->n_baselines == BASELINES_MAX || !field[0])
            return bad(csv, err, "empty or too many column names");
        our_name(field, csv->like.reference);
        if (dataset_find(d, &csv->like))
            return bad(csv, err, "a column that is there already (two files of one mode?)");
        struct line *line = dataset_line(d, &csv->like);
        if (!line)
            return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
        csv->baseline[csv->n_baselines++] = (size_t)(line - d->lines);
    }
    return csv->n_baselines ? 0 : bad(csv, err, "no baselines");
}

/* A positive number that fills the whole field. */
static bool read_positive(const char *field, double *out)
{
    char *end;
    *out = strtod(field, &end);
    return end != field && *end == '\0' && isfinite(*out) && *out > 0;
}

static bool read_shape(char *field, struct shape_value *value)
{
    double *sizes[] = {&value->m, &value->n, &value->k};
    for (int i = 0; i < 3; i++) {
        char *size = strsep(&field, "_");
        if (!size || !read_positive(size, sizes[i]) || *sizes[i] != floor(*sizes[i]))
            return false;
    }
    return field == NULL;
}

static bool is_there(const struct line *line, const struct shape_value *value)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct shape_value *other = &line->values[i];
        if (other->m == value->m && other->n == value->n && other->k == value->k)
            return true;
    }
    return false;
}

static int read_row(const struct csv *csv, char *text, struct dataset *d, struct error *err)
{
    struct shape_value value = {.low = NAN, .high = NAN};
    char *rest = text;
    if (!read_shape(strsep(&rest, ","), &value))
        return bad(csv, err, "expected a shape like 64_128_256");
    for (size_t i = 0; i < csv->n_baselines; i++) {
        char *field = strsep(&rest, ",");
        double ratio;
        if (!field)
            return bad(csv, err, "fewer fields than the head line");
        if (!field[0])
            continue;
        if (!read_positive(field, &ratio))
            return bad(csv, err, "expected a positive ratio");
        value.mean = value.geomean = ratio - 1;
        if (is_there(&d->lines[csv->baseline[i]], &value))
            return bad(csv, err, "this shape is there twice");
        if (line_add(&d->lines[csv->baseline[i]], &value))
            return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    }
    return rest ? bad(csv, err, "more fields than the head line") : 0;
}

static int read_lines(struct csv *csv, char *bytes, struct dataset *d, struct error *err)
{
    char *rest = bytes;
    char *text;
    int code = 0;
    while (code == 0 && (text = strsep(&rest, "\n"))) {
        csv->line++;
        text[strcspn(text, "\r")] = '\0';
        if (csv->line == 1)
            code = read_head(csv, text, d, err);
        else if (text[0])
            code = read_row(csv, text, d, err);
    }
    return code;
}

/* "cuda_l2_a100_F16...": a word of a letter or two and digits, as GPUs are called. */
static void find_device(const char *name, char *out, size_t capacity)
{
    static const char *const known[] = {"a100", "h100", "h200", "h800", "h20", "b200", "3090", "4090", "5090"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(name, known[i]) && !out[0])
            snprintf(out, capacity, "%s", known[i]);
    for (char *c = out; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

/* All that the file says of itself is in its name: ..._F16F16F16F16_speedup_offline.csv. */
static void identify(const char *path, struct line *like)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    *like = (struct line){.source = "claimed", .dtype = "f16", .candidate = "cuda-l2"};
    strcpy(like->mode, strstr(name, "server") ? "server" : "offline");
    strcpy(like->accumulate, strstr(name, "F32") ? "f32" : "f16");
    strcpy(like->timing, timing_names[TIMING_EVENT]);
    find_device(name, like->device, sizeof like->device);
}

int dataset_add_published(struct dataset *d, const char *path, struct error *err)
{
    struct csv csv = {.path = path};
    char *bytes = NULL;
    size_t length;
    identify(path, &csv.like);
    if (gzip_read_file(path, PUBLISHED_MAX_BYTES, &bytes, &length, err))
        return err->code;
    int code = strlen(bytes) == length ? read_lines(&csv, bytes, d, err)
                                       : error_set(err, EXIT_CODE_DATA, "%s: holds a NUL byte", path);
    free(bytes);
    return code;
}
