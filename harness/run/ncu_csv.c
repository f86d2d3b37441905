/*
 * ncu_csv.c - reads ncu's CSV: fields in quotes, thousands separators, units in a row below the names, lines of the
 * profiler and of the profiled program in between. Relies on base/tree.h. Called by counters.c, its tests and
 * fuzz_ncu.c.
 */
#include "run/ncu_csv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_locale.h"
#include "base/tree.h"

/* Fields point into the text, which is taken apart. */
struct row {
    char *fields[NCU_COLUMNS];
    size_t n;
};

struct column {
    const char *name, *unit;
    double value, weight; /* so far; NaN: none */
    size_t n;             /* rows that had a number */
};

struct table {
    struct column columns[NCU_COLUMNS]; /* of metrics that are wanted; others have no name */
    const char *wanted;                 /* "": all */
    size_t n_columns, kernel, grid, block, weight, n_rows;
    cJSON *kernels; /* owned */
};

/* ---- rows ---- */

/* Copies a quoted field in place over its quotes, which are two at least, so that its end is ahead of what comes
 * behind it and is returned. */
static char *unquote(char *at, char **field)
{
    char *to = *field = at;
    for (at++; *at; at++) {
        if (*at == '"' && at[1] != '"')
            break;
        at += *at == '"';
        *to++ = *at;
    }
    at += *at == '"';
    *to = '\0';
    return at + strcspn(at, ",\n");
}

/* Reads one row; *next is what follows it. */
static void read_row(char *at, struct row *row, char **next)
{
    bool more = true;
    row->n = 0;
    while (more) {
        char *field, *end;
        if (*at == '"') {
            end = unquote(at, &field);
        } else {
            field = at;
            end = at + strcspn(at, ",\n");
        }
        more = *end == ',';
        at = *end ? end + 1 : end;
        *end = '\0';
        if (row->n < NCU_COLUMNS)
            row->fields[row->n++] = field;
        field[strcspn(field, "\r")] = '\0';
    }
    *next = at;
}

static char *line_behind(char *at)
{
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

/* The row of names, wherever it stands. */
static char *find_header(char *text)
{
    for (char *at = text; *at; at = line_behind(at))
        if (strncmp(at, "\"ID\",", 5) == 0 || strncmp(at, "ID,", 3) == 0)
            return at;
    return NULL;
}

/* ---- columns ---- */

bool ncu_is_metric(const char *name, size_t length)
{
    bool parted = false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)name[i]) && !strchr("_.:", name[i]))
            return false;
        parted |= i > 0 && i + 2 < length && name[i] == '_' && name[i + 1] == '_';
    }
    return parted && length < NCU_NAME_MAX;
}

bool ncu_lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    return false;
}

static void note_column(struct table *t, size_t i, const char *name)
{
    struct column *c = &t->columns[i];
    bool kept = ncu_is_metric(name, strlen(name)) && (!t->wanted[0] || ncu_lists(t->wanted, name));
    *c = (struct column){.name = kept ? name : NULL, .unit = "", .value = NAN};
    if (strcmp(name, "Kernel Name") == 0)
        t->kernel = i;
    if (strcmp(name, "Grid Size") == 0)
        t->grid = i;
    if (strcmp(name, "Block Size") == 0)
        t->block = i;
    if (strcmp(name, NCU_WEIGHT) == 0)
        t->weight = i;
}

static void note_columns(struct table *t, const struct row *names)
{
    t->n_columns = names->n;
    t->kernel = t->grid = t->block = t->weight = NCU_COLUMNS;
    for (size_t i = 0; i < names->n; i++)
        note_column(t, i, names->fields[i]);
}

static void note_units(struct table *t, const struct row *units)
{
    for (size_t i = 0; i < units->n && i < t->n_columns; i++)
        t->columns[i].unit = units->fields[i];
}

/* ---- numbers ---- */

/* "52,704" or "80.82"; NaN for what is none ("n/a"). */
static double number_of(const char *field)
{
    char plain[64], *end;
    size_t n = 0;
    for (const char *c = field; *c && n + 1 < sizeof plain; c++)
        if (*c != ',')
            plain[n++] = *c;
    plain[n] = '\0';
    if (n == 0 || !(isdigit((unsigned char)plain[0]) || strchr("-+.", plain[0])))
        return NAN;
    double value = strtod(plain, &end);
    return *end == '\0' && isfinite(value) ? value : NAN;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

const char *ncu_combination(const char *metric)
{
    if (ends_with(metric, ".sum"))
        return "sum";
    if (ends_with(metric, ".min"))
        return "min";
    return ends_with(metric, ".max") || strncmp(metric, "launch__", 8) == 0 ? "max" : "mean";
}

/* Until the end a mean is a weighted sum. */
static void add_number(struct column *c, double value, double weight)
{
    const char *how = ncu_combination(c->name);
    bool first = c->n++ == 0;
    if (strcmp(how, "mean") == 0) {
        c->value = (first ? 0 : c->value) + value * weight;
        c->weight += weight;
    } else if (first) {
        c->value = value;
    } else if (strcmp(how, "sum") == 0) {
        c->value += value;
    } else {
        c->value = strcmp(how, "min") == 0 ? fmin(c->value, value) : fmax(c->value, value);
    }
}

static double result_of(const struct column *c)
{
    return strcmp(ncu_combination(c->name), "mean") == 0 ? c->value / c->weight : c->value;
}

/* ---- kernels ---- */

static const char *field_at(const struct row *row, size_t i)
{
    return i < row->n ? row->fields[i] : "";
}

static bool name_kernel(struct table *t, const struct row *row)
{
    char name[NCU_NAME_MAX];
    struct tree one = tree_begin();
    snprintf(name, sizeof name, "%s", field_at(row, t->kernel));
    tree_put_text(&one, "kernel", name);
    snprintf(name, sizeof name, "%s", field_at(row, t->grid));
    tree_put_text(&one, "grid", name);
    snprintf(name, sizeof name, "%s", field_at(row, t->block));
    tree_put_text(&one, "block", name);
    return tree_append(t->kernels, tree_finish(&one));
}

/* A kernel without a time weighs as much as any other. */
static bool add_kernel(struct table *t, const struct row *row)
{
    double weight = number_of(field_at(row, t->weight));
    if (!(weight > 0))
        weight = 1;
    for (size_t i = 0; i < t->n_columns; i++) {
        double value = t->columns[i].name ? number_of(field_at(row, i)) : NAN;
        if (!isnan(value))
            add_number(&t->columns[i], value, weight);
    }
    return t->n_rows++ >= NCU_KERNELS_SHOWN || name_kernel(t, row);
}

/* Lines of the profiler, of the program, and rows cut short are none. */
static bool is_kernel(const struct table *t, const struct row *row)
{
    const char *id = row->fields[0];
    return row->n == t->n_columns && id[0] && strspn(id, "0123456789") == strlen(id);
}

static bool read_rows(struct table *t, char *at)
{
    struct row *row = malloc(sizeof *row);
    bool good = row != NULL, units = true;
    if (good)
        read_row(at, row, &at);
    if (good)
        note_columns(t, row);
    while (good && *at && t->n_rows < NCU_KERNELS) {
        read_row(at, row, &at);
        if (is_kernel(t, row))
            good = add_kernel(t, row);
        else if (units && row->n == t->n_columns)
            note_units(t, row);
        units = units && t->n_rows == 0;
    }
    free(row);
    return good;
}

/* ---- the result ---- */

static cJSON *metric_tree(const struct table *t, const struct column *c)
{
    struct tree one = tree_begin();
    tree_put_number(&one, "value", result_of(c));
    tree_put_text(&one, "unit", c->unit);
    if (t->n_rows > 1)
        tree_put_text(&one, "kernels", ncu_combination(c->name));
    return tree_finish(&one);
}

static const struct column *column_of(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].name && strcmp(t->columns[i].name, name) == 0)
            return &t->columns[i];
    return NULL;
}

/* Wanted ones that no column is for; false out of memory. */
static bool add_absent(const struct table *t, cJSON *missing)
{
    char name[NCU_NAME_MAX];
    for (const char *at = t->wanted; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (name[0] && !column_of(t, name) && !tree_append(missing, cJSON_CreateString(name)))
            return false;
    }
    return true;
}

static cJSON *missing_tree(const struct table *t)
{
    cJSON *missing = cJSON_CreateArray();
    bool good = missing != NULL;
    for (size_t i = 0; good && i < t->n_columns; i++)
        if (t->columns[i].name && t->columns[i].n == 0)
            good = tree_append(missing, cJSON_CreateString(t->columns[i].name));
    good = good && add_absent(t, missing);
    if (!good)
        cJSON_Delete(missing);
    return good ? missing : NULL;
}

static cJSON *table_tree(struct table *t)
{
    struct tree all = tree_begin(), metrics = tree_begin();
    cJSON *missing = missing_tree(t);
    for (size_t i = 0; i < t->n_columns; i++) {
        const struct column *c = &t->columns[i];
        if (c->name && c->n > 0 && !cJSON_HasObjectItem(metrics.object, c->name))
            tree_put(&metrics, c->name, metric_tree(t, c));
    }
    tree_put(&all, "metrics", tree_finish(&metrics));
    if (missing && cJSON_GetArraySize(missing) == 0)
        cJSON_Delete(missing);
    else
        tree_put(&all, "missing", missing);
    tree_put(&all, "kernels", t->kernels);
    t->kernels = NULL;
    tree_put_number(&all, "launched", (double)t->n_rows);
    return tree_finish(&all);
}

static int read_table(char *text, struct table *t, cJSON **out, struct error *err)
{
    char *header = find_header(text);
    if (!header)
        return error_set(err, EXIT_CODE_DATA, "ncu printed no table");
    if (!t->kernels || !read_rows(t, header))
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for counters");
    if (t->n_rows == 0)
        return error_set(err, EXIT_CODE_DATA, "ncu saw no kernel");
    *out = table_tree(t);
    return *out ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for counters");
}

int ncu_csv_read(const char *text, const char *wanted, cJSON **out, struct error *err)
{
    char *copy = strdup(text);
    struct table *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t) {
        t->kernels = cJSON_CreateArray();
        t->wanted = wanted;
    }
    locale_t before = plain_locale_enter();
    int code =
        copy && t ? read_table(copy, t, out, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for counters");
    plain_locale_leave(before);
    if (t)
        cJSON_Delete(t->kernels);
    free(t);
    free(copy);
    return code;
}

void ncu_complaint(const char *text, char *out, size_t capacity)
{
    static const char mark[] = "==ERROR==";
    out[0] = '\0';
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        bool error = strncmp(at, mark, sizeof mark - 1) == 0;
        const char *from = error ? at + sizeof mark - 1 : at;
        size_t left = length - (size_t)(from - at);
        while (left > 0 && *from == ' ')
            from++, left--;
        if (left > 0)
            snprintf(out, capacity, "%.*s", (int)left, from);
        if (error)
            return;
        at += length + (at[length] == '\n');
    }
}
