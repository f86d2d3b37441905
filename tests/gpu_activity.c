/*
 * gpu_activity - what each contender really does: every kernel, copy and memset that CUPTI records for one launch, with
 * the stream it ran in. One JSON object a line. It is a run of its own, untimed, because recording changes times.
 *
 *   gpu_activity [CONTENDER...] > activity.jsonl
 *
 * CONTENDER is a family, a kernel set or a path, as in a config; without any: cublas, cublaslt-heuristic and cudal2.
 * Exits 3 when a launch of anybody left nothing on the device, or nothing in the stream it was given.
 */
#include <cupti.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config/config.h"
#include "contender/contender.h"
#include "device/cuda_device.h"
#include "measure/bench.h"

#define BUFFER_BYTES (1u << 20)
#define MAX_WORK 256

struct work {
    char what[8]; /* kernel, copy, memset */
    char name[256];
    uint32_t stream;
    int grid[3], block[3];
    uint64_t ns, bytes;
};

static struct {
    struct work list[MAX_WORK];
    size_t n;
} trace; /* CUPTI's callbacks carry no context */

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer == NULL ? 0 : BUFFER_BYTES;
    *max_records = 0;
}

static struct work of_kernel(const CUpti_ActivityKernel9 *k)
{
    struct work w = {.what = "kernel", .stream = k->streamId, .ns = k->end - k->start};
    const int grid[] = {k->gridX, k->gridY, k->gridZ}, block[] = {k->blockX, k->blockY, k->blockZ};
    memcpy(w.grid, grid, sizeof grid);
    memcpy(w.block, block, sizeof block);
    snprintf(w.name, sizeof w.name, "%s", k->name != NULL ? k->name : "?");
    return w;
}

static void note(const CUpti_Activity *record)
{
    if (trace.n == MAX_WORK)
        return;
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        trace.list[trace.n++] = of_kernel((const void *)record);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy5 *c = (const void *)record;
        trace.list[trace.n++] =
            (struct work){.what = "copy", .stream = c->streamId, .ns = c->end - c->start, .bytes = c->bytes};
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const CUpti_ActivityMemset4 *m = (const void *)record;
        trace.list[trace.n++] =
            (struct work){.what = "memset", .stream = m->streamId, .ns = m->end - m->start, .bytes = m->bytes};
    }
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context;
    (void)stream;
    (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        note(record);
    free(buffer);
}

static int cupti_check(const char *call, CUptiResult status, struct error *err)
{
    const char *text = "?";
    if (status == CUPTI_SUCCESS)
        return 0;
    cuptiGetResultString(status, &text);
    return error_set(err, EXIT_CODE_UNAVAILABLE, "%s: %s", call, text);
}

static int start_recording(struct error *err)
{
    static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                               CUPTI_ACTIVITY_KIND_MEMSET};
    int code =
        cupti_check("cuptiActivityRegisterCallbacks", cuptiActivityRegisterCallbacks(give_buffer, take_buffer), err);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && code == 0; i++)
        code = cupti_check("cuptiActivityEnable", cuptiActivityEnable(kinds[i]), err);
    return code;
}

/* ---- one contender ---- */

static cJSON *sizes(const int size[3])
{
    return cJSON_CreateIntArray(size, 3);
}

/* How much of it ran in the stream that the launch was given. */
static size_t print_work(const struct contender *c, uint32_t own_stream)
{
    size_t own = 0;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "contender", c->name);
    cJSON_AddNumberToObject(line, "stream", own_stream);
    cJSON *list = cJSON_AddArrayToObject(line, "work");
    for (size_t i = 0; i < trace.n; i++) {
        const struct work *w = &trace.list[i];
        cJSON *entry = cJSON_CreateObject();
        bool kernel = strcmp(w->what, "kernel") == 0;
        own += w->stream == own_stream;
        cJSON_AddStringToObject(entry, "what", w->what);
        cJSON_AddNumberToObject(entry, "stream", w->stream);
        cJSON_AddNumberToObject(entry, "ns", (double)w->ns);
        if (kernel) {
            cJSON_AddStringToObject(entry, "name", w->name);
            cJSON_AddItemToObject(entry, "grid", sizes(w->grid));
            cJSON_AddItemToObject(entry, "block", sizes(w->block));
        } else {
            cJSON_AddNumberToObject(entry, "bytes", (double)w->bytes);
        }
        cJSON_AddItemToArray(list, entry);
    }
    char *text = json_print(line, false);
    puts(text != NULL ? text : "{}");
    free(text);
    cJSON_Delete(line);
    return own;
}

/* The first launch may set libraries up; the second is what a timing sees. */
static int launch_twice(struct bench *bench, struct entrant *e, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    int code = 0;
    for (int i = 0; i < 2 && code == 0; i++) {
        cuptiActivityFlushAll(1);
        trace.n = 0;
        if (e->work.launch(e->work.context, 0, why) != CUDAL2_OK)
            code = error_set(err, EXIT_CODE_UNAVAILABLE, "launch: %s", why);
        if (code == 0)
            code = bench->device->ops->sync(bench->device, err);
    }
    return code == 0 ? cupti_check("cuptiActivityFlushAll", cuptiActivityFlushAll(1), err) : code;
}

/* *own counts what ran in the given stream; SIZE_MAX for a contender that does not do this problem. */
static int watch(struct bench *bench, const struct contender *c, size_t *own, struct error *err)
{
    struct contender_record record = {.status = "ok"};
    struct entrant e = {.contender = c, .record = &record, .alive = true, .n_sets = 1};
    CUcontext context = (CUcontext)cuda_of(bench->device)->context;
    uint32_t stream = 0;
    *own = SIZE_MAX;
    snprintf(record.name, sizeof record.name, "%s", c->name);
    if (!entrant_setup(bench, &e)) {
        fprintf(stderr, "gpu_activity: %s: %s\n", c->name, record.reason);
        return 0;
    }
    int code = cupti_check("cuptiGetStreamIdEx", cuptiGetStreamIdEx(context, bench->device->stream, 0, &stream), err);
    if (code == 0)
        code = launch_twice(bench, &e, err);
    if (code == 0)
        *own = print_work(c, stream);
    entrant_teardown(bench, &e);
    return code;
}

static int watch_all(struct bench *bench, const struct registry *registry, size_t *watched, size_t *empty,
                     struct error *err)
{
    struct operands_request request = {.problem = bench->problem, .n_sets = 1, .period = 1, .layouts = {3}};
    int code = operands_alloc(bench->device, &request, &bench->operands, err);
    if (code == 0)
        code = operands_fill(bench->device, bench->operands, FILL_NORMAL, 7, 0, err);
    for (size_t i = 0; i < registry_count(registry) && code == 0; i++) {
        size_t own = SIZE_MAX;
        if (registry_at(registry, i)->available)
            code = watch(bench, registry_at(registry, i), &own, err);
        *watched += own != SIZE_MAX;
        *empty += own == 0;
    }
    operands_free(bench->device, bench->operands);
    return code;
}

static int run(const char *plugins, const char *const *candidates, size_t *watched, size_t *empty, struct error *err)
{
    const char *baselines[] = {"cublas", "cublaslt-heuristic", NULL};
    struct registry_request request = {
        .baselines = baselines, .candidates = candidates, .layouts = 3, .plugin_directory = plugins};
    struct config config = {.workspace_bytes = 64u << 20, .limits = {60, 60, 60, 60, 0}};
    struct registry *registry = NULL;
    struct bench bench = {.config = &config,
                          .problem = {1024, 1024, 1024, CUDAL2_F16, CUDAL2_ACC_F32},
                          .mode = MODE_OFFLINE,
                          .headline = TIMING_DEVICE,
                          .sets_each = 1,
                          .n_sets = 1};
    int code = device_open_cuda(0, &bench.device, err);
    if (code == 0)
        code = registry_open(&request, bench.device, &registry, err);
    if (code == 0)
        code = bench.device->ops->alloc(bench.device, (size_t)config.workspace_bytes, &bench.workspace, err);
    return code == 0 ? watch_all(&bench, registry, watched, empty, err) : code;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"cudal2", NULL};
    struct error err = {0};
    size_t watched = 0, empty = 0;
    char plugins[1024] = "";
    int code = start_recording(&err);
    if (code == 0)
        code = file_executable_directory(plugins, sizeof plugins - 16, &err);
    strcat(plugins, "/../plugins");
    if (code == 0)
        code = run(plugins, argc > 1 ? (const char *const *)argv + 1 : usual, &watched, &empty, &err);
    if (code != 0) {
        fprintf(stderr, "gpu_activity: %s\n", err.text);
        return code == EXIT_CODE_UNAVAILABLE ? 77 : code;
    }
    fprintf(stderr, "gpu_activity: %zu contenders, %zu with nothing in the stream they were given\n", watched, empty);
    return watched > 0 && empty == 0 ? 0 : EXIT_CODE_VERIFICATION;
}
