/*
 * cuda_records.c - whether the events that a captured segment is timed by stand where they were recorded. Work under
 * capture can reach the graph that it goes into, and with it the node that starts the clock: record its event once
 * more, have it wait for launches, or put another in its place. Asks the stream for what it waits for, ahead of a
 * record and behind it, and the graph for the same when it is whole. Relies on
 * cuda_edges.c. Called by cuda_enqueue.c and cuda_capture.c.
 */
#include "device/cuda_device.h"

#include <stdlib.h>

/* What the stream waits for under capture: how many nodes, and the sum of their addresses. */
static bool ends_of(const struct cuda_device *c, cu_node *first, size_t *n, uintptr_t *sum)
{
    const cu_node *ends;
    if (!c->driver.node_event || !cuda_capture_ends(c, &ends, n))
        return false;
    *first = *n > 0 ? ends[0] : NULL;
    *sum = 0;
    for (size_t i = 0; i < *n; i++)
        *sum += (uintptr_t)ends[i];
    return true;
}

void cuda_records_ahead(const struct cuda_device *c, struct record_place *place)
{
    cu_node first;
    *place = (struct record_place){.known = false};
    place->known = ends_of(c, &first, &place->n_ahead, &place->ahead);
}

void cuda_records_behind(const struct cuda_device *c, struct device_segment *s, struct record_place *place)
{
    size_t n = 0;
    uintptr_t sum;
    if (place->known && s->n_records < CUDA_RECORDS_MOST && ends_of(c, &place->node, &n, &sum) && n == 1)
        s->records[s->n_records++] = *place;
}

static bool waits_as_before(const struct driver *cu, const struct record_place *place)
{
    size_t n = 0;
    uintptr_t sum = 0;
    if (cu->node_waits(place->node, NULL, NULL, &n) != CU_OK || n != place->n_ahead)
        return false;
    cu_node *nodes = calloc(n + 1, sizeof *nodes);
    struct cu_edge *edges = calloc(n + 1, sizeof *edges);
    bool same = nodes && edges && (n == 0 || cu->node_waits(place->node, nodes, edges, &n) == CU_OK);
    for (size_t i = 0; i < n && same; i++)
        sum += (uintptr_t)nodes[i];
    free(nodes);
    free(edges);
    return same && sum == place->ahead;
}

bool cuda_records_stand(const struct cuda_device *c, const struct device_segment *s)
{
    cu_event event = NULL;
    for (size_t i = 0; i < s->n_records; i++) {
        cu_event own = i % 2 == 0 ? s->start[i / 2] : s->stop[i / 2];
        if (c->driver.node_event(s->records[i].node, &event) != CU_OK || event != own ||
            !waits_as_before(&c->driver, &s->records[i]))
            return false;
    }
    return true;
}

bool cuda_records_are_of(const struct cuda_device *c, const struct device_segment *s, cu_node node)
{
    cu_event event = NULL;
    if (s->n_records == 0 || c->driver.node_event(node, &event) != CU_OK)
        return false;
    for (unsigned visit = 0; visit < device_shape_visits(&s->shape); visit++)
        if (event == s->start[visit] || event == s->stop[visit])
            return true;
    return false;
}
