/*
 * arenas.h - the allocations that the matrices of a cell move between. Taking and giving back device memory costs
 * milliseconds, whatever its size, so a cell keeps a few and moves from one to another. Several, because some kernels
 * have two speeds of which the allocation decides, not an address within it.
 */
#ifndef CUDAL2_OPERANDS_ARENAS_H
#define CUDAL2_OPERANDS_ARENAS_H

#include "device/device.h"

#define ARENAS_MOST 4u

/* A further allocation is kept only where all of them are small beside the memory that is left. */
#define ARENAS_ROOM 8u

struct arenas {
    struct arena {
        void *memory;
        uint64_t bytes;
    } kept[ARENAS_MOST];
    unsigned n, at; /* at: the one that matrices lie in */
    unsigned most;  /* 0 and 1: none is kept, each move is to a new one */
    bool apart;     /* of alloc_apart */
};

struct arenas_move {
    uint64_t bytes; /* that the matrices need */
    uint64_t room;  /* bytes that may be taken beside what is held; 0 does where arenas_full */
    uint64_t seed;  /* draws the arena */
};

/* Whether a move to so many bytes needs no new allocation. */
bool arenas_full(const struct arenas *arenas, uint64_t bytes);

/* Extra bytes held beside one arena. */
uint64_t arenas_spare(const struct arenas *arenas);

/* To another allocation than the one in use: a new one as long as there may be more, else one of the others, drawn.
 * Where only one may be kept, the new one is there before the old one goes, unless there is no room for both. What the
 * arena holds is undefined. EXIT_CODE_UNAVAILABLE or the device's error where there is no memory; then none is held. */
int arenas_move(struct arenas *arenas, struct device *device, const struct arenas_move *move, void **memory,
                struct error *err);
void arenas_free(struct arenas *arenas, struct device *device);

#endif
