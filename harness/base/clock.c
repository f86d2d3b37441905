#include "base/clock.h"

#include <errno.h>
#include <time.h>

#define SPIN_NS 150000u

uint64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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
