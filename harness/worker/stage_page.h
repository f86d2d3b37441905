/*
 * stage_page.h - one page shared by supervisor and worker: who is running, in which stage, and by when it must be over.
 *
 * The worker writes it before every segment, several thousand times a second, so writing is a copy of 96 bytes and no
 * system call; nobody is woken beside the contender that is about to be timed. The supervisor reads it when it looks,
 * and when the worker has died: the page outlives its writer, so the blame is exact. A note is complete or it is the
 * one before: there are two places, and the count that says which one holds is written last.
 */
#ifndef CUDAL2_WORKER_STAGE_PAGE_H
#define CUDAL2_WORKER_STAGE_PAGE_H

#include <string.h>

#include "base/error.h"
#include "record/record.h"

#define STAGE_PAGE_FD 5 /* in the worker */
#define STAGE_NAME_MAX 16
/* Kernels of several contenders at once: a death in it has no owner yet, but the next start can do without it. */
#define STAGE_COMPILE "compile"

/* Whether a stage, which may have a variant's tag behind it ("tune:1a2b3c"), is the one of this name. */
static inline bool stage_is(const char *stage, const char *name)
{
    size_t length = strcspn(stage, ":");
    return strlen(name) == length && strncmp(stage, name, length) == 0;
}

struct stage_page;

/* What the page says. The supervisor writes one itself while the worker waits for a message. */
struct stage_note {
    char contender[RECORD_NAME_MAX]; /* "" for the harness */
    char stage[STAGE_NAME_MAX];
    uint64_t deadline_ns; /* of clock_now_ns(), which both processes share */
    double seconds;       /* how long it was given */
    uint64_t written_ns;  /* when, by the same clock as its writer has it */
    uint64_t counted_ns;  /* when it had been counted, by that clock; 0: not yet */
    uint64_t count;       /* notes up to this one */
};

/* A fresh page, and a descriptor of it for the worker (closed on exec; the caller closes it): its length cannot change.
 * EXIT_CODE_UNAVAILABLE. */
int stage_page_create(struct stage_page **out, int *fd, struct error *err);
/* The page behind a descriptor. EXIT_CODE_USAGE when there is none. */
int stage_page_map(int fd, struct stage_page **out, struct error *err);
void stage_page_unmap(struct stage_page *page); /* NULL is fine */

/* One process writes at a time. */
void stage_page_write(struct stage_page *page, const char *contender, const char *stage, double seconds);
/* How a plugin's own process ended (as waitpid says it), when the worker that had it ends with PROTOCOL_PLUGIN_ENDED;
 * 0: none did. */
void stage_page_write_plugin_end(struct stage_page *page, int status);
int stage_page_plugin_end(const struct stage_page *page);

/* The latest complete note. False when the writer was too quick to read it; then *out is as it was. Strings are
 * terminated and printable whatever was written. */
bool stage_page_read(const struct stage_page *page, struct stage_note *out);

#endif
