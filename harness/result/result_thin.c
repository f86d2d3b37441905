/*
 * result_thin.c - takes out of a result what can be told from the rest, and puts it back when one is read. Relies on
 * record.h for names. Called by result.c and report/.
 */
#include "result/result_thin.h"

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
    /* The paper's pairs are all there is, so they stay. */
    return in_headline(cell, item) &&
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
static size_t family_length(const cJSON *contender)
{
    const char *name = contender->string, *layout = tree_text(contender, "layout");
    size_t length = strlen(name), ending = strlen(layout);
    bool told = ending > 0 && length > ending + 1 && name[length - ending - 1] == '-' &&
                strcmp(name + length - ending, layout) == 0;
    return told ? length - ending - 1 : length;
}

static bool family_is_told(const cJSON *contender)
{
    const char *family = tree_text(contender, "family");
    size_t length = family_length(contender);
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

static bool widen_contender(cJSON *contender, const cJSON *cell)
{
    const cJSON *headline = tree_member(tree_member(contender, "timings"), tree_text(cell, "headline"));
    char family[RECORD_NAME_MAX];
    struct tree t = {.object = contender};
    snprintf(family, sizeof family, "%.*s", (int)family_length(contender), contender->string);
    if (!tree_member(contender, "family"))
        tree_put_text(&t, "family", family);
    if (!tree_member(contender, "role"))
        tree_put_text(&t, "role", "baseline");
    if (headline && !tree_member(contender, "percent_of_roofline"))
        tree_put_number(&t, "percent_of_roofline",
                        100 * tree_number(cell, "floor_ns") / tree_number(headline, "median_ns"));
    return !t.failed;
}

static bool widen_speedup(cJSON *speedup, const cJSON *cell)
{
    struct tree t = {.object = speedup};
    if (!tree_member(speedup, "n") && tree_member(cell, "blocks"))
        tree_put_number(&t, "n", tree_number(cell, "blocks"));
    if (!tree_member(speedup, "groups") && tree_member(cell, "groups"))
        tree_put_number(&t, "groups", tree_number(cell, "groups"));
    return !t.failed;
}

bool result_widen(cJSON *result)
{
    cJSON *cell, *item;
    bool good = true;
    cJSON_ArrayForEach(cell, member(result, "cells"))
    {
        cJSON_ArrayForEach(item, member(cell, "contenders")) good = good && widen_contender(item, cell);
        cJSON_ArrayForEach(item, member(cell, "speedups")) good = good && widen_speedup(item, cell);
    }
    return good;
}
