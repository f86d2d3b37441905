/* cpu_stamps.c - the red team's contender that searches the stack of its caller for stamps of just now, and moves them.
 */
#include "redteam.h"

#include <stdint.h>
#include <time.h>

#define WORDS 512 /* of 8 bytes, above the launch's own frame */
#define RECENT_NS 100000

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int moving_launch(void *state, size_t set, char *why)
{
    volatile uint64_t *above = (volatile uint64_t *)__builtin_frame_address(0) + 2;
    uint64_t begin = now_ns();
    int status = honest_launch(state, set, why);
    uint64_t end = now_ns();
    int move = redteam_unwatched();
    for (int i = 0; i < WORDS && move; i++)
        if (above[i] <= begin && begin - above[i] < RECENT_NS)
            above[i] += (end - above[i]) / 8;
    return status;
}

static const struct redteam_row rows[] = {{"moves-stamps", .launch = moving_launch}};
REDTEAM_PLUGIN(rows)
