/* cpu_takes_over.c - the red team's contenders whose thread does not come back from a launch, and an honest one that
 * leaves its stack for another meanwhile. */
#include "redteam.h"

#include "../fixtures/plugins/takes_over.h"

#include <ucontext.h>

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

static int take_over(void *state, size_t set, char *why, void (*wait)(void *))
{
    static struct seen *asking;
    int status = honest_launch(state, set, why), begins = redteam_unwatched();
    if (begins && !asking)
        asking = find_seen();
    if (begins && asking)
        answer_by_itself(asking, launch_again, wait, state);
    return status;
}

static int answering_launch(void *state, size_t set, char *why)
{
    return take_over(state, set, why, NULL);
}

static int fetching_launch(void *state, size_t set, char *why)
{
    return take_over(state, set, why, fetch);
}

/* ---- honest ---- */

static ucontext_t here, there;
static struct {
    void *state;
    size_t set;
} asked;

static void launch_there(void)
{
    (void)honest_launch(asked.state, asked.set, NULL);
}

static int stack_launch(void *state, size_t set, char *why)
{
    static char stack[64 << 10];
    (void)why;
    asked.state = state;
    asked.set = set;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, launch_there, 0);
    return swapcontext(&here, &there) == 0 ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}

static const struct redteam_row rows[] = {{.name = "answers-itself", .launch = answering_launch},
                                          {.name = "fetches-between", .launch = fetching_launch},
                                          {.name = "other-stack", .launch = stack_launch}};

REDTEAM_PLUGIN(rows)
