/*
 * record_read.c - a record from its JSON: identity, course, contenders, series, health, with what was told once for
 * all put back. Relies on record_form.c. Called by ledgers, results and tables through record.h.
 */
#include "record/record_form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int read_family(struct json_at at, struct contender_record *c, struct error *err)
{
    record_family_of(record_root_name(c), c->layout, c->family, &c->has_layout_suffix);
    int code = form_take_text(at, "family", c->family, sizeof c->family, err);
    return code ? code : form_take_bool(at, "layout_suffix", &c->has_layout_suffix, err);
}

/* Absent: ok. */
static int read_cell_status(struct json_at at, struct cell_record *r, struct error *err)
{
    char word[RECORD_WORD_MAX] = "ok";
    int code = form_take_text(at, "status", word, sizeof word, err);
    record_set_outcome(r, word);
    return code;
}

/* Absent: none, until settle_verdict knows better. */
static int read_status(struct json_at at, struct contender_record *c, struct error *err)
{
    char word[RECORD_WORD_MAX] = "";
    int code = form_take_text(at, "status", word, sizeof word, err);
    record_set_verdict(c, word);
    return code;
}

static int read_layout(struct json_at at, struct contender_record *c, struct error *err)
{
    int layout = (int)record_layout_of(record_root_name(c));
    if (at.node && json_read_choice(at, layout_names, &layout, err))
        return err->code;
    c->layout = (enum cudal2_layout)layout;
    return 0;
}

static int read_names(struct json_at at, struct contender_record *c, struct error *err)
{
    int code = form_need_text(at, "name", c->name, sizeof c->name, err);
    if (code == 0)
        code = form_take_text(at, "copy_of", c->copy_of, sizeof c->copy_of, err);
    if (code == 0)
        code = read_layout(json_member(at, "layout"), c, err);
    if (code == 0)
        code = read_family(at, c, err);
    if (code == 0)
        code = form_take_bool(at, "candidate", &c->candidate, err);
    return code;
}

static bool is_null(struct json_at object, const char *key)
{
    return cJSON_IsNull(json_member(object, key).node);
}

/* A tree that a contender's own stands in for; null stands for none. */
static int read_shown(struct json_at at, const char *key, cJSON **out, struct error *err)
{
    if (!json_member(at, key).node)
        return 0;
    cJSON_Delete(*out);
    *out = NULL;
    return is_null(at, key) ? 0 : form_take_tree(at, key, out, err);
}

/* The counterpart of put_common: from the cell's `usual`, then from the contender; null takes a value away. */
static int read_common(struct json_at at, struct contender_record *c, struct error *err)
{
    int code = 0;
    if (is_null(at, "rung"))
        c->rung[0] = '\0';
    else
        code = form_take_text(at, "rung", c->rung, sizeof c->rung, err);
    if (code == 0)
        code = form_take_unsigned(at, "launches", &c->launches, err);
    if (code == 0)
        code = form_take_unsigned(at, "primers", &c->primers, err);
    if (code == 0)
        code = read_shown(at, "verification", &c->verification, err);
    return code ? code : read_shown(at, "deviation", &c->deviation, err);
}

static int read_outcome(struct json_at at, struct contender_record *c, struct error *err)
{
    int code = read_status(at, c, err);
    if (code == 0)
        code = form_take_text(at, "stage", c->stage, sizeof c->stage, err);
    if (code == 0)
        code = form_take_text(at, "reason", c->reason, sizeof c->reason, err);
    if (code == 0)
        code = form_take_bool(at, "invalid", &c->invalid, err);
    if (code == 0)
        code = form_take_bool(at, "host_sync", &c->host_sync, err);
    if (code == 0)
        code = form_take_bool(at, "early", &c->early, err);
    if (code == 0)
        code = form_take_bool(at, "joined", &c->joined, err);
    if (code == 0)
        code = form_take_text(at, "join_reason", c->join_reason, sizeof c->join_reason, err);
    if (code == 0)
        code = form_take_text(at, "rung_reason", c->rung_reason, sizeof c->rung_reason, err);
    return code;
}

static int read_trees(struct json_at at, struct contender_record *c, struct error *err)
{
    int code = form_take_tree(at, "attributes", &c->attributes, err);
    if (code == 0)
        code = form_take_tree(at, "tuning", &c->tuning, err);
    if (code == 0)
        code = form_take_tree(at, "energy", &c->energy, err);
    return code ? code : form_take_tree(at, "invariance", &c->invariance, err);
}

/* Turns `late` into gaps: the block's shortest gap plus this contender's excess. */
static int read_gaps(struct json_at at, const struct series *shortest, struct contender_record *c, struct error *err)
{
    struct json_at late = json_member(at, "late");
    if (late.node && shortest->n == 0)
        return json_fail(late, err, "stands without the cell's gap");
    const struct form_place place = {1, (unsigned)shortest->n};
    if (form_read_series(late, &place, &c->gaps, err))
        return err->code;
    for (size_t i = 0; i < c->gaps.n; i++)
        c->gaps.ns[i] += shortest->ns[c->gaps.block[i]];
    return 0;
}

struct cell_reader {
    struct cell_record *record;
    struct json_at usual;
    struct series shortest; /* gap of each block, ns */
    unsigned others_every;  /* stride of everything but the headline */
};

static int read_timings(struct json_at at, const struct cell_reader *cell, struct contender_record *c,
                        struct error *err)
{
    const struct cell_record *r = cell->record;
    const struct form_place headline = {1, r->blocks};
    const struct form_place others = {cell->others_every, r->blocks};
    int code = 0;
    for (int t = 0; t < TIMING_COUNT && code == 0; t++)
        code = form_read_series(json_member(at, timing_names[t]), t == (int)r->headline ? &headline : &others,
                                &c->timings[t], err);
    for (int t = 0; t < TIMING_COUNT && code == 0; t++)
        if (timing_is_single((enum timing)t))
            code = form_read_series(json_member(at, timing_equal_names[t]), &others, &c->equal_path[t], err);
    return code;
}

static int read_contender(struct json_at at, const struct cell_reader *cell, struct contender_record *c,
                          struct error *err)
{
    int code = form_contender_keys(at, err);
    if (code == 0)
        code = read_names(at, c, err);
    if (code == 0)
        code = read_outcome(at, c, err);
    if (code == 0 && cell->usual.node)
        code = read_common(cell->usual, c, err);
    if (code == 0)
        code = read_common(at, c, err);
    if (code == 0)
        code = read_trees(at, c, err);
    if (code == 0)
        code = read_timings(at, cell, c, err);
    return code ? code : read_gaps(at, &cell->shortest, c, err);
}

static bool name_taken(const struct cell_record *r, const char *name)
{
    for (size_t i = 0; i + 1 < r->n_contenders; i++)
        if (strcasecmp(r->contenders[i].name, name) == 0)
            return true;
    return false;
}

static int read_contenders(struct json_at at, struct cell_reader *cell, struct error *err)
{
    struct cell_record *r = cell->record;
    const cJSON *node = NULL;
    struct json_at element;
    int index;
    int count;
    int code = json_read_array(at, 0, &count, err);
    if (code == 0 && count > RECORD_MAX_CONTENDERS)
        code = json_fail(at, err, "%d contenders, the limit is %d", count, RECORD_MAX_CONTENDERS);
    while (code == 0 && json_each(at, &node, &index, &element)) {
        struct contender_record *c = &r->contenders[r->n_contenders++];
        code = read_contender(element, cell, c, err);
        if (code == 0 && name_taken(r, c->name))
            code = json_fail(element, err, "a second contender of this name: %s", c->name);
    }
    return code;
}

static int read_health_sample(struct json_at at, struct health_sample *s, struct error *err)
{
    static const char *const keys[] = {"block",   "sm_mhz",   "memory_mhz", "power_mw",
                                       "celsius", "throttle", "slowdown",   NULL};
    struct device_health *h = &s->health;
    int *const out[] = {&h->sm_clock_mhz, &h->memory_clock_mhz, &h->power_mw, &h->temperature_c};
    double throttle = 0;
    int code = json_only_keys(at, keys, err);
    h->known = json_member(at, "sm_mhz").node != NULL;
    for (int i = 0; i < 4 && code == 0 && h->known; i++) {
        int64_t value = 0;
        code = json_read_int(json_member(at, keys[1 + i]), -1, INT32_MAX, &value, err);
        *out[i] = (int)value;
    }
    if (code == 0)
        code = form_take_number(at, "throttle", 1e15, &throttle, err);
    h->throttle_reasons = (uint64_t)throttle;
    if (code == 0)
        code = form_take_bool(at, "slowdown", &h->slowdown, err);
    return code ? code : form_take_unsigned(at, "block", &s->block, err);
}

static int read_health(struct json_at at, struct cell_record *r, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index;
    int count;
    if (!at.node)
        return 0;
    if (json_read_array(at, 1, &count, err))
        return err->code;
    r->health = calloc((size_t)count, sizeof *r->health);
    if (!r->health)
        return form_no_memory(at, err);
    int code = 0;
    while (code == 0 && json_each(at, &node, &index, &element))
        code = read_health_sample(element, &r->health[r->n_health++], err);
    return code;
}

/* group_blocks: how many blocks each group has; gives blocks, groups and group_of. */
static int read_groups(struct json_at at, struct cell_record *r, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index;
    int count;
    if (json_read_array(at, 0, &count, err))
        return err->code;
    r->groups = (unsigned)count;
    unsigned blocks = 0;
    while (json_each(at, &node, &index, &element)) {
        int64_t size;
        if (json_read_int(element, 0, FORM_BLOCKS_MAX, &size, err))
            return err->code;
        if (size > FORM_BLOCKS_MAX - blocks)
            return json_fail(element, err, "more than %d blocks in all", FORM_BLOCKS_MAX);
        unsigned *grown = realloc(r->group_of, (blocks + (unsigned)size + 1) * sizeof *grown);
        if (!grown)
            return form_no_memory(at, err);
        r->group_of = grown;
        for (int64_t i = 0; i < size; i++)
            r->group_of[blocks++] = (unsigned)index;
    }
    r->blocks = blocks;
    return 0;
}

static int read_order(struct json_at at, struct cell_record *r, struct error *err)
{
    if (r->blocks == 0)
        return at.node ? json_fail(at, err, "an order for a cell without blocks") : 0;
    if (!cJSON_IsString(at.node))
        return json_fail(at, err, "expected a string");
    r->order = calloc(r->blocks, sizeof *r->order);
    if (!r->order)
        return form_no_memory(at, err);
    const char *from = at.node->valuestring;
    for (unsigned b = 0; b < r->blocks; b++) {
        size_t length = strcspn(from, " ");
        bool last = from[length] == '\0';
        if (last != (b + 1 == r->blocks))
            return json_fail(at, err, "the cell has %u blocks, this is another number of orders", r->blocks);
        r->order[b] = strndup(from, length);
        if (!r->order[b])
            return form_no_memory(at, err);
        from += length + 1;
    }
    return 0;
}

/* The shortest gap of each block. */
static int read_shortest_gaps(struct json_at at, struct cell_reader *cell, struct error *err)
{
    const struct form_place place = {1, cell->record->blocks};
    if (form_read_series(at, &place, &cell->shortest, err))
        return err->code;
    if (at.node && cell->shortest.n != cell->record->blocks)
        return json_fail(at, err, "%zu gaps for %u blocks", cell->shortest.n, cell->record->blocks);
    return 0;
}

static int read_usual(struct json_at at, struct cell_reader *cell, struct error *err)
{
    static const char *const keys[] = {"rung", "launches", "primers", "verification", "deviation", NULL};
    cell->usual = at;
    return at.node ? json_only_keys(at, keys, err) : 0;
}

static int read_phases(struct json_at at, struct cell_record *r, struct error *err)
{
    int code = json_only_keys(at, phase_names, err);
    for (int i = 0; phase_names[i] && code == 0; i++)
        code = form_take_number(at, phase_names[i], 1e9, &r->phase_seconds[i], err);
    return code;
}

static int read_parts(struct json_at at, struct cell_record *r, struct error *err)
{
    int code = at.node ? json_only_keys(at, part_names, err) : 0;
    for (int i = 0; part_names[i] && at.node && code == 0; i++)
        code = form_take_number(at, part_names[i], 1e9, &r->part_seconds[i], err);
    return code;
}

static int read_problem(struct json_at at, struct cell_record *r, struct error *err)
{
    struct cudal2_problem *p = &r->problem;
    int dtype = 0;
    int accumulate = 0;
    int mode = 0;
    struct error cause;
    char args[PROBLEM_ARGS_MAX] = "";
    int code = json_read_int(json_member(at, "m"), 1, INT64_MAX, &p->m, err);
    if (code == 0)
        code = json_read_int(json_member(at, "n"), 1, INT64_MAX, &p->n, err);
    if (code == 0)
        code = json_read_int(json_member(at, "k"), 1, INT64_MAX, &p->k, err);
    if (code == 0)
        code = json_read_choice(json_member(at, "dtype"), dtype_names, &dtype, err);
    if (code == 0)
        code = json_read_choice(json_member(at, "accumulate"), accumulate_names, &accumulate, err);
    if (code == 0)
        code = json_read_choice(json_member(at, "mode"), mode_names, &mode, err);
    if (code == 0)
        code = form_take_text(at, "args", args, sizeof args, err);
    if (code == 0 && problem_args_parse(args, p, &cause) != 0)
        code = json_fail(json_member(at, "args"), err, "%s", cause.text);
    p->dtype = (enum cudal2_dtype)dtype;
    p->accumulate = (enum cudal2_accumulate)accumulate;
    r->mode = (enum mode)mode;
    return code;
}

static int read_head(struct json_at at, struct cell_record *r, struct error *err)
{
    int headline = 0;
    int cache = 0, overlap = OVERLAP_LAUNCHES;
    struct json_at said = json_member(at, "overlap");
    int64_t worker = 0;
    int code = read_problem(at, r, err);
    if (code == 0)
        code = form_take_text(at, "label", r->label, sizeof r->label, err);
    if (code == 0)
        code = json_read_choice(json_member(at, "headline"), timing_names, &headline, err);
    if (code == 0)
        code = json_read_choice(json_member(at, "cache"), cache_state_names, &cache, err);
    if (code == 0 && said.node)
        code = json_read_choice(said, overlap_names, &overlap, err);
    if (code == 0)
        code = read_cell_status(at, r, err);
    if (code == 0)
        code = form_take_text(at, "reason", r->reason, sizeof r->reason, err);
    if (code == 0)
        code = json_read_int(json_member(at, "worker"), -1, 65535, &worker, err);
    r->headline = (enum timing)headline;
    r->cache = (enum cache_state)cache;
    r->alone = overlap == OVERLAP_NONE;
    r->worker = (int)worker;
    return code;
}

/* null stands for a half-width that was never known. */
static int read_half_width(struct json_at at, struct cell_record *r, struct error *err)
{
    r->worst_half_width = NAN;
    return cJSON_IsNull(at.node) ? 0 : json_read_number(at, 0, 1e9, &r->worst_half_width, err);
}

static int read_course(struct json_at at, struct cell_record *r, struct error *err)
{
    int code = read_groups(json_member(at, "group_blocks"), r, err);
    if (code == 0)
        code = form_take_unsigned(at, "visits", &r->visits, err);
    if (code == 0)
        code = form_take_unsigned(at, "passes", &r->passes, err);
    if (code == 0)
        code = form_take_bool(at, "held", &r->held, err);
    if (code == 0)
        code = form_take_unsigned(at, "dropped_blocks", &r->dropped_blocks, err);
    if (code == 0)
        code = json_read_bool(json_member(at, "converged"), &r->converged, err);
    if (code == 0)
        code = form_take_bool(at, "coarse", &r->coarse, err);
    if (code == 0)
        code = read_half_width(json_member(at, "worst_half_width"), r, err);
    if (code == 0)
        code = form_take_text(at, "worst_pair", r->worst_pair, sizeof r->worst_pair, err);
    return code ? code : read_order(json_member(at, "order"), r, err);
}

/* What the contenders have in common, and then the contenders. */
static int read_measured(struct json_at at, struct cell_reader *cell, struct error *err)
{
    struct cell_record *r = cell->record;
    int64_t every = 1;
    int code = json_read_int(json_member(at, "others_every"), 1, FORM_BLOCKS_MAX, &every, err);
    cell->others_every = (unsigned)every;
    const struct form_place others = {cell->others_every, r->blocks};
    if (code == 0)
        code = form_take_tree(at, "verification", &r->verification, err);
    if (code == 0)
        code = read_shortest_gaps(json_member(at, "gap"), cell, err);
    if (code == 0)
        code = read_usual(json_member(at, "usual"), cell, err);
    if (code == 0)
        code = read_contenders(json_member(at, "contenders"), cell, err);
    return code ? code : form_read_series(json_member(at, "null_graph"), &others, &r->null_graph, err);
}

static int read_cell(struct json_at at, struct cell_reader *cell, struct error *err)
{
    struct cell_record *r = cell->record;
    int code = form_cell_keys(at, err);
    if (code == 0)
        code = read_head(at, r, err);
    if (code == 0)
        code = read_course(at, r, err);
    if (code == 0)
        code = read_measured(at, cell, err);
    if (code == 0)
        code = form_take_tree(at, "paper_pairs", &r->paper_pairs, err);
    if (code == 0)
        code = form_take_tree(at, "rotation", &r->rotation, err);
    if (code == 0)
        code = form_take_tree(at, "chain", &r->chain, err);
    if (code == 0)
        code = read_health(json_member(at, "health"), r, err);
    if (code == 0)
        code = read_phases(json_member(at, "phase_seconds"), r, err);
    if (code == 0)
        code = read_parts(json_member(at, "part_seconds"), r, err);
    if (code == 0)
        code = json_read_number(json_member(at, "busy_seconds"), 0, 1e9, &r->busy_seconds, err);
    return code;
}

/* A contender without a status is ok where something shows that it was measured or verified, and nowhere else. */
static void settle_verdict(const struct cell_record *r, struct contender_record *c)
{
    bool skipped = r->outcome == CELL_SKIPPED;
    bool shown = c->timings[r->headline].n > 0 || (!skipped && (c->verification || r->paper_pairs));
    if (record_verdict(c)[0])
        return;
    c->verdict = shown ? VERDICT_OK : skipped ? VERDICT_SKIPPED : VERDICT_UNKNOWN;
    if (!shown && !c->reason[0])
        snprintf(c->reason, sizeof c->reason, "%s", skipped ? r->reason : "its record has no status and no times");
}

int record_from_json(struct json_at at, struct cell_record **out, struct error *err)
{
    struct cell_reader cell = {.record = record_new()};
    if (!cell.record)
        return form_no_memory(at, err);
    int code = read_cell(at, &cell, err);
    series_free(&cell.shortest);
    for (size_t i = 0; i < cell.record->n_contenders; i++)
        settle_verdict(cell.record, &cell.record->contenders[i]);
    if (code == 0)
        *out = cell.record;
    else
        record_free(cell.record);
    return code;
}
