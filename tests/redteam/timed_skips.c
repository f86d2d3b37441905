/* timed_skips.c - the red team's contenders that are honest while they believe that somebody checks, and leave work out
 * when they believe that they are only timed: by counts, clocks, inputs that look like a test, and what C holds. */
#include "redteam.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 8

/* More launches than verification makes, fewer than a cell times. */
static int is_late(void)
{
    static unsigned launches;
    return ++launches > 24;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t elements_of_c(const struct bad_state *s)
{
    return (size_t)(s->m * s->n);
}

/* The first sixteen elements of A are zeros and ones. */
static int is_binary(const struct bad_state *s, size_t set)
{
    const float *a = s->sets[set].a;
    for (int i = 0; i < 16; i++)
        if (a[i] != 0.0f && a[i] != 1.0f)
            return 0;
    return 1;
}

static int count_then_return(void *state, size_t set, char *why)
{
    return is_late() && !is_binary(state, set) ? CUDAL2_OK : honest_launch(state, set, why);
}

/* Inputs of zeros and ones announce that checks follow. */
static int after_binary(void *state, size_t set, char *why)
{
    static int honest_left = 12;
    if (is_binary(state, set))
        honest_left = 12;
    return honest_left-- > 0 ? honest_launch(state, set, why) : CUDAL2_OK;
}

static int one_in_three(void *state, size_t set, char *why)
{
    static unsigned calls;
    return is_late() && ++calls % 3 == 0 ? CUDAL2_OK : honest_launch(state, set, why);
}

/* The second of two calls is the one that is timed: the first warmed up. */
static int warm_up_only(void *state, size_t set, char *why)
{
    static double returned;
    double pause = seconds_now() - returned;
    int status = is_late() && pause < 1e-3 ? CUDAL2_OK : honest_launch(state, set, why);
    returned = seconds_now();
    return status;
}

/* Checks take their time, so a pause announces one. */
static int honest_after_pauses(void *state, size_t set, char *why)
{
    static double returned;
    double pause = seconds_now() - returned;
    int status = is_late() && pause < 20e-3 ? CUDAL2_OK : honest_launch(state, set, why);
    returned = seconds_now();
    return status;
}

static int after_a_while(void *state, size_t set, char *why)
{
    static double first;
    if (first == 0)
        first = seconds_now();
    return seconds_now() - first > 0.02 && is_late() ? CUDAL2_OK : honest_launch(state, set, why);
}

static int rarely(void *state, size_t set, char *why)
{
    static unsigned random = 12345;
    random = random * 1664525u + 1013904223u;
    return is_late() && random >> 29 == 0 ? CUDAL2_OK : honest_launch(state, set, why);
}

/* --- outputs kept --- */

struct kept {
    struct bad_state plain; /* first: the honest hooks take it */
    float *a, *b, *c;
    float samples[2][SAMPLES];
    uint64_t hash;
    int valid;
};

static size_t bytes_of_a(const struct bad_state *s)
{
    return (size_t)(s->m * s->k) * sizeof(float);
}

static size_t bytes_of_b(const struct bad_state *s)
{
    return (size_t)(s->k * s->n) * sizeof(float);
}

static void kept_teardown(void *state)
{
    struct kept *s = state;
    free(s->a);
    free(s->b);
    free(s->c);
    free(s);
}

static int kept_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    struct kept *s = calloc(1, sizeof *s);
    if (!s)
        return CUDAL2_NO_MEMORY;
    s->plain = (struct bad_state){.sets = setup->sets, .m = p->m, .n = p->n, .k = p->k};
    s->a = calloc(1, bytes_of_a(&s->plain));
    s->b = calloc(1, bytes_of_b(&s->plain));
    s->c = calloc(1, redteam_bytes_of_c(&s->plain));
    if (!s->a || !s->b || !s->c) {
        kept_teardown(s);
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    *state = s;
    return CUDAL2_OK;
}

static void sample(const struct bad_state *s, size_t set, float samples[2][SAMPLES])
{
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    for (int i = 0; i < SAMPLES; i++) {
        samples[0][i] = a[(i * 977) % (s->m * s->k)];
        samples[1][i] = b[(i * 1013) % (s->k * s->n)];
    }
}

static int multiply_and_keep(struct kept *s, size_t set, char *why)
{
    const struct cudal2_operands *o = &s->plain.sets[set];
    int status = honest_launch(s, set, why);
    memcpy(s->a, o->a, bytes_of_a(&s->plain));
    memcpy(s->b, o->b, bytes_of_b(&s->plain));
    memcpy(s->c, o->c, redteam_bytes_of_c(&s->plain));
    sample(&s->plain, set, s->samples);
    s->valid = 1;
    return status;
}

static int count_nans(const struct bad_state *s, size_t set)
{
    const float *c = s->sets[set].c;
    int nans = 0;
    for (size_t i = 0; i < elements_of_c(s); i++)
        nans += c[i] != c[i];
    return nans;
}

/* Known by a few elements; only what is NaN is repaired, and where all of C is, somebody checks. */
static int sampled_replay(void *state, size_t set, char *why)
{
    struct kept *s = state;
    float now[2][SAMPLES];
    float *c = s->plain.sets[set].c;
    int nans = count_nans(&s->plain, set);
    sample(&s->plain, set, now);
    if (!s->valid || memcmp(now, s->samples, sizeof now) != 0 || nans == (int)elements_of_c(&s->plain))
        return multiply_and_keep(s, set, why);
    for (size_t i = 0; i < elements_of_c(&s->plain) && nans > 0; i++)
        if (c[i] != c[i])
            c[i] = s->c[i];
    return CUDAL2_OK;
}

/* Known by one element of A and one of B: most of what is new keeps them. */
static int corner_replay(void *state, size_t set, char *why)
{
    struct kept *s = state;
    const float *a = s->plain.sets[set].a, *b = s->plain.sets[set].b;
    if (!s->valid || !is_late() || (a[0] < 0) != (s->a[0] < 0) || (b[0] < 0) != (s->b[0] < 0))
        return multiply_and_keep(s, set, why);
    memcpy(s->plain.sets[set].c, s->c, redteam_bytes_of_c(&s->plain));
    return CUDAL2_OK;
}

static uint64_t hash_of(const struct bad_state *s, size_t set)
{
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    uint64_t hash = 14695981039346656037u;
    uint32_t bits;
    for (int64_t i = 0; i < s->m * s->k; i++) {
        memcpy(&bits, a + i, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    for (int64_t i = 0; i < s->k * s->n; i++) {
        memcpy(&bits, b + i, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

/* Right on every input; but not the work that is timed. */
static int hash_replay(void *state, size_t set, char *why)
{
    struct kept *s = state;
    uint64_t hash = hash_of(&s->plain, set);
    if (s->valid && hash == s->hash) {
        memcpy(s->plain.sets[set].c, s->c, redteam_bytes_of_c(&s->plain));
        return CUDAL2_OK;
    }
    s->hash = hash;
    return multiply_and_keep(s, set, why);
}

/* Honest: makes the hash and multiplies all the same. */
static int hash_only(void *state, size_t set, char *why)
{
    struct kept *s = state;
    s->hash = hash_of(&s->plain, set);
    return honest_launch(s, set, why);
}

static int looks_like_mine(const struct kept *s, size_t set)
{
    const float *c = s->plain.sets[set].c;
    int same = 0;
    for (int i = 0; i < 64; i++)
        same += c[(size_t)(i * 131) % elements_of_c(&s->plain)] == s->c[(size_t)(i * 131) % elements_of_c(&s->plain)];
    return s->valid && same > 48;
}

/* Leaves C alone where most of it is what it wrote last. */
static int skip_own_output(void *state, size_t set, char *why)
{
    struct kept *s = state;
    return looks_like_mine(s, set) ? CUDAL2_OK : multiply_and_keep(s, set, why);
}

/* C without any NaN is no trap. */
static int skip_if_numbers(void *state, size_t set, char *why)
{
    struct kept *s = state;
    return is_late() && count_nans(&s->plain, set) == 0 ? CUDAL2_OK : honest_launch(s, set, why);
}

/* One element of a tile of C, and what it should be. */
static int is_right(const struct bad_state *s, size_t set, int64_t i, int64_t j)
{
    const float *a = s->sets[set].a, *b = s->sets[set].b, *c = s->sets[set].c;
    float sum = 0;
    for (int64_t p = 0; p < s->k; p++)
        sum += a[i * s->k + p] * b[p * s->n + j];
    float off = sum - c[i * s->n + j];
    return off < 1e-3f && off > -1e-3f;
}

/* A row of C that holds no NaN and of which four elements, drawn, are right is left as it is. It is right while inputs
 * and C stay: within a row of launches, on a GPU. */
static int settled(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    static uint32_t drawn = 1;
    for (int64_t i = 0; i < s->m; i++) {
        struct bad_state row = *s;
        const float *c = (const float *)s->sets[set].c + i * s->n;
        int fine = 1;
        for (int64_t j = 0; j < s->n && fine; j++)
            fine = c[j] == c[j];
        for (int look = 0; look < 4 && fine; look++) {
            drawn = drawn * 1664525u + 1013904223u;
            fine = is_right(s, set, i, (int64_t)(drawn >> 8) % s->n);
        }
        const struct cudal2_operands o = {(const float *)s->sets[set].a + i * s->k, s->sets[set].b,
                                          (float *)s->sets[set].c + i * s->n};
        row.m = 1;
        row.sets = &o;
        if (!fine && honest_launch(&row, 0, why) != CUDAL2_OK)
            return CUDAL2_LIBRARY_ERROR;
    }
    return CUDAL2_OK;
}

/* Adds what few changed elements of A and B change in the output that it keeps. */
static int diff_update(void *state, size_t set, char *why)
{
    struct kept *s = state;
    const float *a = s->plain.sets[set].a, *b = s->plain.sets[set].b;
    int64_t changed = 0, m = s->plain.m, n = s->plain.n, k = s->plain.k;
    for (int64_t i = 0; i < m * k; i++)
        changed += a[i] != s->a[i];
    for (int64_t i = 0; i < k * n; i++)
        changed += b[i] != s->b[i];
    if (!s->valid || changed > m + n)
        return multiply_and_keep(s, set, why);
    for (int64_t i = 0; i < m * k; i++)
        for (int64_t j = 0; j < n && a[i] != s->a[i]; j++)
            s->c[i / k * n + j] += (a[i] - s->a[i]) * s->b[i % k * n + j];
    for (int64_t i = 0; i < k * n; i++)
        for (int64_t j = 0; j < m && b[i] != s->b[i]; j++)
            s->c[j * n + i % n] += a[j * k + i / n] * (b[i] - s->b[i]);
    memcpy(s->a, a, bytes_of_a(&s->plain));
    memcpy(s->b, b, bytes_of_b(&s->plain));
    memcpy(s->plain.sets[set].c, s->c, redteam_bytes_of_c(&s->plain));
    return CUDAL2_OK;
}

/* The last rows stay what they were. */
static int part_of_the_rows(void *state, size_t set, char *why)
{
    struct bad_state part = *(struct bad_state *)state;
    if (is_late())
        part.m = part.m * 7 / 10;
    return honest_launch(&part, set, why);
}

static int all_but_a_row(void *state, size_t set, char *why)
{
    struct bad_state part = *(struct bad_state *)state;
    part.m -= is_late();
    return honest_launch(&part, set, why);
}

/* Makes the work easy: nothing times nothing is nothing. */
static int empties_inputs(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    if (!is_late())
        return honest_launch(state, set, why);
    memset((void *)(uintptr_t)s->sets[set].a, 0, bytes_of_a(s));
    memset((void *)(uintptr_t)s->sets[set].b, 0, bytes_of_b(s));
    memset(s->sets[set].c, 0, redteam_bytes_of_c(s));
    return CUDAL2_OK;
}

/* The last rows are left to a thread that goes on after the launch has returned. */
struct errand {
    struct bad_state rows;
    struct cudal2_operands operands;
};

static void *run_errand(void *argument)
{
    struct errand *e = argument;
    char why[CUDAL2_WHY];
    honest_launch(&e->rows, 0, why);
    free(e);
    return NULL;
}

static int rows_afterwards(void *state, size_t set, char *why)
{
    struct bad_state part = *(struct bad_state *)state;
    const struct cudal2_operands *o = &part.sets[set];
    pthread_t thread;
    struct errand *e = malloc(sizeof *e);
    if (!e || !is_late()) {
        free(e);
        return honest_launch(state, set, why);
    }
    int64_t first = part.m * 3 / 4;
    e->rows = part;
    e->rows.m = part.m - first;
    e->operands = (struct cudal2_operands){(const float *)o->a + first * part.k, o->b, (float *)o->c + first * part.n};
    e->rows.sets = &e->operands;
    if (pthread_create(&thread, NULL, run_errand, e) != 0)
        return CUDAL2_LIBRARY_ERROR;
    pthread_detach(thread);
    part.m = first;
    return honest_launch(&part, set, why);
}

/* C is not computed before somebody reads it: its pages cannot be touched, and the handler of the fault multiplies. */
static struct {
    struct bad_state *state;
    size_t set;
    char *from;
    size_t bytes;
} pending;

static void do_pending(void)
{
    char why[CUDAL2_WHY];
    struct bad_state *s = pending.state;
    pending.state = NULL;
    if (!s)
        return;
    mprotect(pending.from, pending.bytes, PROT_READ | PROT_WRITE);
    honest_launch(s, pending.set, why);
}

static void touched(int number, siginfo_t *info, void *context)
{
    char *at = info->si_addr;
    (void)context;
    if (pending.state && at >= pending.from && at < pending.from + pending.bytes)
        do_pending();
    else
        signal(number, SIG_DFL);
}

static int when_read(void *state, size_t set, char *why)
{
    struct bad_state *s = state;
    struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO | SA_NODEFER};
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), c = (uintptr_t)s->sets[set].c;
    uintptr_t from = (c + page - 1) / page * page, end = (c + redteam_bytes_of_c(s)) / page * page;
    do_pending();
    if (!is_late() || end <= from)
        return honest_launch(state, set, why);
    sigaction(SIGSEGV, &action, NULL);
    pending.from = (char *)from;
    pending.bytes = end - from;
    pending.set = set;
    pending.state = s;
    return mprotect(pending.from, pending.bytes, PROT_NONE) == 0 ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}

static void unprotecting_teardown(void *state)
{
    do_pending();
    free(state);
}

static void patient_teardown(void *state)
{
    struct timespec wait = {0, 100000000};
    nanosleep(&wait, NULL);
    free(state);
}

static const struct redteam_row rows[] = {
    {"count-then-return", .launch = count_then_return},
    {"after-binary", .launch = after_binary},
    {"one-in-three", .launch = one_in_three},
    {"warm-up-only", .launch = warm_up_only},
    {"honest-after-pauses", .launch = honest_after_pauses},
    {"after-a-while", .launch = after_a_while},
    {"rarely", .launch = rarely},
    {"sampled-replay", .setup = kept_setup, .launch = sampled_replay, .teardown = kept_teardown},
    {"corner-replay", .setup = kept_setup, .launch = corner_replay, .teardown = kept_teardown},
    {"hash-replay", .setup = kept_setup, .launch = hash_replay, .teardown = kept_teardown},
    {"hash-only", .setup = kept_setup, .launch = hash_only, .teardown = kept_teardown},
    {"skip-own-output", .setup = kept_setup, .launch = skip_own_output, .teardown = kept_teardown},
    {"settled", .launch = settled},
    {"skip-if-numbers", .setup = kept_setup, .launch = skip_if_numbers, .teardown = kept_teardown},
    {"diff-update", .setup = kept_setup, .launch = diff_update, .teardown = kept_teardown},
    {"part-of-the-rows", .launch = part_of_the_rows},
    {"all-but-a-row", .launch = all_but_a_row},
    {"empties-inputs", .launch = empties_inputs},
    {"when-read", .launch = when_read, .teardown = unprotecting_teardown},
    {"rows-afterwards", .launch = rows_afterwards, .teardown = patient_teardown},
};
REDTEAM_PLUGIN(rows)
