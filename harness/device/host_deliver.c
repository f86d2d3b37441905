/*
 * host_deliver.c - puts new inputs where a contender finds them, at the last moment: a copy and nothing else. Relies on
 * the extents of model/problem.h. Called by host_probe.c, for contenders in processes of their own.
 */
#include <string.h>

#include "device/host_check.h"
#include "device/probe.h"

#define WORD 8u

/* Past the caches, but for what is no whole word. Returns how much. */
static size_t copy_words(char *to, const char *from, size_t bytes)
{
    size_t done = 0;
#if defined(__x86_64__)
    for (; (uintptr_t)to % WORD == 0 && bytes - done >= WORD; done += WORD) {
        long long word;
        memcpy(&word, from + done, WORD);
        __builtin_ia32_movnti64((long long *)(void *)(to + done), word);
    }
    __builtin_ia32_sfence();
#else
    (void)to, (void)from, (void)bytes;
#endif
    return done;
}

static void copy(char *to, const char *from, size_t bytes, bool cold)
{
    size_t done = cold ? copy_words(to, from, bytes) : 0;
    memcpy(to + done, from + done, bytes - done);
    if (cold && done < bytes)
        (void)host_evict(to + done, bytes - done);
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
