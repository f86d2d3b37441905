/*
 * precompile_list.c - lists the kernels that tables and sets name for the cells of a run, each once. Relies on
 * contender/tuned.h. Called by precompile.c, which has them all compiled before the first cell, and by
 * cli/cmd_compile.c.
 */
#include "worker/precompile_list.h"

#include <stdlib.h>

struct collection {
    const struct precompile_list_request *request;
    struct precompile_list *out;
    size_t capacity;
};

static void add(struct collection *c, const struct tuned_query *query, const char *key)
{
    struct precompile_list *out = c->out;
    if (out->n == c->capacity) {
        size_t capacity = 2 * c->capacity + 64;
        struct precompile_key *keys = realloc(out->keys, capacity * sizeof *keys);
        if (!keys) {
            out->own = true;
            return;
        }
        out->keys = keys;
        c->capacity = capacity;
    }
    out->keys[out->n++] = (struct precompile_key){query->family, key, query->layout, query->problem.accumulate};
}

/* What a race asks of the tables, and `own` where it asks the contender too (measure/variants.c). */
static void add_query(struct collection *c, const struct tuned_query *query, enum mode mode)
{
    const struct tuned_table *table = tuned_tables_find(c->request->tuned, query, mode);
    const struct tuned_entry *entry = table ? tuned_exact(table, query) : NULL;
    const char *keys[2];
    if (entry ? table->mode != mode : !c->request->chooses)
        c->out->own = true;
    size_t n = entry ? tuned_keys(table, entry, keys) : 0;
    for (size_t i = 0; i < n; i++)
        add(c, query, keys[i]);
}

static void add_problems(struct collection *c, struct tuned_query query, enum mode mode)
{
    const struct config *config = c->request->config;
    for (size_t i = 0; i < config->n_shapes; i++) {
        query.problem.m = config->shapes[i].m;
        query.problem.n = config->shapes[i].n;
        query.problem.k = config->shapes[i].k;
        for (int layout = 0; layout < 2; layout++) {
            query.layout = (enum cudal2_layout)layout;
            if (config->layouts & CUDAL2_BIT(layout))
                add_query(c, &query, mode);
        }
    }
}

static void add_family(struct collection *c, const char *family)
{
    struct tuned_query query = {.family = family, .problem = {.dtype = c->request->dtype}};
    for (int accumulate = 0; accumulate < 2; accumulate++)
        for (int mode = 0; mode < MODE_COUNT; mode++) {
            query.problem.accumulate = (enum cudal2_accumulate)accumulate;
            if ((c->request->accumulates & CUDAL2_BIT(accumulate)) && (c->request->config->modes & CUDAL2_BIT(mode)))
                add_problems(c, query, (enum mode)mode);
        }
}

void precompile_list_collect(const struct precompile_list_request *request, struct precompile_list *out)
{
    struct collection c = {.request = request, .out = out};
    *out = (struct precompile_list){.own = request->tuned->n == 0 && !request->chooses};
    for (size_t i = 0; i < request->n_families && request->tuned->n > 0; i++)
        add_family(&c, request->families[i]);
}

void precompile_list_free(struct precompile_list *w)
{
    free(w->keys);
    *w = (struct precompile_list){0};
}
