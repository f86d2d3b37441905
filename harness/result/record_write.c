#include "result/record_form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "result/tree.h"

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

static cJSON *gap_array(const double *units, size_t n)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < n; i++)
        if (!tree_append(array, json_number(units[i] / 10)))
            return NULL;
    return array;
}

/* A contender's gaps as what they exceed the block's shortest by: short numbers, nothing lost. */
static cJSON *late_to_json(const struct cell_record *r, const struct series *gaps, const double *base)
{
    struct series late = {0};
    bool failed = false;
    for (size_t i = 0; i < gaps->n && !failed; i++) {
        double shortest = gaps->block[i] < r->blocks ? base[gaps->block[i]] : 0;
        failed = series_add(&late, gaps->block[i], gap_units(gaps->ns[i]) - shortest) != 0;
    }
    cJSON *result = failed ? NULL : form_write_series(&late, FORM_INTEGERS, 1);
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

static void put_family(struct tree *w, const struct contender_record *c)
{
    char family[RECORD_NAME_MAX];
    bool suffix;
    record_family_of(c->name, c->layout, family, &suffix);
    if (suffix == c->has_layout_suffix && strcmp(family, c->family) == 0)
        return;
    tree_put_text(w, "family", c->family);
    tree_put(w, "layout_suffix", cJSON_CreateBool(c->has_layout_suffix));
}

static cJSON *contender_to_json(const struct cell_record *r, const struct contender_record *c, const double *base)
{
    unsigned others = others_every(r);
    struct tree w = tree_begin();
    tree_put_text(&w, "name", c->name);
    tree_put_text(&w, "layout", layout_names[c->layout]);
    put_family(&w, c);
    tree_put_true(&w, "candidate", c->candidate);
    tree_put_text(&w, "status", c->status);
    tree_put_text(&w, "stage", c->stage);
    tree_put_text(&w, "reason", c->reason);
    tree_put_text(&w, "copy_of", c->copy_of);
    tree_put_text(&w, "rung", c->rung);
    tree_put_true(&w, "host_sync", c->host_sync);
    tree_put_count(&w, "launches", c->launches);
    tree_put_count(&w, "primers", c->primers);
    tree_put_copy(&w, "attributes", c->attributes);
    tree_put_copy(&w, "tuning", c->tuning);
    tree_put_copy(&w, "verification", c->verification);
    for (int t = 0; t < TIMING_COUNT; t++)
        if (c->timings[t].n > 0)
            tree_put(&w, timing_names[t],
                     form_write_series(&c->timings[t], FORM_TIMES, t == (int)r->headline ? 1 : others));
    for (int t = 0; t < TIMING_COUNT; t++)
        if (c->equal_path[t].n > 0)
            tree_put(&w, equal_path_names[t], form_write_series(&c->equal_path[t], FORM_TIMES, others));
    if (c->gaps.n > 0)
        tree_put(&w, "late_100ns", late_to_json(r, &c->gaps, base));
    return tree_finish(&w);
}

static cJSON *contenders_to_json(const struct cell_record *r, const double *base)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < r->n_contenders; i++) {
        cJSON *item = contender_to_json(r, &r->contenders[i], base);
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

static void put_identity(struct tree *w, const struct cell_record *r)
{
    tree_put_number(w, "m", (double)r->problem.m);
    tree_put_number(w, "n", (double)r->problem.n);
    tree_put_number(w, "k", (double)r->problem.k);
    tree_put_text(w, "dtype", dtype_names[r->problem.dtype]);
    tree_put_text(w, "accumulate", accumulate_names[r->problem.accumulate]);
    tree_put_text(w, "mode", mode_names[r->mode]);
    tree_put_text(w, "label", r->label);
    tree_put_text(w, "headline", timing_names[r->headline]);
    tree_put_text(w, "cache", cache_state_names[r->cache]);
    tree_put_text(w, "status", r->status);
    tree_put_text(w, "reason", r->reason);
    tree_put_number(w, "worker", r->worker);
}

static void put_course(struct tree *w, const struct cell_record *r)
{
    tree_put(w, "group_blocks", group_sizes(r));
    tree_put_count(w, "dropped_blocks", r->dropped_blocks);
    tree_put(w, "converged", cJSON_CreateBool(r->converged));
    tree_put_number(w, "worst_half_width", round_to(r->worst_half_width, 1e6));
    tree_put_text(w, "worst_pair", r->worst_pair);
    if (r->blocks > 0)
        tree_put(w, "order", order_to_json(r));
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
        tree_put_number(&w, "others_every", others_every(r));
        if (has_gaps(r))
            tree_put(&w, "gap_us", gap_array(base, r->blocks));
        tree_put(&w, "contenders", contenders_to_json(r, base));
        if (r->paper_pairs)
            tree_put(&w, "paper_pairs", cJSON_Duplicate(r->paper_pairs, true));
        if (r->null_graph.n > 0)
            tree_put(&w, "null_graph", form_write_series(&r->null_graph, FORM_TIMES, others_every(r)));
        if (r->n_health > 0)
            tree_put(&w, "health", health_to_json(r));
        put_phases(&w, r);
        tree_put_number(&w, "busy_seconds", round_to(r->busy_seconds, 1e6));
    }
    free(base);
    return tree_finish(&w);
}
