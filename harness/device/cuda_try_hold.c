/*
 * cuda_try_hold.c - finds out whether this device's graphs can be held, by holding one: launched work waits for a word
 * of host memory, and a second thread writes that word if the launch does not come back within 0.2 s. Relies on
 * cuda_hold.c and cuda_segment.c. Called by cuda.c when a device is opened.
 */
#include "device/cuda_device.h"

#include <pthread.h>
#include <time.h>

#define PATIENCE_STEPS 200 /* of 1 ms */

/* Somebody who hands over if the host does not come back from the launch. */
struct guard {
    struct cuda_device *device;
    bool returned; /* atomic */
    bool needed;
};

static void *watch(void *context)
{
    struct guard *g = context;
    struct timespec step = {.tv_nsec = 1000000};
    int left = PATIENCE_STEPS;
    while (left > 0 && !__atomic_load_n(&g->returned, __ATOMIC_ACQUIRE)) {
        nanosleep(&step, NULL);
        left--;
    }
    g->needed = left == 0;
    if (g->needed)
        cuda_hand_over(g->device);
    return NULL;
}

/* *held: the launch came back while the stream was held. */
static int launch_guarded(struct cuda_device *c, const struct device_segment *s, bool *held, struct error *err)
{
    struct guard guard = {.device = c};
    struct error refused;
    pthread_t thread;
    *held = false;
    if (cuda_hold(c, &refused) != 0) /* the driver may have no such call for this device */
        return 0;
    int rc = 0;
    bool watched = pthread_create(&thread, NULL, watch, &guard) == 0;
    if (watched) {
        rc = driver_check(&c->driver, c->driver.graph_launch(s->exec, c->stream), err, "cuGraphLaunch (held)");
        __atomic_store_n(&guard.returned, true, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
    }
    cuda_hand_over(c);
    *held = watched && rc == 0 && !guard.needed;
    return rc;
}

int cuda_try_hold(struct cuda_device *c, struct error *err)
{
    const struct device_shape one = {.launches = 1, .n_sets = 1};
    struct device_segment *s = NULL;
    struct error wait_error;
    bool held = false;
    int rc = cuda_prepare(&c->base, NULL, &one, RUNG_GRAPH, &s, err);
    if (rc == 0 && cuda_rung(s) == RUNG_GRAPH)
        rc = launch_guarded(c, s, &held, err);
    int waited = cuda_stream_wait(c, rc == 0 ? err : &wait_error);
    cuda_release_segment(&c->base, s);
    c->base.info.holds = held;
    return rc == 0 ? waited : rc;
}
