/*
 * thin.c - takes out of a result what can be told from the rest, and puts it back when one is read. Relies on
 * record.h for names. Called by make.c, read.c and report/.
 */
#include "result/thin.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "record/record.h"
#include "base/tree.h"

/* Deletes the elements of a list for which `keep` is false. */
static void filter(cJSON *list, const cJSON *cell, bool (*keep)(const cJSON *cell, const cJSON *item))
{
    cJSON *next;
    for (cJSON *item = list ? list->child : NULL; item; item = next) {
        next = item->next;
        if (!keep(cell, item))
            cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
    }
}

static cJSON *member(cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static void drop(cJSON *object, const char *key)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
}

/* ---- comparisons ---- */

static bool in_headline(const cJSON *cell, const cJSON *item)
{
    return strcmp(tree_text(item, "timing"), tree_text(cell, "headline")) == 0;
}

/* Whether the name is that of a contender in one layout of a family, as cublas-nn is. */
static bool is_one_layout(const cJSON *cell, const char *name)
{
    const cJSON *contender = tree_member(tree_member(cell, "contenders"), name);
    return contender && strcmp(tree_text(contender, "family"), name) != 0;
}

static bool keep_speedup(const cJSON *cell, const cJSON *item)
{
    /* The paper's pairs are all there is, so they stay; a chain's stream is as much of it as its graph. */
    return (in_headline(cell, item) || tree_member(cell, "chain")) &&
           (tree_member(cell, "paper_pairs") || !is_one_layout(cell, tree_text(item, "candidate")));
}

static void thin_speedup(const cJSON *cell, cJSON *speedup)
{
    if (tree_number(speedup, "n") == tree_number(cell, "blocks"))
        drop(speedup, "n");
    if (tree_number(speedup, "groups") == tree_number(cell, "groups"))
        drop(speedup, "groups");
}

/* ---- contenders ---- */

static void thin_timings(cJSON *timings)
{
    cJSON *next;
    for (cJSON *t = timings ? timings->child : NULL; t; t = next) {
        next = t->next;
        if (cJSON_IsNull(t)) {
            cJSON_Delete(cJSON_DetachItemViaPointer(timings, t));
            continue;
        }
        drop(t, "p99_ns");
        drop(t, "median_low_ns");
        drop(t, "median_high_ns");
        drop(t, "min_ns");
        drop(t, "sd_ns");
    }
}

/* "cublas" for cublas-nn in layout nn; the whole name where it does not end in its layout. */
static size_t family_length(const char *name, const char *layout)
{
    size_t length = strlen(name), ending = strlen(layout);
    bool told = ending > 0 && length > ending + 1 && name[length - ending - 1] == '-' &&
                strcmp(name + length - ending, layout) == 0;
    return told ? length - ending - 1 : length;
}

static bool family_is_told(const cJSON *contender)
{
    const char *family = tree_text(contender, "family");
    size_t length = family_length(contender->string, tree_text(contender, "layout"));
    return strlen(family) == length && strncmp(family, contender->string, length) == 0;
}

static void thin_contender(cJSON *contender, const cJSON *first)
{
    if (family_is_told(contender))
        drop(contender, "family");
    if (strcmp(tree_text(contender, "role"), "baseline") == 0)
        drop(contender, "role");
    drop(contender, "percent_of_roofline");
    thin_timings(member(contender, "timings"));
    drop(contender, "equal_path");
    drop(contender, "launches");
    if (strcmp(tree_text(contender, "rung"), "graph") == 0)
        drop(contender, "rung");
    drop(member(contender, "tuning"), "race_ns");
    drop(member(contender, "tuning"), "keys");
    drop(member(contender, "tuning"), "variant");
    if (contender != first &&
        cJSON_Compare(member(contender, "verification"), tree_member(first, "verification"), true))
        drop(contender, "verification");
}

static void thin_cell(cJSON *cell)
{
    cJSON *contenders = member(cell, "contenders"), *item;
    filter(member(cell, "speedups"), cell, keep_speedup);
    cJSON_ArrayForEach(item, member(cell, "speedups")) thin_speedup(cell, item);
    filter(member(cell, "aa"), cell, in_headline);
    drop(cell, "equal_path");
    cJSON_ArrayForEach(item, contenders) thin_contender(item, contenders->child);
}

void result_thin(cJSON *result)
{
    cJSON *cell;
    cJSON_ArrayForEach(cell, member(result, "cells")) thin_cell(cell);
}

/* ---- back ---- */

static bool widen_family(struct result_contender *c)
{
    struct tree json = {.object = (cJSON *)(uintptr_t)c->json};
    char family[RECORD_NAME_MAX];
    snprintf(family, sizeof family, "%.*s", (int)family_length(c->name, c->layout), c->name);
    tree_put_text(&json, "family", family);
    c->family = tree_text(c->json, "family");
    return !json.failed;
}

static bool widen_contender(struct result_contender *c, const struct result_cell *cell)
{
    const struct result_timing *headline = result_headline(cell, c);
    if (c->role == RESULT_ROLE_COUNT)
        c->role = RESULT_BASELINE;
    if (isnan(c->percent_of_roofline))
        c->percent_of_roofline = 100 * cell->floor_ns / headline->median_ns;
    return c->family[0] != '\0' || widen_family(c);
}

bool thin_widen(struct result_cell *cell)
{
    bool good = true;
    for (size_t i = 0; i < cell->n_contenders; i++)
        good = widen_contender(&cell->contenders[i], cell) && good;
    for (size_t i = 0; i < cell->n_speedups; i++) {
        struct result_pair *s = &cell->speedups[i];
        s->n = isnan(s->n) ? cell->blocks : s->n;
        s->groups = isnan(s->groups) ? cell->groups : s->groups;
    }
    return good;
}
