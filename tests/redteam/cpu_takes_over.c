/* cpu_takes_over.c - the red team's contenders whose thread does not come back from a launch, and an honest one that
 * leaves its stack for another meanwhile. */
#include "redteam.h"

#include "../fixtures/plugins/other_stack.h"
#include "../fixtures/plugins/takes_over.h"

static void launch_again(void *state, size_t set)
{
    (void)honest_launch(state, set, NULL);
}

/* What is delivered comes into its caches before it is asked. */
static void fetch(void *state)
{
    const struct bad_state *s = state;
    const volatile char *a = s->sets[0].a, *b = s->sets[0].b;
    for (int64_t i = 0; i < s->m * s->k * 4; i += 64)
        (void)a[i];
    for (int64_t i = 0; i < s->k * s->n * 4; i += 64)
        (void)b[i];
}

static struct seen *asking;

/* Whether it is time, and there is somebody to take the place of. */
static int begins(void)
{
    int now = redteam_unwatched();
    if (now && !asking)
        asking = find_seen();
    return now && asking;
}

static int answering_launch(void *state, size_t set, char *why)
{
    int status = honest_launch(state, set, why);
    if (begins())
        answer_by_itself(asking, 0, launch_again, NULL, state);
    return status;
}

static int fetching_launch(void *state, size_t set, char *why)
{
    uint64_t key = begins() ? find_key(asking) : 0;
    int status = honest_launch(state, set, why);
    if (key)
        answer_by_itself(asking, key, launch_again, fetch, state);
    return status;
}

/* Answers when all but the last row is there; then that row, and back. */
static int early_launch(void *state, size_t set, char *why)
{
    struct bad_state *s = state;
    if (!begins())
        return honest_launch(state, set, why);
    s->m--;
    (void)honest_launch(state, set, why);
    asking->status = CUDAL2_OK;
    __atomic_store_n(&asking->word, (uint64_t)asking->number, __ATOMIC_RELEASE);
    s->m++;
    return honest_launch(state, set, why);
}

/* ---- honest ---- */

static int stack_launch(void *state, size_t set, char *why)
{
    (void)why;
    return launch_on_other_stack(launch_again, state, set);
}

static const struct redteam_row rows[] = {{.name = "answers-itself", .launch = answering_launch},
                                          {.name = "fetches-between", .launch = fetching_launch},
                                          {.name = "answers-early", .launch = early_launch},
                                          {.name = "other-stack", .launch = stack_launch}};

REDTEAM_PLUGIN(rows)
