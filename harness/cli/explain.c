/*
 * explain.c - three lines at a run's end for somebody who runs it for the first time. Relies on the result. Called by
 * cmd_run.c with `--explain`.
 */
#include "cli/explain.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "compile/kernels.h"
#include "report/load.h"
#include "base/tree.h"

#define GROUPS_SHOWN 2
#define INDENT "          "

static bool same(const cJSON *a, const cJSON *b, const char *key)
{
    return strcmp(tree_text(a, key), tree_text(b, key)) == 0;
}

static bool same_group(const cJSON *a, const cJSON *b)
{
    return same(a, b, "mode") && same(a, b, "dtype") && same(a, b, "accumulate");
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The headline of the group's first cell. */
static const char *headline_of(const cJSON *result, const cJSON *group)
{
    const cJSON *cell;
    cJSON_ArrayForEach(cell, tree_member(result, "cells"))
    {
        if (same_group(cell, group) && tree_text(cell, "headline")[0])
            return tree_text(cell, "headline");
    }
    return "";
}

/* Layouts count together where a family has both. */
static bool counts_more(const cJSON *a, const cJSON *b)
{
    bool a_max = ends_with(tree_text(a, "candidate"), "-max"), b_max = ends_with(tree_text(b, "candidate"), "-max");
    if (a_max != b_max)
        return a_max;
    return same(a, b, "candidate") && tree_number(a, "geomean") < tree_number(b, "geomean");
}

/* The first candidate's row against the rival that it does worst against, in the timing that counts. */
static const cJSON *find_row(const cJSON *result, const cJSON *group)
{
    const cJSON *row, *best = NULL;
    const char *headline = headline_of(result, group);
    cJSON_ArrayForEach(row, tree_member(tree_member(result, "summary"), "speedups"))
    {
        if (!same_group(row, group) || strcmp(tree_text(row, "timing"), headline) != 0 ||
            isnan(tree_number(row, "geomean")))
            continue;
        if (!best || counts_more(row, best))
            best = row;
    }
    return best;
}

static bool seen_before(const cJSON *rows, const cJSON *row)
{
    const cJSON *other;
    cJSON_ArrayForEach(other, rows)
    {
        if (other == row)
            return false;
        if (same_group(other, row))
            return true;
    }
    return false;
}

static void add_meaning(struct text *out, const cJSON *row)
{
    double ratio = 1 + tree_number(row, "geomean");
    text_add(out, "%s: ", tree_text(row, "mode"));
    plain_add(out, tree_text(row, "candidate"));
    text_add(out, " runs at %.2f times the speed of ", ratio);
    plain_add(out, tree_text(row, "reference"));
    text_add(out, ", its strongest rival here (%zu shapes, faster on %zu)%s\n", tree_whole(row, "n"),
             tree_whole(row, "wins"),
             strncmp(tree_text(row, "candidate"), "blocked-", 8) == 0 ? "; blocked is an example in plain C" : "");
}

/* Where hardly anything reached its precision a ratio would say more than is known. */
static bool is_firm(const cJSON *result)
{
    const cJSON *converged = tree_member(tree_member(result, "summary"), "convergence");
    return 2 * tree_whole(converged, "converged") >= tree_whole(converged, "measured");
}

static void add_meanings(struct text *out, const cJSON *result)
{
    if (!is_firm(result)) {
        text_add(out, "meaning:  nothing yet: the times scatter too much here (a busy machine?); run it again when it "
                      "is quiet\n");
        return;
    }
    const cJSON *rows = tree_member(tree_member(result, "summary"), "speedups"), *row;
    int shown = 0;
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *best = shown < GROUPS_SHOWN && !seen_before(rows, row) ? find_row(result, row) : NULL;
        if (!best)
            continue;
        text_add(out, "%s", shown++ ? INDENT : "meaning:  ");
        add_meaning(out, best);
    }
    if (shown == 0)
        text_add(out, "meaning:  no candidate was measured beside a baseline; the table says why\n");
}

static void add_measured(struct text *out, const cJSON *result, const cJSON *device)
{
    const cJSON *summary = tree_member(result, "summary"), *converged = tree_member(summary, "convergence");
    size_t measured = tree_whole(converged, "measured"), enough = tree_whole(converged, "converged");
    text_add(out, "measured: %zu cells (a shape in a mode) on ", measured);
    plain_add(out, tree_text(device, "name"));
    text_add(out, ", every result checked against a reference; ");
    if (enough == measured)
        text_add(out, "all reached the precision that was asked for\n");
    else
        text_add(out, "%zu reached the precision that was asked for, the others have wider intervals\n", enough);
}

void explain_add(struct text *out, const cJSON *result, const struct explain_names *names)
{
    const cJSON *device = tree_member(cJSON_GetArrayItem(tree_member(result, "env"), 0), "device");
    bool on_cpu = strcmp(tree_text(device, "kind"), "cpu") == 0;
    add_measured(out, result, device);
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
        text_add(out, "skeleton\n");
    }
    text_add(out, INDENT "  then a kernel of your own: docs/faq.md, \"A first kernel\"\n");
}

void explain_print(const char *path, const char *program, const char *kernels)
{
    const struct load_request request = {&path, 1, false, NULL, false};
    char directory[PATH_MAX], whole[PATH_MAX];
    struct text out = {0};
    struct error ignored;
    cJSON *result = NULL;
    if (load_results(&request, &result, &ignored))
        return;
    bool found =
        kernel_directory_find(kernels, directory, sizeof directory, &ignored) == 0 && realpath(directory, whole);
    const struct explain_names names = {path, program, found ? whole : NULL};
    explain_add(&out, result, &names);
    if (out.bytes && !out.failed)
        fputs(out.bytes, stdout);
    text_free(&out);
    cJSON_Delete(result);
}
