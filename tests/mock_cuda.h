/*
 * mock_cuda.h - a CUDA driver for tests, behind driver_resolver: executes a stream's operations in order on a clock of
 * its own when it is synchronised; a kernel takes 1000 ns, the harness's empty kernel 100 ns. A second stream is never
 * in the way of the first: what it is given is done at once. Of the harness's kernels only `digest` computes something.
 * Included by one test file.
 */
#ifndef CUDAL2_TESTS_MOCK_CUDA_H
#define CUDAL2_TESTS_MOCK_CUDA_H

#include "device/cuda_device.h"
#include "device/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OPS = 512 };
enum op_kind { OP_KERNEL, OP_EVENT, OP_BLOCKER, OP_NODE, OP_WAIT };

struct op {
    enum op_kind kind;
    int node_type;
    double ns;
    double *stamp;
    struct signals signals;
    volatile uint32_t *released, *timed_out;
    const volatile uint32_t *flag; /* what a wait looks at until it is not behind `value` */
    uint32_t value;
    uintptr_t function; /* 2 the blocker, 3 the empty kernel, 4 digest, else 1 */
    unsigned grid, block;
    bool in_graph, second; /* of a graph that was launched; in the second stream */
    bool early;            /* launched so that it may begin before what is ahead of it has ended */
    bool programmatic;     /* hangs so on what is ahead of it in the graph */
    bool cut;              /* does not hang on it at all */
};

struct cu_graph_opaque {
    struct op ops[MAX_OPS];
    size_t n;
};

static struct {
    struct op queue[MAX_OPS];
    size_t n;
    struct cu_graph_opaque *capture;
    cu_result capture_result; /* what ending the capture says */
    double clock;
    bool context_current, lost;
    int live_graphs, live_execs, live_events, live_memory;
    int kernels, graph_launches, waits, uploads, blockers, persisting_resets, limit_sets, streams;
    size_t limits[8];
    cu_result refuse_instantiate, refuse_wait, refuse_graph, refuse_edges;
    bool serialises;     /* a launch comes back when the stream has done it */
    double hand_over_ns; /* what comes after a graph's first node where nothing holds the stream */
    int copy_host;       /* memory type that copy nodes report as source */
    struct {
        cu_pointer base;
        size_t reserved;
        bool mapped, refuse;
    } fences;                                          /* one at a time */
    double blocker_ns;                                 /* what the blocker takes once it is released */
    void (*ran)(const struct op *op, double start_ns); /* NULL, or told of every kernel when it runs */
    struct cu_launch_config last_config;
    struct cu_launch_attribute last_attribute;
    int promotion, swizzle; /* of the last tensor map */
} mock;

static cu_result status(void)
{
    return mock.lost ? CU_ILLEGAL_ADDRESS : CU_OK;
}

static void append(const struct op *op)
{
    if (mock.capture) {
        assert_true(mock.capture->n < MAX_OPS);
        struct op *at = &mock.capture->ops[mock.capture->n++];
        *at = *op;
        at->programmatic = op->early && at > mock.capture->ops && at[-1].node_type == CU_NODE_KERNEL;
    } else {
        assert_true(mock.n < MAX_OPS);
        mock.queue[mock.n++] = *op;
    }
}

static void execute(void)
{
    for (size_t i = 0; i < mock.n; i++) {
        struct op *op = &mock.queue[i];
        if (op->kind == OP_EVENT)
            *op->stamp = mock.clock;
        else if (op->kind == OP_BLOCKER && *op->released == 0)
            *op->timed_out = 1;
        else if (op->kind == OP_WAIT && (int32_t)(*op->flag - op->value) < 0)
            fail_msg("the stream waits for ever");
        if (mock.ran && (op->kind == OP_KERNEL || op->kind == OP_BLOCKER))
            mock.ran(op, mock.clock);
        mock.clock += op->ns;
    }
    mock.n = 0;
}

static cu_result m_init(unsigned flags)
{
    (void)flags;
    return CU_OK;
}

static cu_result m_driver_version(int *version)
{
    *version = 13000;
    return CU_OK;
}

static cu_result m_error_name(cu_result result, const char **name)
{
    *name = result == CU_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : result == 901              ? "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
                                         : "CUDA_ERROR_OTHER";
    return CU_OK;
}

static cu_result m_device_count(int *count)
{
    *count = 1;
    return CU_OK;
}

static cu_result m_device_get(cu_device *device, int ordinal)
{
    *device = ordinal;
    return CU_OK;
}

static cu_result m_device_name(char *name, int length, cu_device device)
{
    (void)device;
    snprintf(name, (size_t)length, "Mock H200");
    return CU_OK;
}

static cu_result m_device_uuid(struct cu_uuid *uuid, cu_device device)
{
    (void)device;
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (unsigned char)(i * 17);
    return CU_OK;
}

static cu_result m_device_memory(size_t *bytes, cu_device device)
{
    (void)device;
    *bytes = (size_t)140 << 30;
    return CU_OK;
}

static cu_result m_device_attribute(int *value, int attribute, cu_device device)
{
    static const int table[][2] = {{CU_ATTRIBUTE_CLOCK_KHZ, 1980000},        {CU_ATTRIBUTE_SM_COUNT, 132},
                                   {CU_ATTRIBUTE_MEMORY_CLOCK_KHZ, 3201000}, {CU_ATTRIBUTE_BUS_BITS, 6144},
                                   {CU_ATTRIBUTE_L2_BYTES, 60 << 20},        {CU_ATTRIBUTE_MAJOR, 9}};
    (void)device;
    *value = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i][0] == attribute)
            *value = table[i][1];
    return CU_OK;
}

static cu_result m_primary_retain(cu_context *context, cu_device device)
{
    (void)device;
    *context = (cu_context)&mock;
    return CU_OK;
}

static cu_result m_primary_release(cu_device device)
{
    (void)device;
    return CU_OK;
}

static cu_result m_context_set(cu_context context)
{
    mock.context_current = context == (cu_context)&mock;
    return CU_OK;
}

static cu_result m_context_get(cu_context *context)
{
    *context = mock.context_current ? (cu_context)&mock : NULL;
    return CU_OK;
}

static cu_result m_context_sync(void)
{
    execute();
    return status();
}

static cu_result m_limit_get(size_t *value, int limit)
{
    *value = mock.limits[limit];
    return CU_OK;
}

static cu_result m_limit_set(int limit, size_t value)
{
    mock.limits[limit] = value;
    mock.limit_sets++;
    return CU_OK;
}

static cu_result m_persisting_reset(void)
{
    mock.persisting_resets++;
    return CU_OK;
}

static cu_result m_stream_create(cu_stream *stream, unsigned flags)
{
    assert_int_equal(flags, CU_STREAM_OWN);
    *stream = mock.streams++ == 0 ? (cu_stream)&mock.queue : (cu_stream)&mock.streams;
    return CU_OK;
}

static cu_result m_stream_destroy(cu_stream stream)
{
    (void)stream;
    mock.streams--;
    return CU_OK;
}

static bool is_second(cu_stream stream)
{
    return stream == (cu_stream)&mock.streams;
}

static cu_result m_stream_sync(cu_stream stream)
{
    return is_second(stream) ? status() : m_context_sync();
}

static cu_result m_stream_attribute(cu_stream stream, int attribute, const union cu_launch_value *value)
{
    (void)stream;
    assert_int_equal(attribute, CU_LAUNCH_ACCESS_WINDOW);
    assert_int_equal(value->window.bytes, 0);
    return CU_OK;
}

static cu_result m_capture_begin(cu_stream stream, int mode)
{
    (void)stream;
    assert_int_equal(mode, CU_CAPTURE_THREAD);
    assert_null(mock.capture);
    mock.capture = calloc(1, sizeof *mock.capture);
    mock.live_graphs++;
    return CU_OK;
}

static cu_result m_capture_end(cu_stream stream, cu_graph *graph)
{
    (void)stream;
    assert_non_null(mock.capture);
    *graph = mock.capture;
    mock.capture = NULL;
    if (mock.capture_result != CU_OK) {
        free(*graph);
        *graph = NULL;
        mock.live_graphs--;
    }
    return mock.capture_result;
}

static cu_result m_event_create(cu_event *event, unsigned flags)
{
    assert_int_equal(flags, 0);
    *event = calloc(1, sizeof(double));
    mock.live_events++;
    return CU_OK;
}

static cu_result m_event_destroy(cu_event event)
{
    free(event);
    mock.live_events--;
    return CU_OK;
}

static cu_result m_event_record(cu_event event, cu_stream stream, unsigned flags)
{
    (void)stream;
    assert_int_equal(flags, mock.capture ? CU_RECORD_EXTERNAL : 0);
    append(&(struct op){.kind = OP_EVENT, .node_type = CU_NODE_EVENT_RECORD, .stamp = (double *)event});
    return status();
}

static cu_result m_event_elapsed(float *milliseconds, cu_event start, cu_event end)
{
    assert_int_equal(mock.n, 0); /* nothing may still be queued */
    *milliseconds = (float)((*(double *)end - *(double *)start) * 1e-6);
    return CU_OK;
}

#include "mock_cuda_graph.h"
#include "mock_cuda_memory.h"

static cu_result m_module_load(cu_module *module, const void *image)
{
    assert_memory_equal(image, "\177ELF", 4);
    *module = (cu_module)&mock;
    return CU_OK;
}

static cu_result m_module_unload(cu_module module)
{
    (void)module;
    return CU_OK;
}

static cu_result m_module_function(cu_function *function, cu_module module, const char *name)
{
    static const char *const known[] = {"", "", "blocker", "null_kernel", "digest"};
    uintptr_t which = 1;
    (void)module;
    for (uintptr_t i = 2; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0)
            which = i;
    *function = (cu_function)which;
    return CU_OK;
}

/* The sum of each region's bytes, at once. */
static void digest_now(const struct cu_launch_config *config, void **arguments)
{
    const struct probe_region *regions = (const void *)(uintptr_t) * (cu_pointer *)arguments[0];
    uint32_t parts = *(uint32_t *)arguments[1];
    uint64_t *out = (void *)(uintptr_t) * (cu_pointer *)arguments[2];
    for (unsigned i = 0; i < config->grid[0] / parts; i++) {
        out[i] = 0;
        for (uint64_t b = 0; b < regions[i].bytes; b++)
            out[i] += ((const unsigned char *)regions[i].memory)[b];
    }
}

static cu_result m_function_get(int *value, int attribute, cu_function function)
{
    (void)function;
    *value = 100 + attribute;
    return CU_OK;
}

static cu_result m_function_set(cu_function function, int attribute, int value)
{
    (void)function;
    return attribute == CU_FUNCTION_MAX_DYNAMIC_SHARED && value > 232448 ? 1 : CU_OK;
}

static cu_result m_launch(const struct cu_launch_config *config, cu_function function, void **arguments, void **extra)
{
    assert_null(extra);
    if (function == (cu_function)(uintptr_t)4)
        digest_now(config, arguments);
    struct op op = {.kind = OP_KERNEL,
                    .node_type = CU_NODE_KERNEL,
                    .ns = 1000,
                    .function = (uintptr_t)function,
                    .grid = config->grid[0],
                    .block = config->block[0],
                    .second = is_second(config->stream)};
    if (op.second && mock.ran)
        mock.ran(&op, mock.clock);
    if (op.second)
        return status();
    for (unsigned i = 0; i < config->n_attributes; i++)
        op.early |= config->attributes[i].id == CU_LAUNCH_EARLY && config->attributes[i].value.early;
    mock.last_config = *config;
    if (config->n_attributes)
        mock.last_attribute = config->attributes[0];
    if (function == (cu_function)(uintptr_t)2) {
        op.kind = OP_BLOCKER;
        op.ns = mock.blocker_ns;
        op.released = *(volatile uint32_t **)arguments[0];
        op.timed_out = *(volatile uint32_t **)arguments[1];
        mock.blockers++;
    } else if (function == (cu_function)(uintptr_t)3) {
        op.ns = 100;
    } else {
        mock.kernels++;
    }
    append(&op);
    return status();
}

static cu_result m_tensor_map(void *map, int type, uint32_t rank, void *memory, const uint64_t *dimensions,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                              int interleave, int swizzle, int promotion, int fill)
{
    uint64_t seen[] = {(uint64_t)type,
                       rank,
                       (uint64_t)(uintptr_t)memory,
                       dimensions[0],
                       dimensions[1],
                       strides[0],
                       box[0],
                       box[1],
                       element_strides[0],
                       (uint64_t)interleave,
                       (uint64_t)swizzle,
                       (uint64_t)promotion,
                       (uint64_t)fill};
    memcpy(map, seen, sizeof seen);
    mock.promotion = promotion;
    mock.swizzle = swizzle;
    return box[0] > 256 ? 1 : CU_OK;
}

static const char *withheld; /* a call the driver does not have */

static cu_result resolve(const char *symbol, void **out, int version, uint64_t flags, int *query)
{
#define ENTRY(member, name, parameters) {name, (void *)m_##member, DRIVER_VERSION},
#define EDGE_ENTRY(member, name, parameters) {name, (void *)m_##member, 12030},
    static const struct {
        const char *name;
        void *function;
        int version;
    } calls[] = {DRIVER_CALLS(ENTRY) DRIVER_EDGE_CALLS(EDGE_ENTRY)};
#undef ENTRY
#undef EDGE_ENTRY
    assert_int_equal(flags, 0);
    *query = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, symbol) == 0 && !(withheld && strcmp(withheld, symbol) == 0)) {
            assert_int_equal(version, calls[i].version);
            *out = calls[i].function;
            return CU_OK;
        }
    }
    *query = 1;
    return 500;
}

#endif
