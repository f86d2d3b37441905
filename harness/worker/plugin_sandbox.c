/*
 * plugin_sandbox.c - opens the processes that plugins run in: how many, with how many threads, shared memory, and what
 * such a process gives up before it loads a plugin. Relies on contender/plugin_process.h and confine.h. Called by
 * worker.c.
 */
#include "worker/plugin_sandbox.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/stack_guard.h"
#include "worker/caches.h"
#include "worker/protocol.h"
#include "worker/restartable.h"

/* ---- in a plugin's process ---- */

/* A timer that goes off while this process stands still interrupts whoever runs: 16 in each of a rival's turns were
 * seen to slow it. None can be made; where calls are not filtered, few POSIX timers, which count as queued signals. */
#define SIGNALS_MOST 16

static void enter(void *context)
{
    const struct plugin_sandbox *a = context;
    struct confinement c = *a->asked;
    c.caches = CONFINE_CACHES_NONE;
    c.stops = true;
    for (int fd = PROTOCOL_FD; fd < CONFINE_LISTENER_FD; fd++)
        close(fd);
    close_range(CONFINE_LISTENER_FD + 1, ~0u, 0); /* what the worker holds open of its own */
    stage_page_unmap(a->page);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* its files of /proc are its own */
    stack_guard_top(NULL, 0);           /* nothing of the harness's is on its stack */
    (void)confine_lower(RLIMIT_SIGPENDING, SIGNALS_MOST);
    (void)restartable_leave();
    confine_keeping(&c, a->device);
    *a->entered = c;
    munmap(a->entered, sizeof *a->entered);
}

/* ---- in the worker ---- */

static void ended(void *context, int status)
{
    const struct plugin_sandbox *a = context;
    stage_page_write_plugin_end(a->page, status);
    _exit(PROTOCOL_PLUGIN_ENDED);
}

static void forged(void *context)
{
    (void)context;
    _exit(PROTOCOL_FORGED);
}

/* The last processor is the worker's where there are several. Returns how many plugins have. */
static int share_processors(cpu_set_t *plugins, cpu_set_t *harness)
{
    size_t last = 0;
    CPU_ZERO(harness);
    CPU_ZERO(plugins);
    if (sched_getaffinity(0, sizeof *plugins, plugins) != 0)
        return 0;
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        last = CPU_ISSET(i, plugins) ? i : last;
    CPU_SET(last, harness);
    if (CPU_COUNT(plugins) < 2)
        return 0;
    CPU_CLR(last, plugins);
    return CPU_COUNT(plugins);
}

static void begun(void *context, pid_t pid)
{
    struct device *d = ((const struct plugin_sandbox *)context)->device;
    if (d->n_others < DEVICE_OTHERS)
        d->others[d->n_others++] = pid;
}

/* For the libraries that plugins bring, which read these when they are loaded. */
static void tell_threads(int threads)
{
    char text[16];
    snprintf(text, sizeof text, "%d", threads);
    setenv("OMP_NUM_THREADS", text, 1);
    setenv("OPENBLAS_NUM_THREADS", text, 1);
}

static int open_processes(struct plugin_sandbox *a, struct error *err)
{
    struct plugin_processes_request request = {
        .enter = enter, .begun = begun, .ended = ended, .forged = forged, .context = a};
    int threads = share_processors(&request.plugins, &request.harness);
    request.alone = threads == 0;
    request.apart = host_pages_apart(a->device->pages);
    a->device->n_others = 0;
    a->device->info.threads = threads > 0 ? threads : 1;
    tell_threads(a->device->info.threads);
    a->processes = plugin_processes_open(&request);
    return a->processes ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for plugins' processes");
}

int plugin_sandbox_open(struct plugin_sandbox *a, const struct plugin_sandbox_request *request, struct error *err)
{
    struct device *d = request->device;
    void *memory = mmap(NULL, sizeof *a->entered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || host_pages_share(d->pages) != 0)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "no memory that processes can share");
    *a = (struct plugin_sandbox){.entered = memory, .asked = request->confinement, .device = d, .page = request->page};
    *a->entered = *request->confinement;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    stack_guard_top(NULL, 0); /* nobody else's code runs on this stack */
    return open_processes(a, err);
}

int plugin_sandbox_or_confine(struct plugin_sandbox *a, const struct plugin_sandbox_request *request, struct error *err)
{
    struct device *d = request->device;
    if (request->config->process_per_plugin && (d->info.device_bit & CUDAL2_ON_CPU) != 0 && device_cpu_reserve(d))
        return plugin_sandbox_open(a, request, err);
    caches_choose(request->config, request->plugin_directory, request->confinement);
    confine_keeping(request->confinement, d);
    return 0;
}

int plugin_sandbox_renew(struct plugin_sandbox *a, struct error *err)
{
    if (!a->processes)
        return 0;
    plugin_processes_close(a->processes);
    return open_processes(a, err);
}

void plugin_sandbox_note(const struct plugin_sandbox *a, struct confinement *out)
{
    if (!a->processes)
        return;
    *out = *a->entered;
    out->listener_socket = a->asked->listener_socket;
    out->process_per_plugin = true;
}

void plugin_sandbox_close(struct plugin_sandbox *a)
{
    plugin_processes_close(a->processes);
    if (a->entered)
        munmap(a->entered, sizeof *a->entered);
    *a = (struct plugin_sandbox){0};
}
