/*
 * lines.c - the lines of a table: sorted, found, printed with one line a problem. Relies on base/text.h. Called by
 * table.c and merge.c.
 */
#include "tune/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "contender/tuned.h"

int lines_add(struct table_lines *lines, const struct table_line *line, struct error *err)
{
    struct table_line *grown = realloc(lines->items, (lines->n + 1) * sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
    lines->items = grown;
    lines->items[lines->n++] = *line;
    return 0;
}

void lines_free(struct table_lines *lines)
{
    free(lines->items);
    *lines = (struct table_lines){0};
}

/* ---- order ---- */

static int by_place(const void *a, const void *b)
{
    const struct table_line *x = a, *y = b;
    const struct cudal2_problem *p = &x->problem, *q = &y->problem;
    int family = strcmp(x->family, y->family);
    const int64_t left[] = {p->m, p->n, p->k, (int64_t)x->layout}, right[] = {q->m, q->n, q->k, (int64_t)y->layout};
    for (int i = 0; family == 0 && i < 4; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return family;
}

void lines_sort(struct table_lines *lines)
{
    if (lines->n > 0)
        qsort(lines->items, lines->n, sizeof *lines->items, by_place);
}

struct table_line *lines_find(const struct table_lines *lines, size_t n, const struct table_line *like)
{
    return n > 0 ? bsearch(like, lines->items, n, sizeof *lines->items, by_place) : NULL;
}

/* ---- writing ---- */

/* The place of a text in a JSON array of texts, added at its end if need be. */
static int index_of(cJSON *list, const char *text)
{
    int n = 0;
    const cJSON *node;
    cJSON_ArrayForEach(node, list)
    {
        if (strcmp(node->valuestring, text) == 0)
            return n;
        n++;
    }
    cJSON_AddItemToArray(list, cJSON_CreateString(text));
    return n;
}

static double tenths(double ns)
{
    return round(10 * ns) / 10;
}

static void put_ns(cJSON *o, const char *key, double ns)
{
    if (isfinite(ns))
        cJSON_AddNumberToObject(o, key, tenths(ns));
}

static cJSON *line_to_json(const struct table_line *line, cJSON *families, cJSON *variants)
{
    const struct cudal2_problem *p = &line->problem;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "m", (double)p->m);
    cJSON_AddNumberToObject(o, "n", (double)p->n);
    cJSON_AddNumberToObject(o, "k", (double)p->k);
    cJSON_AddNumberToObject(o, "family", index_of(families, line->family));
    cJSON_AddStringToObject(o, "layout", layout_names[line->layout]);
    cJSON_AddNumberToObject(o, "variant", index_of(variants, line->variant));
    put_ns(o, "time_ns", line->time_ns);
    put_ns(o, "low_ns", line->low_ns);
    put_ns(o, "high_ns", line->high_ns);
    if (line->runner_up) {
        cJSON_AddNumberToObject(o, "runner_up", index_of(variants, line->runner_up));
        put_ns(o, "runner_up_ns", line->runner_up_ns);
    }
    if (line->reference) {
        cJSON_AddStringToObject(o, "reference", line->reference);
        put_ns(o, "reference_ns", line->reference_ns);
    }
    if (line->commit)
        cJSON_AddStringToObject(o, "commit", line->commit);
    return o;
}

/* Each element on a line of its own. */
static void put_list(struct text *t, const char *key, const cJSON *list, const char *end)
{
    const cJSON *node;
    text_add(t, " \"%s\": [", key);
    cJSON_ArrayForEach(node, list)
    {
        char *one = json_print(node, false);
        text_add(t, "%s\n  %s", node == list->child ? "" : ",", one ? one : "null");
        t->failed |= one == NULL;
        free(one);
    }
    text_add(t, "\n ]%s\n", end);
}

static void put_head(struct text *t, const cJSON *head)
{
    const cJSON *node;
    cJSON_ArrayForEach(node, head)
    {
        char *one = json_print(node, false);
        text_add(t, " \"%s\": %s,\n", node->string, one ? one : "null");
        t->failed |= one == NULL;
        free(one);
    }
}

int lines_print(const struct table_lines *lines, const cJSON *head, char **text, struct error *err)
{
    struct text t = {0};
    int code = 0;
    cJSON *families = cJSON_CreateArray(), *variants = cJSON_CreateArray(), *entries = cJSON_CreateArray();
    for (size_t i = 0; i < lines->n; i++)
        cJSON_AddItemToArray(entries, line_to_json(&lines->items[i], families, variants));
    text_add(&t, "{\n");
    put_head(&t, head);
    put_list(&t, "families", families, ",");
    put_list(&t, "variants", variants, ",");
    put_list(&t, "entries", entries, "");
    text_add(&t, "}\n");
    if (t.failed)
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for a tuning table");
    else if (cJSON_GetArraySize(variants) > TUNED_MAX_VARIANTS) /* nobody could read it */
        code = error_set(err, EXIT_CODE_DATA, "the tuning table has %d different variants (%d at most)",
                         cJSON_GetArraySize(variants), TUNED_MAX_VARIANTS);
    cJSON_Delete(families);
    cJSON_Delete(variants);
    cJSON_Delete(entries);
    if (code)
        text_free(&t);
    *text = t.bytes;
    return code;
}
