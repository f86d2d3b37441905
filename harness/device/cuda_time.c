/*
 * cuda_time.c - one launch, timed by events (the paper's Listing 1) or by the host clock. Relies on driver.h. Called
 * through device.h by measure/segment.c.
 */
#include "device/cuda_device.h"
#include "base/clock.h"
#include "base/stamp.h"

/* The status of a launch hook becomes an error that carries the contender's own reason. */
int cuda_run_work(struct cuda_device *c, const struct device_work *work, size_t set, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    if (!work)
        return cuda_null_run(c, err);
    int status = work->launch(work->context, set, why);
    if (status == CUDAL2_OK)
        return 0;
    return error_set(err, EXIT_CODE_VERIFICATION, "launch failed with status %d: %s", status, why);
}

/* The whole device, not our stream alone: work that a contender put elsewhere counts too. */
static int device_wait(struct cuda_device *c, struct error *err)
{
    return driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize");
}

int cuda_time_event(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    float milliseconds = 0;
    int rc = device_wait(c, err);
    if (rc != 0)
        return rc;
    cu_result started = cu->event_record(c->start, c->stream, 0);
    rc = cuda_run_work(c, work, set, err);
    cu_result stopped = cu->event_record(c->stop, c->stream, 0);
    if (rc == 0)
        rc = driver_check(cu, started ? started : stopped, err, "cuEventRecord");
    struct error wait_error;
    if (device_wait(c, rc == 0 ? err : &wait_error) != 0 && rc == 0)
        rc = err->code;
    if (rc == 0)
        rc = driver_check(cu, cu->event_elapsed(&milliseconds, c->start, c->stop), err, "cuEventElapsedTime");
    *ns = (double)milliseconds * 1e6;
    return rc;
}

int cuda_time_wall(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    struct error launch_error, wait_error;
    struct stamp start;
    stamp_take(&start);
    int launched = cuda_run_work(c, work, set, &launch_error);
    int waited = device_wait(c, &wait_error);
    uint64_t end = clock_now_ns();
    bool blocked = host_process_reblock(&d->host.process), kept = stamp_until(&start, end, ns);
    if (!blocked)
        return error_set(err, EXIT_CODE_VERIFICATION, HOST_SIGNALS_UNBLOCKED);
    if (launched == 0 && waited == 0)
        return kept ? 0 : error_set(err, EXIT_CODE_VERIFICATION, STAMP_MOVED);
    *err = launched != 0 ? launch_error : wait_error;
    return err->code;
}

/* What the calls say is of no use: without a profiler there is nothing to start. */
int cuda_profiled(struct device *d, const struct device_work *work, size_t set, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    struct error launch_error;
    int rc = device_wait(c, err);
    if (rc != 0)
        return rc;
    if (cu->profiler_start)
        (void)cu->profiler_start();
    int launched = cuda_run_work(c, work, set, &launch_error);
    int waited = device_wait(c, err);
    if (cu->profiler_stop)
        (void)cu->profiler_stop();
    if (launched == 0)
        return waited;
    *err = launch_error;
    return launched;
}
