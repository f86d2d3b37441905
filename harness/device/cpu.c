/*
 * cpu.c - the host as a device: real wall times; device and event timings do not exist here and are never imitated.
 * Relies on cpu_math.c and host_*.c. Called by open.c and `doctor`.
 */
#include "device/cpu_math.h"
#include "device/cpu_peak.h"
#include "base/host_memory.h"
#include "device/host_pages.h"
#include "device/host_plain.h"
#include "device/probe.h"
#include "base/clock.h"
#include "base/sanitized.h"
#include "base/stack_guard.h"
#include "base/stamp.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ALIGNMENT 256u
#define DEFAULT_CACHE (32u << 20)
/* Of the machine's memory: what is asked for at once never takes all of it, and blocks leave gaps. */
#define PAGES_TIMES 2u
#define DEFAULT_MEMORY (64ull << 30)

struct cpu_device {
    struct device base;
    size_t flush_bytes;
    unsigned char *flush; /* allocated at the first use */
    volatile unsigned char sink;
};

static void cpu_close(struct device *d)
{
    struct cpu_device *cpu = (struct cpu_device *)d;
    host_pages_close(d->pages);
    free(cpu->flush);
    free(cpu);
}

static int no_memory(size_t bytes, struct error *err)
{
    return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu bytes on the host", bytes);
}

static int alloc_on_heap(size_t bytes, void **out, struct error *err)
{
    size_t rounded = bytes < ALIGNMENT ? ALIGNMENT : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *out = rounded >= bytes ? aligned_alloc(ALIGNMENT, rounded) : NULL;
    return *out ? 0 : no_memory(bytes, err);
}

static int cpu_alloc(struct device *d, size_t bytes, void **out, struct error *err)
{
    if (!d->pages)
        return alloc_on_heap(bytes, out, err);
    *out = host_pages_take(d->pages, bytes);
    return *out ? 0 : no_memory(bytes, err);
}

static int cpu_alloc_own(struct device *d, size_t bytes, void **out, struct error *err)
{
    bool shared = d->pages && host_pages_are_shared(d->pages);
    return shared ? alloc_on_heap(bytes, out, err) : cpu_alloc(d, bytes, out, err);
}

static int cpu_alloc_apart(struct device *d, size_t bytes, void **out, struct error *err)
{
    struct host_apart *apart = d->pages ? host_pages_apart(d->pages) : NULL;
    if (!apart)
        return cpu_alloc(d, bytes, out, err);
    *out = host_apart_take(apart, bytes);
    return *out ? 0 : no_memory(bytes, err);
}

static void cpu_release(struct device *d, void *memory)
{
    struct host_apart *apart = d->pages ? host_pages_apart(d->pages) : NULL;
    if (apart && host_apart_give(apart, memory))
        return;
    if (!d->pages || !host_pages_give(d->pages, memory))
        free(memory);
}

/* Where nobody says how much is available, as in a sandbox without /proc, a limit of the config has to do. */
static int cpu_memory_free(struct device *d, uint64_t *bytes, struct error *err)
{
    struct host_memory memory;
    (void)d;
    (void)err;
    host_memory_read("", &memory);
    *bytes = memory.total || memory.available ? memory.available : UINT64_MAX;
    return 0;
}

static int cpu_copy(struct device *d, void *to, const void *from, size_t bytes, struct error *err)
{
    (void)d;
    (void)err;
    memcpy(to, from, bytes);
    return 0;
}

static int cpu_fill_op(struct device *d, void *memory, const struct fill *fill, struct error *err)
{
    (void)err;
    cpu_fill(d->info.threads, memory, fill);
    return 0;
}

static int cpu_sync(struct device *d, struct error *err)
{
    (void)d;
    (void)err;
    return 0;
}

static int cpu_flush(struct device *d, struct error *err)
{
    struct cpu_device *cpu = (struct cpu_device *)d;
    if (!cpu->flush)
        cpu->flush = malloc(cpu->flush_bytes);
    if (!cpu->flush)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a flush buffer of %zu bytes", cpu->flush_bytes);
    memset(cpu->flush, cpu->sink + 1, cpu->flush_bytes);
    unsigned char sum = 0;
    for (size_t i = 0; i < cpu->flush_bytes; i += 64)
        sum = (unsigned char)(sum + cpu->flush[i]);
    cpu->sink = sum;
    return 0;
}

static int cpu_reference_op(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                            const struct cudal2_operands *operands, float *reference, struct error *err)
{
    return cpu_reference(d->info.threads, p, layout, operands, reference, err);
}

static int cpu_reference_wide_op(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                                 const struct cudal2_operands *operands, double *reference, struct error *err)
{
    return cpu_reference_wide(d->info.threads, p, layout, operands, reference, err);
}

static int cpu_compare_op(struct device *d, const struct cudal2_problem *p, const void *c,
                          const struct expectation *expected, struct comparison *out, struct error *err)
{
    (void)err;
    cpu_compare(d->info.threads, p, c, expected, out);
    return 0;
}

static int cpu_prepare(struct device *d, const struct device_work *work, const struct device_shape *shape,
                       enum device_rung lowest, struct device_segment **out, struct error *err)
{
    (void)d;
    (void)work;
    (void)shape;
    (void)lowest;
    *out = NULL;
    return error_set(err, EXIT_CODE_UNAVAILABLE, "the CPU has no device timing");
}

static enum device_rung cpu_rung(const struct device_segment *segment)
{
    (void)segment;
    return RUNG_EVENTS;
}

static const char *cpu_rung_reason(const struct device_segment *segment)
{
    (void)segment;
    return "the CPU has no device timing";
}

static bool cpu_held(const struct device_segment *segment)
{
    (void)segment;
    return false;
}

static void cpu_reorder(struct device_segment *segment, uint64_t order)
{
    (void)segment;
    (void)order;
}

static int cpu_measure(struct device *d, struct device_segment *segment, double *ns, struct error *err)
{
    (void)d;
    (void)segment;
    (void)ns;
    return error_set(err, EXIT_CODE_UNAVAILABLE, "the CPU has no device timing");
}

static void cpu_release_segment(struct device *d, struct device_segment *segment)
{
    (void)d;
    (void)segment;
}

static int cpu_time_event(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err)
{
    (void)d;
    (void)work;
    (void)set;
    (void)ns;
    return error_set(err, EXIT_CODE_UNAVAILABLE, "the CPU has no event timing");
}

static int cpu_time_wall(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    struct stack_guard guard;
    struct stamp start;
    stack_guard_begin(&guard, __builtin_frame_address(0), NULL, 0);
    stamp_take(&start);
    int status = work->launch(work->context, set, why);
    uint64_t end = clock_now_ns();
    (void)stack_guard_end(&guard);
    if (!host_process_reblock(&d->host.process))
        return error_set(err, EXIT_CODE_VERIFICATION, HOST_SIGNALS_UNBLOCKED);
    if (!stamp_until(&start, end, ns))
        return error_set(err, EXIT_CODE_VERIFICATION, STAMP_MOVED);
    if (status != CUDAL2_OK)
        return error_set(err, EXIT_CODE_VERIFICATION, "launch failed with status %d: %s", status, why);
    return 0;
}

static int cpu_plain(struct device *d, const struct device_plain *plain, char *why)
{
    (void)d;
    (void)why;
    host_plain(plain);
    return CUDAL2_OK;
}

static int cpu_plain_differs(struct device *d, const struct device_plain *plain, uint64_t *elements, struct error *err)
{
    (void)d;
    return host_plain_differs(plain, elements, err);
}

static int cpu_settle(struct device *d, struct error *err)
{
    (void)err;
    host_state_restore(&d->host);
    if (d->pages)
        host_pages_restore(d->pages);
    return 0;
}

static void cpu_health(struct device *d, struct device_health *out)
{
    (void)d;
    *out = (struct device_health){.known = false};
}

static uint64_t cpu_now(struct device *d)
{
    (void)d;
    return clock_now_ns();
}

static uint64_t cpu_wait_until(struct device *d, uint64_t deadline_ns)
{
    (void)d;
    return clock_wait_until(deadline_ns);
}

static const struct device_ops cpu_ops = {
    .close = cpu_close,
    .alloc = cpu_alloc,
    .alloc_own = cpu_alloc_own,
    .alloc_apart = cpu_alloc_apart,
    .release = cpu_release,
    .memory_free = cpu_memory_free,
    .upload = cpu_copy,
    .download = cpu_copy,
    .fill = cpu_fill_op,
    .sync = cpu_sync,
    .flush = cpu_flush,
    .reference = cpu_reference_op,
    .reference_wide = cpu_reference_wide_op,
    .compare = cpu_compare_op,
    .prepare = cpu_prepare,
    .rung = cpu_rung,
    .rung_reason = cpu_rung_reason,
    .held = cpu_held,
    .reorder = cpu_reorder,
    .measure = cpu_measure,
    .release_segment = cpu_release_segment,
    .time_event = cpu_time_event,
    .time_wall = cpu_time_wall,
    .plain = cpu_plain,
    .plain_differs = cpu_plain_differs,
    .settle = cpu_settle,
    .health = cpu_health,
    .now = cpu_now,
    .wait_until = cpu_wait_until,
};

/* "model name" of x86, else the machine's architecture. */
static void read_name(char *name, size_t capacity)
{
    char line[256];
    struct utsname u;
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(name, capacity, "%s CPU", uname(&u) == 0 ? u.machine : "unknown");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!colon)
            continue;
        for (colon++; isspace((unsigned char)*colon); colon++) {
        }
        colon[strcspn(colon, "\n")] = 0;
        snprintf(name, capacity, "%s", colon);
        break;
    }
    if (file)
        fclose(file);
}

static int count_threads(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static void read_info(struct device_info *info)
{
    struct utsname u;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE), cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    *info = (struct device_info){.kind = "cpu", .device_bit = CUDAL2_ON_CPU, .timings = timing_bits(CUDAL2_ON_CPU)};
    info->threads = count_threads();
    read_name(info->name, sizeof info->name);
    if (uname(&u) == 0)
        snprintf(info->driver, sizeof info->driver, "%.31s", u.release);
    info->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    info->l2_bytes = cache > 0 ? (uint64_t)cache : 0;
    cpu_peak_read(info);
}

bool device_cpu_reserve(struct device *d)
{
    uint64_t memory = d->info.memory_bytes ? d->info.memory_bytes : DEFAULT_MEMORY;
    if (!d->pages)
        (void)host_pages_open(PAGES_TIMES * memory, &d->pages);
    return d->pages != NULL;
}

int device_open_cpu(struct device **out, struct error *err)
{
    struct cpu_device *cpu = calloc(1, sizeof *cpu);
    *out = NULL;
    if (!cpu)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for the CPU device");
    cpu->base.ops = &cpu_ops;
    cpu->base.probes = &probe_host;
    host_state_read(&cpu->base.host);
    read_info(&cpu->base.info);
    if (!SANITIZED) /* which sees more of an allocator's blocks */
        (void)device_cpu_reserve(&cpu->base);
    cpu->flush_bytes = 2 * (size_t)(cpu->base.info.l2_bytes ? cpu->base.info.l2_bytes : DEFAULT_CACHE);
    *out = &cpu->base;
    return 0;
}
