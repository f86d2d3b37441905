/*
 * precompile_list.c - lists the kernels that tables and sets name for the cells of a run, or for one of them. Relies on
 * contender/tuned.h. Called by precompile.c and behind.c, which have them compiled before the cells that ask for them,
 * and by cli/cmd_compile.c.
 */
#include "worker/precompile_list.h"

#include <stdlib.h>

struct collection {
    const struct precompile_list_request *request;
    struct precompile_list *out;
};

static void add(struct precompile_list *out, const struct tuned_query *query, const char *key)
{
    if (out->n == out->capacity) {
        size_t capacity = 2 * out->capacity + 64;
        struct precompile_key *keys = realloc(out->keys, capacity * sizeof *keys);
        if (!keys) {
            out->own = out->open = true;
            return;
        }
        out->keys = keys;
        out->capacity = capacity;
    }
    out->keys[out->n++] = (struct precompile_key){query->family, key, query->layout, query->problem.accumulate};
}

/* What a race asks of the tables, and `own` where it asks the contender too (measure/variants.c). */
static void add_query(const struct collection *c, const struct tuned_query *query, enum mode mode)
{
    const struct tuned_table *table = tuned_tables_find(c->request->tuned, query, mode);
    const struct tuned_entry *entry = table ? tuned_exact(table, query) : NULL;
    const char *keys[2];
    if (entry ? table->mode != mode : !c->request->chooses)
        c->out->own = true;
    if (!entry || table->mode != mode)
        c->out->open = true;
    size_t n = entry ? tuned_keys(table, entry, keys) : 0;
    for (size_t i = 0; i < n; i++)
        add(c->out, query, keys[i]);
}

static void add_cell(const struct collection *c, const struct cudal2_problem *problem, enum mode mode)
{
    for (size_t i = 0; i < c->request->n_families; i++) {
        struct tuned_query query = {.family = c->request->families[i], .problem = *problem};
        for (int layout = 0; layout < 2; layout++) {
            query.layout = (enum cudal2_layout)layout;
            if (c->request->config->layouts & CUDAL2_BIT(layout))
                add_query(c, &query, mode);
        }
    }
}

static void add_shape(const struct collection *c, const struct shape *shape)
{
    struct cudal2_problem problem = {.m = shape->m, .n = shape->n, .k = shape->k, .dtype = c->request->dtype};
    for (int mode = 0; mode < MODE_COUNT; mode++)
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            problem.accumulate = (enum cudal2_accumulate)accumulate;
            if ((c->request->accumulates & CUDAL2_BIT(accumulate)) && (c->request->config->modes & CUDAL2_BIT(mode)))
                add_cell(c, &problem, (enum mode)mode);
        }
}

static struct precompile_list empty(const struct precompile_list_request *request)
{
    bool none = request->tuned->n == 0;
    return (struct precompile_list){.own = none && !request->chooses, .open = none && request->n_families > 0};
}

void precompile_list_collect(const struct precompile_list_request *request, struct precompile_list *out)
{
    const struct collection c = {request, out};
    size_t n = request->order ? request->n_order : request->config->n_shapes;
    *out = empty(request);
    for (size_t i = 0; i < n && request->tuned->n > 0; i++)
        add_shape(&c, &request->config->shapes[request->order ? request->order[i] : i]);
}

void precompile_list_cell(const struct precompile_list_request *request, const struct cudal2_problem *problem,
                          enum mode mode, struct precompile_list *out)
{
    const struct collection c = {request, out};
    *out = empty(request);
    if (request->tuned->n > 0)
        add_cell(&c, problem, mode);
}

void precompile_list_free(struct precompile_list *w)
{
    free(w->keys);
    *w = (struct precompile_list){0};
}
