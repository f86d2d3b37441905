/*
 * precompile_choices.c - asks measure/choose.c for each problem, mode, type and layout that no table has, as a cell
 * would. Relies on a bench that has no operands. Called by the command `compile`.
 */
#include "worker/precompile_choices.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "measure/choose.h"
#include "measure/race.h"

/* What a cell would have, as far as a choice looks at it. */
struct asking {
    const struct precompile_choices_request *request;
    struct precompile_choices *out;
    struct bench bench;
    struct entrant entrant;
    struct contender contender;
    struct operands operands;
    struct contender_record record;
    struct choose_member members[RACE_MAX_VARIANTS];
    struct cudal2_variant own[RACE_MAX_VARIANTS];
};

static bool add(struct asking *a, const struct choose_member *member)
{
    struct precompile_choices *out = a->out;
    struct precompile_key *keys = grow_for_one(out->keys, out->n, &out->capacity, sizeof *keys);
    if (keys)
        out->keys = keys;
    struct cudal2_variant **texts = grow_for_one(out->texts, out->n, &out->text_capacity, sizeof *texts);
    if (texts)
        out->texts = texts;
    struct cudal2_variant *text = keys && texts ? malloc(sizeof *text) : NULL;
    if (!text)
        return false;
    *text = member->variant;
    out->texts[out->n] = text;
    out->keys[out->n++] = (struct precompile_key){module_set_name(a->request->set), text->key, member->layout,
                                                  a->bench.problem.accumulate};
    return true;
}

/* Where nobody has a choice to make, what the contender lists itself races. */
static size_t list_own(struct asking *a)
{
    const struct cudal2_setup setup = bench_setup(&a->bench, &a->entrant, NULL);
    char why[CUDAL2_WHY];
    int n = a->contender.ops->list_variants(&a->contender, &setup, a->own, RACE_MAX_VARIANTS, why);
    for (int i = 0; i < n; i++)
        a->members[i] = (struct choose_member){.variant = a->own[i], .layout = a->contender.is.layout};
    return n > 0 ? (size_t)n : 0;
}

static void ask(struct asking *a)
{
    const struct contender *c = &a->contender;
    const struct tuned_query query = {c->family, c->is.layout, a->bench.problem};
    const struct tuned_table *table = tuned_tables_find(a->bench.tuned, &query, a->bench.mode);
    size_t most = a->bench.config->choice == CHOICE_ZERO ? 1 : RACE_MAX_VARIANTS;
    if (table && tuned_exact(table, &query))
        return;
    size_t n = choose_members(&a->bench, &a->entrant, table, a->members, most);
    if (n == 0)
        n = list_own(a);
    for (size_t i = 0; i < n && add(a, &a->members[i]); i++) {
    }
}

static void ask_layouts(struct asking *a)
{
    for (int layout = 0; layout < 2; layout++) {
        if (!(a->bench.config->layouts & CUDAL2_BIT(layout)))
            continue;
        module_set_contender(a->request->set, (enum cudal2_layout)layout, &a->contender);
        a->entrant = (struct entrant){.contender = &a->contender, .record = &a->record};
        ask(a);
    }
}

static void ask_shapes(struct asking *a, enum mode mode)
{
    const struct config *config = a->bench.config;
    a->bench.mode = mode;
    a->bench.headline = timing_choose(config->headline, UINT32_MAX, mode);
    for (size_t i = 0; i < config->n_shapes; i++) {
        a->bench.problem.m = config->shapes[i].m;
        a->bench.problem.n = config->shapes[i].n;
        a->bench.problem.k = config->shapes[i].k;
        ask_layouts(a);
    }
}

void precompile_choices_collect(const struct precompile_choices_request *request, struct precompile_choices *out)
{
    const struct precompile_list_request *list = request->list;
    struct asking *a = calloc(1, sizeof *a);
    if (!a)
        return;
    a->request = request;
    a->out = out;
    a->bench.config = list->config;
    a->bench.device = request->device;
    a->bench.tuned = list->tuned;
    a->bench.ranker = request->ranker;
    a->bench.operands = &a->operands;
    for (int accumulate = 0; accumulate < 2; accumulate++)
        for (int mode = 0; mode < MODE_COUNT; mode++) {
            a->bench.problem = problem_any(list->dtype, (enum cudal2_accumulate)accumulate);
            if ((list->accumulates & CUDAL2_BIT(accumulate)) && (list->config->modes & CUDAL2_BIT(mode)))
                ask_shapes(a, (enum mode)mode);
        }
    free(a);
}

void precompile_choices_free(struct precompile_choices *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->texts[i]);
    free(c->texts);
    free(c->keys);
    *c = (struct precompile_choices){0};
}
