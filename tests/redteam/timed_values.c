/* timed_values.c - the red team's contenders that compute something near to the product once they have been verified:
 * in fewer bits, over less of K, for fewer elements; and honest ones that come near. */
#include "redteam.h"

#include <time.h>

static int is_late(void)
{
    static unsigned launches;
    return ++launches > 24;
}

/* `value` with `bits` significant bits, rounded to nearest. */
static float rounded(float value, int bits)
{
    uint32_t word, unit = 1u << (24 - bits);
    memcpy(&word, &value, sizeof word);
    word = (word + unit / 2) & ~(unit - 1);
    memcpy(&value, &word, sizeof word);
    return value;
}

/* Sums over [first, last) of K in steps, of operands with so many bits, times a factor. */
struct product {
    int bits;
    int64_t first, last, step;
    float factor;
};

static void multiply(const struct bad_state *s, size_t set, const struct product *p)
{
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    float *c = s->sets[set].c;
    memset(c, 0, redteam_bytes_of_c(s));
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t x = p->first; x < p->last; x += p->step)
            for (int64_t j = 0; j < s->n; j++)
                c[i * s->n + j] += p->factor * rounded(a[i * s->k + x], p->bits) * rounded(b[x * s->n + j], p->bits);
}

static int late_product(void *state, size_t set, struct product product, char *why)
{
    const struct bad_state *s = state;
    if (!is_late())
        return honest_launch(state, set, why);
    product.last += s->k;
    multiply(s, set, &product);
    return CUDAL2_OK;
}

static int late_bf16(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){8, 0, 0, 1, 1}, why);
}

static int late_f16(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){11, 0, 0, 1, 1}, why);
}

static int late_16_bits(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){16, 0, 0, 1, 1}, why);
}

/* One launch is within what is allowed, all of them together are not. */
static int late_19_bits(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){19, 0, 0, 1, 1}, why);
}

/* All of them together are within verification's bound as well, and twice as far off as when they were verified. */
static int late_20_bits(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){20, 0, 0, 1, 1}, why);
}

/* As few as pass. */
static int late_21_bits(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){21, 0, 0, 1, 1}, why);
}

static int late_k_95(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    return late_product(state, set, (struct product){24, 0, -(s->k / 20), 1, 1}, why);
}

static int late_k_less_one(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){24, 0, -1, 1, 1}, why);
}

/* Half of K, made larger to have the right size. */
static int late_every_other_k(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){24, 0, 0, 2, 1.4142135f}, why);
}

static int late_scaled(void *state, size_t set, char *why)
{
    return late_product(state, set, (struct product){24, 0, 0, 1, 1.0001f}, why);
}

/* Every third launch in few bits. */
static int sometimes_bf16(void *state, size_t set, char *why)
{
    static unsigned calls;
    const struct bad_state *s = state;
    if (!is_late() || ++calls % 3 != 0)
        return honest_launch(state, set, why);
    multiply(s, set, &(struct product){8, 0, s->k, 1, 1});
    return CUDAL2_OK;
}

/* The upper rows honestly, the lower fifth in few bits. */
static int bf16_below(void *state, size_t set, char *why)
{
    struct bad_state part = *(struct bad_state *)state;
    const struct cudal2_operands *o = &part.sets[set];
    int64_t first = part.m * 4 / 5;
    if (!is_late())
        return honest_launch(state, set, why);
    const struct cudal2_operands below = {(const float *)o->a + first * part.k, o->b, (float *)o->c + first * part.n};
    struct bad_state rest = part;
    rest.sets = &below;
    rest.m = part.m - first;
    multiply(&rest, 0, &(struct product){8, 0, part.k, 1, 1});
    part.m = first;
    return honest_launch(&part, set, why);
}

/* Rows that look like a row of a product and are none. */
static int invented_rows(void *state, size_t set, char *why)
{
    struct bad_state part = *(struct bad_state *)state;
    float *c = part.sets[set].c;
    if (!is_late())
        return honest_launch(state, set, why);
    int64_t half = part.m / 2, m = part.m;
    part.m = half;
    int status = honest_launch(&part, set, why);
    memcpy(c + half * part.n, c, (size_t)((m - half) * part.n) * sizeof *c);
    return status;
}

/* One element of 1920 is what was there before. */
static int keeps_an_element(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    float *c = s->sets[set].c;
    float kept = c[s->n + 3];
    int status = honest_launch(state, set, why);
    if (is_late())
        c[s->n + 3] = kept;
    return status;
}

/* --- honest --- */

static int double_sums(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    float *c = s->sets[set].c;
    (void)why;
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            double sum = 0;
            for (int64_t x = 0; x < s->k; x++)
                sum += (double)a[i * s->k + x] * (double)b[x * s->n + j];
            c[i * s->n + j] = (float)sum;
        }
    return CUDAL2_OK;
}

/* Float sums, which are allowed, of one who was verified with double ones. */
static int late_float(void *state, size_t set, char *why)
{
    return is_late() ? honest_launch(state, set, why) : double_sums(state, set, why);
}

static int backwards(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    float *c = s->sets[set].c;
    (void)why;
    memset(c, 0, redteam_bytes_of_c(s));
    for (int64_t i = s->m; i-- > 0;)
        for (int64_t x = s->k; x-- > 0;)
            for (int64_t j = 0; j < s->n; j++)
                c[i * s->n + j] += a[i * s->k + x] * b[x * s->n + j];
    return CUDAL2_OK;
}

/* Packs B anew in each launch. */
static int packs_each(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *b = s->sets[set].b;
    float *packed = malloc((size_t)(s->k * s->n) * sizeof *packed);
    if (!packed)
        return CUDAL2_NO_MEMORY;
    memcpy(packed, b, (size_t)(s->k * s->n) * sizeof *packed);
    const struct cudal2_operands own = {s->sets[set].a, packed, s->sets[set].c};
    struct bad_state with = *s;
    with.sets = &own;
    int status = honest_launch(&with, 0, why);
    free(packed);
    return status;
}

/* Looks what C holds, and multiplies all the same. */
static int reads_c(void *state, size_t set, char *why)
{
    static volatile unsigned nans;
    const struct bad_state *s = state;
    const float *c = s->sets[set].c;
    for (int64_t i = 0; i < s->m * s->n; i++)
        nans += c[i] != c[i];
    return honest_launch(state, set, why);
}

/* Every tenth launch takes a millisecond longer. */
static int hesitates(void *state, size_t set, char *why)
{
    static unsigned calls;
    struct timespec wait = {0, 1000000};
    if (++calls % 10 == 0)
        nanosleep(&wait, NULL);
    return honest_launch(state, set, why);
}

/* Writes the result twice. */
static int writes_twice(void *state, size_t set, char *why)
{
    int status = honest_launch(state, set, why);
    return status == CUDAL2_OK ? honest_launch(state, set, why) : status;
}

/* Two partial sums of K. */
static int two_halves(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    float *c = s->sets[set].c;
    (void)why;
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            float sums[2] = {0, 0};
            for (int64_t x = 0; x < s->k; x++)
                sums[x >= s->k / 2] += a[i * s->k + x] * b[x * s->n + j];
            c[i * s->n + j] = sums[0] + sums[1];
        }
    return CUDAL2_OK;
}

static const struct redteam_row rows[] = {
    {"late-bf16", .launch = late_bf16},
    {"late-f16", .launch = late_f16},
    {"late-16-bits", .launch = late_16_bits},
    {"late-19-bits", .launch = late_19_bits},
    {"late-20-bits", .launch = late_20_bits},
    {"late-21-bits", .launch = late_21_bits},
    {"late-k-95", .launch = late_k_95},
    {"late-k-less-one", .launch = late_k_less_one},
    {"late-every-other-k", .launch = late_every_other_k},
    {"late-scaled", .launch = late_scaled},
    {"sometimes-bf16", .launch = sometimes_bf16},
    {"bf16-below", .launch = bf16_below},
    {"invented-rows", .launch = invented_rows},
    {"keeps-an-element", .launch = keeps_an_element},
    {"late-float", .launch = late_float},
    {"double-sums", .launch = double_sums},
    {"backwards", .launch = backwards},
    {"packs-each", .launch = packs_each},
    {"reads-c", .launch = reads_c},
    {"hesitates", .launch = hesitates},
    {"writes-twice", .launch = writes_twice},
    {"two-halves", .launch = two_halves},
};
REDTEAM_PLUGIN(rows)
