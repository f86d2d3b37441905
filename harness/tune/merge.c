/*
 * merge.c - puts a new search into an old table: what wins, what stays, and under which commit. Relies on lines.c.
 * Called by table.c with `--update`.
 */
#include "tune/merge.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* One configuration in two searches differs by 1.1%, standard deviation (docs/kernels.md). */
#define SLOWER 1.02

/* ---- reading ---- */

/* The first difference is enough to tell what to do. */
static int refuse_other_kind(const struct tuned_table *t, const struct merge_kind *kind, const char *path,
                             struct error *err)
{
    const struct {
        const char *what, *theirs, *mine;
    } rows[] = {
        {"device", t->device, kind->device},
        {"dtype", dtype_names[t->dtype], dtype_names[kind->dtype]},
        {"accumulate", accumulate_names[t->accumulate], accumulate_names[kind->accumulate]},
        {"mode", mode_names[t->mode], mode_names[kind->mode]},
        {"timing", timing_names[t->timing], timing_names[kind->timing]},
        {"cache", cache_state_names[t->cache], cache_state_names[kind->cache]},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].theirs, rows[i].mine) != 0)
            return error_set(err, EXIT_CODE_DATA,
                             "%s is a table of %s \"%s\", this search is of \"%s\": name another with "
                             "--output",
                             path, rows[i].what, rows[i].theirs, rows[i].mine);
    return 0;
}

int merge_read(const char *path, const struct merge_kind *kind, struct tuned_table **out, struct error *err)
{
    *out = NULL;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return 0;
    if (tuned_load(path, out, err))
        return err->code;
    int code = refuse_other_kind(*out, kind, path, err);
    if (code) {
        tuned_free(*out);
        *out = NULL;
    }
    return code;
}

/* ---- keeping ---- */

static struct table_line line_of(const struct tuned_table *t, const struct tuned_entry *e)
{
    return (struct table_line){
        .problem = {.m = e->m, .n = e->n, .k = e->k, .dtype = t->dtype, .accumulate = t->accumulate},
        .layout = e->layout,
        .family = t->families[e->family],
        .variant = t->variants[e->variant].key,
        .runner_up = e->runner_up >= 0 ? t->variants[e->runner_up].key : NULL,
        .reference = e->reference[0] ? e->reference : NULL,
        .commit = e->commit[0] ? e->commit : t->commit,
        .time_ns = e->time_ns,
        .low_ns = e->low_ns,
        .high_ns = e->high_ns,
        .runner_up_ns = e->runner_up_ns,
        .reference_ns = e->reference_ns,
    };
}

/* Unknown times compare as no slower. */
static bool is_slower(double ns, double than_ns)
{
    return ns > SLOWER * than_ns;
}

static bool stays(const struct table_line *old, const struct table_line *found, const struct merge_search *search)
{
    return old->reference && found->reference && is_slower(found->time_ns, old->time_ns) &&
           is_slower(found->time_ns / found->reference_ns, old->time_ns / old->reference_ns) &&
           search->missed(search->context, found, old->variant);
}

/* Puts the old entry, or leaves the search's, in the search's place. */
static void settle(struct table_line *place, struct table_line old, const struct merge_search *search,
                   struct merge_counts *counts)
{
    counts->added--;
    if (!stays(&old, place, search)) {
        counts->replaced++;
        return;
    }
    counts->stayed++;
    old.runner_up = place->variant;
    old.runner_up_ns = place->time_ns / place->reference_ns * old.reference_ns;
    *place = old;
}

int merge_keep(const struct tuned_table *from, const struct merge_search *search, struct table_lines *lines,
               struct merge_counts *counts, struct error *err)
{
    const size_t searched = lines->n;
    *counts = (struct merge_counts){.added = searched};
    for (size_t i = 0; from && i < from->n_entries; i++) {
        struct table_line line = line_of(from, &from->entries[i]);
        if (strcmp(line.commit, search->commit) == 0)
            line.commit = NULL; /* the table will say so for all */
        struct table_line *place = lines_find(lines, searched, &line);
        if (place) {
            settle(place, line, search, counts);
            continue;
        }
        if (lines_add(lines, &line, err))
            return err->code;
        counts->kept++;
    }
    lines_sort(lines);
    return 0;
}
