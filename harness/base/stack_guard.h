/*
 * stack_guard.h - the stack above a stranger's code: return addresses of the harness, and what its functions keep
 * there. Nobody else changes it while that code runs on this thread. Who replaces a return address would run again when
 * the clock has been read, and who changes a number there would be what the record says.
 *
 * A digest is taken before and compared after. (Who knows this file can change the digest too: docs/trust.md.)
 */
#ifndef CUDAL2_BASE_STACK_GUARD_H
#define CUDAL2_BASE_STACK_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_guard {
    const uint64_t *from, *skipped; /* from the frame on; a few words that may change */
    size_t words, n_skipped;        /* words: 0 where the top is not known or this is another thread */
    uint64_t key, digest;
};

/* Of this thread, once: what lies below `frame` is guarded from now on. The process ends with `code` (not 0) where it
 * was changed: to return would be to go where somebody else says. */
void stack_guard_top(const void *frame, int code);

/* From `frame` (__builtin_frame_address(0) of the function that will end the guard) to the top, but for the bytes at
 * `skipped`, which may be NULL. Guards nest: an inner one costs nothing, for the outer one sees the same. */
void stack_guard_begin(struct stack_guard *g, const void *frame, const void *skipped, size_t skipped_bytes);

/* In the function whose frame that was, before it returns. False where it was changed and there is no code to end
 * with. */
bool stack_guard_end(const struct stack_guard *g);

#endif
