#include "operands/operands.h"

#include <stdlib.h>

static uint64_t matrix_bytes(const struct cudal2_problem *p, int64_t rows, int64_t cols)
{
    return (uint64_t)rows * (uint64_t)cols * dtype_bytes(p->dtype);
}

static bool wants(const struct operands_request *request, enum cudal2_layout layout)
{
    return (request->layouts & CUDAL2_BIT(layout)) != 0;
}

uint64_t operands_bytes(const struct operands_request *request)
{
    const struct cudal2_problem *p = &request->problem;
    uint64_t layouts = (uint64_t)wants(request, CUDAL2_NN) + (uint64_t)wants(request, CUDAL2_TN);
    uint64_t set = matrix_bytes(p, p->m, p->k) + layouts * matrix_bytes(p, p->k, p->n) + matrix_bytes(p, p->m, p->n);
    return set * request->n_sets;
}

static int alloc_set(struct device *device, struct operands *o, size_t set, struct error *err)
{
    const struct cudal2_problem *p = &o->request.problem;
    void *a = NULL;
    void *b = NULL;
    void *c = NULL;
    int code = device->ops->alloc(device, matrix_bytes(p, p->m, p->k), &a, err);
    o->nn[set].a = o->tn[set].a = a;
    if (code == 0)
        code = device->ops->alloc(device, matrix_bytes(p, p->m, p->n), &c, err);
    o->nn[set].c = o->tn[set].c = c;
    if (code == 0 && wants(&o->request, CUDAL2_NN))
        code = device->ops->alloc(device, matrix_bytes(p, p->k, p->n), &b, err);
    o->nn[set].b = b;
    b = NULL;
    if (code == 0 && wants(&o->request, CUDAL2_TN))
        code = device->ops->alloc(device, matrix_bytes(p, p->k, p->n), &b, err);
    o->tn[set].b = b;
    return code;
}

int operands_alloc(struct device *device, const struct operands_request *request, struct operands **out,
                   struct error *err)
{
    struct operands *o = calloc(1, sizeof *o);
    if (o == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for operand sets");
    o->request = *request;
    int code = 0;
    for (size_t s = 0; s < request->n_sets && code == 0; s++)
        code = alloc_set(device, o, s, err);
    if (code != 0) {
        operands_free(device, o);
        return error_wrap(err, "operands of %llu bytes", (unsigned long long)operands_bytes(request));
    }
    *out = o;
    return 0;
}

static void release(struct device *device, const void *memory)
{
    /* The ABI shows inputs as const to contenders; the owner may release them. */
    union {
        const void *shown;
        void *owned;
    } pointer = {.shown = memory};
    if (memory != NULL)
        device->ops->release(device, pointer.owned);
}

void operands_free(struct device *device, struct operands *operands)
{
    if (operands == NULL)
        return;
    for (size_t s = 0; s < operands->request.n_sets; s++) {
        release(device, operands->nn[s].a);
        release(device, operands->nn[s].b);
        release(device, operands->tn[s].b);
        release(device, operands->nn[s].c);
    }
    free(operands);
}

static int fill_matrix(struct device *device, const void *memory, const struct fill *fill, struct error *err)
{
    union {
        const void *shown;
        void *owned;
    } pointer = {.shown = memory};
    return memory == NULL ? 0 : device->ops->fill(device, pointer.owned, fill, err);
}

int operands_fill(struct device *device, struct operands *operands, enum fill_kind kind, uint64_t seed, double density,
                  struct error *err)
{
    const struct cudal2_problem *p = &operands->request.problem;
    struct fill a = {.kind = kind, .dtype = p->dtype, .density = density, .rows = p->m, .cols = p->k};
    struct fill b = {.kind = kind, .dtype = p->dtype, .density = density, .rows = p->k, .cols = p->n};
    int code = 0;
    for (size_t s = 0; s < operands->request.n_sets && code == 0; s++) {
        a.seed = seed + 2 * s;
        b.seed = seed + 2 * s + 1;
        b.column_major = false;
        code = fill_matrix(device, operands->nn[s].a, &a, err);
        if (code == 0)
            code = fill_matrix(device, operands->nn[s].b, &b, err);
        b.column_major = true;
        if (code == 0)
            code = fill_matrix(device, operands->tn[s].b, &b, err);
    }
    return code;
}

int operands_poison(struct device *device, struct operands *operands, size_t set, struct error *err)
{
    const struct cudal2_problem *p = &operands->request.problem;
    struct fill poison = {.kind = FILL_POISON, .dtype = p->dtype, .rows = p->m, .cols = p->n};
    return device->ops->fill(device, operands->nn[set].c, &poison, err);
}

const struct cudal2_operands *operands_sets(const struct operands *operands, enum cudal2_layout layout)
{
    return layout == CUDAL2_NN ? operands->nn : operands->tn;
}
