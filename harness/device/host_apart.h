/*
 * host_apart.h - a stretch of addresses at which each of several processes sees memory of its own. This process lends
 * parts of it, each to one of them: the two share that part, and the others see nothing of it. Each process maps a file
 * of its own (memfd) there once, before any stranger's code runs in it, and holds no other's. Part of host_pages.h;
 * called by cpu.c and contender/plugin_process.c.
 */
#ifndef CUDAL2_DEVICE_HOST_APART_H
#define CUDAL2_DEVICE_HOST_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_APART_BLOCKS 8

struct host_apart;

/* At these addresses, which are the caller's. NULL where the kernel will not. */
struct host_apart *host_apart_open(uint64_t from, uint64_t to);
void host_apart_close(struct host_apart *a); /* NULL: nothing */

/* A file for a process; -1 where the kernel will not. */
int host_apart_file(const struct host_apart *a);
/* Closes it. What is lent to it is this process's alone again, and undefined. */
void host_apart_end(struct host_apart *a, int file);
/* In that process: it sees the file from now on, wherever it saw anything. False where the kernel will not. */
bool host_apart_enter(const struct host_apart *a, int file);

/* A block at the beginning of a page, of this process alone; NULL: no room, or more than HOST_APART_BLOCKS. */
void *host_apart_take(struct host_apart *a, uint64_t bytes);
/* Back to the machine, with what is lent of it. False for memory that is no block. */
bool host_apart_give(struct host_apart *a, const void *memory);

/* Of a block the whole pages from `from` to `to`, which nobody has yet, to who has entered `file`. What they hold stays
 * where `keep`, else it is 0. */
struct host_loan {
    int file;
    bool keep;
    const void *from, *to;
};
/* False where the kernel will not: then they hold what they did. */
bool host_apart_lend(struct host_apart *a, const struct host_loan *loan);

#endif
