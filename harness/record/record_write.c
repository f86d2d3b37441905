/*
 * record_write.c - a record as JSON, short: what most contenders share is told once (`usual`), orders and gaps are
 * packed. Relies on tree.c. Called by the worker when a cell is over, and by tests of the round trip.
 */
#include "record/record_form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/tree.h"

void record_family_of(const char *name, enum cudal2_layout layout, char family[RECORD_NAME_MAX], bool *suffix)
{
    size_t length = strlen(name);
    char ending[8];
    snprintf(ending, sizeof ending, "-%s", layout_names[layout]);
    *suffix = length > strlen(ending) && strcmp(name + length - strlen(ending), ending) == 0;
    if (*suffix)
        length -= strlen(ending);
    snprintf(family, RECORD_NAME_MAX, "%.*s", (int)length, name);
}

static double gap_units(double ns)
{
    return round(ns / GAP_UNIT_NS);
}

/* In units, for each block: the shortest gap any contender had; 0 where there is none. NULL out of memory. */
static double *shortest_gaps(const struct cell_record *r)
{
    double *base = calloc((size_t)r->blocks + 1, sizeof *base);
    bool *seen = calloc((size_t)r->blocks + 1, sizeof *seen);
    for (size_t i = 0; base && seen && i < r->n_contenders; i++) {
        const struct series *gaps = &r->contenders[i].gaps;
        for (size_t g = 0; g < gaps->n; g++) {
            unsigned block = gaps->block[g];
            double units = gap_units(gaps->ns[g]);
            if (block < r->blocks && (!seen[block] || units < base[block]))
                base[block] = units;
            if (block < r->blocks)
                seen[block] = true;
        }
    }
    if (!seen) {
        free(base);
        base = NULL;
    }
    free(seen);
    return base;
}

/* The shortest gap of every block. */
static cJSON *gaps_to_json(const double *units, unsigned n)
{
    struct series gaps = {0};
    bool failed = false;
    for (unsigned b = 0; b < n && !failed; b++)
        failed = series_add(&gaps, b, units[b] * GAP_UNIT_NS) != 0;
    cJSON *result = failed ? NULL : form_write_series(&gaps, form_stride(&gaps), GAP_UNIT_NS * 10);
    series_free(&gaps);
    return result;
}

/* A contender's gaps as what they exceed the block's shortest by: short numbers, nothing lost. */
static cJSON *late_to_json(const struct cell_record *r, const struct series *gaps, const double *base)
{
    struct series late = {0};
    bool failed = false;
    for (size_t i = 0; i < gaps->n && !failed; i++) {
        double shortest = gaps->block[i] < r->blocks ? base[gaps->block[i]] : 0;
        failed = series_add(&late, gaps->block[i], (gap_units(gaps->ns[i]) - shortest) * GAP_UNIT_NS) != 0;
    }
    cJSON *result = failed ? NULL : form_write_series(&late, 1, GAP_UNIT_NS * 10);
    series_free(&late);
    return result;
}

/* What most of the series beside the headline follow: the stride of the first that has one. */
static unsigned others_every(const struct cell_record *r)
{
    for (size_t i = 0; i < r->n_contenders; i++)
        for (int t = 0; t < TIMING_COUNT; t++) {
            const struct series *s = &r->contenders[i].timings[t];
            if (t != (int)r->headline && s->n > 1 && form_stride(s) > 0)
                return form_stride(s);
        }
    return 1;
}

enum cudal2_layout record_layout_of(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, "-tn") == 0 ? CUDAL2_TN : CUDAL2_NN;
}

const char *record_root_name(const struct contender_record *c)
{
    return c->copy_of[0] ? c->copy_of : c->name;
}

static bool same(const cJSON *a, const cJSON *b)
{
    return a == b || cJSON_Compare(a, b, true);
}

/* How much of what measured contenders showed in verification is as this one's. */
static size_t how_usual(const struct cell_record *r, const struct contender_record *c)
{
    size_t alike = 0;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *other = &r->contenders[i];
        if (other->timings[r->headline].n > 0)
            alike += 2 * (size_t)same(c->verification, other->verification) + same(c->deviation, other->deviation);
    }
    return alike;
}

/* Index of the contender whose rung, launches, primers and verification the cell's "usual" tells, so that the others
 * need not repeat them: of those with times in the headline the first who showed in verification what most did. -1:
 * none. */
static int usual_contender(const struct cell_record *r)
{
    int usual = -1;
    size_t most = 0;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        size_t alike = c->timings[r->headline].n > 0 ? how_usual(r, c) : 0;
        if (alike > most) {
            usual = (int)i;
            most = alike;
        }
    }
    return usual;
}

static void put_name(struct tree *w, const struct contender_record *c)
{
    char family[RECORD_NAME_MAX];
    bool suffix;
    tree_put_text(w, "name", c->name);
    tree_put_text(w, "copy_of", c->copy_of);
    if (c->layout != record_layout_of(record_root_name(c)))
        tree_put_text(w, "layout", layout_names[c->layout]);
    record_family_of(record_root_name(c), c->layout, family, &suffix);
    if (suffix != c->has_layout_suffix || strcmp(family, c->family) != 0) {
        tree_put_text(w, "family", c->family);
        tree_put(w, "layout_suffix", cJSON_CreateBool(c->has_layout_suffix));
    }
    tree_put_true(w, "candidate", c->candidate);
}

static void put_or_null(struct tree *w, const char *key, cJSON *value)
{
    tree_put(w, key, value ? value : cJSON_CreateNull());
}

/* What is alike for most contenders of a cell, as far as it differs from `usual`. */
static void put_common(struct tree *w, const struct contender_record *c, const struct contender_record *usual)
{
    if (strcmp(c->rung, usual->rung) != 0)
        put_or_null(w, "rung", c->rung[0] ? cJSON_CreateString(c->rung) : NULL);
    if (c->launches != usual->launches)
        tree_put_number(w, "launches", c->launches);
    if (c->primers != usual->primers)
        tree_put_number(w, "primers", c->primers);
    if (!same(c->verification, usual->verification))
        put_or_null(w, "verification", c->verification ? cJSON_Duplicate(c->verification, true) : NULL);
    if (!same(c->deviation, usual->deviation))
        put_or_null(w, "deviation", c->deviation ? cJSON_Duplicate(c->deviation, true) : NULL);
}

static cJSON *usual_to_json(const struct contender_record *usual)
{
    static const struct contender_record nothing;
    struct tree w = tree_begin();
    put_common(&w, usual, &nothing);
    return tree_finish(&w);
}

/* What the contenders of a cell are written against. */
struct contender_form {
    const struct cell_record *record;
    const struct contender_record *usual;
    const double *shortest_gaps;
    unsigned others_every;
};

static void put_series(struct tree *w, const struct contender_form *form, const struct contender_record *c)
{
    const struct cell_record *r = form->record;
    for (int t = 0; t < TIMING_COUNT; t++)
        if (c->timings[t].n > 0)
            tree_put(w, timing_names[t],
                     form_write_series(&c->timings[t], t == (int)r->headline ? 1 : form->others_every, 0));
    for (int t = 0; t < TIMING_COUNT; t++)
        if (c->equal_path[t].n > 0)
            tree_put(w, timing_equal_names[t], form_write_series(&c->equal_path[t], form->others_every, 0));
    if (c->gaps.n > 0)
        tree_put(w, "late", late_to_json(r, &c->gaps, form->shortest_gaps));
}

static cJSON *contender_to_json(const struct contender_form *form, const struct contender_record *c)
{
    struct tree w = tree_begin();
    put_name(&w, c);
    /* Times say of themselves that it was ok; without any it has to be said. */
    if (c->verdict != VERDICT_OK || c->timings[form->record->headline].n == 0)
        tree_put_text(&w, "status", record_verdict(c));
    tree_put_text(&w, "stage", c->stage);
    tree_put_text(&w, "reason", c->reason);
    tree_put_true(&w, "invalid", c->invalid);
    tree_put_text(&w, "rung_reason", c->rung_reason);
    tree_put_true(&w, "host_sync", c->host_sync);
    tree_put_true(&w, "early", c->early);
    if (c->joined || c->join_reason[0])
        tree_put(&w, "joined", cJSON_CreateBool(c->joined));
    tree_put_text(&w, "join_reason", c->join_reason);
    put_common(&w, c, form->usual);
    tree_put_copy(&w, "attributes", c->attributes);
    tree_put_copy(&w, "tuning", c->tuning);
    tree_put_copy(&w, "invariance", c->invariance);
    tree_put_copy(&w, "energy", c->energy);
    put_series(&w, form, c);
    return tree_finish(&w);
}

static cJSON *contenders_to_json(const struct contender_form *form)
{
    const struct cell_record *r = form->record;
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < r->n_contenders; i++) {
        cJSON *item = contender_to_json(form, &r->contenders[i]);
        if (!tree_append(array, item))
            return NULL;
    }
    return array;
}

static bool has_gaps(const struct cell_record *r)
{
    for (size_t i = 0; i < r->n_contenders; i++)
        if (r->contenders[i].gaps.n > 0)
            return true;
    return false;
}

static cJSON *health_to_json(const struct cell_record *r)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < r->n_health; i++) {
        const struct device_health *h = &r->health[i].health;
        struct tree w = tree_begin();
        tree_put_number(&w, "block", r->health[i].block);
        if (h->known) {
            tree_put_number(&w, "sm_mhz", h->sm_clock_mhz);
            tree_put_number(&w, "memory_mhz", h->memory_clock_mhz);
            tree_put_number(&w, "power_mw", h->power_mw);
            tree_put_number(&w, "celsius", h->temperature_c);
        }
        tree_put_count(&w, "throttle", (double)h->throttle_reasons);
        tree_put_true(&w, "slowdown", h->slowdown);
        cJSON *item = tree_finish(&w);
        if (!tree_append(array, item))
            return NULL;
    }
    return array;
}

/* All blocks' orders in one string, separated by spaces: quotes and commas would cost as much as half an order. */
static cJSON *order_to_json(const struct cell_record *r)
{
    struct text text = {0};
    for (unsigned b = 0; b < r->blocks; b++)
        text_add(&text, b ? " %s" : "%s", r->order[b]);
    cJSON *result = text.failed ? NULL : cJSON_CreateString(text.bytes ? text.bytes : "");
    text_free(&text);
    return result;
}

static cJSON *group_sizes(const struct cell_record *r)
{
    unsigned *sizes = calloc((size_t)r->groups + 1, sizeof *sizes);
    if (!sizes)
        return NULL;
    for (unsigned b = 0; b < r->blocks; b++)
        if (r->group_of[b] < r->groups)
            sizes[r->group_of[b]]++;
    cJSON *array = form_write_counts(sizes, r->groups);
    free(sizes);
    return array;
}

static void put_phases(struct tree *w, const struct cell_record *r)
{
    struct tree phases = tree_begin();
    for (int i = 0; phase_names[i]; i++)
        if (!phases.failed)
            tree_put_count(&phases, phase_names[i], round_to(r->phase_seconds[i], 1e3));
    tree_put(w, "phase_seconds", tree_finish(&phases));
}

/* Left out where nothing was measured in blocks. */
static void put_parts(struct tree *w, const struct cell_record *r)
{
    struct tree parts = tree_begin();
    double sum = 0;
    for (int i = 0; part_names[i]; i++) {
        sum += r->part_seconds[i];
        if (!parts.failed)
            tree_put_count(&parts, part_names[i], round_to(r->part_seconds[i], 1e3));
    }
    cJSON *object = tree_finish(&parts);
    if (sum > 0)
        tree_put(w, "part_seconds", object);
    else
        cJSON_Delete(object);
}

static void put_identity(struct tree *w, const struct cell_record *r)
{
    char args[PROBLEM_ARGS_MAX];
    problem_args(&r->problem, args);
    tree_put_number(w, "m", (double)r->problem.m);
    tree_put_number(w, "n", (double)r->problem.n);
    tree_put_number(w, "k", (double)r->problem.k);
    tree_put_text(w, "args", args);
    tree_put_text(w, "dtype", dtype_names[r->problem.dtype]);
    tree_put_text(w, "accumulate", accumulate_names[r->problem.accumulate]);
    tree_put_text(w, "mode", mode_names[r->mode]);
    tree_put_text(w, "label", r->label);
    tree_put_text(w, "headline", timing_names[r->headline]);
    tree_put_text(w, "cache", cache_state_names[r->cache]);
    tree_put_text(w, "overlap", r->alone ? overlap_names[OVERLAP_NONE] : "");
    if (r->outcome != CELL_OK)
        tree_put_text(w, "status", record_outcome(r));
    tree_put_text(w, "reason", r->reason);
    tree_put_number(w, "worker", r->worker);
}

static void put_course(struct tree *w, const struct cell_record *r)
{
    tree_put(w, "group_blocks", group_sizes(r));
    tree_put_count(w, "visits", r->visits);
    tree_put_count(w, "passes", r->passes);
    tree_put_true(w, "held", r->held);
    tree_put_count(w, "dropped_blocks", r->dropped_blocks);
    tree_put(w, "converged", cJSON_CreateBool(r->converged));
    tree_put_true(w, "coarse", r->coarse);
    tree_put_number(w, "worst_half_width", round_to(r->worst_half_width, 1e6));
    tree_put_text(w, "worst_pair", r->worst_pair);
    if (r->blocks > 0)
        tree_put(w, "order", order_to_json(r));
}

static void put_contenders(struct tree *w, const struct cell_record *r, const double *shortest_gaps)
{
    static const struct contender_record nothing;
    int usual = usual_contender(r);
    const struct contender_form form = {.record = r,
                                        .usual = usual < 0 ? &nothing : &r->contenders[usual],
                                        .shortest_gaps = shortest_gaps,
                                        .others_every = others_every(r)};
    tree_put_number(w, "others_every", form.others_every);
    if (has_gaps(r))
        tree_put(w, "gap", gaps_to_json(shortest_gaps, r->blocks));
    if (usual >= 0)
        tree_put(w, "usual", usual_to_json(form.usual));
    tree_put(w, "contenders", contenders_to_json(&form));
    if (r->null_graph.n > 0)
        tree_put(w, "null_graph", form_write_series(&r->null_graph, form.others_every, 0));
}

cJSON *record_to_json(const struct cell_record *r)
{
    double *base = shortest_gaps(r);
    struct tree w = tree_begin();
    if (!base || w.failed) {
        w.failed = true;
    } else {
        put_identity(&w, r);
        put_course(&w, r);
        tree_put_copy(&w, "verification", r->verification);
        put_contenders(&w, r, base);
        if (r->rotation)
            tree_put(&w, "rotation", cJSON_Duplicate(r->rotation, true));
        if (r->chain)
            tree_put(&w, "chain", cJSON_Duplicate(r->chain, true));
        if (r->paper_pairs)
            tree_put(&w, "paper_pairs", cJSON_Duplicate(r->paper_pairs, true));
        if (r->n_health > 0)
            tree_put(&w, "health", health_to_json(r));
        put_phases(&w, r);
        put_parts(&w, r);
        tree_put_number(&w, "busy_seconds", round_to(r->busy_seconds, 1e6));
    }
    free(base);
    return tree_finish(&w);
}
