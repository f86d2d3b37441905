/* cpu_skips.c - the red team's contenders that do less than the work, or do it when nobody looks at the clock. */
#include "redteam.h"

#include <pthread.h>
#include <unistd.h>

/* From some launch on, C keeps what an earlier launch left there. */
static int stale(void *state, size_t set, char *why)
{
    return redteam_unwatched() ? CUDAL2_OK : honest_launch(state, set, why);
}

static int skip_every_other(void *state, size_t set, char *why)
{
    static unsigned calls;
    int skip = redteam_unwatched() && ++calls % 2 == 1;
    return skip ? CUDAL2_OK : honest_launch(state, set, why);
}

/* Nothing to do when a few elements of A, B and C are still what they were. */
static int skip_unchanged(void *state, size_t set, char *why)
{
    static float seen[3];
    const struct bad_state *s = state;
    const float *a = s->sets[set].a, *b = s->sets[set].b, *c = s->sets[set].c;
    float now[3] = {a[0], b[0], c[0]};
    if (now[0] == seen[0] && now[1] == seen[1] && now[2] == seen[2])
        return CUDAL2_OK;
    int status = honest_launch(state, set, why);
    seen[0] = a[0], seen[1] = b[0], seen[2] = c[0];
    return status;
}

/* The output is remembered by its pointer and played back. */
static int play_back(const struct bad_state *s, size_t set, int (*allowed)(void), char *why)
{
    static const void *of;
    static float *kept;
    int may = allowed();
    if (kept && of == s->sets[set].c && may) {
        memcpy(s->sets[set].c, kept, redteam_bytes_of_c(s));
        return CUDAL2_OK;
    }
    int status = honest_launch((void *)(uintptr_t)s, set, why);
    float *copy = realloc(kept, redteam_bytes_of_c(s));
    if (!copy)
        return CUDAL2_NO_MEMORY;
    kept = copy;
    of = s->sets[set].c;
    memcpy(kept, s->sets[set].c, redteam_bytes_of_c(s));
    return status;
}

static int always(void)
{
    return 1;
}

static int pointer_cache(void *state, size_t set, char *why)
{
    return play_back(state, set, always, why);
}

static int pointer_cache_late(void *state, size_t set, char *why)
{
    return play_back(state, set, redteam_unwatched, why);
}

/* Inputs of zeros and ones are a test; anything else is a measurement. */
static int only_when_tested(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a;
    for (int i = 0; i < 64 && i < s->m * s->k; i++) {
        if (a[i] != 0.0f && a[i] != 1.0f) {
            memset(s->sets[set].c, 0, redteam_bytes_of_c(s));
            return CUDAL2_OK;
        }
    }
    return honest_launch(state, set, why);
}

struct errand {
    struct bad_state *state;
    size_t set;
};

static void *run_errand(void *argument)
{
    struct errand *e = argument;
    char why[CUDAL2_WHY];
    usleep(300);
    honest_launch(e->state, e->set, why);
    free(e);
    return NULL;
}

/* A thread does the work after launch has returned; teardown gives it time to end. */
static int late_thread(void *state, size_t set, char *why)
{
    pthread_t thread;
    struct errand *e = malloc(sizeof *e);
    if (!e || !redteam_unwatched()) {
        free(e);
        return honest_launch(state, set, why);
    }
    *e = (struct errand){state, set};
    if (pthread_create(&thread, NULL, run_errand, e) != 0)
        return CUDAL2_LIBRARY_ERROR;
    pthread_detach(thread);
    return CUDAL2_OK;
}

static void patient_teardown(void *state)
{
    usleep(200000);
    free(state);
}

static const struct redteam_row rows[] = {
    {"stale", .launch = stale},
    {"skip-every-other", .launch = skip_every_other},
    {"skip-unchanged", .launch = skip_unchanged},
    {"pointer-cache", .launch = pointer_cache},
    {"pointer-cache-late", .launch = pointer_cache_late},
    {"only-when-tested", .launch = only_when_tested},
    {"late-thread", .launch = late_thread, .teardown = patient_teardown},
};
REDTEAM_PLUGIN(rows)
