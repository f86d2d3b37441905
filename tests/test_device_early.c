/* Launches that may begin before the one ahead of them has ended, as the capture of a segment sees them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/cuda.h"
#include "mock_cuda.h"
#include "mock_cuda_run.h"

struct work {
    unsigned kernels, early; /* bit i: kernel i of a launch is launched early */
};

static int launch(void *context, size_t set, char *why)
{
    const struct work *w = context;
    int status = CUDAL2_OK;
    (void)set;
    for (unsigned i = 0; i < w->kernels && status == CUDAL2_OK; i++) {
        const struct cuda_launch l = {.function = (void *)1,
                                      .grid = {1, 1, 1},
                                      .block = {32, 1, 1},
                                      .cluster = {1, 1, 1},
                                      .early = w->early >> i & 1};
        status = cuda_launch(d, &l, why);
    }
    return status;
}

static bool is_early(unsigned kernels, unsigned early)
{
    struct work w = {kernels, early};
    const struct device_work work = {launch, &w, 0};
    const struct device_shape four = {.launches = 4, .primers = 1, .n_sets = 1};
    struct device_segment *s;
    struct error err;
    if (d->ops->prepare(d, &work, &four, RUNG_GRAPH, &s, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    bool found = d->ops->early(s);
    d->ops->release_segment(d, s);
    return found;
}

/* What a library's second kernel does behind its first is no overlap of launches. */
static void overlapping_launches_are_seen(void **state)
{
    (void)state;
    assert_false(is_early(1, 0));
    assert_true(is_early(1, 1));
    assert_false(is_early(2, 2));
    assert_true(is_early(2, 3));
}

static void an_older_driver_has_none(void **state)
{
    (void)state;
    d->ops->close(d);
    withheld = "cuGraphGetEdges";
    assert_int_equal(mock_open(&d), 0);
    withheld = NULL;
    assert_false(is_early(1, 1));
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-early-XXXXXX";
    const struct CMUnitTest tests[] = {
        ON_MOCK(overlapping_launches_are_seen),
        ON_MOCK(an_older_driver_has_none),
    };
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
