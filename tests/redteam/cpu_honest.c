/* cpu_honest.c - contenders that do unusual things and nothing wrong: the red team's control. None may be accused. */
#include "redteam.h"

#include <pthread.h>

struct own {
    struct bad_state base; /* first: the honest hooks work on it */
    float *scratch;
    void *workspace;
    size_t workspace_bytes;
    int started;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int asked, answered, quit;
    size_t set;
};

static size_t scratch_bytes(const struct bad_state *s)
{
    return 2 * (redteam_bytes_of_c(s) + (size_t)(s->m + s->n + 16) * (size_t)(s->k + 16) * sizeof(float));
}

static int own_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct own *o = calloc(1, sizeof *o);
    void *honest = NULL;
    if (!o || honest_setup(setup, &honest, why) != CUDAL2_OK) {
        free(o);
        return CUDAL2_NO_MEMORY;
    }
    o->base = *(struct bad_state *)honest;
    free(honest);
    o->workspace = setup->workspace;
    o->workspace_bytes = setup->workspace_bytes;
    o->scratch = malloc(scratch_bytes(&o->base));
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->changed, NULL);
    *state = o;
    return o->scratch ? CUDAL2_OK : CUDAL2_NO_MEMORY;
}

static void own_teardown(void *state)
{
    struct own *o = state;
    free(o->scratch);
    pthread_mutex_destroy(&o->lock);
    pthread_cond_destroy(&o->changed);
    free(o);
}

/* --- threads --- */

static void *serve(void *argument)
{
    struct own *o = argument;
    char why[CUDAL2_WHY];
    pthread_mutex_lock(&o->lock);
    while (!o->quit) {
        if (o->asked == o->answered) {
            pthread_cond_wait(&o->changed, &o->lock);
            continue;
        }
        honest_launch(&o->base, o->set, why);
        o->answered = o->asked;
        pthread_cond_broadcast(&o->changed);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

/* A thread made in setup, asleep between launches. */
static int pool_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    int status = own_setup(setup, state, why);
    struct own *o = *state;
    if (status == CUDAL2_OK)
        o->started = pthread_create(&o->thread, NULL, serve, o) == 0;
    return status;
}

static int pool_launch(void *state, size_t set, char *why)
{
    struct own *o = state;
    (void)why;
    pthread_mutex_lock(&o->lock);
    o->set = set;
    o->asked++;
    pthread_cond_broadcast(&o->changed);
    while (o->answered != o->asked)
        pthread_cond_wait(&o->changed, &o->lock);
    pthread_mutex_unlock(&o->lock);
    return CUDAL2_OK;
}

static void pool_teardown(void *state)
{
    struct own *o = state;
    pthread_mutex_lock(&o->lock);
    o->quit = 1;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    if (o->started)
        pthread_join(o->thread, NULL);
    own_teardown(state);
}

struct share {
    struct bad_state state;
    size_t set;
};

static void *run_share(void *argument)
{
    struct share *s = argument;
    char why[CUDAL2_WHY];
    honest_launch(&s->state, s->set, why);
    return NULL;
}

/* A new thread for each launch, which waits for it. */
static int thread_each(void *state, size_t set, char *why)
{
    pthread_t thread;
    struct share share = {*(struct bad_state *)state, set};
    (void)why;
    if (pthread_create(&thread, NULL, run_share, &share) != 0)
        return CUDAL2_LIBRARY_ERROR;
    pthread_join(thread, NULL);
    return CUDAL2_OK;
}

/* --- memory --- */

static int malloc_each(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    float *copy = malloc(redteam_bytes_of_c(s) + (4u << 20));
    struct cudal2_operands own = s->sets[set];
    struct bad_state elsewhere = *s;
    if (!copy)
        return CUDAL2_NO_MEMORY;
    own.c = copy;
    elsewhere.sets = &own;
    int status = honest_launch(&elsewhere, 0, why);
    memcpy(s->sets[set].c, copy, redteam_bytes_of_c(s));
    free(copy);
    return status;
}

/* Takes 8 MiB at its first launch and keeps it until the process ends, as a library's pool does. */
static int lazy_pool(void *state, size_t set, char *why)
{
    static char *kept;
    if (!kept) {
        kept = malloc(8u << 20);
        if (kept)
            memset(kept, 1, 8u << 20);
    }
    return kept ? honest_launch(state, set, why) : CUDAL2_NO_MEMORY;
}

/* Three aligned buffers of 1 MiB, which its teardown frees. Between them glibc keeps what it took for their alignment,
 * at hand for small requests; so it finds no room for the next three and takes new memory: 3 MiB more after each cycle.
 */
#define BUFFERS 3
#define BUFFER_BYTES (1u << 20)
#define ALIGNMENT 1024

struct buffered {
    struct bad_state base; /* first */
    void *buffers[BUFFERS];
};

static void buffered_teardown(void *state)
{
    struct buffered *b = state;
    for (int i = 0; i < BUFFERS; i++)
        free(b->buffers[i]);
    free(b);
}

static int buffered_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct buffered *b = calloc(1, sizeof *b);
    void *honest = NULL;
    if (!b || honest_setup(setup, &honest, why) != CUDAL2_OK) {
        free(b);
        return CUDAL2_NO_MEMORY;
    }
    b->base = *(struct bad_state *)honest;
    free(honest);
    for (int i = 0; i < BUFFERS; i++) {
        b->buffers[i] = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
        if (!b->buffers[i]) {
            buffered_teardown(b);
            return CUDAL2_NO_MEMORY;
        }
        memset(b->buffers[i], 0, BUFFER_BYTES);
    }
    *state = b;
    return CUDAL2_OK;
}

/* C holds rubbish first: it is the contender's to write. */
static int scratch_in_c(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    memset(s->sets[set].c, 0x77, redteam_bytes_of_c(s));
    return honest_launch(state, set, why);
}

/* Every byte of the workspace is used. */
static int whole_workspace(void *state, size_t set, char *why)
{
    const struct own *o = state;
    memset(o->workspace, 0x33, o->workspace_bytes);
    return honest_launch((void *)(uintptr_t)&o->base, set, why);
}

/* --- arithmetic --- */

/* A and B copied into tiles with a border of zeros. */
static int padded(void *state, size_t set, char *why)
{
    struct own *o = state;
    const struct bad_state *s = &o->base;
    int64_t k = s->k + 8;
    float *a = o->scratch, *b = a + s->m * k;
    struct cudal2_operands sets = {a, b, s->sets[set].c};
    struct bad_state wide = {.sets = &sets, .m = s->m, .n = s->n, .k = k};
    memset(o->scratch, 0, (size_t)(s->m * k + k * s->n) * sizeof(float));
    for (int64_t i = 0; i < s->m; i++)
        memcpy(a + i * k, (const float *)s->sets[set].a + i * s->k, (size_t)s->k * sizeof(float));
    memcpy(b, s->sets[set].b, (size_t)(s->k * s->n) * sizeof(float));
    return honest_launch(&wide, 0, why);
}

/* Two halves of K into buffers of its own, then added. */
static int split_k(void *state, size_t set, char *why)
{
    struct own *o = state;
    const struct bad_state *s = &o->base;
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    float *c = s->sets[set].c, *part = o->scratch;
    (void)why;
    for (int64_t i = 0; i < s->m * s->n; i++) {
        float sums[2] = {0, 0};
        for (int64_t p = 0; p < s->k; p++)
            sums[p >= s->k / 2] += a[i / s->n * s->k + p] * b[p * s->n + i % s->n];
        part[2 * i] = sums[0];
        part[2 * i + 1] = sums[1];
    }
    for (int64_t i = 0; i < s->m * s->n; i++)
        c[i] = part[2 * i] + part[2 * i + 1];
    return CUDAL2_OK;
}

/* Sums from the other end at every second launch: right, and never twice the same. */
static int restless(void *state, size_t set, char *why)
{
    static unsigned turn;
    const struct bad_state *s = state;
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    float *c = s->sets[set].c;
    if (turn++ % 2 == 0)
        return honest_launch(state, set, why);
    for (int64_t i = 0; i < s->m * s->n; i++) {
        c[i] = 0;
        for (int64_t p = s->k; p-- > 0;)
            c[i] += a[i / s->n * s->k + p] * b[p * s->n + i % s->n];
    }
    return CUDAL2_OK;
}

/* The first launch of a process does ten times the work. */
static int slow_start(void *state, size_t set, char *why)
{
    static int warm;
    for (int i = 0; i < 9 && !warm; i++)
        honest_launch(state, set, why);
    warm = 1;
    return honest_launch(state, set, why);
}

static const struct redteam_row rows[] = {
    {"plain", .launch = honest_launch},
    {"twin", .launch = honest_launch}, /* beside whom others are timed that multiply as it does */
    {"says-it-syncs", .flags = CUDAL2_SYNCS | CUDAL2_NO_CAPTURE},
    {"thread-pool", .setup = pool_setup, .launch = pool_launch, .teardown = pool_teardown},
    {"thread-each", .launch = thread_each},
    {"malloc-each", .launch = malloc_each},
    {"lazy-pool", .launch = lazy_pool},
    {"scratch-in-c", .launch = scratch_in_c},
    {"whole-workspace", .setup = own_setup, .launch = whole_workspace, .teardown = own_teardown},
    {"padded", .setup = own_setup, .launch = padded, .teardown = own_teardown},
    {"split-k", .setup = own_setup, .launch = split_k, .teardown = own_teardown},
    {"restless", .launch = restless},
    {"aligned-buffers", .setup = buffered_setup, .teardown = buffered_teardown},
    {"slow-start", .launch = slow_start},
};
REDTEAM_PLUGIN(rows)
