/* The CUDA device finds, on a driver of the test's own, that the events it times by were moved while they were
 * captured. */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"

enum { HONEST, AGAIN, IN_ANOTHERS_PLACE, OWN_EVENT, UNHUNG };

static double elsewhere;
static int launches; /* of this capture */

static struct op *start_of(struct cu_graph_opaque *graph)
{
    for (size_t i = 0; i < graph->n; i++)
        if (graph->ops[i].node_type == CU_NODE_EVENT_RECORD)
            return &graph->ops[i];
    return NULL;
}

/* What a launch does to the graph that it goes into, once behind its third launch. */
static void tamper(int does)
{
    struct op *start = start_of(mock.capture);
    if (does == AGAIN)
        m_event_record((cu_event)start->stamp, NULL, CU_RECORD_EXTERNAL);
    if (does == IN_ANOTHERS_PLACE) {
        m_event_record((cu_event)start->stamp, NULL, CU_RECORD_EXTERNAL);
        start->stamp = &elsewhere;
    }
    if (does == OWN_EVENT)
        m_event_record((cu_event)&elsewhere, NULL, CU_RECORD_EXTERNAL);
    if (does == UNHUNG)
        start->cut = true;
}

static int launch(void *context, size_t set, char *why)
{
    struct cuda_launch l = {.function = (void *)1, .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    (void)set;
    if (cuda_launch(d, &l, why) != CUDAL2_OK)
        return CUDAL2_LIBRARY_ERROR;
    if (mock.capture && ++launches == 3)
        tamper(*(const int *)context);
    return CUDAL2_OK;
}

/* The work's launches are counted anew in each capture. */
static int prepared(int does, unsigned primers, unsigned visits, struct error *err)
{
    const struct device_shape four = {.launches = 4, .primers = primers, .visits = visits, .n_sets = visits};
    struct device_work work = {launch, &does, 0};
    struct device_segment *s = NULL;
    launches = 0;
    int code = d->ops->prepare(d, &work, &four, RUNG_GRAPH, &s, err);
    if (code == 0) {
        assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
        d->ops->release_segment(d, s);
    }
    return code;
}

static void a_clock_that_was_moved_is_found(void **state)
{
    static const int bad[] = {AGAIN, IN_ANOTHERS_PLACE, UNHUNG};
    struct error err;
    (void)state;
    for (unsigned primers = 0; primers <= 2; primers++)
        for (size_t i = 0; i < (primers > 0 ? 3 : 2); i++) { /* without primers the start hangs on nothing */
            assert_int_equal(prepared(bad[i], primers, 1, &err), EXIT_CODE_VERIFICATION);
            assert_non_null(strstr(err.text, "tamper_suspected: the events"));
        }
}

static void who_leaves_it_alone_is_not_accused(void **state)
{
    struct error err;
    (void)state;
    for (unsigned primers = 0; primers <= 2; primers++)
        for (unsigned visits = 1; visits <= 2; visits++) {
            assert_int_equal(prepared(HONEST, primers, visits, &err), 0);
            assert_int_equal(prepared(OWN_EVENT, primers, visits, &err), 0);
        }
}

static void an_older_driver_cannot_tell(void **state)
{
    struct error err;
    (void)state;
    d->ops->close(d);
    withheld = "cuGraphEventRecordNodeGetEvent";
    assert_int_equal(mock_open(&d), 0);
    withheld = NULL;
    assert_int_equal(prepared(AGAIN, 0, 1, &err), 0);
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-records-XXXXXX";
    const struct CMUnitTest tests[] = {ON_MOCK(a_clock_that_was_moved_is_found),
                                       ON_MOCK(who_leaves_it_alone_is_not_accused),
                                       ON_MOCK(an_older_driver_cannot_tell)};
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
