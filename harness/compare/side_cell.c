/*
 * side_cell.c - one record as a cell of a side: candidates, references, groups without thermal slowdown. Relies on
 * analysis/pair.h. Called by side.c.
 */
#include "compare/side_cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pair.h"
#include "result/result.h"
#include "stats/interval.h"

static bool is_ok(const struct contender_record *c)
{
    return c->verdict == VERDICT_OK;
}

static bool is_absent(const struct contender_record *c)
{
    return c->verdict == VERDICT_UNAVAILABLE || c->verdict == VERDICT_UNSUPPORTED;
}

/* The family that plays the candidate's part where nobody is marked as one; "" when somebody is. */
static const char *stand_in(const struct cell_record *r)
{
    const char *family = "";
    for (size_t i = r->n_contenders; i-- > 0;) {
        if (r->contenders[i].candidate)
            return "";
        if (!is_absent(&r->contenders[i]))
            family = r->contenders[i].family;
    }
    return family;
}

static bool is_candidate(const struct contender_record *c, const char *stand_in_family)
{
    return c->candidate || (stand_in_family[0] && strcmp(c->family, stand_in_family) == 0);
}

static bool can_stand_against(const struct contender_record *candidate, const struct contender_record *reference)
{
    return !candidate->has_layout_suffix || !reference->has_layout_suffix || candidate->layout == reference->layout;
}

static void fill_variant(const struct contender_record *c, char out[SIDE_VARIANT_MAX])
{
    struct result_attributes said;
    result_attributes_read(c->attributes, &said);
    char *all = said.parameters[0] || !c->attributes ? NULL : json_print(c->attributes, false);
    if (said.parameters[0])
        snprintf(out, SIDE_VARIANT_MAX, "%s %s", said.kernel, said.parameters);
    else
        snprintf(out, SIDE_VARIANT_MAX, "%s", all ? all : "");
    free(all);
}

static int group_values(const struct cell_record *r, const struct series *reference, const struct series *candidate,
                        struct side_pair *out)
{
    struct pair healthy;
    if (pair_collect(r, reference, candidate, PAIR_HEALTHY_BLOCKS, &healthy))
        return -1;
    out->values = malloc((healthy.n + 1) * sizeof *out->values);
    int failed =
        out->values ? stats_group_values(healthy.log_ratio, healthy.group, healthy.n, out->values, &out->n) : -1;
    pair_free(&healthy);
    return failed;
}

static double median_of(const struct series *s)
{
    return s->n > 0 ? stats_median(s->ns, s->n) : (double)NAN;
}

static int fill_pairs(const struct cell_record *r, const struct contender_record *c, const char *family,
                      struct side_candidate *out)
{
    out->pairs = calloc(r->n_contenders, sizeof *out->pairs);
    if (!out->pairs)
        return -1;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *reference = &r->contenders[i];
        if (!is_ok(reference) || reference->copy_of[0] || is_candidate(reference, family) ||
            !can_stand_against(c, reference))
            continue;
        struct side_pair *pair = &out->pairs[out->n_pairs++];
        snprintf(pair->reference, sizeof pair->reference, "%s", reference->name);
        fill_variant(reference, pair->variant);
        pair->candidate_ns = median_of(&c->timings[r->headline]);
        pair->reference_ns = median_of(&reference->timings[r->headline]);
        pair->comparable = pair_is_comparable(c, reference, r->headline);
        if (group_values(r, &reference->timings[r->headline], &c->timings[r->headline], pair))
            return -1;
    }
    return 0;
}

static int fill_candidate(const struct cell_record *r, const struct contender_record *c, const char *family,
                          struct side_candidate *out)
{
    snprintf(out->name, sizeof out->name, "%s", c->name);
    out->verdict = c->verdict;
    snprintf(out->word, sizeof out->word, "%s", record_verdict(c));
    snprintf(out->reason, sizeof out->reason, "%s", c->reason);
    const char *rotation = record_rotation(r);
    snprintf(out->rung, sizeof out->rung, "%s%s%s%s",
             r->held && timing_is_segment(r->headline) && strcmp(c->rung, "graph") == 0 ? "held " : "", c->rung,
             rotation[0] ? c->rung[0] ? ", rotation by " : "rotation by " : "", rotation);
    fill_variant(c, out->variant);
    return is_ok(c) ? fill_pairs(r, c, family, out) : 0;
}

static int fill_absent(const struct cell_record *r, struct side_cell *out)
{
    out->absent = calloc(r->n_contenders + 1, sizeof *out->absent);
    if (!out->absent)
        return -1;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        if (strcmp(c->stage, "load") != 0 && c->verdict != VERDICT_UNAVAILABLE)
            continue;
        struct side_absent *absent = &out->absent[out->n_absent++];
        snprintf(absent->name, sizeof absent->name, "%s", c->name);
        snprintf(absent->reason, sizeof absent->reason, "%s", c->reason);
    }
    return 0;
}

static int check_blocks(const struct cell_record *r, struct json_at at, struct error *err)
{
    char key[RECORD_KEY_MAX];
    record_key(&r->problem, r->mode, key);
    for (size_t i = 0; i < r->n_contenders && !r->paper_pairs; i++)
        if (is_ok(&r->contenders[i]) && r->contenders[i].timings[r->headline].n == 0)
            return json_fail(at, err, "%s: %s is ok and has no block in %s time", key, r->contenders[i].name,
                             timing_names[r->headline]);
    return 0;
}

int side_cell_fill(const struct cell_record *r, struct side_cell *out, struct json_at at, struct error *err)
{
    *out = (struct side_cell){.problem = r->problem, .mode = r->mode, .headline = r->headline};
    if (check_blocks(r, at, err))
        return err->code;
    record_key(&r->problem, r->mode, out->key);
    out->outcome = r->outcome;
    snprintf(out->word, sizeof out->word, "%s", record_outcome(r));
    snprintf(out->reason, sizeof out->reason, "%s", r->reason);
    const char *family = stand_in(r);
    out->candidates = calloc(r->n_contenders + 1, sizeof *out->candidates);
    int failed = out->candidates ? fill_absent(r, out) : -1;
    for (size_t i = 0; i < r->n_contenders && !failed; i++) {
        const struct contender_record *c = &r->contenders[i];
        if (is_candidate(c, family) && !c->copy_of[0])
            failed = fill_candidate(r, c, family, &out->candidates[out->n_candidates++]);
    }
    if (!failed)
        return 0;
    side_cell_free(out);
    return error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", at.source);
}

void side_cell_free(struct side_cell *cell)
{
    for (size_t i = 0; i < cell->n_candidates; i++) {
        for (size_t j = 0; j < cell->candidates[i].n_pairs; j++)
            free(cell->candidates[i].pairs[j].values);
        free(cell->candidates[i].pairs);
    }
    free(cell->candidates);
    free(cell->absent);
    *cell = (struct side_cell){0};
}

int side_cell_aa(const struct cell_record *r, const struct contender_record *copy, double *value)
{
    const struct contender_record *original = record_contender(r, copy->copy_of);
    struct pair pair;
    if (!original || !is_ok(original) || !is_ok(copy) || !pair_is_comparable(original, copy, r->headline))
        return 0;
    if (pair_collect(r, &original->timings[r->headline], &copy->timings[r->headline], PAIR_HEALTHY_BLOCKS, &pair))
        return -1;
    struct speedup s;
    pair_speedup(&pair, &s);
    pair_free(&pair);
    *value = s.log_mean;
    return 0;
}
