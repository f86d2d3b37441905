/*
 * prune.c - keeps the configurations that are expected to be within a factor of the fastest, with room for every
 * kernel. Relies on cudal2/model.c and trees.c. Called by the search and by rank.c.
 */
#include "choice/prune.h"

#include <math.h>
#include <stdlib.h>

#include "choice/cudal2/features.h"

#define KERNEL_SHARE 6
#define ALIKE_SHARE 2
#define TREES_BLOCK 64
#define STREAMS_FROM 0.7 /* of the L2: bytes of a problem, from which on an operand may leave it first */

struct guess {
    double seconds;
    size_t index;
};

/* Equal predictions in the file's order. */
static int by_seconds(const void *a, const void *b)
{
    const struct guess *x = a, *y = b;
    if (x->seconds < y->seconds || x->seconds > y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static struct cudal2_problem problem_of(const struct prune_request *r)
{
    return (struct cudal2_problem){
        .m = r->m, .n = r->n, .k = r->k, .dtype = r->conditions.dtype, .accumulate = r->conditions.accumulate};
}

/* What the model is wrong by, as far as trees know, of at most TREES_BLOCK guesses. */
static void correct_some(const struct prune_request *r, struct guess *const *guesses, size_t n)
{
    const struct feature_query query = {&r->machine, problem_of(r), r->conditions.layout, r->idle, r->alone};
    float features[TREES_BLOCK][FEATURES_COUNT] = {{0}};
    double wrong[TREES_BLOCK];
    for (size_t i = 0; i < n; i++)
        features_of(&query, &r->space->configurations[guesses[i]->index].tile, guesses[i]->seconds, features[i]);
    trees_values(r->trees, features[0], FEATURES_COUNT, n, wrong);
    for (size_t i = 0; i < n; i++)
        guesses[i]->seconds *= exp(wrong[i]);
}

static void correct(const struct prune_request *r, struct guess *guesses, size_t n, double fastest)
{
    struct guess *block[TREES_BLOCK];
    size_t in_block = 0;
    for (size_t i = 0; i < n; i++) {
        if (guesses[i].seconds <= PRUNE_ASKED * fastest)
            block[in_block++] = &guesses[i];
        if (in_block > 0 && (in_block == TREES_BLOCK || i + 1 == n)) {
            correct_some(r, block, in_block);
            in_block = 0;
        }
    }
}

static bool takes_problem(const struct prune_request *r, const struct configuration *c)
{
    const struct cudal2_problem problem = problem_of(r);
    const struct manifest_conditions conditions =
        manifest_conditions_on(r->conditions.device, &problem, r->conditions.layout);
    struct manifest_plan plan;
    char why[CUDAL2_WHY];
    return manifest_plan(r->space->kernels[c->kernel], &conditions, c->values, &plan, why) == CUDAL2_OK &&
           plan.workspace_bytes <= r->workspace_bytes;
}

/* An operand that leaves the L2 first is read from DRAM by each launch where others have filled the L2, as in a final,
 * and from the L2 in a race, where it lies alone: a race takes such a kernel for the faster one. */
static bool streams_in_vain(const struct prune_request *r, const struct configuration *c)
{
    const double m = (double)r->m, n = (double)r->n, k = (double)r->k;
    return c->tile.streams > 0 && 2.0 * (m * n + n * k + m * k) < STREAMS_FROM * r->machine.l2_bytes;
}

/* Another one is the same but for one stage more, and takes the problem. */
static bool lacks_a_stage(const struct prune_request *r, const struct configuration *c)
{
    const struct cudal2_problem problem = problem_of(r);
    return c->tile.roomless && model_waves(&r->machine, &problem, &c->tile) <= 1;
}

static bool is_proposed(const struct prune_request *r, const struct configuration *c)
{
    return !c->rejected && !streams_in_vain(r, c) && !lacks_a_stage(r, c);
}

bool prune_takes(const struct prune_request *request, const struct configuration *c)
{
    return is_proposed(request, c) && takes_problem(request, c);
}

/* The guesses of one problem, fastest first, and which of them are taken. */
struct choice {
    const struct prune_request *request;
    struct guess *guesses;
    bool *taken;
    signed char *fits; /* by configuration: 1 it takes the problem, -1 it does not, 0 nobody has asked */
    size_t n;
    double fastest; /* of those taken */
};

/* Asked once for each: a manifest's rules are many. */
static bool fits(const struct choice *choice, size_t index)
{
    if (choice->fits[index] == 0)
        choice->fits[index] = takes_problem(choice->request, &choice->request->space->configurations[index]) ? 1 : -1;
    return choice->fits[index] > 0;
}

/* The model's fastest that takes the problem; INFINITY where none does. Of odd sizes others may all be faster. */
static double fastest_fitting(const struct choice *choice)
{
    for (size_t i = 0; i < choice->n; i++)
        if (fits(choice, choice->guesses[i].index))
            return choice->guesses[i].seconds;
    return INFINITY;
}

static bool is_asked(const struct prune_request *r, const struct configuration *c)
{
    bool wide = c->tile.a_readers * c->tile.b_readers >= PRUNE_WIDE;
    return (wide || !r->wide) && is_proposed(r, c);
}

static void guess_all(struct choice *choice)
{
    const struct prune_request *r = choice->request;
    const struct cudal2_problem problem = problem_of(r);
    for (size_t i = 0; i < r->space->n_configurations; i++) {
        const struct configuration *c = &r->space->configurations[i];
        if (!is_asked(r, c))
            continue;
        double seconds = model_seconds(&r->machine, &problem, r->conditions.layout, &c->tile);
        if (isfinite(seconds))
            choice->guesses[choice->n++] = (struct guess){seconds, i};
    }
    qsort(choice->guesses, choice->n, sizeof *choice->guesses, by_seconds);
    if (!r->trees)
        return;
    correct(r, choice->guesses, choice->n, fastest_fitting(choice));
    qsort(choice->guesses, choice->n, sizeof *choice->guesses, by_seconds);
}

/* Whether the same kernel, tile and split have their share of the places: what the model gets wrong of them, it gets
 * wrong of all. */
static bool is_crowded(const struct choice *choice, size_t at)
{
    const struct configuration *all = choice->request->space->configurations, *c = &all[choice->guesses[at].index];
    size_t alike = 0;
    for (size_t i = 0; i < at; i++) {
        const struct configuration *o = &all[choice->guesses[i].index];
        alike += choice->taken[i] && o->kernel == c->kernel && o->tile.m == c->tile.m && o->tile.n == c->tile.n &&
                 o->tile.split == c->tile.split;
    }
    return alike >= 1 && alike >= choice->request->breadth / ALIKE_SHARE;
}

/* Takes the fastest guesses of one kernel (SIZE_MAX: of any), `want` of them at most; returns how many. The fastest
 * that takes the problem sets the limit for all. */
static size_t take_some(struct choice *choice, size_t kernel, size_t want)
{
    const struct prune_request *r = choice->request;
    size_t got = 0;
    for (size_t i = 0; i < choice->n && got < want; i++) {
        const struct guess *guess = &choice->guesses[i];
        const struct configuration *c = &r->space->configurations[guess->index];
        if (guess->seconds > (kernel == SIZE_MAX ? PRUNE_WITHIN : PRUNE_SHARE_WITHIN) * choice->fastest)
            break;
        if (choice->taken[i] || (kernel != SIZE_MAX && c->kernel != kernel) || is_crowded(choice, i) ||
            !fits(choice, guess->index))
            continue;
        choice->fastest = fmin(choice->fastest, guess->seconds);
        choice->taken[i] = true;
        got++;
    }
    return got;
}

static void take_all(struct choice *choice, size_t breadth)
{
    size_t share = breadth / KERNEL_SHARE, got = take_some(choice, SIZE_MAX, 1);
    for (size_t k = 0; k < choice->request->space->n_kernels && got < breadth; k++)
        got += take_some(choice, k, share < breadth - got ? share : breadth - got);
    take_some(choice, SIZE_MAX, breadth - got);
}

size_t prune_choose(const struct prune_request *request, size_t *out)
{
    size_t capacity = request->space->n_configurations + 1, n_out = 0;
    size_t breadth = request->breadth < PRUNE_MAX ? request->breadth : PRUNE_MAX;
    struct choice choice = {.request = request,
                            .guesses = malloc(capacity * sizeof *choice.guesses),
                            .taken = calloc(capacity, sizeof *choice.taken),
                            .fits = calloc(capacity, sizeof *choice.fits),
                            .fastest = INFINITY};
    if (choice.guesses && choice.taken && choice.fits && breadth > 0) {
        guess_all(&choice);
        take_all(&choice, breadth);
        for (size_t i = 0; i < choice.n; i++)
            if (choice.taken[i])
                out[n_out++] = choice.guesses[i].index;
    }
    free(choice.guesses);
    free(choice.taken);
    free(choice.fits);
    return n_out;
}

static bool is_taken(const size_t *taken, size_t n, size_t index)
{
    for (size_t i = 0; i < n; i++)
        if (taken[i] == index)
            return true;
    return false;
}

/* The first that is not taken yet. */
static bool take_next(struct prune_list *from, size_t *taken, size_t n)
{
    while (from->at < from->n && is_taken(taken, n, from->items[from->at]))
        from->at++;
    if (from->at == from->n)
        return false;
    taken[n] = from->items[from->at];
    return true;
}

/* Whose turn the place is. */
static struct prune_list *list_of(struct prune_lists *lists, size_t place)
{
    if (place % PRUNE_MODEL_EVERY == PRUNE_MODEL_EVERY - 1)
        return &lists->model;
    return place % PRUNE_WIDE_EVERY == PRUNE_WIDE_EVERY - 2 ? &lists->wide : &lists->first;
}

size_t prune_merge(struct prune_lists *lists, size_t most, size_t *taken)
{
    size_t n = 0;
    for (bool more = true; more && n < most; n += more)
        more = take_next(list_of(lists, n), taken, n) || take_next(&lists->first, taken, n) ||
               take_next(&lists->model, taken, n);
    return n;
}

/* Of wide clusters, in turn by trees and by the model alone: trees have hardly seen any. */
static void ask_wide(const struct prune_request *request, prune_chooser choose, size_t most, struct prune_list *out)
{
    struct prune_request wide = *request;
    struct prune_list by[2] = {{.n = 0}};
    wide.wide = true;
    by[0].n = choose(&wide, most, by[0].items);
    wide.trees = NULL;
    if (request->trees)
        by[1].n = choose(&wide, most, by[1].items);
    for (bool more = true; more && out->n < most; out->n += more)
        more = take_next(&by[out->n % 2], out->items, out->n) || take_next(&by[(out->n + 1) % 2], out->items, out->n);
}

size_t prune_together(const struct prune_request *request, prune_chooser choose, const struct prune_most *most,
                      size_t *taken)
{
    struct prune_lists lists = {.first.n = 0};
    struct prune_request without = *request;
    without.trees = NULL;
    if (request->trees)
        lists.model.n = choose(&without, most->all, lists.model.items);
    lists.first.n = choose(request, most->all, lists.first.items);
    ask_wide(request, choose, most->wide, &lists.wide);
    return prune_merge(&lists, most->all, taken);
}
