/*
 * operands.c - one allocation for a group: matrices at random places with room and guards, sets that alias where they
 * are shared, filled with the same values. Relies on device.h. Called by the worker's cell and by races.
 */
#include "operands/operands.h"

#include <stdlib.h>

#include "base/random.h"

enum matrix { MATRIX_A, MATRIX_C, MATRIX_B_NN, MATRIX_B_TN, MATRIX_INPUT };

/* MATRIX_INPUT, last, is there where C is an input: what C holds before a launch. */
static unsigned matrices_of(const struct operands_request *request)
{
    return problem_reads_c(&request->problem) ? MATRIX_INPUT + 1 : MATRIX_INPUT;
}

static struct matrix_extent extent_of(const struct cudal2_problem *p, unsigned matrix)
{
    if (matrix == MATRIX_A)
        return problem_a(p);
    return matrix == MATRIX_C || matrix == MATRIX_INPUT ? problem_c(p)
                                                        : problem_b(p, matrix == MATRIX_B_TN ? CUDAL2_TN : CUDAL2_NN);
}

/* Gaps included. */
static uint64_t matrix_bytes(const struct cudal2_problem *p, unsigned matrix)
{
    const struct matrix_extent e = extent_of(p, matrix);
    return extent_elements(&e) * dtype_bytes(p->dtype);
}

static bool wants(const struct operands_request *request, size_t set, enum cudal2_layout layout)
{
    return (request->layouts[set] & CUDAL2_BIT(layout)) != 0;
}

static uint64_t slack_of(const struct operands_request *request)
{
    const struct cudal2_problem *p = &request->problem;
    if (request->tight)
        return 0;
    uint64_t set = matrix_bytes(p, MATRIX_A) + matrix_bytes(p, MATRIX_B_NN) + matrix_bytes(p, MATRIX_C);
    uint64_t slack = set * request->n_sets / 4;
    slack = slack < OPERANDS_SLACK ? OPERANDS_SLACK : slack > OPERANDS_MOST_SLACK ? OPERANDS_MOST_SLACK : slack;
    slack /= request->n_sets;
    return slack - slack % OPERANDS_ALIGNMENT;
}

/* What is at least on either side of a matrix. Thousands of sets are small ones, whose rows are short. */
static uint64_t guard_of(const struct operands_request *request)
{
    return request->n_sets > 128 ? OPERANDS_GUARD / 8 : OPERANDS_GUARD;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + OPERANDS_ALIGNMENT - 1) / OPERANDS_ALIGNMENT * OPERANDS_ALIGNMENT;
}

/* Room for one matrix: its bytes rounded up, the slack its offset is drawn from, and the guards. */
static uint64_t room_for(const struct operands_request *request, unsigned matrix)
{
    uint64_t bytes = matrix_bytes(&request->problem, matrix);
    return round_up(bytes) + slack_of(request) + 2 * guard_of(request);
}

uint64_t operands_bytes(const struct operands_request *request)
{
    uint64_t a_and_c = room_for(request, MATRIX_A) + room_for(request, MATRIX_C);
    uint64_t nn = room_for(request, MATRIX_B_NN), tn = room_for(request, MATRIX_B_TN);
    uint64_t total = 0;
    if (problem_reads_c(&request->problem))
        a_and_c += room_for(request, MATRIX_INPUT);
    for (size_t s = 0; s < request->n_sets; s++)
        total += a_and_c + (wants(request, s, CUDAL2_NN) ? nn : 0) + (wants(request, s, CUDAL2_TN) ? tn : 0);
    return total;
}

/* Cuts the next matrix from the arena at a random offset into its room. */
static void place(struct operands *o, struct random *random, char **next, unsigned which)
{
    const struct operands_request *request = &o->request;
    size_t set = which / matrices_of(request);
    unsigned matrix = which % matrices_of(request);
    if ((matrix == MATRIX_B_NN && !wants(request, set, CUDAL2_NN)) ||
        (matrix == MATRIX_B_TN && !wants(request, set, CUDAL2_TN)))
        return;
    char *at = *next + guard_of(request) +
               random_below(random, slack_of(request) / OPERANDS_ALIGNMENT + 1) * OPERANDS_ALIGNMENT;
    *next += room_for(request, matrix);
    if (matrix == MATRIX_A)
        o->nn[set].a = o->tn[set].a = at;
    else if (matrix == MATRIX_C)
        o->nn[set].c = o->tn[set].c = at;
    else if (matrix == MATRIX_INPUT)
        o->input[set] = at;
    else if (matrix == MATRIX_B_NN)
        o->nn[set].b = at;
    else
        o->tn[set].b = at;
}

/* In a random order too, so that no set always lies first. */
static int place_all(struct operands *o, struct random *random)
{
    unsigned n = (unsigned)o->request.n_sets * matrices_of(&o->request);
    unsigned *order = calloc(n, sizeof *order);
    char *next = o->arena;
    if (order == NULL)
        return -1;
    for (unsigned i = 0; i < n; i++)
        order[i] = i;
    random_shuffle(random, order, n);
    for (unsigned i = 0; i < n; i++)
        place(o, random, &next, order[i]);
    free(order);
    return 0;
}

void operands_free(struct device *device, struct operands *operands)
{
    if (operands == NULL)
        return;
    if (!operands->lent)
        device->ops->release(device, operands->arena);
    free(operands);
}

static void *writable(const void *memory)
{
    union {
        const void *shown;
        void *owned;
    } pointer = {.shown = memory};
    return pointer.owned;
}

/* One set: A, B twice, C and what it is to hold. */
#define ITEMS 5

/* A, the copies of B that the set has and, where it is an input, C; returns their number. */
static size_t list_set(const struct operands *operands, const struct operands_values *values, size_t set,
                       struct fill_item out[ITEMS])
{
    const struct cudal2_problem *p = &operands->request.problem;
    uint64_t seed = values->seed + 2 * (set % operands->request.period);
    bool wide = values->kind == FILL_SPREAD;
    const enum fill_kind of_a = wide ? FILL_SPREAD_A : values->kind, of_b = wide ? FILL_SPREAD_B : values->kind;
    const struct fill a = {of_a, p->dtype, seed, values->density, p->m, p->k, false, p->lda, operands->request.pool};
    struct fill b = {of_b, p->dtype, seed + 1, values->density, p->k, p->n, false, p->ldb, operands->request.pool};
    size_t n = 0;
    out[n++] = (struct fill_item){writable(operands->nn[set].a), a};
    if (operands->nn[set].b != NULL)
        out[n++] = (struct fill_item){writable(operands->nn[set].b), b};
    b.column_major = true;
    if (operands->tn[set].b != NULL)
        out[n++] = (struct fill_item){writable(operands->tn[set].b), b};
    if (operands->input[set] == NULL)
        return n;
    const struct fill c = {wide ? FILL_NORMAL : values->kind,
                           p->dtype,
                           seed | OPERANDS_SEED_C,
                           values->density,
                           p->m,
                           p->n,
                           false,
                           p->ldc,
                           0};
    out[n++] = (struct fill_item){operands->input[set], c};
    out[n++] = (struct fill_item){operands->nn[set].c, c};
    return n;
}

static int fill_list(struct device *device, const struct fill_item *items, size_t n, struct error *err)
{
    int code = 0;
    if (device->ops->fill_many != NULL)
        return device->ops->fill_many(device, items, n, err);
    for (size_t i = 0; i < n && code == 0; i++)
        code = device->ops->fill(device, items[i].memory, &items[i].fill, err);
    return code;
}

/* Of a set the matrices that a contender of one layout is handed. */
static size_t list_part(const struct operands *operands, const struct operands_values *values,
                        const struct operands_part *part, struct fill_item out[ITEMS])
{
    enum cudal2_layout other = part->layout == CUDAL2_NN ? CUDAL2_TN : CUDAL2_NN;
    const void *not_its = operands_sets(operands, other)[part->set].b;
    size_t n = list_set(operands, values, part->set, out), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (out[i].memory != not_its)
            out[kept++] = out[i];
    return kept;
}

int operands_fill_set(struct device *device, struct operands *operands, const struct operands_values *values,
                      const struct operands_part *part, struct error *err)
{
    struct fill_item items[ITEMS];
    return fill_list(device, items, list_part(operands, values, part, items), err);
}

int operands_fill_lesser(struct device *device, struct operands *operands, const struct operands_values *values,
                         const struct operands_part *part, struct error *err)
{
    struct fill_item items[ITEMS];
    size_t n = list_part(operands, values, part, items);
    bool a = operands->request.problem.m <= operands->request.problem.n;
    return fill_list(device, a ? items : items + 1, a ? 1 : n - 1, err);
}

/* The sets from the first of range[] on, by steps of the second. */
static int fill_sets(struct device *device, struct operands *operands, const struct operands_values *values,
                     const size_t range[2], struct error *err)
{
    size_t n = 0, sets = operands->request.n_sets;
    struct fill_item *items = calloc(ITEMS * sets, sizeof *items);
    if (items == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a list of matrices");
    for (size_t s = range[0]; s < sets; s += range[1])
        n += list_set(operands, values, s, items + n);
    int code = fill_list(device, items, n, err);
    free(items);
    return code;
}

int operands_fill(struct device *device, struct operands *operands, enum fill_kind kind, uint64_t seed, double density,
                  struct error *err)
{
    const struct operands_values values = {kind, seed, density};
    return fill_sets(device, operands, &values, (const size_t[]){0, 1}, err);
}

int operands_fill_alike(struct device *device, struct operands *operands, const struct operands_values *values,
                        size_t which, struct error *err)
{
    return fill_sets(device, operands, values, (const size_t[]){which, operands->request.period}, err);
}

/* Line by line: what is between two lines of C stays. */
static int put_back(struct device *device, struct operands *operands, size_t set, struct error *err)
{
    const struct matrix_extent e = problem_c(&operands->request.problem);
    size_t width = dtype_bytes(operands->request.problem.dtype);
    const char *from = operands->input[set];
    char *to = operands->nn[set].c;
    int code = 0;
    for (int64_t line = 0; line < e.lines && code == 0; line++) {
        size_t at = (size_t)(line * e.stride) * width;
        code = device->ops->upload(device, to + at, from + at, (size_t)e.length * width, err);
    }
    return code;
}

int operands_poison(struct device *device, struct operands *operands, size_t set, struct error *err)
{
    const struct cudal2_problem *p = &operands->request.problem;
    if (operands->input[set] != NULL)
        return put_back(device, operands, set, err);
    struct fill poison = {.kind = FILL_POISON, .dtype = p->dtype, .rows = p->m, .cols = p->n, .stride = p->ldc};
    return device->ops->fill(device, operands->nn[set].c, &poison, err);
}

const struct cudal2_operands *operands_sets(const struct operands *operands, enum cudal2_layout layout)
{
    return layout == CUDAL2_NN ? operands->nn : operands->tn;
}

struct cudal2_operands operands_before(const struct operands *operands, enum cudal2_layout layout, size_t set)
{
    struct cudal2_operands before = operands_sets(operands, layout)[set];
    if (operands->input[set] != NULL)
        before.c = operands->input[set];
    return before;
}

struct probe_region operands_output(const struct operands *operands, size_t set)
{
    const struct cudal2_problem *p = &operands->request.problem;
    return (struct probe_region){operands->nn[set].c, matrix_bytes(p, MATRIX_C)};
}

static struct probe_region region_of(const void *memory, uint64_t bytes)
{
    return (struct probe_region){writable(memory), bytes};
}

size_t operands_inputs(const struct operands *operands, size_t set, struct probe_region out[OPERANDS_INPUTS])
{
    const struct cudal2_problem *p = &operands->request.problem;
    const void *const b[] = {operands->nn[set].b, operands->tn[set].b};
    size_t n = 0;
    out[n++] = region_of(operands->nn[set].a, matrix_bytes(p, MATRIX_A));
    for (int i = 0; i < 2; i++)
        if (b[i] != NULL)
            out[n++] = region_of(b[i], matrix_bytes(p, i == 0 ? MATRIX_B_NN : MATRIX_B_TN));
    if (operands->input[set] != NULL)
        out[n++] = region_of(operands->input[set], matrix_bytes(p, MATRIX_INPUT));
    return n;
}

size_t operands_guards(const struct operands *operands, size_t set, struct probe_region out[OPERANDS_GUARDS])
{
    struct probe_region matrices[OPERANDS_INPUTS + 1];
    uint64_t guard = guard_of(&operands->request);
    size_t n = operands_inputs(operands, set, matrices);
    matrices[n++] = operands_output(operands, set);
    for (size_t i = 0; i < n; i++) {
        char *start = matrices[i].memory, *end = start + matrices[i].bytes;
        out[2 * i] = (struct probe_region){start - guard, guard};
        out[2 * i + 1] = (struct probe_region){end, round_up(matrices[i].bytes) - matrices[i].bytes + guard};
    }
    return 2 * n;
}

/* Nobody writes them again: NaN between the rows of A and B, which no sum may take in, and a pattern between those of
 * C, which no launch may touch. */
static int fill_gaps(struct device *device, struct operands *o, struct error *err)
{
    struct probe_region region;
    int code = 0;
    if (problem_is_packed(&o->request.problem) || device->probes == NULL)
        return 0;
    for (size_t s = 0; s < o->request.n_sets && code == 0; s++) {
        struct probe_region inputs[OPERANDS_INPUTS];
        region = operands_output(o, s);
        code = device->probes->pattern(device, &region, 1, PROBE_GUARD, err);
        if (code == 0)
            code = device->probes->pattern(device, inputs, operands_inputs(o, s, inputs), PROBE_POISON, err);
    }
    return code;
}

int operands_place(struct device *device, const struct operands_request *request, void *memory, struct operands **out,
                   struct error *err)
{
    struct random random;
    struct operands *o = calloc(1, sizeof *o);
    if (o == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for operand sets");
    o->request = *request;
    o->arena = memory;
    o->lent = true;
    random_seed(&random, request->seed);
    int code = place_all(o, &random) == 0 ? fill_gaps(device, o, err)
                                          : error_set(err, EXIT_CODE_INTERNAL, "out of memory for operand sets");
    if (code == 0)
        *out = o;
    else
        operands_free(device, o);
    return code;
}

int operands_alloc(struct device *device, const struct operands_request *request, struct operands **out,
                   struct error *err)
{
    void *memory = NULL;
    int code = device->ops->alloc(device, (size_t)operands_bytes(request), &memory, err);
    if (code != 0)
        return error_wrap(err, "operands of %llu bytes", (unsigned long long)operands_bytes(request));
    code = operands_place(device, request, memory, out, err);
    if (code == 0)
        (*out)->lent = false;
    else
        device->ops->release(device, memory);
    return code;
}
