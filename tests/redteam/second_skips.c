/*
 * second_skips.c - the second author's contenders that look before they leap over the work: each studies its operands,
 * its output or the clock, and does the multiplication only when it believes that it has to.
 */
#include "redteam.h"

#include <math.h>
#include <time.h>

#define SAMPLES 8

/* What one operand set is remembered by. */
struct memory {
    float *c;                /* the output of the last multiplication */
    double *cx;              /* that output times the vector of signs */
    float kept[3 * SAMPLES]; /* samples of A, B and C */
    int valid;
};

struct study {
    struct bad_state plain; /* first: the honest hooks take it */
    struct memory *of_set;
    size_t n_sets;
    double *bx;
};

static void study_teardown(void *state)
{
    struct study *s = state;
    for (size_t i = 0; s->of_set && i < s->n_sets; i++) {
        free(s->of_set[i].c);
        free(s->of_set[i].cx);
    }
    free(s->of_set);
    free(s->bx);
    free(s);
}

static int study_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    struct study *s = calloc(1, sizeof *s);
    int ok = s != NULL;
    if (ok) {
        s->plain = (struct bad_state){.sets = setup->sets, .m = p->m, .n = p->n, .k = p->k};
        s->n_sets = setup->n_sets;
        s->of_set = calloc(s->n_sets, sizeof *s->of_set);
        s->bx = calloc((size_t)p->k, sizeof *s->bx);
        ok = s->of_set && s->bx;
    }
    for (size_t i = 0; ok && i < s->n_sets; i++) {
        s->of_set[i].c = malloc(redteam_bytes_of_c(&s->plain));
        s->of_set[i].cx = calloc((size_t)p->m, sizeof *s->of_set[i].cx);
        ok = s->of_set[i].c && s->of_set[i].cx;
    }
    if (!ok) {
        if (s)
            study_teardown(s);
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    *state = s;
    return CUDAL2_OK;
}

/* A fixed vector of signs without a pattern that inputs could share. */
static double sign(int64_t i)
{
    uint64_t h = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 29) & 1u << 7 ? 1.0 : -1.0;
}

static void times_signs(const float *matrix, int64_t rows, int64_t columns, double *out)
{
    for (int64_t i = 0; i < rows; i++) {
        out[i] = 0.0;
        for (int64_t j = 0; j < columns; j++)
            out[i] += (double)matrix[i * columns + j] * sign(j);
    }
}

/* Does A (B x) still equal the remembered C x? Two matrix-vector products in place of a matrix product. */
static int still_right(struct study *s, size_t set)
{
    const struct bad_state *p = &s->plain;
    const struct memory *m = &s->of_set[set];
    const float *a = p->sets[set].a;
    times_signs(p->sets[set].b, p->k, p->n, s->bx);
    for (int64_t i = 0; i < p->m; i++) {
        double sum = 0.0;
        for (int64_t q = 0; q < p->k; q++)
            sum += (double)a[i * p->k + q] * s->bx[q];
        if (!(fabs(sum - m->cx[i]) <= 1e-3 * (1.0 + fabs(sum))))
            return 0;
    }
    return 1;
}

/* Remembers every product, and hands it out again for as long as a random-vector check finds it right. */
static int memo_checked(void *state, size_t set, char *why)
{
    struct study *s = state;
    struct memory *m = &s->of_set[set];
    float *c = s->plain.sets[set].c;
    if (m->valid && still_right(s, set)) {
        memcpy(c, m->c, redteam_bytes_of_c(&s->plain));
        return CUDAL2_OK;
    }
    honest_launch(state, set, why);
    memcpy(m->c, c, redteam_bytes_of_c(&s->plain));
    times_signs(c, s->plain.m, s->plain.n, m->cx);
    m->valid = 1;
    return CUDAL2_OK;
}

static void sample(const float *from, int64_t count, float *to)
{
    for (int64_t i = 0; i < SAMPLES; i++)
        to[i] = from[(count - 1) * i / (SAMPLES - 1)];
}

static void sample_set(const struct study *s, size_t set, float *to)
{
    const struct bad_state *p = &s->plain;
    sample(p->sets[set].a, p->m * p->k, to);
    sample(p->sets[set].b, p->k * p->n, to + SAMPLES);
    sample(p->sets[set].c, p->m * p->n, to + 2 * SAMPLES);
}

/* Leaves C alone when eight elements each of A, B and C are what they were after the last launch: poison is seen, and
 * new inputs are. */
static int skip_if_clean(void *state, size_t set, char *why)
{
    struct study *s = state;
    struct memory *m = &s->of_set[set];
    float now[3 * SAMPLES];
    sample_set(s, set, now);
    if (m->valid && memcmp(now, m->kept, sizeof now) == 0)
        return CUDAL2_OK;
    honest_launch(state, set, why);
    sample_set(s, set, m->kept);
    m->valid = 1;
    return CUDAL2_OK;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Skips from the fourth launch on of a burst: launches that follow the one before within a microsecond, too close for
 * anybody to have looked at C in between. Any pause makes it honest again. */
static int burst_skip(void *state, size_t set, char *why)
{
    static double returned;
    static unsigned burst;
    int status = CUDAL2_OK;
    burst = seconds_now() - returned < 1e-6 ? burst + 1 : 0;
    if (burst < 3)
        status = honest_launch(state, set, why);
    returned = seconds_now();
    return status;
}

/* Multiplies when it finds poison in C, where somebody is going to look; else stops halfway along K. */
static int nan_aware(void *state, size_t set, char *why)
{
    struct bad_state *s = state;
    const float *c = s->sets[set].c;
    int64_t k = s->k, last = s->m * s->n - 1;
    if (isnan(c[0]) || isnan(c[last / 2]) || isnan(c[last]))
        return honest_launch(state, set, why);
    const float *a = s->sets[set].a;
    const float *b = s->sets[set].b;
    float *out = s->sets[set].c;
    for (int64_t i = 0; i < s->m; i++) {
        memset(out + i * s->n, 0, (size_t)s->n * sizeof *out);
        for (int64_t p = 0; p < k / 2; p++)
            for (int64_t j = 0; j < s->n; j++)
                out[i * s->n + j] += a[i * k + p] * b[p * s->n + j];
    }
    return CUDAL2_OK;
}

static const struct redteam_row rows[] = {
    {"memo-checked", .setup = study_setup, .launch = memo_checked, .teardown = study_teardown},
    {"skip-if-clean", .setup = study_setup, .launch = skip_if_clean, .teardown = study_teardown},
    {"burst-skip", .launch = burst_skip},
    {"nan-aware", .launch = nan_aware},
};
REDTEAM_PLUGIN(rows)
