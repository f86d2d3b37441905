/*
 * merge.c - puts several results together: their cells side by side, their summary from all of them. Relies on
 * summary.c. Called by report/load.c when a report is of several files.
 */
#include "result/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "result/borrowed_rows.h"
#include "result/fields.h"
#include "result/summary.h"

/* ---- rows of the summary ---- */

/* A list of rows of any kind: each begins with its group. */
struct rows {
    const char *first;
    size_t n, size;
};

typedef struct rows (*rows_of)(const struct result_summary *s);

static struct rows speedups_of(const struct result_summary *s)
{
    return (struct rows){(const char *)s->speedups, s->n_speedups, sizeof *s->speedups};
}

static struct rows equal_path_of(const struct result_summary *s)
{
    return (struct rows){(const char *)s->equal_path, s->n_equal_path, sizeof *s->equal_path};
}

static struct rows aa_of(const struct result_summary *s)
{
    return (struct rows){(const char *)s->aa, s->n_aa, sizeof *s->aa};
}

static const struct result_group *group_at(struct rows rows, size_t i)
{
    return (const struct result_group *)(const void *)(rows.first + i * rows.size);
}

static bool has_cells_of(const struct result *r, const struct result_group *group)
{
    for (size_t i = 0; i < r->n_cells; i++)
        if (result_same_group(&r->cells[i].group, group))
            return true;
    return false;
}

/* Whether no other part has cells of the group: then this one's summary knows best. */
static bool is_in_one(const struct result *all, size_t part, const struct result_group *group)
{
    for (size_t i = 0; i < all->n_parts; i++)
        if (i != part && has_cells_of(all->parts[i], group))
            return false;
    return true;
}

/* Whether some part's own row of this group is kept. */
static bool is_kept(const struct result *all, rows_of of, const struct result_group *group)
{
    for (size_t part = 0; part < all->n_parts; part++) {
        struct rows rows = of(&all->parts[part]->summary);
        for (size_t i = 0; i < rows.n; i++)
            if (result_same_group(group_at(rows, i), group) && is_in_one(all, part, group))
                return true;
    }
    return false;
}

static size_t count_rows(const struct result *all, rows_of of, struct rows made)
{
    size_t n = made.n;
    for (size_t part = 0; part < all->n_parts; part++)
        n += of(&all->parts[part]->summary).n;
    return n;
}

/* The rows that were made of all cells, where no part's own are kept, and behind them those. *n of them, owned by the
 * caller; NULL out of memory. */
static void *merge_rows(const struct result *all, rows_of of, struct rows made, size_t *n)
{
    char *out = calloc(count_rows(all, of, made) + 1, made.size);
    *n = 0;
    for (size_t i = 0; i < made.n && out; i++)
        if (!is_kept(all, of, group_at(made, i)))
            memcpy(out + made.size * (*n)++, group_at(made, i), made.size);
    for (size_t part = 0; part < all->n_parts && out; part++) {
        struct rows rows = of(&all->parts[part]->summary);
        for (size_t i = 0; i < rows.n; i++)
            if (is_in_one(all, part, group_at(rows, i)))
                memcpy(out + made.size * (*n)++, group_at(rows, i), made.size);
    }
    return out;
}

static bool keep_rows(const struct result *all, struct result_summary *s)
{
    struct result_summary made = *s;
    s->speedups = merge_rows(all, speedups_of, speedups_of(&made), &s->n_speedups);
    s->equal_path = merge_rows(all, equal_path_of, equal_path_of(&made), &s->n_equal_path);
    s->aa = merge_rows(all, aa_of, aa_of(&made), &s->n_aa);
    free(made.speedups);
    free(made.equal_path);
    free(made.aa);
    return s->speedups && s->equal_path && s->aa;
}

/* As JSON, too: a page has it so. Cells written by hand may lack what is summed; then a sum is not known. */
static int merge_summary(struct result *all, struct error *err)
{
    struct result_summary *s = &all->summary;
    struct tree t = {.object = all->json};
    bool made = summary_of(all->cells, all->n_cells, s) && keep_rows(all, s);
    for (size_t i = 0; i < all->n_env; i++)
        borrowed_declare(s->borrowed, s->n_borrowed, all->env[i].json);
    tree_put(&t, "summary", made ? summary_to_json(s) : NULL);
    if (t.failed)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    s->json = tree_member(all->json, "summary");
    s->activity.json = tree_member(s->json, "activity");
    s->activity.ratio.json = tree_member(s->activity.json, "ratio");
    return 0;
}

/* ---- the rest ---- */

static void add_cells(struct result *all, const struct result *part)
{
    for (size_t i = 0; i < part->n_cells; i++) {
        struct result_cell *cell = &all->cells[all->n_cells++];
        *cell = part->cells[i];
        if (cell->env >= 0)
            cell->env += (double)all->n_env;
    }
}

/* The list is that of the whole from here on: the JSON of a part's own run, which a page has, loses it. */
static void take_missing(cJSON *to, const struct result_run *run)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(run->json, "missing");
    while (list && list->child)
        cJSON_AddItemToArray(to, cJSON_DetachItemViaPointer(list, list->child));
}

static void add_run(struct result *all, const struct result *part)
{
    take_missing(cJSON_GetObjectItemCaseSensitive(all->json, "missing"), &part->run);
    all->run.n_cells += part->run.n_cells;
    all->run.complete &= part->run.complete;
    for (size_t i = 0; i < part->run.n_missing; i++)
        all->run.missing[all->run.n_missing++] = part->run.missing[i];
    all->runs[all->n_runs++] = part->run;
}

static void add_part(struct result *all, const struct result *part, const char *path)
{
    add_cells(all, part);
    add_run(all, part);
    for (size_t i = 0; i < part->n_env; i++)
        all->env[all->n_env++] = part->env[i];
    all->files[all->n_files++] = (struct result_file){path, (double)part->n_cells};
}

/* Room for all that the parts have. */
static bool make_room(struct result *all, struct result *const *parts, size_t n)
{
    size_t cells = 0, env = 0, missing = 0;
    for (size_t i = 0; i < n; i++) {
        cells += parts[i]->n_cells;
        env += parts[i]->n_env;
        missing += parts[i]->run.n_missing;
    }
    all->cells = calloc(cells + 1, sizeof *all->cells);
    all->env = calloc(env + 1, sizeof *all->env);
    all->run.missing = calloc(missing + 1, sizeof *all->run.missing);
    all->runs = calloc(n, sizeof *all->runs);
    all->files = calloc(n, sizeof *all->files);
    all->parts = calloc(n, sizeof(struct result *));
    all->json = cJSON_CreateObject();
    bool holds = all->json && cJSON_AddArrayToObject(all->json, "missing"); /* the words of run.missing */
    return holds && all->cells && all->env && all->run.missing && all->runs && all->files && all->parts;
}

int result_merge(struct result **parts, const char *const *paths, size_t n, struct result **out, struct error *err)
{
    struct result *all = calloc(1, sizeof *all);
    *out = NULL;
    if (!all || !make_room(all, parts, n)) {
        result_free(all);
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    }
    all->run = (struct result_run){.started = "",
                                   .plan_hash = "",
                                   .seed = "",
                                   .activity.unavailable = "",
                                   .complete = true,
                                   .missing = all->run.missing};
    for (size_t i = 0; i < n; i++) {
        all->parts[all->n_parts++] = parts[i];
        add_part(all, parts[i], paths[i]);
        parts[i] = NULL;
    }
    int code = merge_summary(all, err);
    if (code)
        result_free(all);
    else
        *out = all;
    return code;
}
