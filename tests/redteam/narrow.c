/* narrow.c - the red team's contenders that multiply in a format of a narrower range than billed: operands become
 * integers with one scale for all of them, for each row and column, for each index of K as well, or for blocks. And
 * honest ones that come near. Of bf16 and fp32; they compute in float, which adds nothing to their errors. */
#include "redteam.h"

#include <stdbool.h>

#define BLOCK 32

enum scale { NONE, COMMON, BY_ROWS, BY_INDICES, BY_BLOCKS };

struct narrow_row {
    const char *name;
    enum scale scale;
    int bits;
    bool late, strassen;
};

static const struct narrow_row rows[] = {
    {"fixed-common", COMMON, 21, false, false},      {"fixed-common-late", COMMON, 21, true, false},
    {"fixed-per-row", BY_ROWS, 20, false, false},    {"fixed-per-row-late", BY_ROWS, 20, true, false},
    {"fixed-12-common", COMMON, 12, true, false},    {"fixed-16-common", COMMON, 16, true, false},
    {"fixed-12-per-row", BY_ROWS, 12, true, false},  {"fixed-12-per-index", BY_INDICES, 12, true, false},
    {"fixed-11-blocks", BY_BLOCKS, 11, true, false}, {"float-sums", NONE, 0, false, false},
    {"float-sums-16", NONE, 0, false, false},        {"strassen", NONE, 0, false, true},
    {"strassen-16", NONE, 0, false, true},
};

static const struct narrow_row *me;

struct wide {
    const struct cudal2_operands *sets;
    int64_t m, n, k;
    enum cudal2_dtype dtype;
    unsigned long launches;
    float *a, *b, *c; /* B by columns */
    float *x, *y;     /* sums of quarters */
};

/* ---- bf16 and fp32 ---- */

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float load(const void *from, enum cudal2_dtype dtype, int64_t i)
{
    if (dtype == CUDAL2_F32)
        return ((const float *)from)[i];
    return from_bits((uint32_t)((const uint16_t *)from)[i] << 16);
}

static void store(void *to, enum cudal2_dtype dtype, int64_t i, float value)
{
    uint32_t bits = bits_of(value);
    if (dtype == CUDAL2_F32)
        ((float *)to)[i] = value;
    else
        ((uint16_t *)to)[i] = (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static void widen(struct wide *s, size_t set)
{
    const struct cudal2_operands *o = &s->sets[set];
    for (int64_t i = 0; i < s->m * s->k; i++)
        s->a[i] = load(o->a, s->dtype, i);
    for (int64_t k = 0; k < s->k; k++)
        for (int64_t j = 0; j < s->n; j++)
            s->b[j * s->k + k] = load(o->b, s->dtype, k * s->n + j);
}

/* ---- narrow formats ---- */

static float size_of(float value)
{
    return value < 0 ? -value : value;
}

static void round_together(float *values, int64_t n, int bits)
{
    float largest = 0, most = (float)((1 << (bits - 1)) - 1);
    for (int64_t i = 0; i < n; i++)
        largest = size_of(values[i]) > largest ? size_of(values[i]) : largest;
    for (int64_t i = 0; i < n && largest > 0; i++) {
        float scaled = values[i] / largest * most;
        values[i] = (float)(int32_t)(scaled + (scaled < 0 ? -0.5f : 0.5f)) * (largest / most);
    }
}

static void even_out(struct wide *s)
{
    for (int64_t k = 0; k < s->k; k++) {
        float largest = 0x1p-100f;
        for (int64_t i = 0; i < s->m; i++)
            largest = size_of(s->a[i * s->k + k]) > largest ? size_of(s->a[i * s->k + k]) : largest;
        for (int64_t i = 0; i < s->m; i++)
            s->a[i * s->k + k] /= largest;
        for (int64_t j = 0; j < s->n; j++)
            s->b[j * s->k + k] *= largest;
    }
}

static void narrow(struct wide *s)
{
    if (me->scale == COMMON) {
        round_together(s->a, s->m * s->k, me->bits);
        round_together(s->b, s->n * s->k, me->bits);
        return;
    }
    if (me->scale != BY_ROWS)
        even_out(s);
    int64_t together = me->scale == BY_BLOCKS && s->k % BLOCK == 0 ? BLOCK : s->k;
    for (int64_t at = 0; at < s->m * s->k; at += together)
        round_together(s->a + at, together, me->bits);
    for (int64_t at = 0; at < s->n * s->k; at += together)
        round_together(s->b + at, together, me->bits);
}

/* ---- products ---- */

static float dot(const float *x, const float *y, int64_t k)
{
    float sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += x[i] * y[i];
    return sum;
}

static void multiply(struct wide *s)
{
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++)
            s->c[i * s->n + j] = dot(s->a + i * s->k, s->b + j * s->k, s->k);
}

/* to[] = half of the lines from `line` on and half of their elements, from `at` on; then another half by half, times
 * the sign. */
static void add_quarters(float *to, const float *from, int64_t lines, int64_t k, const int quarters[3])
{
    for (int64_t i = 0; i < lines / 2; i++)
        for (int64_t x = 0; x < k / 2; x++) {
            const float *first = from + (quarters[0] / 2 * (lines / 2) + i) * k + quarters[0] % 2 * (k / 2) + x;
            const float *second = from + (quarters[1] / 2 * (lines / 2) + i) * k + quarters[1] % 2 * (k / 2) + x;
            to[i * (k / 2) + x] = *first + (float)quarters[2] * *second;
        }
}

/* Seven products: quarters of A and of B (by columns) with a sign, and the signs in the quarters of C. */
static const int sevenths[7][2][3] = {{{0, 3, 1}, {0, 3, 1}},  {{2, 3, 1}, {0, 0, 0}}, {{0, 0, 0}, {2, 3, -1}},
                                      {{3, 3, 0}, {1, 0, -1}}, {{0, 1, 1}, {3, 0, 0}}, {{2, 0, -1}, {0, 2, 1}},
                                      {{1, 3, -1}, {1, 3, 1}}};
static const int signs[7][4] = {{1, 0, 0, 1},  {0, 0, 1, -1}, {0, 1, 0, 1}, {1, 0, 1, 0},
                                {-1, 1, 0, 0}, {0, 0, 0, 1},  {1, 0, 0, 0}};

/* One level of Strassen's algorithm: its errors are small only against the largest products of all. */
static void strassen(struct wide *s)
{
    memset(s->c, 0, (size_t)(s->m * s->n) * sizeof *s->c);
    for (int t = 0; t < 7; t++) {
        add_quarters(s->x, s->a, s->m, s->k, sevenths[t][0]);
        add_quarters(s->y, s->b, s->n, s->k, sevenths[t][1]);
        for (int64_t i = 0; i < s->m / 2; i++)
            for (int64_t j = 0; j < s->n / 2; j++) {
                float sum = dot(s->x + i * (s->k / 2), s->y + j * (s->k / 2), s->k / 2);
                for (int q = 0; q < 4; q++)
                    s->c[(q / 2 * (s->m / 2) + i) * s->n + q % 2 * (s->n / 2) + j] += (float)signs[t][q] * sum;
            }
    }
}

/* ---- hooks ---- */

static int launch(void *state, size_t set, char *why)
{
    struct wide *s = state;
    bool even = s->m % 2 == 0 && s->n % 2 == 0 && s->k % 2 == 0;
    (void)why;
    widen(s, set);
    if (me->scale != NONE && (!me->late || ++s->launches > 24))
        narrow(s);
    if (me->strassen && even)
        strassen(s);
    else
        multiply(s);
    for (int64_t i = 0; i < s->m * s->n; i++)
        store(s->sets[set].c, s->dtype, i, s->c[i]);
    return CUDAL2_OK;
}

static int setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    size_t a = (size_t)(p->m * p->k), b = (size_t)(p->k * p->n), c = (size_t)(p->m * p->n);
    struct wide *s = calloc(1, sizeof *s + (2 * a + 2 * b + c) * sizeof(float));
    if (!s) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    *s = (struct wide){.sets = setup->sets, .m = p->m, .n = p->n, .k = p->k, .dtype = p->dtype, .a = (float *)(s + 1)};
    s->b = s->a + a;
    s->c = s->b + b;
    s->x = s->c + c;
    s->y = s->x + a;
    *state = s;
    return CUDAL2_OK;
}

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
const struct cudal2_plugin *cudal2_plugin(void)
{
    static char name[64];
    static struct cudal2_contender contender = {.name = name,
                                                .devices = CUDAL2_ON_CPU,
                                                .dtypes = CUDAL2_BIT(CUDAL2_BF16) | CUDAL2_BIT(CUDAL2_F32),
                                                .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
                                                .layout = CUDAL2_NN,
                                                .setup = setup,
                                                .launch = launch,
                                                .teardown = honest_teardown};
    static const struct cudal2_plugin plugin = {.name = REDTEAM, .contenders = &contender, .n_contenders = 1};
    snprintf(name, sizeof name, "%s-nn", REDTEAM);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, REDTEAM) == 0)
            me = &rows[i];
    return me != NULL ? &plugin : NULL;
}
