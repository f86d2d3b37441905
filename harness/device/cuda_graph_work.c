/*
 * cuda_graph_work.c - one launch of a contender as a captured graph without event nodes, so that event and wall timing
 * can be taken over the launch path of a graph (the equal launch path). Relies on cuda_time.c for the launch. Called by
 * cuda.c.
 */
#include "device/cuda_device.h"

#include <stdio.h>
#include <stdlib.h>

struct graph_work {
    struct cuda_device *device;
    cu_graph graph;
    cu_graph_exec exec;
};

static int launch(void *context, size_t set, char *why)
{
    const struct graph_work *g = context;
    struct error err;
    (void)set; /* captured with its operands */
    if (driver_check(&g->device->driver, g->device->driver.graph_launch(g->exec, g->device->stream), &err,
                     "cuGraphLaunch of a graph of one") == 0)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%.*s", (int)CUDAL2_WHY - 1, err.text);
    return CUDAL2_LIBRARY_ERROR;
}

static void destroy(struct graph_work *g)
{
    if (g->exec)
        g->device->driver.graph_exec_destroy(g->exec);
    if (g->graph)
        g->device->driver.graph_destroy(g->graph);
    free(g);
}

/* Begin and end of the capture always come in pairs. */
static int capture(struct graph_work *g, const struct device_work *work, struct error *err)
{
    const struct driver *cu = &g->device->driver;
    struct error end_error;
    int rc = driver_check(cu, cu->capture_begin(g->device->stream, CU_CAPTURE_THREAD), err, "cuStreamBeginCapture");
    if (rc != 0)
        return rc;
    rc = cuda_run_work(g->device, work, 0, err);
    int ended = driver_check(cu, cu->capture_end(g->device->stream, &g->graph), &end_error, "cuStreamEndCapture");
    if (rc == 0 && ended != 0)
        *err = end_error;
    return rc == 0 ? ended : rc;
}

int cuda_graph_work(struct device *d, const struct device_work *work, struct device_work *out, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    if ((work->flags & (CUDAL2_SYNCS | CUDAL2_NO_CAPTURE)) != 0)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "the contender says that its launch cannot be captured");
    struct graph_work *g = calloc(1, sizeof *g);
    if (!g)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a graph of one");
    g->device = c;
    int rc = capture(g, work, err);
    if (rc == 0)
        rc = driver_check(cu, cu->graph_instantiate(&g->exec, g->graph, 0), err, "cuGraphInstantiateWithFlags");
    if (rc == 0)
        rc = driver_check(cu, cu->graph_upload(g->exec, c->stream), err, "cuGraphUpload");
    if (rc == 0)
        rc = cuda_stream_wait(c, err);
    if (rc == 0)
        *out = (struct device_work){.launch = launch, .context = g};
    else
        destroy(g);
    return rc;
}

void cuda_release_graph_work(struct device *d, struct device_work *graph)
{
    (void)d;
    destroy(graph->context);
    graph->context = NULL;
}
