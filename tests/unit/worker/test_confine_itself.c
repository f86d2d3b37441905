/* worker/confine: the process's own state, which is not its own any more once it is confined: who gets its signals,
 * its filter, limits and place, and the code that its clock is read with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/confine.h"
#include "worker/restartable.h"

#include "confine_fixture.h"

/* ---- system calls ---- */

/* Signals by way of a descriptor's owner, its leases and its flags; what a descriptor needs still works. */
static int owners(void)
{
    int ends[2], owner = getppid(), on = 1;
    if (pipe(ends) != 0)
        return 1;
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    if (!refused(fcntl(ends[0], F_SETOWN, owner), EPERM) || !refused(fcntl(ends[0], F_SETSIG, SIGKILL), EPERM))
        return 2;
    if (!refused(fcntl(ends[0], F_SETFL, O_ASYNC), EPERM) || !refused(fcntl(ends[0], F_SETLEASE, F_RDLCK), EPERM))
        return 3;
    if (!refused(ioctl(ends[0], FIOASYNC, &on), EPERM) || !refused(ioctl(ends[0], 0x8901, &owner), EPERM) ||
        !refused(ioctl(ends[0], 0x8902, &owner), EPERM))
        return 4;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(ends[0], F_GETFL) < 0 || fcntl(ends[0], F_SETFD, 1) != 0)
        return 5;
    return ioctl(ends[0], FIONREAD, &on) == 0 && fcntl(ends[0], F_DUPFD_CLOEXEC, 20) >= 20 ? 0 : 6;
}

static void test_descriptors_send_no_signals(void **state)
{
    (void)state;
    check(owners);
}

/* Who decides over the system calls, the time stamps and the limits of this process is not this process any more. */
static int itself(void)
{
    struct rlimit limit = {1000, 1000};
    const struct sched_param none = {0};
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    if (!refused(syscall(SYS_seccomp, 1, 0, NULL), EPERM) || !refused(setrlimit(RLIMIT_NOFILE, &limit), EPERM))
        return 1;
    if (!refused(prctl(PR_SET_SECCOMP, 2, NULL), EPERM) || !refused(prctl(PR_SET_TSC, PR_TSC_SIGSEGV), EPERM) ||
        !refused(prctl(59, 1, 0, 0, 0), EPERM))
        return 2;
    if (!SANITIZED && (!refused(prctl(PR_SET_DUMPABLE, 0), EPERM) || !refused(prctl(PR_SET_TIMERSLACK, 1), EPERM)))
        return 3;
    if (!refused(sched_setscheduler(0, SCHED_BATCH, &none), EPERM) || !refused(setpriority(PRIO_PROCESS, 0, 5), EPERM))
        return 4;
    return refused(chmod("/tmp", 01777), EPERM) && refused(chdir("/"), EPERM) && refused(setuid(getuid()), EPERM) ? 0
                                                                                                                  : 5;
}

static void test_the_process_keeps_its_state(void **state)
{
    (void)state;
    check(itself);
}

static void *wait_forever(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

/* libc's own signals reach every thread, and SIGTRAP comes after each instruction where that is asked for: nobody gets
 * a handler for them. Threads can be cancelled as ever. */
static int own_signals(void)
{
    const uint64_t action[4] = {0};
    uint64_t old[4];
    pthread_t thread;
    void *end = NULL;
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    if (!refused(syscall(SYS_rt_sigaction, 32, action, NULL, 8), EPERM) ||
        !refused(syscall(SYS_rt_sigaction, 33, action, NULL, 8), EPERM) ||
        !refused(syscall(SYS_rt_sigaction, SIGTRAP, action, NULL, 8), EPERM))
        return 1;
    if (syscall(SYS_rt_sigaction, SIGTRAP, NULL, old, 8) != 0 ||
        syscall(SYS_rt_sigaction, SIGUSR1, action, NULL, 8) != 0)
        return 4; /* what handles it may be asked */
    if (pthread_create(&thread, NULL, wait_forever, NULL) != 0 || pthread_cancel(thread) != 0)
        return 2;
    return pthread_join(thread, &end) == 0 && end == PTHREAD_CANCELED ? 0 : 3;
}

static void test_own_signals_of_libc_are_kept(void **state)
{
    (void)state;
    check(own_signals);
}

/* A library says what it needs of its memory and files; what rivals' code lies on stays in memory. */
static int advice(void)
{
    const size_t page = 4096;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || memory == MAP_FAILED)
        return 1;
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    if (!refused(syscall(SYS_fadvise64, file, 0, 0, POSIX_FADV_DONTNEED), EPERM) ||
        posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL) != 0)
        return 2;
    if (!refused(madvise(memory, page, 21), EPERM) || !refused(madvise(memory, page, MADV_REMOVE), EPERM))
        return 3;
    return madvise(memory, page, MADV_DONTNEED) == 0 && madvise(memory, page, MADV_WILLNEED) == 0 ? 0 : 4;
}

static void test_pages_of_files_stay_in_memory(void **state)
{
    (void)state;
    check(advice);
}

/* A call that is newer than the list is not there: a library then takes its older way. */
static int newer_calls(void)
{
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    return refused(syscall(499), ENOSYS) ? 0 : 1;
}

static void test_newer_calls_are_not_there(void **state)
{
    (void)state;
    check(newer_calls);
}

/* ---- memory ---- */

static int clock_page(void)
{
    char *page = (char *)getauxval(AT_SYSINFO_EHDR), *code = (char *)(uintptr_t)clock_gettime;
    struct timespec now;
    if (!confined("memory", CONFINE_MEMORY))
        return NOT_HERE;
    if (mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0 || munmap(page, 4096) == 0)
        return 1;
    if (mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
        return 2;
    if (!SANITIZED && mprotect(code - (uintptr_t)code % 4096, 4096, PROT_READ | PROT_WRITE) == 0)
        return 3;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? 0 : 4;
}

static void test_code_of_the_clock_is_sealed(void **state)
{
    (void)state;
    check(clock_page);
}

#define PAGE 4096

/* Every way to change what lies at `at`; 0: all are denied. */
static int changes(char *at, size_t bytes, char *own)
{
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, to = MREMAP_MAYMOVE | MREMAP_FIXED;
    if (!refused(syscall(SYS_mprotect, at, bytes, PROT_READ | PROT_WRITE), EPERM) ||
        !refused(syscall(SYS_munmap, at, bytes), EPERM))
        return 1;
    if (!refused(syscall(SYS_mmap, at, bytes, PROT_READ, anonymous, -1, 0l), EPERM))
        return 2;
    return refused(syscall(SYS_mremap, at, bytes, (size_t)PAGE, MREMAP_MAYMOVE, 0l), EPERM) &&
                   refused(syscall(SYS_mremap, own, (size_t)PAGE, bytes, to, at), EPERM)
               ? 0
               : 3;
}

/* The filter alone, on a kernel without mseal: two ranges, what overlaps them, and what lies beside them. */
static int named_range(void)
{
    char note[CONFINE_NOTE] = "", *pages = mmap(NULL, 9 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uint64_t from = (uint64_t)(uintptr_t)pages;
    const struct confine_ranges ranges = {
        .list = {{from + 2 * PAGE, from + 4 * PAGE}, {from + 6 * PAGE, from + 7 * PAGE}}, .n = 2};
    const struct {
        int first, n;
    } rows[] = {{2, 1}, {3, 1}, {1, 2}, {0, 9}, {3, 2}, {2, 2}, {6, 1}, {5, 2}, {6, 3}};
    if (pages == MAP_FAILED || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        confine_calls(&ranges, false, NULL, note) != 0)
        return NOT_HERE;
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        int way = changes(pages + rows[i].first * PAGE, (size_t)rows[i].n * PAGE, pages + 8 * PAGE);
        if (way)
            return 10 * (i + 1) + way;
    }
    if (mprotect(pages, 2 * PAGE, PROT_WRITE) != 0 || mprotect(pages + 4 * PAGE, 2 * PAGE, PROT_WRITE) != 0)
        return 1;
    if (mmap(pages + 4 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return 2;
    if (mmap(pages + 2 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return 3; /* it lies elsewhere */
    return munmap(pages + 7 * PAGE, 2 * PAGE) == 0 ? 0 : 4;
}

static void test_a_range_is_kept_by_the_filter(void **state)
{
    (void)state;
    check(named_range);
}

/* ---- timers ---- */

static int asks_for_timers(bool stops)
{
    char note[CONFINE_NOTE] = "";
    const struct confine_ranges none = {.n = 0};
    const struct itimerval never = {.it_value = {0}};
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    int number = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || confine_calls(&none, stops, NULL, note) != 0)
        return NOT_HERE;
    long made = syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &number);
    if (!stops)
        return made == 0 && setitimer(ITIMER_REAL, &never, NULL) == 0 ? 0 : 1;
    if (!refused(made, EPERM) || !refused(setitimer(ITIMER_REAL, &never, NULL), EPERM))
        return 2;
#if defined(SYS_alarm)
    return refused(syscall(SYS_alarm, 1), EPERM) ? 0 : 3;
#else
    return 0;
#endif
}

static int timers_denied(void)
{
    return asks_for_timers(true);
}

static int timers_allowed(void)
{
    return asks_for_timers(false);
}

static void test_timers_only_where_they_may_be(void **state)
{
    (void)state;
    check(timers_denied);
    check(timers_allowed);
}

/* ---- restartable sequences ---- */

#if defined(__aarch64__)
#define SIGNATURE 0xd428bc00u
#else
#define SIGNATURE 0x53053053u
#endif

/* Of the calling thread, which has none of its own while this succeeds. */
static long registers(int flags)
{
    static _Thread_local _Alignas(32) char area[32];
    return syscall(SYS_rseq, area, sizeof area, flags, SIGNATURE);
}

static void *registers_there(void *result)
{
    *(bool *)result = registers(0) == 0;
    return NULL;
}

static bool thread_registers(void)
{
    bool result = false;
    pthread_t thread;
    if (pthread_create(&thread, NULL, registers_there, &result) != 0)
        return false;
    pthread_join(thread, NULL);
    return result;
}

/* The library's is in the way until it was left; then nobody has one, and the library does without. */
static int leaves_restartable(void)
{
    if (registers(0) == 0 || errno == ENOSYS)
        return NOT_HERE; /* the library registers nothing */
    if (thread_registers() || !restartable_leave())
        return 1;
    if (registers(0) != 0 || registers(1) != 0)
        return 2;
    return thread_registers() && sched_getcpu() >= 0 ? 0 : 3;
}

/* Who stops makes none again, on no thread. */
static int restartable_denied(void)
{
    char note[CONFINE_NOTE] = "";
    const struct confine_ranges none = {.n = 0};
    int left = leaves_restartable();
    if (left != 0)
        return left;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || confine_calls(&none, true, NULL, note) != 0)
        return NOT_HERE;
    if (!refused(registers(0), EPERM))
        return 4;
    return thread_registers() || sched_getcpu() < 0 ? 5 : 0;
}

static void test_no_sequence_restarts_where_it_stops(void **state)
{
    (void)state;
    check(restartable_denied);
}

/* ---- memory of the harness's matrices ---- */

#define SPAN ((uint64_t)1 << 32)
#define MB ((size_t)1 << 20)

static char *span; /* two stretches of 4 GiB, with some of the same mapping in front and behind */

/* In force: `span` may not be touched. */
static bool keep_span(void)
{
    char note[CONFINE_NOTE] = "";
    char *memory = mmap(NULL, 4 * SPAN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    span = memory + (SPAN - (uintptr_t)memory % SPAN);
    const uint64_t from = (uint64_t)(uintptr_t)span;
    const struct confine_ranges ranges = {.operands = {from, from + 2 * SPAN}};
    return memory != MAP_FAILED && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           confine_calls(&ranges, false, NULL, note) == 0;
}

/* Every way in, at every place. By number where a sanitizer has a call of its own. */
static int kept_calls(void)
{
    const struct {
        int64_t at;
        uint64_t bytes;
    } places[] = {{0, 4096},
                  {0, 2 * SPAN},
                  {0, 16 * SPAN},
                  {-4096, 4097},
                  {-4096, 8192},
                  {(int64_t)SPAN, 4096},
                  {(int64_t)SPAN - 4096, 8192},
                  {-(int64_t)MB, 1ull << 46},
                  {(int64_t)(2 * SPAN) - 4096, 4096},
                  {(int64_t)(2 * SPAN) - 4096, 1ull << 46}};
    const unsigned long nodes = 1;
    if (!keep_span())
        return NOT_HERE;
    for (int i = 0; i < (int)(sizeof places / sizeof *places); i++) {
        char *at = span + places[i].at;
        size_t bytes = places[i].bytes;
        if (!refused(madvise(at, bytes, MADV_HUGEPAGE), EPERM) || !refused(madvise(at, bytes, MADV_COLD), EPERM))
            return 10 + i;
        if (!refused(syscall(SYS_mlock, at, bytes), EPERM) || !refused(mlock2(at, bytes, 0), EPERM) ||
            !refused(syscall(SYS_munlock, at, bytes), EPERM))
            return 30 + i;
        if (!refused(syscall(SYS_mprotect, at, bytes, PROT_READ), EPERM) ||
            !refused(syscall(SYS_munmap, at, bytes), EPERM))
            return 40 + i;
        if (!refused(syscall(SYS_mbind, at, bytes, 3, &nodes, 2ul, 0u), EPERM))
            return 50 + i;
        if (!refused(syscall(SYS_mmap, at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0l), EPERM))
            return 60 + i;
        if (!refused(syscall(SYS_mremap, at, bytes, 4096ul, MREMAP_MAYMOVE, 0l), EPERM))
            return 80 + i;
    }
    return 0;
}

static void test_pages_of_matrices_are_kept(void **state)
{
    (void)state;
    check(kept_calls);
}

/* A block of its own may not be moved there, but to elsewhere; all that lies beside it is whose it was. */
static int beside_it(void)
{
    char *own = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED || !keep_span())
        return NOT_HERE;
    char *before = span - 4096, *behind = span + 2 * SPAN;
    if (mremap(own, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, span + 4096) != MAP_FAILED || errno != EPERM)
        return 1;
    if (mremap(own, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, behind) != behind)
        return 2;
    if (mlock(before, 4096) != 0 || munlock(before, 4096) != 0 || mprotect(before, 4096, PROT_READ) != 0)
        return 3;
    if (madvise(behind, MB, MADV_DONTNEED) != 0 || munmap(behind, 4096) != 0 || munmap(before, 4096) != 0)
        return 4;
    if (mmap(span, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) /* elsewhere: it is taken */
        return 5;
    return mmap(NULL, MB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 6 : 0;
}

static void test_what_lies_beside_them_is_not(void **state)
{
    (void)state;
    check(beside_it);
}

static int given_back(void)
{
    if (!keep_span())
        return NOT_HERE;
    span[0] = span[SPAN] = 1;
    if (!refused(madvise(span, SPAN, MADV_DONTNEED), EPERM) || !refused(madvise(span, 2 * SPAN, MADV_FREE), EPERM))
        return 1;
    if (madvise(span, 2 * SPAN, MADV_DONTNEED) != 0)
        return 2;
    return ((volatile char *)span)[0] == 0 && ((volatile char *)span)[SPAN] == 0 ? 0 : 3;
}

static void test_they_are_given_back_as_a_whole(void **state)
{
    (void)state;
    check(given_back);
}

/* Where addresses cannot be reserved the record says so, of the CPU device. */
static int without_pages(void)
{
    struct device d = {.info = {.device_bit = CUDAL2_ON_CPU}};
    struct confinement c;
    struct error err;
    for (int cpu = 0; cpu < 2; cpu++) {
        d.info.device_bit = cpu ? CUDAL2_ON_CPU : CUDAL2_ON_CUDA;
        if (confine_parse("memory", &c, &err) != 0)
            return 1;
        confine_keeping(&c, &d);
        bool told = strstr(c.note[CONFINE_MEMORY], "pages: ") != NULL;
        if (!c.note[CONFINE_MEMORY][0] || told) /* else mseal is not there, and that is told */
            if (told != (cpu && !SANITIZED))
                return 2;
    }
    return 0;
}

static void test_matrices_on_other_pages_are_told(void **state)
{
    (void)state;
    check(without_pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors_send_no_signals),
        cmocka_unit_test(test_the_process_keeps_its_state),
        cmocka_unit_test(test_own_signals_of_libc_are_kept),
        cmocka_unit_test(test_pages_of_files_stay_in_memory),
        cmocka_unit_test(test_code_of_the_clock_is_sealed),
        cmocka_unit_test(test_newer_calls_are_not_there),
        cmocka_unit_test(test_timers_only_where_they_may_be),
        cmocka_unit_test(test_a_range_is_kept_by_the_filter),
        cmocka_unit_test(test_pages_of_matrices_are_kept),
        cmocka_unit_test(test_what_lies_beside_them_is_not),
        cmocka_unit_test(test_they_are_given_back_as_a_whole),
        cmocka_unit_test(test_matrices_on_other_pages_are_told),
        cmocka_unit_test(test_no_sequence_restarts_where_it_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
