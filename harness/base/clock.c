/*
 * clock.c - the host's clocks: CLOCK_MONOTONIC and its raw form in nanoseconds, a wait that sleeps first and spins at
 * the end, and UTC for records. Called by every room that keeps a deadline or times the host.
 */
#include "base/clock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#define SPIN_NS 150000u

uint64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_raw_ns(void)
{
    struct timespec t = {0};
#if defined(__x86_64__)
    long status;
    __asm__ volatile("syscall"
                     : "=a"(status)
                     : "a"((long)SYS_clock_gettime), "D"((long)CLOCK_MONOTONIC_RAW), "S"(&t)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_clock_gettime;
    register long id __asm__("x0") = CLOCK_MONOTONIC_RAW;
    register struct timespec *out __asm__("x1") = &t;
    __asm__ volatile("svc 0" : "+r"(id) : "r"(number), "r"(out) : "memory");
#else
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
#endif
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_wait_until(uint64_t deadline_ns)
{
    uint64_t now = clock_now_ns();
    if (deadline_ns > now + SPIN_NS) {
        uint64_t wake = deadline_ns - SPIN_NS;
        struct timespec t = {.tv_sec = (time_t)(wake / 1000000000u), .tv_nsec = (long)(wake % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
        }
    }
    do {
        now = clock_now_ns();
    } while (now < deadline_ns);
    return now;
}

void clock_utc(char text[21])
{
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(text, 21, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
