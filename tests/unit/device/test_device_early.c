/* Launches that may begin before the one ahead of them has ended, as the capture of a segment sees them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/cuda.h"
#include "device/probe.h"
#include "mock_cuda.h"
#include "mock_cuda_run.h"

struct work {
    unsigned kernels, early; /* bit i: kernel i of a launch is launched early */
    bool stranger;           /* past the harness's own launch */
    bool veiled;             /* behind a veil */
    bool abreast;            /* hangs on the launch before the one ahead: moved under capture */
    bool loses;              /* its last kernel is taken out of what the stream waits for */
};

static uint16_t matrix[400];
static const struct cudal2_operands operands = {matrix, matrix, matrix};
static const struct probe_veil veil = {
    {.m = 20, .n = 20, .k = 20, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32}, &operands, 3};

static int launch_past(unsigned early)
{
    struct cu_launch_attribute attribute = {.id = CU_LAUNCH_EARLY, .value.early = 1};
    const struct cu_launch_config config = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .attributes = &attribute, .n_attributes = early};
    return cuda_of(d)->driver.launch(&config, (cu_function)1, NULL, NULL) == CU_OK ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}

static int launch(void *context, size_t set, char *why)
{
    const struct work *w = context;
    int status = CUDAL2_OK;
    (void)set;
    if (w->veiled)
        status = d->probes->veil(d, &veil, why);
    mock.abreast = w->abreast;
    for (unsigned i = 0; i < w->kernels && status == CUDAL2_OK; i++) {
        mock.loses = w->loses && i + 1 == w->kernels;
        const struct cuda_launch l = {.function = (void *)1,
                                      .grid = {1, 1, 1},
                                      .block = {32, 1, 1},
                                      .cluster = {1, 1, 1},
                                      .early = w->early >> i & 1};
        status = w->stranger ? launch_past(l.early) : cuda_launch(d, &l, why);
    }
    mock.abreast = mock.loses = false;
    return status;
}

/* What a segment of four launches and two primers was made of. */
struct made {
    bool early;
    unsigned programmatic, cut, wishes; /* edges, places without one, and kernels that say that they may */
    bool joined;
    unsigned tied; /* that had left out the one ahead, and hang on it now */
};

static enum device_join join; /* of what make() prepares */

static struct made make(const struct work *asked, bool overlap, enum device_rung rung)
{
    struct work w = *asked;
    const struct device_work work = {launch, &w, 0};
    const struct device_shape four = {.launches = 4, .primers = 2, .n_sets = 1, .overlap = overlap, .join = join};
    struct made made = {0};
    struct device_segment *s;
    struct error err;
    if (d->ops->prepare(d, &work, &four, rung, &s, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(d->ops->rung(s), mock.refuse_edges ? RUNG_BLOCKED : rung);
    made.early = d->ops->early(s);
    made.joined = d->ops->joined(s);
    for (size_t i = 0; s->graph && i < s->graph->n; i++) {
        made.programmatic += s->graph->ops[i].programmatic;
        made.cut += s->graph->ops[i].cut;
        made.wishes += s->graph->ops[i].early;
        made.tied += s->graph->ops[i].tied;
    }
    d->ops->release_segment(d, s);
    return made;
}

static void expect(const struct work *w, bool overlap, struct made wanted)
{
    struct made made = make(w, overlap, RUNG_GRAPH);
    assert_int_equal(made.early, wanted.early);
    assert_int_equal(made.programmatic, wanted.programmatic);
    assert_int_equal(made.cut, wanted.cut);
    assert_int_equal(made.wishes, wanted.wishes);
    assert_int_equal(made.joined, wanted.joined);
    assert_int_equal(made.tied, wanted.tied);
}

/* What a library's second kernel does behind its first is no overlap of launches. Between two primers and four launches
 * there is an event. */
static void overlap_that_is_asked_for_stays(void **state)
{
    (void)state;
    for (int stranger = 0; stranger < 2; stranger++) {
        expect(&(struct work){1, 0, stranger, false, false, false}, true, (struct made){0});
        expect(&(struct work){1, 1, stranger, false, false, false}, true, (struct made){true, 4, 0, 6, false, 0});
        expect(&(struct work){2, 2, stranger, false, false, false}, true, (struct made){false, 6, 0, 6, false, 0});
        expect(&(struct work){2, 3, stranger, false, false, false}, true, (struct made){true, 10, 0, 12, false, 0});
    }
}

/* It is told all the same. Edges inside a launch stay, and so does the wish of a kernel that hangs on an event. */
static void a_strangers_launches_are_kept_apart(void **state)
{
    (void)state;
    expect(&(struct work){1, 0, true, false, false, false}, false, (struct made){0});
    expect(&(struct work){1, 1, true, false, false, false}, false, (struct made){true, 0, 0, 2, false, 0});
    expect(&(struct work){2, 2, true, false, false, false}, false, (struct made){false, 6, 0, 6, false, 0});
    expect(&(struct work){2, 1, true, false, false, false}, false, (struct made){true, 0, 0, 2, false, 0});
    expect(&(struct work){2, 3, true, false, false, false}, false, (struct made){true, 6, 0, 8, false, 0});
    expect(&(struct work){3, 7, true, false, false, false}, false, (struct made){true, 12, 0, 14, false, 0});
}

/* What a library launched plainly gets what an early launch has: the same edges. Those inside a launch, and those of
 * who asked himself, are his own, and launches alone stay so. */
static void plain_launches_are_joined_on_request(void **state)
{
    (void)state;
    join = JOIN_LAUNCHES;
    for (int stranger = 0; stranger < 2; stranger++) {
        expect(&(struct work){1, 0, stranger, false, false, false}, true, (struct made){false, 4, 0, 0, true, 0});
        expect(&(struct work){2, 0, stranger, false, false, false}, true, (struct made){false, 4, 0, 0, true, 0});
        expect(&(struct work){2, 2, stranger, false, false, false}, true, (struct made){false, 10, 0, 6, true, 0});
        expect(&(struct work){1, 1, stranger, false, false, false}, true, (struct made){true, 4, 0, 6, false, 0});
        expect(&(struct work){1, 0, stranger, false, false, false}, false, (struct made){0});
    }
    join = JOIN_VEILS; /* what follows one, alone */
    expect(&(struct work){1, 0, true, false, false, false}, true, (struct made){0});
    expect(&(struct work){1, 0, true, true, false, false}, true, (struct made){false, 6, 0, 0, true, 0});
    expect(&(struct work){1, 1, true, true, false, false}, true, (struct made){true, 6, 0, 6, false, 0});
    expect(&(struct work){2, 0, true, true, false, false}, true, (struct made){false, 6, 0, 0, true, 0});
    join = JOIN_NONE;
}

/* As a run takes both: each time is its own graph's, whatever the other one holds. */
static void a_row_stands_beside_launches_alone(void **state)
{
    struct work w = {1, 1, false, false, false, false};
    const struct device_work work = {launch, &w, 0};
    struct device_shape shape = {.launches = 4, .primers = 2, .n_sets = 1};
    struct device_segment *alone, *row;
    struct error err;
    double ns;
    unsigned programmatic[2] = {0, 0};
    (void)state;
    assert_int_equal(d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &alone, &err), 0);
    shape.overlap = true;
    assert_int_equal(d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &row, &err), 0);
    assert_int_equal(alone->graph->n, row->graph->n);
    for (size_t i = 0; i < row->graph->n; i++) {
        programmatic[0] += alone->graph->ops[i].programmatic;
        programmatic[1] += row->graph->ops[i].programmatic;
    }
    assert_int_equal(programmatic[0], 0);
    assert_int_equal(programmatic[1], 4);
    assert_int_equal(d->ops->rung(alone), d->ops->rung(row));
    assert_true(d->ops->early(alone) && d->ops->early(row));
    assert_int_equal(d->ops->measure(d, row, &ns, &err), 0);
    assert_int_equal(d->ops->measure(d, alone, &ns, &err), 0);
    d->ops->release_segment(d, row);
    d->ops->release_segment(d, alone);
}

/* A launch may also be moved under capture, so that it does not wait for the one ahead; the first of all cannot be. The
 * event ahead of the first timed one counts as a launch, too. In a row overlap is allowed. */
static void launches_moved_abreast_are_kept_apart(void **state)
{
    (void)state;
    expect(&(struct work){1, 0, true, false, true, false}, false, (struct made){true, 0, 0, 0, false, 4});
    expect(&(struct work){1, 0, true, false, true, false}, true, (struct made){0});
}

/* What nothing waits for is done after the time is over, or beside others. */
static void work_that_nothing_waits_for_is_told(void **state)
{
    struct work w = {2, 0, true, false, false, true};
    const struct device_work work = {launch, &w, 0};
    struct device_shape four = {.launches = 4, .primers = 2, .n_sets = 1};
    (void)state;
    for (int overlap = 0; overlap < 2; overlap++) {
        struct device_segment *s;
        struct error err;
        four.overlap = overlap;
        assert_int_equal(d->ops->prepare(d, &work, &four, RUNG_GRAPH, &s, &err), EXIT_CODE_VERIFICATION);
        assert_non_null(strstr(err.text, "stream_escape: 6 of 12 kernels"));
    }
    assert_int_equal(mock.live_graphs, 0);
}

/* The harness does not make its own launches so in the first place, on whatever rung. */
static void the_harness_launches_one_after_the_other(void **state)
{
    (void)state;
    const struct work w = {1, 1, false, false, false, false};
    expect(&w, false, (struct made){true, 0, 0, 0, false, 0});
    mock.last_config = (struct cu_launch_config){0};
    assert_true(make(&w, false, RUNG_EVENTS).early);
    assert_int_equal(mock.last_config.n_attributes, 0);
    assert_true(make(&w, true, RUNG_EVENTS).early == false && mock.last_config.n_attributes == 1);
}

/* What cannot be kept apart is no graph. */
static void edges_that_do_not_change_refuse_the_graph(void **state)
{
    (void)state;
    mock.refuse_edges = CU_NOT_SUPPORTED;
    make(&(struct work){1, 1, true, false, false, false}, false, RUNG_GRAPH);
}

/* How often a segment of this work is captured, and how many launches are marked. */
static void expect_captures(const struct work *asked, int captures, int marks)
{
    static struct work w; /* of one place: work is known again by that */
    const struct device_work work = {launch, &w, 0};
    const struct device_shape four = {.launches = 4, .primers = 2, .n_sets = 1};
    struct device_segment *s;
    struct error err;
    w = *asked;
    mock.captures = mock.capture_infos = 0;
    assert_int_equal(d->ops->prepare(d, &work, &four, RUNG_GRAPH, &s, &err), 0);
    for (size_t i = 0; i < s->graph->n; i++)
        assert_false(s->graph->ops[i].programmatic && asked->kernels == 1);
    d->ops->release_segment(d, s);
    assert_int_equal(mock.captures, captures);
    assert_int_equal(mock.capture_infos, marks + 4 * captures); /* and ahead of each record, and behind it */
    assert_int_equal(mock.live_graphs, 0);
}

/* Others are captured once, and the driver is asked once. Who changes his mind is found out all the same. */
static void launches_are_marked_where_some_may_overlap(void **state)
{
    (void)state;
    expect_captures(&(struct work){1, 0, true, false, false, false}, 1, 0);
    expect_captures(&(struct work){1, 0, true, false, false, false}, 1, 0);
    expect_captures(&(struct work){1, 1, true, false, false, false}, 2, 8);
    expect_captures(&(struct work){1, 1, true, false, false, false}, 1, 8);
    expect_captures(&(struct work){2, 2, true, false, false, false}, 1, 8); /* inside a launch */
    expect_captures(&(struct work){1, 0, true, false, false, false}, 1, 8);
    expect_captures(&(struct work){1, 0, true, false, false, false}, 1, 0);
}

static void an_older_driver_has_none(void **state)
{
    (void)state;
    d->ops->close(d);
    withheld = "cuGraphGetEdges";
    assert_int_equal(mock_open(&d), 0);
    withheld = NULL;
    assert_false(make(&(struct work){1, 1, true, false, false, false}, true, RUNG_GRAPH).early);
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-early-XXXXXX";
    const struct CMUnitTest tests[] = {
        ON_MOCK(overlap_that_is_asked_for_stays),
        ON_MOCK(plain_launches_are_joined_on_request),
        ON_MOCK(a_row_stands_beside_launches_alone),
        ON_MOCK(a_strangers_launches_are_kept_apart),
        ON_MOCK(launches_moved_abreast_are_kept_apart),
        ON_MOCK(work_that_nothing_waits_for_is_told),
        ON_MOCK(the_harness_launches_one_after_the_other),
        ON_MOCK(edges_that_do_not_change_refuse_the_graph),
        ON_MOCK(an_older_driver_has_none),
        ON_MOCK(launches_are_marked_where_some_may_overlap),
    };
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
