/*
 * host_state.c - reads and restores what a thread or process carries: POSIX and interval timers, rounding mode,
 * denormals, number of threads. Called between contenders by host_probe.c, host_renew.c and cuda_probe.c.
 */
#include "device/host_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static const int interval_timers[HOST_INTERVAL_TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
static const char *const interval_names[HOST_INTERVAL_TIMERS] = {"real", "virtual", "profiling"};

/* ---- how the calling thread computes ---- */

#if defined(__x86_64__)
/* Without the bits that say what has happened. */
#define SSE_CONTROL 0xffc0u

static uint64_t arithmetic_now(void)
{
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return ((uint64_t)x87 << 32) | (__builtin_ia32_stmxcsr() & SSE_CONTROL);
}

static void set_arithmetic(uint64_t arithmetic)
{
    uint16_t x87 = (uint16_t)(arithmetic >> 32);
    __builtin_ia32_ldmxcsr((unsigned)arithmetic);
    __asm__ volatile("fldcw %0" : : "m"(x87));
}
#elif defined(__aarch64__)
static uint64_t arithmetic_now(void)
{
    return __builtin_aarch64_get_fpcr64() | (1ull << 63); /* never 0, which says that it is not known */
}

static void set_arithmetic(uint64_t arithmetic)
{
    __builtin_aarch64_set_fpcr64(arithmetic & ~(1ull << 63));
}
#else
static uint64_t arithmetic_now(void)
{
    return 0;
}

static void set_arithmetic(uint64_t arithmetic)
{
    (void)arithmetic;
}
#endif

bool host_state_computes_otherwise(const struct host_state *was)
{
    return was->arithmetic != 0 && arithmetic_now() != was->arithmetic;
}

void host_state_restore_arithmetic(const struct host_state *was)
{
    if (host_state_computes_otherwise(was))
        set_arithmetic(was->arithmetic);
}

/* ---- POSIX timers ---- */

#define TIMERS "/proc/self/timers"

/* Ids of the process's timers, one at a time, as the kernel lists them ("ID: 3"); -1 at the end. */
static int64_t next_timer(FILE *list)
{
    char line[128];
    int64_t id;
    while (list && fgets(line, sizeof line, list))
        if (sscanf(line, "ID: %" SCNd64, &id) == 1)
            return id;
    return -1;
}

/* The list as it was opened once, and by whom: to open it takes ten times as long as to read it, and it is read behind
 * every setup. Who closes it, or puts another file in its place, gains nothing: it is opened again, and what stands
 * there now is left to its owner. */
static struct {
    int fd; /* 0: never opened */
    pid_t process;
    struct stat file;
} timers;

static bool is_open(void)
{
    struct stat now;
    return timers.fd > 0 && timers.process == getpid() && fstat(timers.fd, &now) == 0 &&
           now.st_dev == timers.file.st_dev && now.st_ino == timers.file.st_ino;
}

/* Most processes have none, and of those one read says it. */
static bool has_timers(void)
{
    char first;
    if (!is_open()) {
        timers.fd = open(TIMERS, O_RDONLY | O_CLOEXEC);
        timers.process = getpid();
        if (timers.fd <= 0 || fstat(timers.fd, &timers.file) != 0)
            return true; /* not known */
    }
    return pread(timers.fd, &first, 1, 0) != 0;
}

static int64_t last_timer(void)
{
    int64_t last = -1;
    if (!has_timers())
        return last;
    FILE *list = fopen(TIMERS, "re");
    for (int64_t id = next_timer(list); id >= 0; id = next_timer(list))
        last = id > last ? id : last;
    if (list)
        fclose(list);
    return last;
}

/* The kernel gives ids in turn, so what is new is above what was. Its id is no timer_t of libc's, hence the call. */
static void delete_timers_above(int64_t kept)
{
    FILE *list = fopen(TIMERS, "re");
    for (int64_t id = next_timer(list); id >= 0; id = next_timer(list))
        if (id > kept)
            (void)syscall(SYS_timer_delete, (int)id);
    if (list)
        fclose(list);
}

/* ---- threads ---- */

/* The directory has two links, and one for each thread: a tenth of what /proc/self/status takes to write. */
unsigned host_state_threads(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 0;
}

/* ---- together ---- */

/* All but what of the process is not put back. */
static void read_kept(struct host_state *out)
{
    struct itimerval timer;
    for (int i = 0; i < HOST_INTERVAL_TIMERS; i++)
        out->armed[i] = getitimer((__itimer_which_t)interval_timers[i], &timer) == 0 &&
                        (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0);
    out->last_timer = last_timer();
    out->arithmetic = arithmetic_now();
    host_process_read_kept(&out->process);
}

void host_state_read(struct host_state *out)
{
    read_kept(out);
    host_process_read(&out->process);
}

void host_state_changes(const struct host_state *was, char what[128])
{
    struct host_state now;
    what[0] = '\0';
    read_kept(&now);
    host_process_changes(&was->process, &now.process, what);
    if (host_state_computes_otherwise(was))
        snprintf(what, 128, "rounding or the treatment of denormal numbers was changed for the launching thread");
    if (now.last_timer > was->last_timer)
        snprintf(what, 128, "a timer was left behind in the process");
    for (int i = 0; i < HOST_INTERVAL_TIMERS; i++)
        if (now.armed[i] && !was->armed[i])
            snprintf(what, 128, "an interval timer (%s) was left running in the process", interval_names[i]);
}

void host_state_restore(struct host_state *was)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    for (int i = 0; i < HOST_INTERVAL_TIMERS; i++)
        if (!was->armed[i])
            (void)setitimer((__itimer_which_t)interval_timers[i], &never, NULL);
    delete_timers_above(was->last_timer);
    host_process_restore(&was->process);
    host_state_restore_arithmetic(was);
}
