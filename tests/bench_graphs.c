/*
 * What a segment costs the host, and whether it costs more the more there were: bench_graphs [ROUNDS [LAUNCHES]]
 * prepares, runs and releases ROUNDS (10000) segments of LAUNCHES (41) launches each: late, early, early with the graph
 * asked for its edges (as it is where the work is new), late again, and both renewed instead of prepared and released.
 * CSV on standard output: the mean microseconds of preparing and of all three, and the mean nanoseconds of a launch,
 * for each twentieth of the rounds. A second table says whether a graph's own place is in the times: 40 segments
 * prepared one after the other, each renewed 25 times; the mean of each and the deviation of its renewals, in
 * nanoseconds. For a GPU; exit status 77 without one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contender/module.h"
#include "setting_fixture.h"

#define PARTS 20
#define PLACES 40
#define RENEWALS 25

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
    const struct fill_item items[] = {{a, {FILL_NORMAL, CUDAL2_F16, 1, 0, 256, 256, false}},
                                      {b, {FILL_NORMAL, CUDAL2_F16, 2, 0, 256, 256, false}}};
    for (int i = 0; i < 2 && code == 0; i++)
        code = d->ops->fill(d, items[i].memory, &items[i].fill, err);
    return code == 0 ? d->ops->sync(d, err) : code;
}

struct bench {
    struct device *device;
    struct device_work work;
    struct device_shape shape;
    unsigned rounds;
    bool renews;
    struct device_segment *segment;
};

/* Sums over rounds, ns: of the host until the segment is prepared and until it is released, of a launch, and of its
 * square. */
struct sums {
    double prepared, all, launch, square;
};

static int prepare(struct bench *b, struct error *err)
{
    const struct device_ops *ops = b->device->ops;
    if (b->renews && b->segment != NULL)
        return ops->renew(b->device, b->segment, &b->shape, err);
    return ops->prepare(b->device, &b->work, &b->shape, RUNG_GRAPH, &b->segment, err);
}

static void release(struct bench *b)
{
    if (b->segment != NULL)
        b->device->ops->release_segment(b->device, b->segment);
    b->segment = NULL;
}

static int one_round(struct bench *b, struct sums *sums, struct error *err)
{
    const struct device_ops *ops = b->device->ops;
    double elapsed = 0;
    uint64_t start = ops->now(b->device);
    int code = prepare(b, err);
    sums->prepared += (double)(ops->now(b->device) - start);
    if (code == 0)
        code = ops->measure(b->device, b->segment, &elapsed, err);
    if (!b->renews)
        release(b);
    sums->all += (double)(ops->now(b->device) - start);
    sums->launch += elapsed;
    sums->square += elapsed * elapsed;
    return code;
}

static int run(struct bench *b, const char *name, struct error *err)
{
    unsigned each = b->rounds / PARTS ? b->rounds / PARTS : 1;
    int code = 0;
    for (unsigned part = 0; part < PARTS && code == 0; part++) {
        struct sums sums = {0};
        for (unsigned i = 0; i < each && code == 0; i++)
            code = one_round(b, &sums, err);
        printf("%s,%u,%.1f,%.1f,%.2f\n", name, (part + 1) * each, 1e-3 * sums.prepared / each, 1e-3 * sums.all / each,
               sums.launch / each);
        fflush(stdout);
    }
    release(b);
    return code;
}

static int run_places(struct bench *b, const char *name, struct error *err)
{
    int code = 0;
    for (unsigned place = 0; place < PLACES && code == 0; place++) {
        struct sums sums = {0};
        for (unsigned i = 0; i < RENEWALS && code == 0; i++)
            code = one_round(b, &sums, err);
        double mean = sums.launch / RENEWALS;
        printf("%s,%u,%.2f,%.2f\n", name, place + 1, mean, sqrt(fmax(sums.square / RENEWALS - mean * mean, 0)));
        release(b);
    }
    return code;
}

struct kind {
    const char *name;
    bool early, edges, renews, places;
};

static int run_kind(struct bench *b, const struct module_set *kernels, const struct kind *kind, struct error *err)
{
    char key[128], why[CUDAL2_WHY] = "";
    struct contender contender;
    struct cudal2_operands operands;
    struct setting s = {.contender = &contender};
    int code = take(b->device, &operands, err);
    if (code != 0)
        return code;
    snprintf(key, sizeof key, "tiny:BM=16,BN=32,WARPS=4,EARLY=%d", kind->early);
    const struct cudal2_setup setup = {.problem = {256, 256, 256, CUDAL2_F16, CUDAL2_ACC_F32},
                                       .layout = CUDAL2_TN,
                                       .sets = &operands,
                                       .n_sets = 1,
                                       .stream = b->device->stream,
                                       .variant = key};
    module_set_contender(kernels, CUDAL2_TN, &contender);
    if (contender.ops->setup(&contender, &setup, &s.state, why) != CUDAL2_OK)
        return error_set(err, EXIT_CODE_INTERNAL, "%s: %s", key, why);
    b->work = (struct device_work){setting_launch, &s, 0};
    b->shape.loaded = !kind->edges;
    b->renews = kind->renews;
    code = (kind->places ? run_places : run)(b, kind->name, err);
    contender.ops->teardown(&contender, s.state);
    return code;
}

static const struct kind kinds[] = {
    {"late", false, false, false, false},
    {"early", true, false, false, false},
    {"early and asked", true, true, false, false},
    {"late", false, false, false, false},
    {"late renewed", false, false, true, false},
    {"early renewed", true, false, true, false},
    {"late", false, false, true, true},
    {"early", true, false, true, true},
};

int main(int argc, char **argv)
{
    struct bench b = {
        .rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000,
        .shape = {.launches = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 41, .primers = 8, .n_sets = 1}};
    struct module_set *kernels;
    struct error err;
    if (device_open_cuda(0, &b.device, &err) != 0 || module_set_open("cudal2", NULL, b.device, &kernels, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 77;
    }
    int code = 0;
    puts("launches,segments,prepare_us,all_us,launch_ns");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && code == 0; i++) {
        if (kinds[i].places && !kinds[i - 1].places)
            puts("launches,place,mean_ns,deviation_ns");
        code = run_kind(&b, kernels, &kinds[i], &err);
    }
    if (code != 0)
        fprintf(stderr, "%s\n", err.text);
    module_set_close(kernels);
    b.device->ops->close(b.device);
    return code;
}
