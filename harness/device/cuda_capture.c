/*
 * cuda_capture.c - a segment as a CUDA graph: capture, check of every node, instantiation, upload and a first replay.
 * Relies on cuda_enqueue.c, cuda_edges.c and cuda_records.c. Called by cuda_segment.c.
 */
#include "device/cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/borrowed.h"

/* What a graph holds. */
struct census {
    const struct cuda_device *device;
    const struct device_segment *segment;
    size_t work;      /* kernels, copies, memsets */
    size_t records;   /* of the segment's events */
    const void *last; /* the kernel whose name was asked for last */
    char *borrowed;   /* of BORROWED_TEXT bytes: the name of one that is a library's */
    char refused[SEGMENT_REASON];
};

static const char *node_name(int type)
{
    static const char *const names[] = {
        "kernel",       "memcpy",    "memset",         "host function", "child graph", "empty",        "event wait",
        "event record", "semaphore", "semaphore wait", "memory alloc",  "memory free", "batch memory", "conditional"};
    return type >= 0 && (size_t)type < sizeof names / sizeof *names ? names[type] : "unknown";
}

/* A copy to or from the host inside the timed span is not the work of a GEMM on operands that lie on the device. */
static bool copies_host(const struct driver *cu, cu_node node)
{
    struct cu_copy copy = {0};
    if (cu->node_copy(node, &copy) != CU_OK)
        return false;
    return copy.from.memory_type == CU_MEMORY_HOST || copy.to.memory_type == CU_MEMORY_HOST;
}

/* Whose kernel it is: its name says. Most nodes are the same one as that ahead. */
static void look_at_name(const struct driver *cu, cu_node node, struct census *census)
{
    struct cu_kernel_node params = {0};
    const char *name = NULL, *known;
    if (!cu->node_kernel || cu->node_kernel(node, &params) != CU_OK)
        return;
    const void *kernel = params.function ? (const void *)params.function : params.kernel;
    if (!kernel || kernel == census->last)
        return;
    census->last = kernel;
    int code = params.function ? cu->function_name(&name, params.function) : cu->kernel_name(&name, params.kernel);
    known = code == CU_OK && name ? borrowed_kernel(name) : NULL;
    if (known && (census->borrowed[0] == '\0' || strcmp(known, "CUTLASS") != 0))
        snprintf(census->borrowed, BORROWED_TEXT, "%.120s", name);
}

static int look_at(const struct driver *cu, cu_node node, struct census *census, struct error *err)
{
    int type = -1;
    int rc = driver_check(cu, cu->node_type(node, &type), err, "cuGraphNodeGetType");
    if (rc != 0)
        return rc;
    switch (type) {
    case CU_NODE_MEMCPY:
        if (copies_host(cu, node))
            snprintf(census->refused, sizeof census->refused, "the captured graph copies to or from the host");
        census->work++;
        break;
    case CU_NODE_KERNEL:
        look_at_name(cu, node, census);
        census->work++;
        break;
    case CU_NODE_MEMSET:
        census->work++;
        break;
    case CU_NODE_EVENT_RECORD:
        census->records += cuda_records_are_of(census->device, census->segment, node);
        break;
    case CU_NODE_EMPTY:
        break;
    default:
        snprintf(census->refused, sizeof census->refused, "the captured graph has a %s node", node_name(type));
    }
    return 0;
}

static int take_census(const struct driver *cu, cu_graph graph, struct census *census, struct error *err)
{
    size_t count = 0;
    int rc = driver_check(cu, cu->graph_nodes(graph, NULL, &count), err, "cuGraphGetNodes");
    if (rc != 0)
        return rc;
    cu_node *nodes = calloc(count + 1, sizeof *nodes);
    if (!nodes)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu graph nodes", count);
    rc = driver_check(cu, cu->graph_nodes(graph, nodes, &count), err, "cuGraphGetNodes");
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = look_at(cu, nodes[i], census, err);
    free(nodes);
    return rc;
}

/* Begin and end always come in pairs; an invalidated capture ends with an error and no graph. */
static int capture(struct cuda_device *c, struct device_segment *s, struct error *err)
{
    const struct driver *cu = &c->driver;
    struct error end_error;
    s->n_records = 0;
    int rc = driver_check(cu, cu->capture_begin(c->stream, CU_CAPTURE_THREAD), err, "cuStreamBeginCapture");
    if (rc != 0)
        return rc;
    rc = cuda_segment_enqueue(c, s, CU_RECORD_EXTERNAL, err); /* errors are reasons not to use the graph */
    int ended = driver_check(cu, cu->capture_end(c->stream, &s->graph), &end_error, "cuStreamEndCapture");
    if (rc == 0 && ended != 0) {
        *err = end_error;
        rc = ended;
    }
    s->moved |= rc == 0 && !cuda_records_stand(c, s);
    return rc;
}

static int instantiate(struct cuda_device *c, struct device_segment *s, struct error *err)
{
    const struct driver *cu = &c->driver;
    int rc = driver_check(cu, cu->graph_instantiate(&s->exec, s->graph, 0), err, "cuGraphInstantiateWithFlags");
    if (rc == 0)
        rc = driver_check(cu, cu->graph_upload(s->exec, c->stream), err, "cuGraphUpload");
    return rc;
}

static void drop_graph(struct cuda_device *c, struct device_segment *s)
{
    if (s->exec)
        c->driver.graph_exec_destroy(s->exec);
    if (s->graph)
        c->driver.graph_destroy(s->graph);
    s->exec = NULL;
    s->graph = NULL;
}

static int refuse(struct cuda_device *c, struct device_segment *s, const char *reason, struct error *err)
{
    snprintf(s->reason, sizeof s->reason, "%.240s", reason);
    drop_graph(c, s);
    return driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize after a refused capture");
}

/* Where edges may stay they are asked for when the work is new, and now and then of work that may have changed its
 * mind. */
#define EDGES_EVERY 32u

/* A held graph must fit into what the driver hands over without waiting. Of 117 launches it did
 * (results/h200/2026-11-22b-studies, primers-1); how many it may be was not tried. Larger ones have primers, or
 * hundreds of kernels for a launch. */
#define HELD_MOST 256u

/* The note of this work, or NULL. */
static const void **note_of(struct cuda_device *c, const struct device_segment *s)
{
    for (size_t i = 0; i < CUDA_PROGRAMMATIC_MOST && s->has_work; i++)
        if (c->programmatic[i] == s->work.context)
            return &c->programmatic[i];
    return NULL;
}

/* The next capture of this work begins with marks, or without. The oldest note makes room. */
static void note_edges(struct cuda_device *c, const struct device_segment *s, bool any)
{
    const void **note = note_of(c, s);
    if (any && !note && s->has_work)
        c->programmatic[c->noted++ % CUDA_PROGRAMMATIC_MOST] = s->work.context;
    else if (!any && note)
        *note = NULL;
}

/* Captures with the end of each launch marked, and makes full dependencies of what may not stay. */
static int capture_marked(struct cuda_device *c, struct device_segment *s, struct error *err)
{
    struct launch_edges found = {0};
    s->marks = launch_marks_new();
    c->veil_marks = segment_joins(s) && s->shape.join == JOIN_VEILS ? s->marks : NULL;
    int rc = s->marks ? capture(c, s, err) : error_set(err, EXIT_CODE_INTERNAL, "no memory for a capture");
    if (rc == 0)
        rc = launch_marks_apply(c, s, &found, err);
    launch_marks_free(s->marks);
    s->marks = c->veil_marks = NULL;
    s->early |= found.between > 0 || found.missing > 0;
    s->lost = found.lost;
    s->joined = found.loosened > 0;
    if (rc == 0)
        note_edges(c, s, found.any);
    return rc;
}

/* Marks are a question to the driver behind each launch. Most graphs are a chain of full dependencies, which its edges
 * tell: they are captured without. Another one is captured once more, with marks; the edges of the graph that is timed
 * have been read in either case. */
static int capture_judged(struct cuda_device *c, struct device_segment *s, struct error *err)
{
    bool any = true;
    int rc = 0;
    if (!segment_joins(s) && !note_of(c, s)) {
        rc = capture(c, s, err);
        if (rc == 0)
            rc = launch_edges_unusual(c, s->graph, &any, err);
        if (rc == 0 && any)
            drop_graph(c, s);
    }
    return rc == 0 && any ? capture_marked(c, s, err) : rc;
}

static int replay_first(struct cuda_device *c, struct device_segment *s, struct error *err)
{
    if (s->shape.settled)
        return cuda_stream_wait(c, err);
    int rc = driver_check(&c->driver, c->driver.graph_launch(s->exec, c->stream), err, "cuGraphLaunch (first replay)");
    /* The host prepares the next segment meanwhile. */
    return rc == 0 && !s->shape.loaded ? cuda_stream_wait(c, err) : rc;
}

int cuda_capture_segment(struct cuda_device *c, struct device_segment *s, bool *captured, struct error *err)
{
    struct census census = {.device = c, .segment = s, .borrowed = s->borrowed};
    size_t launches = (size_t)device_shape_untimed(&s->shape) + s->shape.launches;
    bool asks = segment_joins(s) || !s->shape.overlap || !s->shape.loaded || ++c->captures % EDGES_EVERY == 0;
    *captured = false;
    int rc = asks ? capture_judged(c, s, err) : capture(c, s, err);
    if (rc == EXIT_CODE_UNAVAILABLE)
        return rc;
    if (rc != 0) {
        (void)error_wrap(err, "under capture");
        struct error reason = *err;
        return refuse(c, s, reason.text, err);
    }
    rc = take_census(&c->driver, s->graph, &census, err);
    if (rc != 0)
        return rc;
    if (s->moved || census.records != s->n_records)
        return error_set(err, EXIT_CODE_VERIFICATION,
                         "tamper_suspected: the events that launches are timed by were moved, or recorded again, while "
                         "they were captured");
    if (census.refused[0])
        return refuse(c, s, census.refused, err);
    if (s->lost > 0)
        return error_set(err, EXIT_CODE_VERIFICATION,
                         "stream_escape: %zu of %zu kernels, copies and memsets are waited for by nothing", s->lost,
                         census.work);
    if (census.work < launches)
        return error_set(err, EXIT_CODE_VERIFICATION,
                         "stream_escape: %zu launches put %zu kernels, copies and memsets on the stream", launches,
                         census.work);
    if (instantiate(c, s, err) != 0) {
        struct error reason = *err;
        return refuse(c, s, reason.text, err);
    }
    *captured = true;
    s->held = c->base.info.holds && census.work <= HELD_MOST;
    return replay_first(c, s, err);
}
