/*
 * stack_guard.c - a keyed digest of a thread's stack from a frame to the top. Relies on base/random.h. Called by
 * worker.c for the top, and around launches by device/cpu.c and contender/plugin.c.
 */
#include "base/stack_guard.h"

#include <unistd.h>

#include "base/random.h"

#define MOST_WORDS (1u << 16) /* half a MiB: deeper is no stack of ours */

/* State of the thread that launches, of which a worker has one. */
static _Thread_local struct {
    const uint64_t *top;
    unsigned depth;
    int code;
} here;

void stack_guard_top(const void *frame, int code)
{
    here.top = frame;
    here.code = code;
}

/* Four sums side by side: a word after the other would wait for each multiplication. */
static uint64_t digest_of(const struct stack_guard *g)
{
    const volatile uint64_t *word = g->from;
    uint64_t sum[4] = {g->key, ~g->key, g->key << 1, g->key >> 1};
    for (size_t i = 0; i < g->words; i++) {
        size_t beyond = ((uintptr_t)&g->from[i] - (uintptr_t)g->skipped) / sizeof *g->from;
        uint64_t value = beyond < g->n_skipped ? 0 : word[i];
        sum[i % 4] = (sum[i % 4] ^ value) * 0x9e3779b97f4a7c15u;
        sum[i % 4] ^= sum[i % 4] >> 29;
    }
    return sum[0] ^ (sum[1] << 1) ^ (sum[2] << 2) ^ (sum[3] << 3);
}

void stack_guard_begin(struct stack_guard *g, const void *frame, const void *skipped, size_t skipped_bytes)
{
    const uint64_t *from = frame;
    uintptr_t first = (uintptr_t)skipped & ~(uintptr_t)7,
              last = ((uintptr_t)skipped + skipped_bytes + 7) & ~(uintptr_t)7;
    size_t words = from < here.top ? (size_t)(here.top - from) : 0;
    *g = (struct stack_guard){.from = from,
                              .skipped = (const uint64_t *)first,
                              .n_skipped = skipped ? (last - first) / 8 : 0,
                              .words = here.depth > 0 || words > MOST_WORDS ? 0 : words};
    here.depth++;
    if (g->words == 0)
        return;
    g->key = random_entropy();
    g->digest = digest_of(g);
}

bool stack_guard_end(const struct stack_guard *g)
{
    here.depth--;
    bool kept = g->words == 0 || digest_of(g) == g->digest;
    if (!kept && here.code)
        _exit(here.code);
    return kept;
}
