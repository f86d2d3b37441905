/*
 * explain.c - what was measured, what it means and what to type next, for somebody's first run. Relies on the result.
 * Called by cmd_run.c with `--explain`.
 */
#include "cli/explain.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/entry.h"
#include "base/plain.h"
#include "base/text.h"
#include "compile/kernels.h"
#include "report/load.h"

#define GROUPS_SHOWN 2
#define INDENT "          "

/* The headline of the group's first cell. */
static enum timing headline_of(const struct result *result, const struct result_group *group)
{
    for (size_t i = 0; i < result->n_cells; i++)
        if (result->cells[i].headline < TIMING_COUNT && result_same_group(&result->cells[i].group, group))
            return result->cells[i].headline;
    return TIMING_COUNT;
}

/* Layouts count together where a family has both. */
static bool counts_more(const struct result_speedup_row *a, const struct result_speedup_row *b)
{
    bool a_max = text_ends_with(a->candidate, "-max"), b_max = text_ends_with(b->candidate, "-max");
    if (a_max != b_max)
        return a_max;
    return strcmp(a->candidate, b->candidate) == 0 && a->geomean < b->geomean;
}

/* The first candidate's row against the rival that it does worst against, in the timing that counts. */
static const struct result_speedup_row *find_row(const struct result *result, const struct result_group *group)
{
    const struct result_speedup_row *best = NULL;
    enum timing headline = headline_of(result, group);
    for (size_t i = 0; i < result->summary.n_speedups; i++) {
        const struct result_speedup_row *row = &result->summary.speedups[i];
        if (row->timing != headline || isnan(row->geomean) || !result_same_group(&row->group, group) ||
            strcmp(row->reference, ENTRY_STRONGEST) == 0) /* nobody: another one in each shape */
            continue;
        if (!best || counts_more(row, best))
            best = row;
    }
    return best;
}

static bool seen_before(const struct result_speedup_row *rows, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (result_same_group(&rows[i].group, &rows[index].group))
            return true;
    return false;
}

static void add_meaning(struct text *out, const struct result_speedup_row *row)
{
    text_add(out, "%s: ", row->group.mode);
    plain_add(out, row->candidate);
    text_add(out, " runs at %.2f times the speed of ", 1 + row->geomean);
    plain_add(out, row->reference);
    text_add(out, ", its strongest rival here (%.0f shapes, faster on %.0f", row->n, isnan(row->wins) ? 0 : row->wins);
    if (row->left_out > 0)
        text_add(out, "; %.0f left out, and %.2f times with those as 1", row->left_out, 1 + row->geomean_of_all);
    text_add(out, ")%s\n", strncmp(row->candidate, "blocked-", 8) == 0 ? "; blocked is an example in plain C" : "");
}

/* Counts that a result written by hand may lack: 0 then. */
static double known(double count)
{
    return isnan(count) ? 0 : count;
}

/* Where hardly anything reached its precision a ratio would say more than is known. */
static bool is_firm(const struct result_convergence *c)
{
    return 2 * known(c->converged) >= known(c->measured);
}

static void add_meanings(struct text *out, const struct result *result)
{
    if (!is_firm(&result->summary.convergence)) {
        text_add(out, "meaning:  nothing yet: the times scatter too much here (a busy machine?); run it again when it "
                      "is quiet\n");
        return;
    }
    const struct result_speedup_row *rows = result->summary.speedups;
    int shown = 0;
    for (size_t i = 0; i < result->summary.n_speedups && shown < GROUPS_SHOWN; i++) {
        const struct result_speedup_row *best = seen_before(rows, i) ? NULL : find_row(result, &rows[i].group);
        if (!best)
            continue;
        text_add(out, "%s", shown++ ? INDENT : "meaning:  ");
        add_meaning(out, best);
    }
    if (shown == 0)
        text_add(out, "meaning:  no candidate was measured beside a baseline; the table says why\n");
}

static void add_measured(struct text *out, const struct result_convergence *c, const struct result_device *device)
{
    double measured = known(c->measured), enough = known(c->converged);
    text_add(out, "measured: %.0f cells (a shape in a mode) on ", measured);
    plain_add(out, device->name);
    text_add(out, ", every result checked against a reference; ");
    if (!(enough < measured))
        text_add(out, "all reached the precision that was asked for\n");
    else
        text_add(out, "%.0f reached the precision that was asked for, the others have wider intervals\n", enough);
}

void explain_add(struct text *out, const struct result *result, const struct explain_names *names)
{
    const struct result_device *device = result_device(result, 0);
    bool on_cpu = strcmp(device->kind, "cpu") == 0;
    add_measured(out, &result->summary.convergence, device);
    add_meanings(out, result);
    text_add(out, "next:     %s report ", names->program);
    plain_add(out, names->path);
    text_add(out, " --format html --output page\n" INDENT "  a page to look through\n");
    if (on_cpu)
        text_add(out, INDENT "%s doctor\n" INDENT "  what a run on a GPU needs\n", names->program);
    else
        text_add(out, INDENT "%s run -c grid --mode offline\n" INDENT "  the paper's 1000 shapes\n", names->program);
    text_add(out, INDENT "%s verify ", names->program);
    if (!on_cpu && names->kernels) {
        plain_add(out, names->kernels);
        text_add(out, "/skeleton.json\n");
    } else {
        text_add(out, "skeleton --shape 200x136x264\n"); /* all its shapes take minutes on a CPU */
    }
    text_add(out, INDENT "  then a kernel of your own: docs/faq.md, \"A first kernel\"\n");
}

void explain_print(const char *path, const char *program, const char *kernels)
{
    const struct load_request request = {&path, 1, false, NULL, false};
    char directory[PATH_MAX], whole[PATH_MAX];
    struct text out = {0};
    struct error ignored;
    struct result *result = NULL;
    if (load_results(&request, &result, &ignored))
        return;
    bool found =
        kernel_directory_find(kernels, directory, sizeof directory, &ignored) == 0 && realpath(directory, whole);
    const struct explain_names names = {path, program, found ? whole : NULL};
    explain_add(&out, result, &names);
    if (out.bytes && !out.failed)
        fputs(out.bytes, stdout);
    text_free(&out);
    result_free(result);
}
