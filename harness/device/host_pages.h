/*
 * host_pages.h - where the CPU device's operands lie: one stretch of addresses, reserved before any plugin is loaded,
 * whose pages are of the smallest size for everybody. An allocator's pages are of whatever size it had, and who asks
 * the kernel for large ones under its own operands misses the TLB less often than its rivals do. Once a worker is
 * confined nobody can change the stretch any more (worker/confine.h), the harness itself included: it can only give all
 * of it back. Called by cpu.c; one thread at a time.
 */
#ifndef CUDAL2_DEVICE_HOST_PAGES_H
#define CUDAL2_DEVICE_HOST_PAGES_H

#include "device/host_apart.h"
#include "device/host_blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_pages;

/* Both ends of a stretch are multiples of it, so that the filter of system calls compares one word (worker/confine.h).
 */
#define HOST_PAGES_ALIGNMENT (1ull << 32)

/* Reserves at least `bytes`; nothing is taken of the machine before it is touched. -1 where the kernel will not. */
int host_pages_open(uint64_t bytes, struct host_pages **out);
void host_pages_close(struct host_pages *pages); /* NULL: nothing */

struct host_span host_pages_span(const struct host_pages *pages);
/* With what lies apart behind it. */
struct host_span host_pages_whole(const struct host_pages *pages);

/* Processes that are forked from now on share the stretch, and areas with pages around them that nobody has
 * (host_pages_fence). Before the first block. -1 where the kernel will not: then it stays as it is. */
int host_pages_share(struct host_pages *pages);
bool host_pages_are_shared(const struct host_pages *pages);
/* Memory that is shared with one of the processes alone; NULL where nothing is shared. */
struct host_apart *host_pages_apart(const struct host_pages *pages);

/* `bytes` bytes of a shared area that end (or begin) at a page that nobody has, in any of the processes: at most
 * HOST_PAGES_FENCES at once. NULL: no area is left, or none is so large. */
#define HOST_PAGES_FENCES 3
void *host_pages_fence(struct host_pages *pages, uint64_t bytes, bool at_end);
/* False for memory that is none of these. */
bool host_pages_unfence(struct host_pages *pages, const void *memory);

/* A block at the beginning of a page; NULL: no room. What it holds is undefined. */
void *host_pages_take(struct host_pages *pages, size_t bytes);
/* False for memory that is no block. With the last block everything goes back to the machine. */
bool host_pages_give(struct host_pages *pages, const void *memory);

/* Everybody is kept from changing the stretch, the harness too: host_pages_close leaves it to the end of the process.
 */
void host_pages_keep(struct host_pages *pages);
/* Nobody is kept from changing the stretch: host_pages_changes looks from now on (some milliseconds). */
void host_pages_watch(struct host_pages *pages);
/* What of its pages is not as it was, one line in what (128 bytes), which is left alone when nothing is. */
void host_pages_changes(const struct host_pages *pages, char what[128]);
/* Puts back what can be. What cannot is no later contender's fault: nothing is told before there is another stretch,
 * with the next block that is the only one. */
void host_pages_restore(struct host_pages *pages);

#endif
