/*
 * host_deliver.c - puts new inputs where a contender finds them, at the last moment: a copy and nothing else. Relies on
 * the extents of model/problem.h. Called by measure/timed.c, for contenders in processes of their own.
 */
#include <string.h>

#include "device/host_check.h"
#include "device/probe.h"

#define WORD 8u

/* Past the caches where the machine can; what is no whole word follows through them. */
static void copy_cold(char *to, const char *from, size_t bytes)
{
    size_t words = bytes / WORD;
#if defined(__x86_64__)
    for (size_t i = 0; i < words; i++) {
        long long word;
        memcpy(&word, from + i * WORD, WORD);
        __builtin_ia32_movnti64((long long *)(void *)(to + i * WORD), word);
    }
    __builtin_ia32_sfence();
    for (size_t at = words * WORD; at < bytes; at++)
        to[at] = from[at];
    if (bytes % WORD != 0)
        __builtin_ia32_clflush(to + bytes - 1);
#else
    memcpy(to, from, bytes);
    (void)words;
#endif
}

static void copy(char *to, const char *from, size_t bytes, bool cold)
{
    if (cold && (uintptr_t)to % WORD == 0)
        copy_cold(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

static void deliver(const struct matrix_extent *e, size_t width, const void *from, void *to, bool cold)
{
    bool packed = e->stride == e->length;
    int64_t lines = packed ? 1 : e->lines;
    size_t bytes = (size_t)(packed ? e->lines * e->length : e->length) * width;
    for (int64_t line = 0; line < lines; line++) {
        size_t at = (size_t)(line * e->stride) * width;
        copy((char *)to + at, (const char *)from + at, bytes, cold);
    }
}

/* B last: without the whole of it no element of C is known. Contenders must not write A and B; the memory is the
 * harness's own. */
void host_deliver(const struct cudal2_problem *p, const struct probe_delivery *d)
{
    const struct matrix_extent a = problem_a(p), b = problem_b(p, d->layout);
    size_t width = dtype_bytes(p->dtype);
    deliver(&a, width, d->from_a, (void *)(uintptr_t)d->to->a, d->cold);
    deliver(&b, width, d->from_b, (void *)(uintptr_t)d->to->b, d->cold);
}
