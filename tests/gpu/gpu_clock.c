/*
 * gpu_clock - an independent clock against ours: the `device` time of a segment beside the span that CUPTI's kernel
 * records give for the very same launches, over 20 shapes of all sizes. Prints a CSV row per shape and contender and
 * exits 3 when the median difference of any row is over 2%.
 *
 *   gpu_clock [rounds] > clock.csv
 *
 * Span by CUPTI, per launch: end of the last kernel minus end of the untimed primer, over L; without a primer (L = 1)
 * it is the kernels' own start to end.
 */
#include <cupti.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config/config.h"
#include "contender/contender.h"
#include "measure/bench.h"
#include "measure/segment.h"
#include "stats/interval.h"

/* What device/cupti.c declares for itself. */
_Static_assert(offsetof(CUpti_ActivityKernel9, start) == 16 && offsetof(CUpti_ActivityKernel9, streamId) == 48 &&
                   offsetof(CUpti_ActivityKernel9, gridX) == 52 && offsetof(CUpti_ActivityKernel9, blockX) == 64 &&
                   offsetof(CUpti_ActivityKernel9, name) == 104 && offsetof(CUpti_ActivityKernel9, graphNodeId) == 144,
               "kernel records");
_Static_assert(offsetof(CUpti_ActivityMemcpy5, bytes) == 8 && offsetof(CUpti_ActivityMemcpy5, start) == 16 &&
                   offsetof(CUpti_ActivityMemcpy5, streamId) == 40 &&
                   offsetof(CUpti_ActivityMemcpy5, graphNodeId) == 64,
               "copy records");
_Static_assert(offsetof(CUpti_ActivityMemset4, bytes) == 8 && offsetof(CUpti_ActivityMemset4, start) == 16 &&
                   offsetof(CUpti_ActivityMemset4, streamId) == 40 &&
                   offsetof(CUpti_ActivityMemset4, graphNodeId) == 64,
               "memset records");
_Static_assert(CUPTI_ACTIVITY_KIND_MEMCPY == 1 && CUPTI_ACTIVITY_KIND_MEMSET == 2 &&
                   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == 10,
               "kinds of records");

#define MAX_KERNELS 4096
#define BUFFER_BYTES (1u << 20)
#define TOLERANCE 0.02
#define MAX_ROUNDS 101

static struct {
    uint64_t start[MAX_KERNELS], end[MAX_KERNELS];
    size_t n;
} trace; /* CUPTI's callbacks carry no context */

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer == NULL ? 0 : BUFFER_BYTES;
    *max_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context;
    (void)stream;
    (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || trace.n >= MAX_KERNELS)
            continue;
        const CUpti_ActivityKernel9 *k = (const void *)record;
        trace.start[trace.n] = k->start;
        trace.end[trace.n] = k->end;
        trace.n++;
    }
    free(buffer);
}

static int cupti_fail(const char *call, CUptiResult status, struct error *err)
{
    const char *text = "?";
    cuptiGetResultString(status, &text);
    return error_set(err, EXIT_CODE_UNAVAILABLE, "%s: %s", call, text);
}

/* Kernels of one launch are n / (launches + primers); the records come back sorted by start. */
static double traced_ns(unsigned launches, unsigned primers)
{
    size_t per_launch = trace.n / (launches + primers);
    uint64_t last = 0;
    uint64_t from = primers == 0 ? trace.start[0] : 0;
    if (per_launch == 0 || trace.n % (launches + primers) != 0)
        return NAN;
    for (size_t i = 0; i < trace.n; i++)
        last = trace.end[i] > last ? trace.end[i] : last;
    for (size_t i = 0; i < per_launch * primers; i++)
        from = trace.end[i] > from ? trace.end[i] : from;
    return (double)(last - from) / (double)launches;
}

static int by_start(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static void sort_trace(void)
{
    static uint64_t pairs[MAX_KERNELS][2];
    for (size_t i = 0; i < trace.n; i++) {
        pairs[i][0] = trace.start[i];
        pairs[i][1] = trace.end[i];
    }
    qsort(pairs, trace.n, sizeof pairs[0], by_start);
    for (size_t i = 0; i < trace.n; i++) {
        trace.start[i] = pairs[i][0];
        trace.end[i] = pairs[i][1];
    }
}

static int measure_both(struct bench *bench, struct entrant *e, double *ours, double *theirs, struct error *err)
{
    double no_gap = -1;
    cuptiActivityFlushAll(1);
    trace.n = 0;
    int code = segment_time(bench, e, TIMING_DEVICE, &no_gap, ours, err);
    CUptiResult status = cuptiActivityFlushAll(1);
    if (code == 0 && status != CUPTI_SUCCESS)
        code = cupti_fail("cuptiActivityFlushAll", status, err);
    sort_trace();
    *theirs = traced_ns(e->record->launches, e->record->primers);
    return code;
}

/* The segment as it is measured, but with a primer always: while CUPTI records, 160 us pass between the start of a
 * graph and its first kernel, which a run without CUPTI does not have; behind a primer the start event does not see
 * them. */
static int prepare_primed(struct bench *bench, struct entrant *e, struct error *err)
{
    struct device *d = bench->device;
    struct device_shape shape = segment_shape(bench, SEGMENT_TARGET_NS, e->estimate_ns, e->estimate_ns);
    if (shape.primers == 0)
        shape.primers = 1;
    if (e->row.segment != NULL)
        d->ops->release_segment(d, e->row.segment);
    e->row.segment = NULL;
    e->record->launches = shape.launches;
    e->record->primers = shape.primers;
    return d->ops->prepare(d, &e->work, &shape, RUNG_GRAPH, &e->row.segment, err);
}

static int run_contender(struct bench *bench, const struct contender *c, unsigned rounds, double *worst,
                         struct error *err)
{
    struct contender_record record = {.verdict = VERDICT_OK};
    struct entrant e = {.contender = c, .record = &record, .alive = true, .n_sets = 1};
    double ours[MAX_ROUNDS];
    double theirs[MAX_ROUNDS];
    double difference[MAX_ROUNDS];
    int code = 0;
    if (!entrant_setup(bench, &e))
        return error_set(err, EXIT_CODE_UNAVAILABLE, "%s: %s", c->name, record.reason);
    code = segment_estimate(bench, &e, err);
    if (code == 0 && e.alive)
        code = prepare_primed(bench, &e, err);
    for (unsigned r = 0; r < rounds && code == 0 && e.alive; r++) {
        code = measure_both(bench, &e, &ours[r], &theirs[r], err);
        difference[r] = ours[r] / theirs[r] - 1;
    }
    if (code == 0 && e.alive) {
        double median = stats_median(difference, rounds);
        printf("%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%u,%.1f,%.1f,%.5f\n", bench->problem.m, bench->problem.n,
               bench->problem.k, c->name, record.launches, stats_median(ours, rounds), stats_median(theirs, rounds),
               median);
        *worst = fmax(*worst, isnan(median) ? INFINITY : fabs(median));
    }
    entrant_teardown(bench, &e);
    if (bench->null_segment != NULL)
        bench->device->ops->release_segment(bench->device, bench->null_segment);
    bench->null_segment = NULL;
    return code;
}

static int run_shape(struct bench *bench, const struct registry *registry, unsigned rounds, double *worst,
                     struct error *err)
{
    struct operands_request request = {.problem = bench->problem, .n_sets = 1, .period = 1, .layouts = {1}};
    int code = operands_alloc(bench->device, &request, &bench->operands, err);
    if (code == 0)
        code = operands_fill(bench->device, bench->operands, FILL_NORMAL, 7, 0, err);
    for (size_t i = 0; i < registry_count(registry) && code == 0; i++)
        if (registry_at(registry, i)->available)
            code = run_contender(bench, registry_at(registry, i), rounds, worst, err);
    operands_free(bench->device, bench->operands);
    bench->operands = NULL;
    return code;
}

static const int64_t shapes[20][3] = {
    {64, 64, 64},       {128, 128, 128},   {256, 256, 256},    {64, 64, 4096},      {64, 4096, 64},
    {512, 512, 512},    {256, 256, 16384}, {1024, 1024, 1024}, {4096, 256, 4096},   {1024, 16384, 256},
    {128, 16384, 512},  {2048, 2048, 512}, {2048, 2048, 2048}, {16384, 64, 16384},  {4096, 4096, 1024},
    {4096, 4096, 4096}, {8192, 512, 8192}, {8192, 8192, 2048}, {12288, 4096, 4096}, {8192, 8192, 8192},
};

static int run(const char *plugins, unsigned rounds, double *worst, struct error *err)
{
    const char *baselines[] = {"cublas", "cublaslt-heuristic", NULL};
    const char *candidates[] = {NULL};
    struct registry_request request = {
        .baselines = baselines, .candidates = candidates, .layouts = 1, .plugin_directory = plugins};
    struct config config = {.workspace_bytes = 64u << 20};
    struct registry *registry = NULL;
    struct bench bench = {.config = &config, .mode = MODE_OFFLINE, .headline = TIMING_DEVICE, .sets_each = 1};
    bench.record = record_new();
    int code = bench.record == NULL ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for a cell") : 0;
    if (code == 0)
        code = device_open_cuda(0, &bench.device, err);
    if (code == 0)
        code = registry_open(&request, bench.device, &registry, err);
    if (code == 0)
        code = bench.device->ops->alloc(bench.device, (size_t)config.workspace_bytes, &bench.workspace, err);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0] && code == 0; i++) {
        bench.problem = (struct cudal2_problem){
            .m = shapes[i][0], .n = shapes[i][1], .k = shapes[i][2], .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
        code = run_shape(&bench, registry, rounds, worst, err);
    }
    record_free(bench.record);
    return code;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    double worst = 0; /* stays 0, which is refused, when nothing was compared */
    char plugins[1024] = "";
    long asked = argc > 1 ? strtol(argv[1], NULL, 10) : 21;
    unsigned rounds = asked < 1 || asked > MAX_ROUNDS ? 21 : (unsigned)asked;
    CUptiResult status = cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    if (status == CUPTI_SUCCESS)
        status = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    int code = status == CUPTI_SUCCESS ? 0 : cupti_fail("cuptiActivityEnable", status, &err);
    if (code == 0)
        code = file_executable_directory(plugins, sizeof plugins - 16, &err);
    strcat(plugins, "/../plugins");
    printf("m,n,k,contender,launches,device_ns,cupti_ns,median_difference\n");
    if (code == 0)
        code = run(plugins, rounds, &worst, &err);
    if (code != 0) {
        fprintf(stderr, "gpu_clock: %s\n", err.text);
        return code;
    }
    fprintf(stderr, "gpu_clock: largest median difference %.2f%% (limit %.0f%%)\n", 100 * worst, 100 * TOLERANCE);
    return worst > 0 && worst <= TOLERANCE ? 0 : EXIT_CODE_VERIFICATION;
}
