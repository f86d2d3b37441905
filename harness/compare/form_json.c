/*
 * form_json.c - a comparison as JSON: both runs, thresholds, counts and every row. Relies on base/tree.h. Called
 * through forms.h.
 */
#include "compare/forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"

#define DECIMALS 1e6

static cJSON *side_to_json(const struct side *s)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "path", s->path);
    tree_put_text(&t, "started", s->run.started);
    tree_put_text(&t, "commit", s->run.build.commit);
    tree_put_text(&t, "config_hash", s->run.config_hash);
    tree_put_text(&t, "device", s->env.device.name);
    tree_put_text(&t, "driver", s->env.device.driver);
    tree_put(&t, "complete", cJSON_CreateBool(s->complete));
    return tree_finish(&t);
}

static cJSON *by_mode(const double *values)
{
    struct tree t = tree_begin();
    for (int mode = 0; mode < MODE_COUNT; mode++)
        tree_put_number(&t, mode_names[mode], round_to(values[mode], DECIMALS));
    return tree_finish(&t);
}

static cJSON *counts_to_json(const struct compare_runs *c)
{
    struct tree t = tree_begin();
    for (int v = 0; v < JUDGED_COUNT; v++)
        tree_put_number(&t, judgement_names[v], (double)c->counts[v]);
    return tree_finish(&t);
}

static cJSON *differences_to_json(const struct compare_runs *c)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < c->differences.n && i < PROVENANCE_MAX && array; i++)
        if (!tree_append(array, cJSON_CreateString(c->differences.line[i])))
            array = NULL;
    return array;
}

static void put_figures(struct tree *t, const struct compare_row *row)
{
    tree_put_number(t, "change", round_to(compare_change(row), DECIMALS));
    tree_put_number(t, "base_ns", round_to(row->base_ns, 1e3));
    tree_put_number(t, "new_ns", round_to(row->fresh_ns, 1e3));
    tree_put_number(t, "base_speedup", round_to(compare_speedup(row->trial.base), DECIMALS));
    tree_put_number(t, "new_speedup", round_to(compare_speedup(row->trial.fresh), DECIMALS));
    tree_put_number(t, "resolution", round_to(compare_resolution(row), DECIMALS));
    tree_put_number(t, "p_slower", row->trial.p_slower);
    tree_put_number(t, "p_faster", row->trial.p_faster);
    tree_put_number(t, "base_groups", (double)row->trial.base.n);
    tree_put_number(t, "new_groups", (double)row->trial.fresh.n);
    tree_put(t, "other_variant", cJSON_CreateBool(row->other_variant));
    tree_put(t, "other_reference_variant", cJSON_CreateBool(row->other_reference_variant));
    tree_put(t, "remeasured", cJSON_CreateBool(row->remeasured));
    if (row->remeasured)
        tree_put_number(t, "change_at_first", round_to(expm1(row->screened_change), DECIMALS));
}

static cJSON *row_to_json(const struct compare_row *row)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "key", row->key);
    tree_put_text(&t, "mode", mode_names[row->mode]);
    tree_put_text(&t, "candidate", row->candidate);
    tree_put_text(&t, "reference", row->reference);
    tree_put_text(&t, "timing", timing_names[row->timing]);
    tree_put_text(&t, "verdict", judgement_names[row->verdict]);
    tree_put_text(&t, "reason", row->reason);
    if (row->tested)
        put_figures(&t, row);
    return tree_finish(&t);
}

static cJSON *rows_to_json(const struct compare_runs *c)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < c->n_rows && array; i++)
        if (!tree_append(array, row_to_json(&c->rows[i])))
            array = NULL;
    return array;
}

static void put_outcome(struct tree *t, const struct error *line)
{
    tree_put_text(t, "schema", COMPARE_SCHEMA);
    tree_put_number(t, "schema_version", COMPARE_SCHEMA_VERSION);
    tree_put_text(t, "outcome", line->text);
    tree_put_number(t, "exit_code", line->code);
}

static cJSON *to_json(const struct compare_runs *c)
{
    struct tree t = tree_begin();
    struct error line = {0};
    compare_headline(c, &line);
    put_outcome(&t, &line);
    tree_put(&t, "base", side_to_json(&c->base));
    tree_put(&t, "new", side_to_json(&c->fresh));
    if (c->confirm.path[0])
        tree_put(&t, "confirm", side_to_json(&c->confirm));
    tree_put(&t, "delta", by_mode(c->delta));
    tree_put(&t, "aa_scatter", by_mode(c->aa_scatter));
    tree_put(&t, "forced_differences", differences_to_json(c));
    tree_put_number(&t, "family", (double)c->family);
    tree_put_number(&t, "false_discovery_rate", JUDGE_RATE);
    tree_put_number(&t, "without_base", (double)c->without_base);
    tree_put_number(&t, "skipped_in_both", (double)c->skipped_in_both);
    tree_put_number(&t, "without_result_in_both", (double)c->without_result_in_both);
    tree_put(&t, "counts", counts_to_json(c));
    tree_put(&t, "rows", rows_to_json(c));
    return tree_finish(&t);
}

/* Prints and deletes; NULL is a tree for which there was no memory. */
static void print_tree(struct text *out, cJSON *tree)
{
    json_add(out, tree);
    cJSON_Delete(tree);
}

void compare_form_json(struct text *out, const struct compare_runs *c, struct compare_style style)
{
    (void)style;
    print_tree(out, to_json(c));
}

static cJSON *path_to_json(const char *path)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "path", path);
    return tree_finish(&t);
}

void compare_failure_json(struct text *out, const struct compare_failure *failure)
{
    struct tree t = tree_begin();
    put_outcome(&t, failure->why);
    tree_put(&t, "base", path_to_json(failure->base));
    tree_put(&t, "new", path_to_json(failure->fresh));
    tree_put(&t, "rows", cJSON_CreateArray());
    print_tree(out, tree_finish(&t));
}
