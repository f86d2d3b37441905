/*
 * mismatch.c - walks two configs side by side and names each key that differs, with both values. Relies on
 * base/text_diff.h. Called by ledger.c when a resumed run asks for something else.
 */
#include "run/mismatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_diff.h"

#define SHOWN 4 /* differences told in full */
#define PATH_BYTES 128
#define VALUE_BYTES 64

/* Options that override a key of the config (cli/options_apply.c). */
static const struct {
    const char *key, *option;
} overrides[] = {
    {"modes", "--mode"},
    {"protocol", "--protocol"},
    {"timing", "--timing"},
    {"accumulate", "--accumulate"},
    {"offline.cache", "--cache"},
    {"server.cache", "--cache"},
    {"server.gap", "--gap"},
    {"server.mean_gap_ms", "--rate"},
    {"seed", "--seed"},
    {"aa", "--aa"},
    {"baselines", "--baselines"},
    {"candidates", "--candidate"},
    {"verify.enabled", "--no-verify"},
    {"tune.choice", "--choice"},
    {"tune.seconds", "--equal-budget"},
};

struct list {
    char *out;
    size_t capacity, used;
    int found;
};

static void put(struct list *l, const char *text)
{
    int written = snprintf(l->out + l->used, l->capacity - l->used, "%s", text);
    l->used += (size_t)written < l->capacity - l->used ? (size_t)written : l->capacity - l->used - 1;
}

/* Both values, cut to where they differ. */
static void put_values(struct list *l, const cJSON *then, const cJSON *now)
{
    char was[VALUE_BYTES], is[VALUE_BYTES];
    char *a = then ? json_print(then, false) : NULL;
    char *b = now ? json_print(now, false) : NULL;
    text_diff(!then ? "not given" : a ? a : "?", !now ? "not given" : b ? b : "?", VALUE_BYTES, was, is);
    put(l, " was ");
    put(l, was);
    put(l, ", is ");
    put(l, is);
    free(a);
    free(b);
}

static void put_difference(struct list *l, const char *path, const cJSON *then, const cJSON *now)
{
    if (l->found++ >= SHOWN)
        return;
    put(l, l->found > 1 ? "; " : "");
    put(l, path);
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
        if (strcmp(overrides[i].key, path) != 0)
            continue;
        put(l, " (");
        put(l, overrides[i].option);
        put(l, ")");
    }
    put_values(l, then, now);
}

static void compare(struct list *l, const char *path, const cJSON *then, const cJSON *now);

/* What is in both, what was and what is new. */
static void compare_members(struct list *l, const char *path, const cJSON *then, const cJSON *now)
{
    char below[PATH_BYTES];
    const char *dot = path[0] ? "." : "";
    for (const cJSON *a = then->child; a; a = a->next) {
        snprintf(below, sizeof below, "%s%s%s", path, dot, a->string);
        compare(l, below, a, cJSON_GetObjectItemCaseSensitive(now, a->string));
    }
    for (const cJSON *b = now->child; b; b = b->next) {
        snprintf(below, sizeof below, "%s%s%s", path, dot, b->string);
        if (!cJSON_GetObjectItemCaseSensitive(then, b->string))
            compare(l, below, NULL, b);
    }
}

static void compare(struct list *l, const char *path, const cJSON *then, const cJSON *now)
{
    if (then && now && cJSON_Compare(then, now, true))
        return;
    if (cJSON_IsObject(then) && cJSON_IsObject(now) && strlen(path) < PATH_BYTES - 64)
        compare_members(l, path, then, now);
    else
        put_difference(l, path, then, now);
}

void mismatch_describe(const cJSON *then, const cJSON *now, char *out, size_t capacity)
{
    struct list l = {.out = out, .capacity = capacity};
    char more[32];
    out[0] = '\0';
    if (!cJSON_IsObject(then) || !cJSON_IsObject(now))
        return;
    compare(&l, "", then, now);
    snprintf(more, sizeof more, "; and %d more", l.found - SHOWN);
    if (l.found > SHOWN)
        put(&l, more);
}
