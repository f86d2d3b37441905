/*
 * What a group's graphs cost the host, call by call: graph_calls [M N K [LAUNCHES [GROUPS]]] prepares, as a group of
 * blocks does, a segment of each of torch.matmul, cublas, cublaslt-heuristic and cudal2 (LAUNCHES, 48, and an eighth as
 * primers; 256^3), GROUPS (100) times in each of three ways: first replays overlap the next contender's capture, each
 * is waited for, none is replayed. CSV on standard output: way, contender ("all": the wait for the last replay), call,
 * calls and microseconds in a group. `launches` is what lies between the begin of a capture and its end, `rest` what is
 * in no call. For a GPU; exit status 77 without one. Plugins: beside the program, or CUDAL2_STUDY_PLUGINS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "contender/contender.h"
#include "device/cuda_device.h"
#include "setting_fixture.h"

#define CONTENDERS_MOST 12
#define WORKSPACE ((size_t)512 << 20)

/* ---- the calls ---- */

#define CALLS(X)                                                                                                       \
    X(event_create, (cu_event * event, unsigned flags), (event, flags))                                                \
    X(event_destroy, (cu_event event), (event))                                                                        \
    X(capture_begin, (cu_stream stream, int mode), (stream, mode))                                                     \
    X(capture_end, (cu_stream stream, cu_graph * graph), (stream, graph))                                              \
    X(graph_nodes, (cu_graph graph, cu_node * nodes, size_t * count), (graph, nodes, count))                           \
    X(node_type, (cu_node node, int *type), (node, type))                                                              \
    X(graph_edges, (cu_graph graph, cu_node * from, cu_node * to, struct cu_edge * edges, size_t * count),             \
      (graph, from, to, edges, count))                                                                                 \
    X(graph_instantiate, (cu_graph_exec * exec, cu_graph graph, unsigned long long flags), (exec, graph, flags))       \
    X(graph_upload, (cu_graph_exec exec, cu_stream stream), (exec, stream))                                            \
    X(graph_launch, (cu_graph_exec exec, cu_stream stream), (exec, stream))                                            \
    X(stream_sync, (cu_stream stream), (stream))                                                                       \
    X(context_sync, (void), ())                                                                                        \
    X(graph_exec_destroy, (cu_graph_exec exec), (exec))                                                                \
    X(graph_destroy, (cu_graph graph), (graph))

#define NAMED(member, parameters, arguments) CALL_##member,
enum call { CALLS(NAMED) CALL_LAUNCHES, CALL_REST, CALL_COUNT };
#undef NAMED

#define TEXT(member, parameters, arguments) #member,
static const char *const names[CALL_COUNT] = {CALLS(TEXT) "launches", "rest"};
#undef TEXT

struct spent {
    double ns[CALL_COUNT];
    unsigned long calls[CALL_COUNT];
};

static struct driver real;
static struct spent *spent; /* whose turn it is */
static uint64_t capturing_since;

static void add(enum call call, uint64_t since)
{
    spent->ns[call] += (double)(clock_now_ns() - since);
    spent->calls[call]++;
}

#define WRAPPED(member, parameters, arguments)                                                                         \
    static cu_result timed_##member parameters                                                                         \
    {                                                                                                                  \
        uint64_t since = clock_now_ns();                                                                               \
        if (CALL_##member == CALL_capture_end)                                                                         \
            add(CALL_LAUNCHES, capturing_since);                                                                       \
        cu_result result = real.member arguments;                                                                      \
        add(CALL_##member, since);                                                                                     \
        capturing_since = clock_now_ns();                                                                              \
        return result;                                                                                                 \
    }
CALLS(WRAPPED)
#undef WRAPPED

static void wrap(struct driver *d)
{
    real = *d;
#define PUT(member, parameters, arguments)                                                                             \
    if (real.member)                                                                                                   \
        d->member = timed_##member;
    CALLS(PUT)
#undef PUT
}

/* ---- the groups ---- */

struct racer {
    struct setting setting;
    struct device_work work;
    struct device_segment *segment;
    struct spent spent;
};

struct study {
    struct device *device;
    struct registry *registry;
    struct cudal2_problem problem;
    struct cudal2_operands operands[2]; /* by layout */
    void *workspace;
    struct device_shape shape;
    struct racer racers[CONTENDERS_MOST];
    size_t n;
    struct spent all;
};

static int take(struct study *s, struct error *err)
{
    const struct cudal2_problem *p = &s->problem;
    struct device *d = s->device;
    const int64_t elements[3] = {p->m * p->k, p->k * p->n, p->m * p->n};
    void *memory[3];
    int code = d->ops->alloc(d, WORKSPACE, &s->workspace, err);
    for (int i = 0; i < 3 && code == 0; i++)
        code = d->ops->alloc(d, (size_t)elements[i] * 2, &memory[i], err);
    for (int i = 0; i < 2 && code == 0; i++) {
        const struct fill fill = {FILL_NORMAL, CUDAL2_F16, (uint64_t)i + 1, 0, elements[i], 1, false, 0, 0};
        code = d->ops->fill(d, memory[i], &fill, err);
    }
    if (code == 0)
        s->operands[0] = s->operands[1] = (struct cudal2_operands){.a = memory[0], .b = memory[1], .c = memory[2]};
    return code == 0 ? d->ops->sync(d, err) : code;
}

/* Who cannot is left out, and said. */
static void set_up(struct study *s, const struct contender *c)
{
    struct racer *r = &s->racers[s->n];
    char why[CUDAL2_WHY] = "";
    const struct cudal2_setup setup = {.problem = s->problem,
                                       .layout = c->is.layout,
                                       .sets = &s->operands[c->is.layout == CUDAL2_TN],
                                       .n_sets = 1,
                                       .workspace = s->workspace,
                                       .workspace_bytes = WORKSPACE,
                                       .stream = s->device->stream};
    *r = (struct racer){.setting = {.contender = c}};
    snprintf(why, sizeof why, "%s", c->reason);
    if (!c->available || c->ops->setup(c, &setup, &r->setting.state, why) != CUDAL2_OK) {
        fprintf(stderr, "without %s: %s\n", c->name, why);
        return;
    }
    r->work = (struct device_work){setting_launch, &r->setting, c->is.flags};
    s->n++;
}

enum way { OVERLAPPED, WAITED, UNREPLAYED, WAYS };
static const char *const ways[] = {"overlapped", "waited", "unreplayed"};

static int run_group(struct study *s, enum way way, struct error *err)
{
    const struct device_ops *ops = s->device->ops;
    int code = 0;
    s->shape.settled = way == UNREPLAYED;
    for (size_t i = 0; i < s->n && code == 0; i++) {
        struct racer *r = &s->racers[i];
        uint64_t since = clock_now_ns();
        spent = &r->spent;
        code = ops->prepare(s->device, &r->work, &s->shape, RUNG_GRAPH, &r->segment, err);
        if (code == 0 && way == WAITED)
            code = ops->sync(s->device, err);
        add(CALL_REST, since);
    }
    spent = &s->all;
    if (code == 0)
        code = ops->sync(s->device, err);
    for (size_t i = 0; i < s->n; i++) {
        spent = &s->racers[i].spent;
        uint64_t since = clock_now_ns();
        if (s->racers[i].segment != NULL)
            ops->release_segment(s->device, s->racers[i].segment);
        s->racers[i].segment = NULL;
        spent->ns[CALL_REST] += (double)(clock_now_ns() - since);
    }
    return code;
}

static void print(struct spent *sum, const char *way, const char *name, unsigned groups)
{
    for (int i = 0; i < CALL_REST; i++) /* all of them fall into it */
        sum->ns[CALL_REST] -= sum->ns[i];
    for (int i = 0; i < CALL_COUNT; i++)
        if (sum->calls[i] > 0)
            printf("%s,%s,%s,%.1f,%.1f\n", way, name, names[i], (double)sum->calls[i] / groups,
                   1e-3 * sum->ns[i] / groups);
    *sum = (struct spent){0};
}

static int run(struct study *s, enum way way, unsigned groups, struct error *err)
{
    int code = run_group(s, way, err); /* which does not count */
    s->all = (struct spent){0};
    for (size_t i = 0; i < s->n; i++)
        s->racers[i].spent = (struct spent){0};
    for (unsigned i = 0; i < groups && code == 0; i++)
        code = run_group(s, way, err);
    for (size_t i = 0; i < s->n && code == 0; i++)
        print(&s->racers[i].spent, ways[way], s->racers[i].setting.contender->name, groups);
    if (code == 0)
        print(&s->all, ways[way], "all", groups);
    return code;
}

static int number(int argc, char **argv, int at, int otherwise)
{
    return argc > at ? atoi(argv[at]) : otherwise;
}

int main(int argc, char **argv)
{
    static struct study s;
    const char *const baselines[] = {"torch.matmul", "cublas", "cublaslt-heuristic", NULL};
    const char *const candidates[] = {"cudal2", NULL};
    unsigned launches = (unsigned)number(argc, argv, 4, 48), groups = (unsigned)number(argc, argv, 5, 100);
    const int64_t m = number(argc, argv, 1, 256), n = number(argc, argv, 2, 256), k = number(argc, argv, 3, 256);
    const struct registry_request request = {.baselines = baselines,
                                             .candidates = candidates,
                                             .layouts = CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN),
                                             .plugin_directory = getenv("CUDAL2_STUDY_PLUGINS")};
    struct error err;
    s.problem = (struct cudal2_problem){.m = m,
                                        .n = n,
                                        .k = k,
                                        .lda = k,
                                        .ldb = n,
                                        .ldc = n,
                                        .alpha = 1,
                                        .dtype = CUDAL2_F16,
                                        .accumulate = CUDAL2_ACC_F32};
    s.shape = (struct device_shape){.launches = launches, .primers = launches / 8, .n_sets = 1, .loaded = true};
    if (device_open_cuda(0, &s.device, &err) != 0 || registry_open(&request, s.device, &s.registry, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 77;
    }
    int code = take(&s, &err);
    for (size_t i = 0; i < registry_count(s.registry) && code == 0 && s.n < CONTENDERS_MOST; i++)
        set_up(&s, registry_at(s.registry, i));
    wrap(&cuda_of(s.device)->driver);
    spent = &s.all;
    puts("way,contender,call,calls,us");
    for (int way = 0; way < WAYS && code == 0; way++)
        code = run(&s, (enum way)way, groups, &err);
    if (code != 0)
        fprintf(stderr, "%s\n", err.text);
    return code;
}
