/*
 * host_blocks.c - a list of the taken blocks of a stretch, in order of address. Relies on nothing. Called by
 * host_pages.c and host_apart.c.
 */
#include "device/host_blocks.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct host_blocks *b)
{
    if (b->n < b->room)
        return true;
    size_t room = b->room ? 2 * b->room : 16;
    struct host_span *list = realloc(b->list, room * sizeof *list);
    if (!list)
        return false;
    b->list = list;
    b->room = room;
    return true;
}

bool host_blocks_take(struct host_blocks *b, struct host_span within, uint64_t bytes, struct host_span *out)
{
    uint64_t size = bytes ? (bytes + HOST_BLOCKS_PAGE - 1) / HOST_BLOCKS_PAGE * HOST_BLOCKS_PAGE : HOST_BLOCKS_PAGE;
    uint64_t from = within.from;
    size_t i = 0;
    if (size < bytes || !make_room(b))
        return false;
    for (; i < b->n && b->list[i].from - from < size; i++)
        from = b->list[i].to;
    if (within.to - from < size)
        return false;
    memmove(&b->list[i + 1], &b->list[i], (b->n - i) * sizeof *b->list);
    *out = b->list[i] = (struct host_span){from, from + size};
    b->n++;
    return true;
}

bool host_blocks_give(struct host_blocks *b, uint64_t from, struct host_span *out)
{
    size_t i = 0;
    while (i < b->n && b->list[i].from != from)
        i++;
    if (i == b->n)
        return false;
    *out = b->list[i];
    b->n--;
    memmove(&b->list[i], &b->list[i + 1], (b->n - i) * sizeof *b->list);
    return true;
}

void host_blocks_free(struct host_blocks *b)
{
    free(b->list);
    *b = (struct host_blocks){0};
}
