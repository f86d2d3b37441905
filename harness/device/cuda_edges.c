/* Which nodes of a captured graph belong to which launch, and the edges between launches: over a programmatic one a
 * launch may begin before the one ahead of it has ended, and so it may where an edge is missing. Made full dependencies
 * here, whoever made the kernel, where a launch is timed alone; and work that nothing waits for is counted. Relies on
 * what the stream says of its capture behind each launch; called by cuda_capture.c. */
#include "device/cuda_device.h"

#include <stdlib.h>
#include <string.h>

#define CAPTURE_ACTIVE 1

bool cuda_capture_ends(const struct cuda_device *c, const cu_node **ends, size_t *n)
{
    int status = 0;
    uint64_t id;
    cu_graph graph;
    const struct cu_edge *edges;
    *ends = NULL;
    *n = 0;
    return c->driver.capture_info &&
           c->driver.capture_info(c->stream, &status, &id, &graph, ends, &edges, n) == CU_OK &&
           status == CAPTURE_ACTIVE;
}

/* The nodes that a launch ends with: all that it put into the graph lies on ways to them. */
struct launch_marks {
    struct mark {
        cu_node node;
        size_t part; /* counted from 0; SIZE_MAX, of a web's nodes: not known yet */
        bool loose;  /* as launch_marks_add */
    } * ends;
    size_t n, capacity, parts;
};

struct launch_marks *launch_marks_new(void)
{
    return calloc(1, sizeof(struct launch_marks));
}

void launch_marks_free(struct launch_marks *marks)
{
    if (marks)
        free(marks->ends);
    free(marks);
}

static bool grow(struct launch_marks *marks, size_t more)
{
    if (marks->n + more <= marks->capacity)
        return true;
    size_t capacity = 2 * (marks->n + more);
    struct mark *grown = realloc(marks->ends, capacity * sizeof *grown);
    if (!grown)
        return false;
    marks->ends = grown;
    marks->capacity = capacity;
    return true;
}

/* A capture that has been invalidated says so when it ends. */
int launch_marks_add(struct launch_marks *marks, struct cuda_device *c, bool loose, struct error *err)
{
    const cu_node *ends;
    size_t n;
    if (!cuda_capture_ends(c, &ends, &n))
        return 0;
    if (!grow(marks, n))
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for the ends of %zu launches", marks->parts);
    for (size_t i = 0; i < n; i++)
        marks->ends[marks->n++] = (struct mark){ends[i], marks->parts, loose};
    marks->parts++;
    return 0;
}

/* ---- the graph ---- */

struct web {
    size_t n_edges, n_nodes; /* nodes that have an edge */
    size_t n_alone;          /* that have none */
    cu_node *from, *to;
    struct cu_edge *edges;
    struct mark *nodes; /* by address */
    size_t *order;      /* of the edges, by where they lead */
    cu_node *stack;
};

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct mark *)a)->node, y = (uintptr_t)((const struct mark *)b)->node;
    return (x > y) - (x < y);
}

static struct mark *find(const struct web *w, cu_node node)
{
    const struct mark key = {.node = node};
    return bsearch(&key, w->nodes, w->n_nodes, sizeof key, by_address);
}

static void list_nodes(struct web *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n_edges; i++) {
        w->nodes[2 * i] = (struct mark){.node = w->from[i], .part = SIZE_MAX};
        w->nodes[2 * i + 1] = (struct mark){.node = w->to[i], .part = SIZE_MAX};
    }
    qsort(w->nodes, 2 * w->n_edges, sizeof *w->nodes, by_address);
    for (size_t i = 0; i < 2 * w->n_edges; i++)
        if (kept == 0 || w->nodes[kept - 1].node != w->nodes[i].node)
            w->nodes[kept++] = w->nodes[i];
    w->n_nodes = kept;
}

/* Edges as (target, edge) pairs in w->order: sorted by target through a list of marks. */
static bool order_edges(struct web *w)
{
    struct mark *targets = calloc(w->n_edges, sizeof *targets);
    if (!targets)
        return false;
    for (size_t i = 0; i < w->n_edges; i++)
        targets[i] = (struct mark){.node = w->to[i], .part = i};
    qsort(targets, w->n_edges, sizeof *targets, by_address);
    for (size_t i = 0; i < w->n_edges; i++)
        w->order[i] = targets[i].part;
    free(targets);
    return true;
}

/* The first place in w->order of an edge that leads to the node or to a later address. */
static size_t first_into(const struct web *w, cu_node node)
{
    size_t low = 0, high = w->n_edges;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)w->to[w->order[middle]] < (uintptr_t)node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Everything on the ways to this node that no earlier part has. */
static void claim(struct web *w, const struct mark *end)
{
    size_t depth = 0;
    w->stack[depth++] = end->node;
    while (depth > 0) {
        cu_node node = w->stack[--depth];
        struct mark *mark = find(w, node);
        if (!mark || mark->part != SIZE_MAX)
            continue;
        mark->part = end->part;
        mark->loose = end->loose;
        for (size_t i = first_into(w, node); i < w->n_edges && w->to[w->order[i]] == node; i++)
            w->stack[depth++] = w->from[w->order[i]];
    }
}

static void web_free(struct web *w)
{
    free(w->from);
    free(w->edges);
    free(w->nodes);
    free(w->order);
    free(w->stack);
}

static int read_edges(struct web *w, const struct driver *cu, cu_graph graph, struct error *err)
{
    *w = (struct web){0};
    int rc = driver_check(cu, cu->graph_edges(graph, NULL, NULL, NULL, &w->n_edges), err, "cuGraphGetEdges");
    if (rc == 0)
        rc = driver_check(cu, cu->graph_nodes(graph, NULL, &w->n_alone), err, "cuGraphGetNodes");
    if (rc != 0 || w->n_edges == 0)
        return rc;
    w->from = calloc(2 * w->n_edges, sizeof *w->from);
    w->edges = calloc(w->n_edges, sizeof *w->edges);
    w->nodes = calloc(2 * w->n_edges, sizeof *w->nodes);
    if (!w->from || !w->edges || !w->nodes)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu graph edges", w->n_edges);
    w->to = w->from + w->n_edges;
    rc = driver_check(cu, cu->graph_edges(graph, w->from, w->to, w->edges, &w->n_edges), err, "cuGraphGetEdges");
    if (rc == 0)
        list_nodes(w);
    w->n_alone -= w->n_nodes;
    return rc;
}

static int divide(struct web *w, const struct launch_marks *marks, struct error *err)
{
    w->order = calloc(w->n_edges, sizeof *w->order);
    w->stack = calloc(w->n_edges + 1, sizeof *w->stack);
    if (!w->order || !w->stack || !order_edges(w))
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu graph edges", w->n_edges);
    for (size_t i = 0; i < marks->n; i++)
        claim(w, &marks->ends[i]);
    return 0;
}

/* ---- the edges between launches ---- */

static bool is_programmatic(const struct cu_edge *edge)
{
    return edge->type == CU_EDGE_PROGRAMMATIC;
}

static bool has_programmatic(const struct web *w)
{
    for (size_t i = 0; i < w->n_edges; i++)
        if (is_programmatic(&w->edges[i]))
            return true;
    return false;
}

/* Keeps of the edges those that are looked for, in w's first places; how many. */
static size_t keep_between(struct web *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_edges; i++) {
        if (!is_programmatic(&w->edges[i]) || find(w, w->from[i])->part == find(w, w->to[i])->part)
            continue;
        w->from[n] = w->from[i];
        w->to[n] = w->to[i];
        w->edges[n++] = w->edges[i];
    }
    return n;
}

/* The wish itself, where the driver keeps it at the node; one that knows edges alone has nothing to take back. */
static void forget_wish(const struct driver *cu, cu_node node)
{
    union cu_launch_value value = {0};
    if (cu->node_attribute_get(node, CU_LAUNCH_EARLY, &value) != CU_OK || !value.early)
        return;
    value = (union cu_launch_value){0};
    (void)cu->node_attribute_set(node, CU_LAUNCH_EARLY, &value);
}

static int make_full(const struct web *w, size_t n, const struct driver *cu, cu_graph graph, struct error *err)
{
    int rc = driver_check(cu, cu->edges_remove(graph, w->from, w->to, w->edges, n), err,
                          "cuGraphRemoveDependencies(%zu programmatic)", n);
    if (rc == 0)
        rc =
            driver_check(cu, cu->edges_add(graph, w->from, w->to, NULL, n), err, "cuGraphAddDependencies(%zu full)", n);
    for (size_t i = 0; i < n && rc == 0; i++)
        forget_wish(cu, w->to[i]);
    return rc;
}

/* ---- overlap that a row gives ---- */

/* -1: the driver does not say. */
static int type_of(const struct driver *cu, cu_node node)
{
    int type = -1;
    return cu->node_type(node, &type) == CU_OK ? type : -1;
}

/* A kernel's only dependency, on the kernel that a loose part ends with. */
static bool can_loosen(const struct web *w, const struct driver *cu, size_t edge)
{
    const struct mark *from = find(w, w->from[edge]), *to = find(w, w->to[edge]);
    size_t first = first_into(w, to->node);
    bool only = first + 1 == w->n_edges || w->to[w->order[first + 1]] != to->node;
    return w->edges[edge].type == CU_EDGE_PLAIN && from->loose && from->part != to->part && only &&
           type_of(cu, from->node) == CU_NODE_KERNEL && type_of(cu, to->node) == CU_NODE_KERNEL;
}

/* Counts them in *n. */
static int loosen(struct web *w, const struct driver *cu, cu_graph graph, size_t *n, struct error *err)
{
    int rc = 0;
    for (size_t i = 0; i < w->n_edges && rc == 0; i++) {
        if (!can_loosen(w, cu, i))
            continue;
        rc = driver_check(cu, cu->edges_remove(graph, &w->from[i], &w->to[i], &w->edges[i], 1), err,
                          "cuGraphRemoveDependencies(full)");
        w->edges[i] = (struct cu_edge){.from_port = CU_PORT_PROGRAMMATIC, .type = CU_EDGE_PROGRAMMATIC};
        if (rc == 0)
            rc = driver_check(cu, cu->edges_add(graph, &w->from[i], &w->to[i], &w->edges[i], 1), err,
                              "cuGraphAddDependencies(programmatic)");
        ++*n;
    }
    return rc;
}

/* ---- edges that are missing ---- */

/* One node after the other, each behind the one ahead of it: no launch can begin early. */
static bool is_chain(const struct web *w)
{
    if (w->n_edges == 0)
        return w->n_alone <= 1;
    if (w->n_alone > 0 || w->n_edges != w->n_nodes - 1)
        return false;
    for (size_t i = 0; i < w->n_nodes; i++)
        w->nodes[i].part = 0;
    bool chain = true;
    for (size_t i = 0; i < w->n_edges; i++) {
        size_t *from = &find(w, w->from[i])->part, *to = &find(w, w->to[i])->part;
        chain = chain && (*from & 1) == 0 && (*to & 2) == 0;
        *from |= 1;
        *to |= 2;
    }
    for (size_t i = 0; i < w->n_nodes; i++)
        w->nodes[i].part = SIZE_MAX;
    return chain;
}

static bool has_edge(const struct web *w, cu_node from, cu_node to)
{
    for (size_t i = first_into(w, to); i < w->n_edges && w->to[w->order[i]] == to; i++)
        if (w->from[w->order[i]] == from)
            return true;
    return false;
}

/* Whether it waits for nothing of its own part. */
static bool begins_part(const struct web *w, const struct mark *node)
{
    for (size_t i = first_into(w, node->node); i < w->n_edges && w->to[w->order[i]] == node->node; i++)
        if (find(w, w->from[w->order[i]])->part == node->part)
            return false;
    return true;
}

/* Edges to be added, from the ends of each part to what begins the next one. `from` and `to` may be NULL, to count. */
static size_t find_missing(const struct web *w, const struct launch_marks *marks, cu_node *from, cu_node *to)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_nodes; i++) {
        const struct mark *node = &w->nodes[i];
        if (node->part == SIZE_MAX || node->part == 0 || !begins_part(w, node))
            continue;
        for (size_t k = 0; k < marks->n; k++) {
            if (marks->ends[k].part + 1 != node->part || has_edge(w, marks->ends[k].node, node->node))
                continue;
            if (from && to) {
                from[n] = marks->ends[k].node;
                to[n] = node->node;
            }
            n++;
        }
    }
    return n;
}

static bool is_work(const struct driver *cu, cu_node node)
{
    int type = type_of(cu, node);
    return type == CU_NODE_KERNEL || type == CU_NODE_MEMCPY || type == CU_NODE_MEMSET;
}

/* Work that is on no way to the end of a launch. */
static size_t count_lost(const struct web *w, const struct driver *cu)
{
    size_t lost = w->n_alone;
    for (size_t i = 0; i < w->n_nodes; i++)
        lost += w->nodes[i].part == SIZE_MAX && is_work(cu, w->nodes[i].node);
    return lost;
}

/* ---- what segments ask ---- */

static bool asks_for_marks(const struct web *w)
{
    return has_programmatic(w) || !is_chain(w);
}

int launch_edges_unusual(struct cuda_device *c, cu_graph graph, bool *any, struct error *err)
{
    struct web w;
    *any = false;
    if (!c->driver.graph_edges)
        return 0;
    int rc = read_edges(&w, &c->driver, graph, err);
    *any = rc == 0 && asks_for_marks(&w);
    web_free(&w);
    return rc;
}

/* Launches one after the other: every edge between two is there, and full. */
static int set_apart(struct web *w, const struct driver *cu, const struct device_segment *s, struct launch_edges *out,
                     struct error *err)
{
    int rc = 0;
    out->missing = find_missing(w, s->marks, NULL, NULL);
    cu_node *missing = calloc(2 * out->missing + 1, sizeof *missing);
    if (!missing)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu graph edges", out->missing);
    find_missing(w, s->marks, missing, missing + out->missing);
    out->between = keep_between(w);
    if (out->between > 0)
        rc = make_full(w, out->between, cu, s->graph, err);
    if (rc == 0 && out->missing > 0)
        rc = driver_check(cu, cu->edges_add(s->graph, missing, missing + out->missing, NULL, out->missing), err,
                          "cuGraphAddDependencies(%zu missing)", out->missing);
    free(missing);
    return rc;
}

/* A graph that has edges: what out->any is about, and what joins. */
static int sort_out(struct web *w, const struct driver *cu, const struct device_segment *s, struct launch_edges *out,
                    struct error *err)
{
    int rc = divide(w, s->marks, err);
    if (rc == 0 && out->any)
        out->lost = count_lost(w, cu);
    if (rc == 0 && segment_joins(s))
        rc = loosen(w, cu, s->graph, &out->loosened, err);
    if (rc == 0 && out->any && !s->shape.overlap)
        return set_apart(w, cu, s, out, err);
    if (rc == 0)
        out->between = keep_between(w) - out->loosened;
    return rc;
}

int launch_marks_apply(struct cuda_device *c, const struct device_segment *s, struct launch_edges *out,
                       struct error *err)
{
    const struct driver *cu = &c->driver;
    struct web w;
    *out = (struct launch_edges){0};
    if (!cu->graph_edges)
        return 0;
    int rc = read_edges(&w, cu, s->graph, err);
    out->any = rc == 0 && asks_for_marks(&w);
    if (rc == 0 && w.n_edges == 0)
        out->lost = out->any ? w.n_alone : 0;
    else if (rc == 0 && (out->any || segment_joins(s)))
        rc = sort_out(&w, cu, s, out, err);
    web_free(&w);
    return rc;
}
