/*
 * record.c - allocates and frees a cell's record and its series, and answers small questions about it. Pure. Called
 * wherever a record is filled or read.
 */
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"

const char *const phase_names[PHASE_COUNT + 1] = {"operands", "setup", "verify", "tune", "measure", "other", NULL};
const char *const part_names[PART_COUNT + 1] = {"teardown", "places",   "fill",    "setup",  "graphs",
                                                "load",     "headline", "others",  "checks", "decide",
                                                "fresh",    "restore",  "between", "replay", NULL};

int series_add(struct series *s, unsigned block, double ns)
{
    if (s->n == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 32;
        double *values = realloc(s->ns, capacity * sizeof *values);
        if (values)
            s->ns = values;
        unsigned *blocks = realloc(s->block, capacity * sizeof *blocks);
        if (blocks)
            s->block = blocks;
        if (!values || !blocks)
            return -1;
        s->capacity = capacity;
    }
    s->ns[s->n] = ns;
    s->block[s->n++] = block;
    return 0;
}

void series_free(struct series *s)
{
    free(s->ns);
    free(s->block);
    *s = (struct series){0};
}

struct cell_record *record_new(void)
{
    return calloc(1, sizeof(struct cell_record));
}

static void free_contender(struct contender_record *c)
{
    cJSON_Delete(c->attributes);
    cJSON_Delete(c->tuning);
    cJSON_Delete(c->verification);
    cJSON_Delete(c->deviation);
    cJSON_Delete(c->invariance);
    cJSON_Delete(c->energy);
    cJSON_Delete(c->activity);
    for (int t = 0; t < TIMING_COUNT; t++) {
        series_free(&c->timings[t]);
        series_free(&c->equal_path[t]);
    }
    series_free(&c->gaps);
}

void record_free(struct cell_record *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_contenders; i++)
        free_contender(&r->contenders[i]);
    for (unsigned b = 0; r->order && b < r->blocks; b++)
        free(r->order[b]);
    free(r->order);
    free(r->group_of);
    series_free(&r->null_graph);
    cJSON_Delete(r->paper_pairs);
    cJSON_Delete(r->rotation);
    cJSON_Delete(r->chain);
    cJSON_Delete(r->verification);
    free(r->health);
    free(r);
}

const struct contender_record *record_contender(const struct cell_record *r, const char *name)
{
    for (size_t i = 0; i < r->n_contenders && name[0] != '\0'; i++)
        if (strcmp(r->contenders[i].name, name) == 0)
            return &r->contenders[i];
    return NULL;
}

cJSON *record_verification(struct contender_record *c)
{
    if (!c->verification)
        c->verification = cJSON_CreateObject();
    return c->verification;
}

const char *record_verdict(const struct contender_record *c)
{
    return c->verdict < VERDICT_COUNT ? verdict_name(c->verdict) : c->other_verdict;
}

const char *record_outcome(const struct cell_record *r)
{
    return r->outcome < CELL_STATUS_COUNT ? cell_status_names[r->outcome] : r->other_outcome;
}

void record_set_verdict(struct contender_record *c, const char *word)
{
    c->verdict = verdict_of(word);
    snprintf(c->other_verdict, sizeof c->other_verdict, "%s", c->verdict < VERDICT_COUNT ? "" : word);
}

void record_set_outcome(struct cell_record *r, const char *word)
{
    r->outcome = cell_status_of(word);
    snprintf(r->other_outcome, sizeof r->other_outcome, "%s", r->outcome < CELL_STATUS_COUNT ? "" : word);
}

bool record_block_dropped(const struct cell_record *r, unsigned block)
{
    if (!r->group_of || block >= r->blocks)
        return false;
    for (size_t i = 0; i < r->n_health; i++) {
        const struct health_sample *sample = &r->health[i];
        bool same_group = sample->block < r->blocks && r->group_of[sample->block] == r->group_of[block];
        if (sample->health.slowdown && same_group)
            return true;
    }
    return false;
}

void record_key(const struct cudal2_problem *p, enum mode mode, char *key)
{
    char problem[PROBLEM_KEY_MAX];
    problem_key(p, problem);
    snprintf(key, RECORD_KEY_MAX, "%s/%s", mode_names[mode], problem);
}

const char *record_rotation(const struct cell_record *record)
{
    static const char *const means[] = {"sets", "size", "flush"}, *const others[] = {"partial", "none"};
    const char *state = tree_text(record->rotation, "rotation"), *by = tree_text(record->rotation, "by");
    if (record->rotation == NULL)
        return "";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(state, others[i]) == 0)
            return others[i];
    if (strcmp(state, "full") != 0)
        return "unknown";
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        if (strcmp(by, means[i]) == 0)
            return means[i];
    return means[0]; /* records of old say no means: it was this one */
}
