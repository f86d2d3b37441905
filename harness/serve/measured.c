/*
 * measured.c - a list of pairs of kernel and problem, looked through from end to end: 20,000 take less than a
 * millisecond. Relies on submission.h. Called by server_finish.c and server.c.
 */
#include "serve/measured.h"
#include "serve/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/tree.h"

struct measured_pair {
    struct shape problem;
    double ratio;
    char *kernel; /* owned; JSON of the members that name it, without source */
    enum mode mode;
    enum cudal2_accumulate accumulate;
    unsigned layouts; /* of the submission */
    char client[48];
    char baseline[CONFIG_LABEL_MAX];
    char id[DIGEST_HEX];
};

void measured_free(struct measured *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->pairs[i].kernel);
    free(m->pairs);
    *m = (struct measured){0};
}

/* Source is its client's: it finds it by the id. */
static char *kernel_text(const struct submission *s)
{
    struct tree t = tree_begin();
    if (s->kind == CANDIDATE_NAMED)
        tree_put_text(&t, "candidate", s->name);
    if (s->kind == CANDIDATE_KERNEL) {
        tree_put_text(&t, "kernel", s->name);
        tree_put_copy(&t, "parameters", s->parameters);
    }
    cJSON *tree = tree_finish(&t);
    char *text = tree ? json_print(tree, false) : NULL;
    cJSON_Delete(tree);
    return text;
}

/* Room for one more, or the oldest one's. NULL out of memory. */
static struct measured_pair *next_place(struct measured *m)
{
    if (m->n == MEASURED_MOST) {
        struct measured_pair *place = &m->pairs[m->oldest];
        m->oldest = (m->oldest + 1) % MEASURED_MOST;
        free(place->kernel);
        return place;
    }
    struct measured_pair *grown = grow_for_one(m->pairs, m->n, &m->capacity, sizeof *grown);
    if (!grown)
        return NULL;
    m->pairs = grown;
    return &m->pairs[m->n++];
}

static void add_pair(struct measured *m, const struct measured_job *job, const struct shape *problem, double ratio)
{
    const struct submission *s = job->submission;
    char *kernel = kernel_text(s);
    struct measured_pair *place = kernel ? next_place(m) : NULL;
    if (!place) {
        free(kernel);
        return;
    }
    *place = (struct measured_pair){.problem = *problem,
                                    .ratio = ratio,
                                    .kernel = kernel,
                                    .mode = s->mode,
                                    .accumulate = s->accumulate,
                                    .layouts = s->layouts};
    snprintf(place->client, sizeof place->client, "%s", job->client);
    snprintf(place->baseline, sizeof place->baseline, "%s", s->baseline);
    snprintf(place->id, sizeof place->id, "%s", job->id);
}

void measured_add(struct measured *m, const struct measured_job *job, const cJSON *outcome)
{
    const cJSON *one, *problems = tree_member(outcome, "problems");
    cJSON_ArrayForEach(one, problems)
    {
        struct shape problem;
        struct error ignored;
        double ratio = tree_number(one, "ratio");
        if (verdict_of_outcome(one) == VERDICT_OK && ratio > 0 && isfinite(ratio) &&
            shape_parse(tree_text(one, "problem"), &problem, &ignored) == 0)
            add_pair(m, job, &problem, ratio);
    }
}

/* ---- neighbours ---- */

struct neighbour {
    const struct measured_pair *pair;
    double distance;
};

static double side(int64_t a, int64_t b)
{
    double d = log2((double)a / (double)b);
    return d * d;
}

static double distance(const struct shape *a, const struct shape *b)
{
    return sqrt(side(a->m, b->m) + side(a->n, b->n) + side(a->k, b->k));
}

static bool is_like(const struct measured_pair *pair, const struct measured_job *job)
{
    const struct submission *s = job->submission;
    return pair->mode == s->mode && pair->accumulate == s->accumulate && pair->layouts == s->layouts &&
           strcmp(pair->client, job->client) == 0 && strcmp(pair->baseline, s->baseline) == 0 &&
           strcmp(pair->id, job->id) != 0;
}

static bool is_better(const struct neighbour *a, const struct neighbour *b)
{
    return a->distance < b->distance || (!(a->distance > b->distance) && a->pair->ratio > b->pair->ratio);
}

static bool is_same_problem(const struct neighbour *a, const struct neighbour *b)
{
    const struct shape *x = &a->pair->problem, *y = &b->pair->problem;
    return x->m == y->m && x->n == y->n && x->k == y->k;
}

/* Keeps the list in order, with one for each problem. */
static void offer(struct neighbour near[MEASURED_NEAR], size_t *n, struct neighbour one)
{
    size_t at = 0;
    for (size_t i = 0; i < *n; i++)
        if (is_same_problem(&near[i], &one)) {
            if (is_better(&one, &near[i]))
                near[i] = one;
            return;
        }
    while (at < *n && !is_better(&one, &near[at]))
        at++;
    if (at == MEASURED_NEAR)
        return;
    *n += *n < MEASURED_NEAR;
    memmove(&near[at + 1], &near[at], (*n - 1 - at) * sizeof *near);
    near[at] = one;
}

static cJSON *neighbour_tree(const struct neighbour *one)
{
    const struct measured_pair *pair = one->pair;
    cJSON *kernel = cJSON_Parse(pair->kernel);
    const cJSON *member;
    char problem[80];
    struct tree t = tree_begin();
    snprintf(problem, sizeof problem, "%lldx%lldx%lld", (long long)pair->problem.m, (long long)pair->problem.n,
             (long long)pair->problem.k);
    tree_put_text(&t, "problem", problem);
    tree_put_number(&t, "distance", round_to(one->distance, 1e3));
    tree_put_number(&t, "ratio", round_to(pair->ratio, 1e6));
    cJSON_ArrayForEach(member, kernel) tree_put_copy(&t, member->string, member);
    tree_put_text(&t, "id", pair->id);
    cJSON_Delete(kernel);
    return tree_finish(&t);
}

cJSON *measured_near(const struct measured *m, const struct measured_job *job)
{
    struct neighbour near[MEASURED_NEAR];
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (is_like(&m->pairs[i], job)) {
            const struct neighbour one = {&m->pairs[i], distance(&m->pairs[i].problem, &job->submission->problems[0])};
            offer(near, &n, one);
        }
    cJSON *list = n ? cJSON_CreateArray() : NULL;
    for (size_t i = 0; i < n && list; i++)
        if (!tree_append(list, neighbour_tree(&near[i])))
            list = NULL;
    return list;
}
