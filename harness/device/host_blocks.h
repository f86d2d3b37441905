/*
 * host_blocks.h - which blocks of a stretch of addresses are taken, first fit. Nothing is mapped or touched. Called by
 * host_pages.c and host_apart.c.
 */
#ifndef CUDAL2_DEVICE_HOST_BLOCKS_H
#define CUDAL2_DEVICE_HOST_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_BLOCKS_PAGE 4096u /* blocks begin at multiples of it; where pages are larger, they share one */

struct host_span {
    uint64_t from, to;
};

/* All zero: none is taken. */
struct host_blocks {
    struct host_span *list; /* owned; in order of address */
    size_t n, room;
};

/* The first place within `within` that has room for `bytes`, which are rounded up to whole pages, one at least. False:
 * there is none, or no memory for the list. */
bool host_blocks_take(struct host_blocks *b, struct host_span within, uint64_t bytes, struct host_span *out);

/* The block that begins there is free again. False: none does. */
bool host_blocks_give(struct host_blocks *b, uint64_t from, struct host_span *out);

void host_blocks_free(struct host_blocks *b);

#endif
