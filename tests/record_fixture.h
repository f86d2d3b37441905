/* Scripted cell records for the tests of stop rule, result and report. */
#ifndef CUDAL2_TESTS_RECORD_FIXTURE_H
#define CUDAL2_TESTS_RECORD_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/record.h"

__attribute__((unused)) static struct cell_record *fixture_record(int64_t m, enum mode mode)
{
    struct cell_record *r = record_new();
    r->problem = (struct cudal2_problem){m, 64, 64, CUDAL2_F16, CUDAL2_ACC_F32};
    r->mode = mode;
    strcpy(r->status, "ok");
    return r;
}

/* name "cublas-nn" is family cublas, layout nn; a name without such an ending is its own family. */
__attribute__((unused)) static struct contender_record *fixture_contender(struct cell_record *r, const char *name,
                                                                          bool candidate)
{
    struct contender_record *c = &r->contenders[r->n_contenders++];
    size_t length = strlen(name);
    const char *ending = length > 3 ? name + length - 3 : "";
    c->has_layout_suffix = strcmp(ending, "-nn") == 0 || strcmp(ending, "-tn") == 0;
    c->layout = strcmp(ending, "-tn") == 0 ? CUDAL2_TN : CUDAL2_NN;
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->family, sizeof c->family, "%.*s", (int)(length - (c->has_layout_suffix ? 3 : 0)), name);
    c->candidate = candidate;
    strcpy(c->status, "ok");
    strcpy(c->rung, "graph");
    return c;
}

__attribute__((unused)) static void fixture_fail(struct contender_record *c, const char *status, const char *reason)
{
    strcpy(c->status, status);
    snprintf(c->reason, sizeof c->reason, "%s", reason);
}

/* One more block, in groups of group_blocks; the caller adds the series' values. */
__attribute__((unused)) static unsigned fixture_block(struct cell_record *r, unsigned group_blocks)
{
    unsigned block = r->blocks++;
    r->order = realloc(r->order, r->blocks * sizeof *r->order);
    r->group_of = realloc(r->group_of, r->blocks * sizeof *r->group_of);
    r->order[block] = strdup("01");
    r->group_of[block] = block / group_blocks;
    r->groups = r->group_of[block] + 1;
    return block;
}

__attribute__((unused)) static void fixture_slowdown(struct cell_record *r, unsigned block)
{
    r->health = realloc(r->health, (r->n_health + 1) * sizeof *r->health);
    r->health[r->n_health++] = (struct health_sample){block, {.known = true, .slowdown = true}};
    r->dropped_blocks += 8;
}

#endif
