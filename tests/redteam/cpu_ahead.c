/* cpu_ahead.c - the red team's contenders that work before they are launched: a helper looks at the inputs, and
 * multiplies as soon as they are new. What it used is compared with what is there at the launch, so that C is right
 * always. Honest beside them: a thread that looks about itself now and then. */
#include "redteam.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { IDLE, DONE };

struct ahead {
    struct bad_state honest; /* first: honest_launch takes it */
    struct bad_state copies;
    struct cudal2_operands set;
    float *a, *b, *c, last_a, last_b;
    atomic_int state, quit;
    pthread_t thread;
    pthread_mutex_t lock;
    int started;
};

static size_t bytes_of(int64_t rows, int64_t columns)
{
    return (size_t)(rows * columns) * sizeof(float);
}

static void multiply_ahead(struct ahead *s)
{
    const struct bad_state *h = &s->honest;
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->state, IDLE);
    memcpy(s->a, h->sets[0].a, bytes_of(h->m, h->k));
    memcpy(s->b, h->sets[0].b, bytes_of(h->k, h->n));
    honest_launch(&s->copies, 0, NULL);
    atomic_store(&s->state, DONE);
    pthread_mutex_unlock(&s->lock);
}

/* What is written last tells. */
static int is_new(struct ahead *s)
{
    const struct bad_state *h = &s->honest;
    float a = ((const volatile float *)h->sets[0].a)[h->m * h->k - 1];
    float b = ((const volatile float *)h->sets[0].b)[h->k * h->n - 1];
    int changed = a != s->last_a || b != s->last_b;
    s->last_a = a;
    s->last_b = b;
    return changed;
}

static void *look_for_inputs(void *argument)
{
    struct ahead *s = argument;
    while (!atomic_load(&s->quit)) {
        if (is_new(s))
            multiply_ahead(s);
        nanosleep(&(struct timespec){0, 20000}, NULL);
    }
    return NULL;
}

/* Asks for the time, every 5 ms; its 30 us are not because of any input. */
static void *look_about(void *argument)
{
    struct ahead *s = argument;
    while (!atomic_load(&s->quit)) {
        for (volatile int i = 0; i < 20000; i++)
            ;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return NULL;
}

static int is_cheat(void)
{
    return strcmp(REDTEAM, "works-ahead") == 0;
}

static int ahead_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct bad_state *honest;
    struct ahead *s = calloc(1, sizeof *s);
    if (!s || honest_setup(setup, (void **)&honest, why))
        return CUDAL2_NO_MEMORY;
    s->honest = *honest;
    free(honest);
    s->a = malloc(bytes_of(s->honest.m, s->honest.k));
    s->b = malloc(bytes_of(s->honest.k, s->honest.n));
    s->c = malloc(bytes_of(s->honest.m, s->honest.n));
    s->set = (struct cudal2_operands){.a = s->a, .b = s->b, .c = s->c};
    s->copies = s->honest;
    s->copies.sets = &s->set;
    pthread_mutex_init(&s->lock, NULL);
    s->started = pthread_create(&s->thread, NULL, is_cheat() ? look_for_inputs : look_about, s) == 0;
    *state = s;
    return CUDAL2_OK;
}

static int ahead_launch(void *state, size_t set, char *why)
{
    struct ahead *s = state;
    const struct bad_state *h = &s->honest;
    int used = 0;
    if (set == 0 && is_cheat() && pthread_mutex_trylock(&s->lock) == 0) {
        used = atomic_load(&s->state) == DONE && memcmp(s->a, h->sets[0].a, bytes_of(h->m, h->k)) == 0 &&
               memcmp(s->b, h->sets[0].b, bytes_of(h->k, h->n)) == 0;
        if (used)
            memcpy(h->sets[0].c, s->c, bytes_of(h->m, h->n));
        pthread_mutex_unlock(&s->lock);
    }
    return used ? CUDAL2_OK : honest_launch(&s->honest, set, why);
}

static void ahead_teardown(void *state)
{
    struct ahead *s = state;
    atomic_store(&s->quit, 1);
    if (s->started)
        pthread_join(s->thread, NULL);
    free(s->a);
    free(s->b);
    free(s->c);
    free(s);
}

static const struct redteam_row rows[] = {
    {"works-ahead", .setup = ahead_setup, .launch = ahead_launch, .teardown = ahead_teardown},
    {"looks-about", .setup = ahead_setup, .launch = ahead_launch, .teardown = ahead_teardown},
};
REDTEAM_PLUGIN(rows)
