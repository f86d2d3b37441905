/*
 * json_keys.c - refuses keys that differ in case only, which cJSON's lookups would take for each other. Relies on
 * nothing but the tree. Called by json_scan.h's check of a parsed tree and by every reader that lists its keys.
 */
#include "base/json_scan.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The way down to a node, kept on the stack: a path is text only when there is something to report. */
struct way {
    const struct way *up;
    const cJSON *node;
};

static void path_of(const struct way *w, struct json_at *at)
{
    if (!w->up)
        return;
    path_of(w->up, at);
    if (cJSON_IsObject(w->up->node)) {
        *at = json_member(*at, w->node->string);
        return;
    }
    int index = 0;
    for (const cJSON *c = w->up->node->child; c != w->node; c = c->next)
        index++;
    *at = json_element(*at, index);
}

static int by_folded_name(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted by name without case, keys that clash are neighbours. */
static int check_object(const struct way *w, const char *source, struct error *err)
{
    int count = cJSON_GetArraySize(w->node);
    if (count < 2)
        return 0;
    const char **names = malloc((size_t)count * sizeof *names);
    if (!names)
        return error_set(err, EXIT_CODE_INTERNAL, "%s: no memory for %d keys", source, count);
    int used = 0;
    for (const cJSON *c = w->node->child; c; c = c->next)
        names[used++] = c->string;
    qsort(names, (size_t)used, sizeof *names, by_folded_name);
    int code = 0;
    for (int i = 1; i < used && !code; i++) {
        if (strcasecmp(names[i - 1], names[i]) != 0)
            continue;
        const struct way *top = w;
        while (top->up)
            top = top->up;
        struct json_at at = json_root(top->node, source);
        char shown[2][JSON_SHOWN_MAX];
        path_of(w, &at);
        if (strcmp(names[i - 1], names[i]) == 0)
            code = json_fail(at, err, "duplicate key \"%s\"", json_shown(names[i], shown[0]));
        else
            code = json_fail(at, err, "keys \"%s\" and \"%s\" differ only in case", json_shown(names[i - 1], shown[0]),
                             json_shown(names[i], shown[1]));
    }
    free(names);
    return code;
}

/* Recursion is bounded: json_scan has held the depth to JSON_MAX_DEPTH. */
static int check_below(const struct way *w, const char *source, struct error *err)
{
    int code = cJSON_IsObject(w->node) ? check_object(w, source, err) : 0;
    for (const cJSON *c = w->node->child; c && !code; c = c->next) {
        struct way down = {.up = w, .node = c};
        if (c->child)
            code = check_below(&down, source, err);
    }
    return code;
}

int json_check_keys(const cJSON *root, const char *source, struct error *err)
{
    struct way w = {.node = root};
    return check_below(&w, source, err);
}
