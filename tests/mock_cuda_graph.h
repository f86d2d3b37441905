/*
 * mock_cuda_graph.h - the part of mock_cuda.h that is graphs, and what holds a stream. Where nothing holds it, a graph
 * begins with its first node and hand_over_ns pass before the host has handed over the rest. Included by it.
 */
#ifndef CUDAL2_TESTS_MOCK_CUDA_GRAPH_H
#define CUDAL2_TESTS_MOCK_CUDA_GRAPH_H

static cu_result m_graph_nodes(cu_graph graph, cu_node *nodes, size_t *count)
{
    if (nodes)
        for (size_t i = 0; i < *count; i++)
            nodes[i] = (cu_node)&graph->ops[i];
    *count = graph->n;
    return CU_OK;
}

/* ---- edges: each piece of work hangs on the one ahead of it, programmatically between kernels only ---- */

static bool is_cut(const struct cu_graph_opaque *graph, size_t at)
{
    return at == 0 || graph->ops[at].cut;
}

static cu_result m_graph_edges(cu_graph graph, cu_node *from, cu_node *to, struct cu_edge *edges, size_t *count)
{
    size_t n = 0;
    for (size_t i = 1; i < graph->n; i++) {
        if (is_cut(graph, i))
            continue;
        if (edges) {
            from[n] = (cu_node)&graph->ops[i - 1];
            to[n] = (cu_node)&graph->ops[i];
            edges[n] = (struct cu_edge){.type = graph->ops[i].programmatic, .from_port = graph->ops[i].programmatic};
        }
        n++;
    }
    *count = n;
    return CU_OK;
}

static cu_result m_edges_remove(cu_graph graph, const cu_node *from, const cu_node *to, const struct cu_edge *edges,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct op *op = (struct op *)to[i];
        assert_ptr_equal(from[i], op - 1);
        assert_true(op > graph->ops && op < graph->ops + graph->n && !op->cut);
        assert_int_equal(edges[i].type, op->programmatic); /* an edge is found with its data alone */
        op->cut = true;
    }
    return mock.refuse_edges;
}

static cu_result m_edges_add(cu_graph graph, const cu_node *from, const cu_node *to, const struct cu_edge *edges,
                             size_t count)
{
    (void)graph;
    for (size_t i = 0; i < count; i++) {
        struct op *op = (struct op *)to[i];
        assert_ptr_equal(from[i], op - 1);
        assert_true(op->cut);
        op->cut = false;
        op->programmatic = edges && edges[i].type == CU_EDGE_PROGRAMMATIC;
    }
    return CU_OK;
}

static cu_result m_capture_info(cu_stream stream, int *state, uint64_t *id, cu_graph *graph, const cu_node **ends,
                                const struct cu_edge **edges, size_t *n_ends)
{
    static cu_node last;
    (void)stream;
    *state = mock.capture != NULL;
    *id = 1;
    *graph = mock.capture;
    last = mock.capture && mock.capture->n ? (cu_node)&mock.capture->ops[mock.capture->n - 1] : NULL;
    *ends = &last;
    *edges = NULL;
    *n_ends = last != NULL;
    return CU_OK;
}

static cu_result m_node_attribute_get(cu_node node, int id, union cu_launch_value *value)
{
    assert_int_equal(id, CU_LAUNCH_EARLY);
    value->early = ((struct op *)node)->early;
    return CU_OK;
}

static cu_result m_node_attribute_set(cu_node node, int id, const union cu_launch_value *value)
{
    assert_int_equal(id, CU_LAUNCH_EARLY);
    ((struct op *)node)->early = value->early;
    return CU_OK;
}

/* ---- nodes ---- */

static cu_result m_node_type(cu_node node, int *type)
{
    *type = ((struct op *)node)->node_type;
    return CU_OK;
}

static cu_result m_node_copy(cu_node node, struct cu_copy *copy)
{
    (void)node;
    copy->from.memory_type = mock.copy_host;
    copy->to.memory_type = 2;
    return CU_OK;
}

static cu_result m_graph_instantiate(cu_graph_exec *exec, cu_graph graph, unsigned long long flags)
{
    assert_int_equal(flags, 0);
    if (mock.refuse_instantiate != CU_OK)
        return mock.refuse_instantiate;
    *exec = (cu_graph_exec)graph;
    mock.live_execs++;
    return CU_OK;
}

static cu_result m_graph_upload(cu_graph_exec exec, cu_stream stream)
{
    (void)exec;
    (void)stream;
    mock.uploads++;
    return CU_OK;
}

static cu_result m_stream_wait_value(cu_stream stream, cu_pointer address, uint32_t value, unsigned flags)
{
    assert_int_equal(flags, 0); /* CU_STREAM_WAIT_VALUE_GEQ */
    assert_ptr_equal(stream, (cu_stream)&mock.queue);
    if (mock.refuse_wait != CU_OK)
        return mock.refuse_wait;
    mock.waits++;
    append(&(struct op){.kind = OP_WAIT, .flag = (const volatile uint32_t *)(uintptr_t)address, .value = value});
    return status();
}

/* Whether something in the queue has not been handed over. */
static bool is_held(void)
{
    for (size_t i = 0; i < mock.n; i++)
        if (mock.queue[i].kind == OP_WAIT && (int32_t)(*mock.queue[i].flag - mock.queue[i].value) < 0)
            return true;
    return false;
}

static cu_result m_graph_launch(cu_graph_exec exec, cu_stream stream)
{
    const struct cu_graph_opaque *graph = (const struct cu_graph_opaque *)exec;
    (void)stream;
    if (mock.refuse_graph != CU_OK)
        return mock.refuse_graph;
    mock.graph_launches++;
    bool held = is_held();
    for (int i = 0; mock.serialises && is_held() && i < 5000; i++)
        usleep(1000);
    for (size_t i = 0; i < graph->n; i++) {
        struct op op = graph->ops[i];
        op.in_graph = true;
        if (i == 0 && !held)
            op.ns += mock.hand_over_ns;
        append(&op);
    }
    return status();
}

static cu_result m_graph_exec_destroy(cu_graph_exec exec)
{
    (void)exec;
    mock.live_execs--;
    return CU_OK;
}

static cu_result m_graph_destroy(cu_graph graph)
{
    free(graph);
    mock.live_graphs--;
    return CU_OK;
}

#endif
