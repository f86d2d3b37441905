/*
 * What a segment costs the host, and whether it costs more the more there were: bench_graphs [ROUNDS [LAUNCHES]]
 * prepares, runs and releases ROUNDS (10000) segments of LAUNCHES (41) launches each: late, early, early with the graph
 * asked for its edges (as it is where the work is new), and late again. CSV on standard output: the mean microseconds
 * of preparing and of all three, for each twentieth of the rounds. For a GPU; exit status 77 without one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contender/module.h"
#include "setting_fixture.h"

#define PARTS 20

/* Matrices of a problem of 256^3; given back with the process. */
static int take(struct device *d, struct cudal2_operands *out, struct error *err)
{
    void *a, *b;
    const size_t bytes = 256 * 256 * 2;
    int code = d->ops->alloc(d, bytes, &a, err);
    if (code == 0)
        code = d->ops->alloc(d, bytes, &b, err);
    if (code == 0)
        code = d->ops->alloc(d, bytes, &out->c, err);
    if (code != 0)
        return code;
    out->a = a;
    out->b = b;
    const struct fill_item items[] = {{a, {FILL_NORMAL, CUDAL2_F16, 1, 0, 256, 256, false, 0, 0}},
                                      {b, {FILL_NORMAL, CUDAL2_F16, 2, 0, 256, 256, false, 0, 0}}};
    for (int i = 0; i < 2 && code == 0; i++)
        code = d->ops->fill(d, items[i].memory, &items[i].fill, err);
    return code == 0 ? d->ops->sync(d, err) : code;
}

struct bench {
    struct device *device;
    struct device_work work;
    struct device_shape shape;
    unsigned rounds;
};

static int one_round(const struct bench *b, double ns[2], struct error *err)
{
    const struct device_ops *ops = b->device->ops;
    struct device_segment *segment = NULL;
    double elapsed;
    uint64_t start = ops->now(b->device);
    int code = ops->prepare(b->device, &b->work, &b->shape, RUNG_GRAPH, &segment, err);
    ns[0] += (double)(ops->now(b->device) - start);
    if (code == 0)
        code = ops->measure(b->device, segment, &elapsed, err);
    if (segment != NULL)
        ops->release_segment(b->device, segment);
    ns[1] += (double)(ops->now(b->device) - start);
    return code;
}

static int run(const struct bench *b, const char *name, struct error *err)
{
    unsigned each = b->rounds / PARTS ? b->rounds / PARTS : 1;
    int code = 0;
    for (unsigned part = 0; part < PARTS && code == 0; part++) {
        double ns[2] = {0, 0};
        for (unsigned i = 0; i < each && code == 0; i++)
            code = one_round(b, ns, err);
        printf("%s,%u,%.1f,%.1f\n", name, (part + 1) * each, 1e-3 * ns[0] / each, 1e-3 * ns[1] / each);
        fflush(stdout);
    }
    return code;
}

static int run_kind(struct bench *b, const struct module_set *kernels, bool early, bool edges, struct error *err)
{
    char key[128], name[32], why[CUDAL2_WHY] = "";
    struct contender contender;
    struct cudal2_operands operands;
    struct setting s = {.contender = &contender};
    int code = take(b->device, &operands, err);
    if (code != 0)
        return code;
    snprintf(key, sizeof key, "tiny:BM=16,BN=32,WARPS=4,EARLY=%d", early);
    snprintf(name, sizeof name, "%s%s", early ? "early" : "late", edges ? " and asked" : "");
    const struct cudal2_setup setup = {
        .problem = {.m = 256, .n = 256, .k = 256, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .layout = CUDAL2_TN,
        .sets = &operands,
        .n_sets = 1,
        .stream = b->device->stream,
        .variant = key};
    module_set_contender(kernels, CUDAL2_TN, &contender);
    if (contender.ops->setup(&contender, &setup, &s.state, why) != CUDAL2_OK)
        return error_set(err, EXIT_CODE_INTERNAL, "%s: %s", key, why);
    b->work = (struct device_work){setting_launch, &s, 0};
    b->shape.loaded = !edges;
    code = run(b, name, err);
    contender.ops->teardown(&contender, s.state);
    return code;
}

int main(int argc, char **argv)
{
    struct bench b = {.rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000,
                      .shape = {.launches = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 41,
                                .primers = 8,
                                .n_sets = 1,
                                .overlap = true}};
    struct module_set *kernels;
    struct error err;
    if (device_open_cuda(0, &b.device, &err) != 0 || module_set_open("cudal2", NULL, b.device, &kernels, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 77;
    }
    int code = 0;
    puts("launches,segments,prepare_us,all_us");
    for (int kind = 0; kind < 4 && code == 0; kind++)
        code = run_kind(&b, kernels, kind == 1 || kind == 2, kind == 2, &err);
    if (code != 0)
        fprintf(stderr, "%s\n", err.text);
    module_set_close(kernels);
    b.device->ops->close(b.device);
    return code;
}
