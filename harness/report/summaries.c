/*
 * summaries.c - summary rows of several results together, made anew where their cells have what it takes. Relies on
 * analysis/aggregate.h. Called by load.c and aa.c.
 */
#include "report/summaries.h"

#include "report/outcome.h"
#include "analysis/aggregate.h"
#include "result/summary.h"
#include "base/tree.h"

static const char *const lists[] = {"speedups", "equal_path", "aa"};
#define N_LISTS (sizeof lists / sizeof *lists)

static bool has_group(const cJSON *list, const cJSON *like)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (outcome_same_group(item, like))
            return true;
    }
    return false;
}

static bool is_in_one(cJSON *const *results, size_t n, size_t index, const cJSON *row)
{
    for (size_t i = 0; i < n; i++)
        if (i != index && has_group(tree_member(results[i], "cells"), row))
            return false;
    return true;
}

static cJSON *list_to_keep(cJSON *const *results, size_t n, const char *key)
{
    cJSON *kept = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) {
        const cJSON *row;
        cJSON_ArrayForEach(row, tree_member(tree_member(results[i], "summary"), key))
        {
            if (is_in_one(results, n, i, row) && kept && !tree_append(kept, cJSON_Duplicate(row, true)))
                kept = NULL;
        }
    }
    return kept;
}

cJSON *summaries_to_keep(cJSON *const *results, size_t n)
{
    struct tree kept = tree_begin();
    for (size_t i = 0; i < N_LISTS; i++)
        tree_put(&kept, lists[i], list_to_keep(results, n, lists[i]));
    return tree_finish(&kept);
}

static void replace_rows(cJSON *list, cJSON *kept)
{
    cJSON *next;
    for (cJSON *row = list ? list->child : NULL; row; row = next) {
        next = row->next;
        if (has_group(kept, row))
            cJSON_Delete(cJSON_DetachItemViaPointer(list, row));
    }
    while (list && kept && kept->child)
        cJSON_AddItemToArray(list, cJSON_DetachItemViaPointer(kept, kept->child));
}

cJSON *summaries_merge(const cJSON *cells, cJSON *kept)
{
    cJSON *summary = kept ? summary_of(cells) : NULL;
    for (size_t i = 0; i < N_LISTS && summary; i++)
        replace_rows(cJSON_GetObjectItemCaseSensitive(summary, lists[i]),
                     cJSON_GetObjectItemCaseSensitive(kept, lists[i]));
    cJSON_Delete(kept);
    return summary;
}
