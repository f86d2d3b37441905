/*
 * rank.c - the configurations of a set's space that are expected to be fastest for a problem; spaces and trees are read
 * once. Relies on space.c, trees.c, prune.c and portfolio.c. Called by measure/choose.c and the worker.
 */
#include "choice/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choice/cudal2/features.h"
#include "choice/portfolio.h"
#include "choice/prune.h"
#include "model/problem.h"

#define RANK_AMONG 96 /* configurations that a choice is spread over */
#define ALIKE 2       /* configurations of one tile and split */
#define REMEMBERED 4  /* choices: both layouts of a problem are asked for twice, to compile them and to race them */

/* Of one set, for one dtype, accumulate type and layout. */
struct ranked_space {
    struct ranked_space *next;
    const struct module_set *set;
    struct space_conditions conditions;
    bool there;
    struct space space;
    struct trees *trees;         /* NULL: none for this device */
    struct portfolio *portfolio; /* NULL: all kernels */
};

struct remembered {
    const struct ranked_space *of; /* NULL: none yet */
    struct rank_query query;
    size_t n, chosen[PRUNE_MAX]; /* RANK_AMONG of them at most */
};

struct ranker {
    const struct device_info *device;
    unsigned threads;
    bool of_portfolio;
    struct ranked_space *spaces;
    struct remembered last[REMEMBERED];
    size_t next; /* of them to give way */
};

struct ranker *ranker_open(const struct device_info *device, unsigned threads)
{
    struct ranker *r = calloc(1, sizeof *r);
    if (r)
        *r = (struct ranker){.device = device, .threads = threads};
    return r;
}

void ranker_close(struct ranker *r)
{
    while (r && r->spaces) {
        struct ranked_space *s = r->spaces;
        r->spaces = s->next;
        if (s->there)
            space_free(&s->space);
        trees_free(s->trees);
        portfolio_close(s->portfolio);
        free(s);
    }
    free(r);
}

void ranker_keep_portfolio(struct ranker *r)
{
    r->of_portfolio = true;
}

unsigned ranker_threads(const struct ranker *r)
{
    return r->threads;
}

static bool same_conditions(const struct space_conditions *a, const struct space_conditions *b)
{
    return a->dtype == b->dtype && a->accumulate == b->accumulate && a->layout == b->layout;
}

/* A space that cannot be read is none: `tune` says what is wrong with it. */
static void read_space(struct ranked_space *s)
{
    char path[1200];
    struct error ignored;
    s->there = space_path(s->set, path, sizeof path);
    if (s->there && space_open(s->set, path, &s->conditions, &s->space, &ignored) != 0) {
        space_free(&s->space);
        s->there = false;
    }
}

static void reject_others(struct ranked_space *s)
{
    struct cudal2_variant key;
    for (size_t i = 0; i < s->space.n_configurations; i++) {
        struct configuration *c = &s->space.configurations[i];
        if (space_key(&s->space, c, key.key, sizeof key.key) ||
            !portfolio_has(s->portfolio, s->conditions.layout, key.key))
            c->rejected = true;
    }
}

struct trees *rank_trees(const struct module_set *set, const struct device_info *device)
{
    char path[1200];
    struct trees *trees;
    struct error ignored;
    int n = snprintf(path, sizeof path, "%s/spaces/%s.trees", module_set_directory(set), module_set_name(set));
    if (n < 0 || (size_t)n >= sizeof path || trees_load(path, feature_names, &trees, &ignored) != 0)
        return NULL;
    if (trees_cc(trees) / 10 == device->cc / 10)
        return trees;
    trees_free(trees);
    return NULL;
}

static struct ranked_space *space_for(struct ranker *r, const struct rank_query *q)
{
    const struct space_conditions wanted = {q->problem.dtype, q->problem.accumulate, q->layout, r->device};
    for (struct ranked_space *s = r->spaces; s; s = s->next)
        if (s->set == q->set && same_conditions(&s->conditions, &wanted))
            return s;
    struct ranked_space *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct ranked_space){.next = r->spaces, .set = q->set, .conditions = wanted};
    read_space(s);
    if (s->there)
        s->trees = rank_trees(s->set, s->conditions.device);
    if (r->of_portfolio)
        s->portfolio = portfolio_open(s->set);
    if (s->there && s->portfolio)
        reject_others(s);
    r->spaces = s;
    return s;
}

/* What the model gets wrong of a tile it gets wrong of all that are like it: few of them are raced. */
static bool same_tile(const struct configuration *a, const struct configuration *b)
{
    return a->kernel == b->kernel && a->tile.m == b->tile.m && a->tile.n == b->tile.n && a->tile.split == b->tile.split;
}

static bool same_launch(const struct configuration *a, const struct configuration *b)
{
    return same_tile(a, b) && a->tile.streams_k == b->tile.streams_k && a->tile.cluster == b->tile.cluster &&
           a->tile.queue == b->tile.queue;
}

/* Nor is it always right about who deals out the last wave: a quarter of the places is for the others. */
static bool is_news(const struct space *s, const size_t *taken, size_t n, size_t at, size_t most)
{
    const struct configuration *c = &s->configurations[at];
    size_t alike = 0, dealt = 0;
    for (size_t i = 0; i < n; i++) {
        const struct configuration *o = &s->configurations[taken[i]];
        if (same_launch(c, o))
            return false;
        alike += same_tile(c, o);
        dealt += (c->tile.streams_k != 0) == (o->tile.streams_k != 0);
    }
    return alike < ALIKE && dealt < most - most / 4;
}

/* The first of `chosen` that differ, then the rest, up to `most`; how many, in `chosen`. */
static size_t spread(const struct space *s, size_t *chosen, size_t n, size_t most)
{
    size_t taken[PRUNE_MAX], n_taken = 0;
    bool used[PRUNE_MAX] = {false};
    for (size_t i = 0; i < n && n_taken < most; i++)
        if (is_news(s, taken, n_taken, chosen[i], most)) {
            taken[n_taken++] = chosen[i];
            used[i] = true;
        }
    for (size_t i = 0; i < n && n_taken < most; i++)
        if (!used[i])
            taken[n_taken++] = chosen[i];
    memcpy(chosen, taken, n_taken * sizeof *chosen);
    return n_taken;
}

/* The request's choice, spread over what differs; how many. */
static size_t chosen_by(const struct prune_request *request, size_t most, size_t *chosen)
{
    return spread(request->space, chosen, prune_choose(request, chosen), most);
}

static size_t choose_indices(const struct prune_request *request, size_t most, size_t *taken)
{
    return prune_together(request, chosen_by, &(struct prune_most){most, most / PRUNE_WIDE_EVERY}, taken);
}

static struct prune_request request_of(const struct ranker *r, const struct ranked_space *s, const struct rank_query *q)
{
    return (struct prune_request){.space = &s->space,
                                  .machine = figures_machine(r->device),
                                  .conditions = s->conditions,
                                  .m = q->problem.m,
                                  .n = q->problem.n,
                                  .k = q->problem.k,
                                  .workspace_bytes = q->workspace_bytes,
                                  .breadth = RANK_AMONG,
                                  .trees = s->trees,
                                  .idle = q->idle,
                                  .alone = q->alone};
}

/* A space stands for set, type and layout. */
static bool same_query(const struct rank_query *a, const struct rank_query *b)
{
    return problem_equal(&a->problem, &b->problem) && a->workspace_bytes == b->workspace_bytes &&
           a->breadth == b->breadth && a->idle == b->idle && a->alone == b->alone;
}

/* What was chosen for the query before, else a choice, which is remembered. */
static const struct remembered *choice_for(struct ranker *r, const struct ranked_space *s, const struct rank_query *q)
{
    for (size_t i = 0; i < REMEMBERED; i++)
        if (r->last[i].of == s && same_query(&r->last[i].query, q))
            return &r->last[i];
    struct remembered *made = &r->last[r->next++ % REMEMBERED];
    const struct prune_request request = request_of(r, s, q);
    *made = (struct remembered){.of = s, .query = *q};
    made->n = choose_indices(&request, q->breadth < RANK_AMONG ? q->breadth : RANK_AMONG, made->chosen);
    return made;
}

size_t ranker_choose(struct ranker *r, const struct rank_query *q, struct cudal2_variant *out)
{
    const struct ranked_space *s = space_for(r, q);
    size_t n = 0;
    if (!s || !s->there)
        return 0;
    const struct remembered *choice = choice_for(r, s, q);
    for (size_t i = 0; i < choice->n; i++)
        n += space_key(&s->space, &s->space.configurations[choice->chosen[i]], out[n].key, sizeof out[n].key) == 0;
    return n;
}

bool ranker_takes(struct ranker *r, const struct rank_query *q, const char *key)
{
    const struct ranked_space *s = space_for(r, q);
    struct configuration c;
    if (s && s->portfolio && !portfolio_has(s->portfolio, q->layout, key))
        return false;
    if (!s || !s->there)
        return true;
    const struct prune_request request = request_of(r, s, q);
    return space_read_key(&s->space, key, &c) && prune_takes(&request, &c);
}

bool ranker_knows(struct ranker *r, const struct rank_query *q, const char *key)
{
    const struct ranked_space *s = space_for(r, q);
    const size_t length = strcspn(key, ":");
    for (size_t i = 0; s && s->there && i < s->space.n_kernels; i++) {
        const char *name = s->space.kernels[i]->name;
        if (strlen(name) == length && strncmp(name, key, length) == 0)
            return true;
    }
    return false;
}
