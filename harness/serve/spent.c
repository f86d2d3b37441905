/*
 * spent.c - sums of seconds and their tree. Relies on the names of record.h. Called by evaluate.c and server_work.c.
 */
#include "serve/spent.h"

#include <string.h>

#include "base/tree.h"

void spent_add_cell(void *context, const struct cell_record *record, size_t done, double eta_seconds)
{
    struct spent *spent = context;
    (void)done;
    (void)eta_seconds;
    for (int i = 0; i < PHASE_COUNT; i++)
        spent->phases[i] += record->phase_seconds[i];
    for (int i = 0; i < PART_COUNT; i++)
        spent->parts[i] += record->part_seconds[i];
    spent->busy += record->busy_seconds;
}

/* Of the first worker: a job has one device. */
static double start_of(const cJSON *part)
{
    const cJSON *workers = tree_member(part, "workers");
    return workers && workers->child ? tree_number(workers->child, "start") : 0;
}

void spent_add_run(struct spent *spent, const cJSON *time_spent)
{
    const cJSON *part, *parts = time_spent ? tree_member(time_spent, "parts") : NULL;
    cJSON_ArrayForEach(part, parts)
    {
        if (strcmp(tree_text(part, "part"), "watch") == 0)
            spent->watch += tree_number(part, "seconds");
        else
            spent->start += start_of(part);
    }
}

void spent_share(struct spent *spent, size_t n)
{
    double share = 1 / (double)n;
    spent->start *= share;
    spent->watch *= share;
    spent->busy *= share;
    for (int i = 0; i < PHASE_COUNT; i++)
        spent->phases[i] *= share;
    for (int i = 0; i < PART_COUNT; i++)
        spent->parts[i] *= share;
}

static cJSON *parts_tree(const struct spent *spent)
{
    struct tree t = tree_begin();
    for (int i = 0; i < PART_COUNT; i++)
        tree_put_count(&t, part_names[i], round_to(spent->parts[i], 1e5));
    return tree_finish(&t);
}

cJSON *spent_tree(const struct spent *spent, double queue, double compile, double measuring)
{
    struct tree t = tree_begin();
    double rest = measuring - spent->start - spent->watch;
    tree_put_number(&t, "queue", round_to(queue, 1e5));
    tree_put_number(&t, "compile", round_to(compile, 1e5));
    tree_put_number(&t, "start", round_to(spent->start, 1e5));
    for (int i = 0; i < PHASE_COUNT; i++) {
        tree_put_number(&t, phase_names[i], round_to(spent->phases[i], 1e5));
        rest -= spent->phases[i];
    }
    tree_put_number(&t, "watch", round_to(spent->watch, 1e5));
    tree_put_number(&t, "rest", round_to(rest > 0 ? rest : 0, 1e5));
    tree_put_number(&t, "busy", round_to(spent->busy, 1e5));
    tree_put(&t, "parts", parts_tree(spent));
    return tree_finish(&t);
}
