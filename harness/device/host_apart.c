/*
 * host_apart.c - maps parts of a stretch from files that other processes have mapped whole. Relies on memfd_create and
 * mmap. Called by host_pages.c, cpu.c and contender/plugin_process.c.
 */
#include "device/host_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device/host_blocks.h"

#define PAGE HOST_BLOCKS_PAGE

/* Of a block. */
struct lent {
    uint64_t from, to;
    int file;
};

struct host_apart {
    uint64_t from, to;
    struct host_blocks blocks;
    struct lent *lent; /* owned */
    size_t n_lent, room;
};

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* ---- mapping ---- */

static bool map(uint64_t from, uint64_t to, int flags, int file, uint64_t offset)
{
    const int rights = PROT_READ | PROT_WRITE;
    if (mmap(at(from), to - from, rights, flags | MAP_FIXED | MAP_NORESERVE, file, (off_t)offset) == MAP_FAILED)
        return false;
    (void)madvise(at(from), to - from, MADV_NOHUGEPAGE); /* fails where the kernel knows no large pages */
    return true;
}

static bool map_alone(uint64_t from, uint64_t to)
{
    return map(from, to, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

struct host_apart *host_apart_open(uint64_t from, uint64_t to)
{
    struct host_apart *a = calloc(1, sizeof *a);
    if (a == NULL || !map_alone(from, to)) {
        free(a);
        return NULL;
    }
    a->from = from;
    a->to = to;
    return a;
}

void host_apart_close(struct host_apart *a)
{
    if (a == NULL)
        return;
    host_blocks_free(&a->blocks);
    free(a->lent);
    free(a);
}

/* The limit on the size of files (ulimit -f) is for those on disk: the hard one alone holds for shared memory. */
static int extend(int file, uint64_t bytes)
{
    struct rlimit own;
    bool raised = getrlimit(RLIMIT_FSIZE, &own) == 0 && own.rlim_cur < own.rlim_max &&
                  setrlimit(RLIMIT_FSIZE, &(struct rlimit){own.rlim_max, own.rlim_max}) == 0;
    int result = ftruncate(file, (off_t)bytes), why = errno;
    if (raised)
        (void)setrlimit(RLIMIT_FSIZE, &own);
    errno = why;
    return result;
}

int host_apart_file(const struct host_apart *a)
{
    int file = memfd_create("cudal2-matrices", MFD_CLOEXEC);
    if (file >= 0 && extend(file, a->to - a->from) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

bool host_apart_enter(const struct host_apart *a, int file)
{
    return map(a->from, a->to, MAP_SHARED, file, 0);
}

/* ---- blocks ---- */

void *host_apart_take(struct host_apart *a, uint64_t bytes)
{
    const struct host_span whole = {a->from, a->to};
    struct host_span block;
    bool taken = a->blocks.n < HOST_APART_BLOCKS && host_blocks_take(&a->blocks, whole, bytes, &block);
    return taken ? at(block.from) : NULL;
}

/* The other process sees zeros there again. */
static void take_back(struct host_apart *a, uint64_t from, uint64_t to)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->n_lent; i++) {
        const struct lent *l = &a->lent[i];
        if (l->from < from || l->from >= to)
            a->lent[kept++] = *l;
        else
            (void)fallocate(l->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(l->from - a->from),
                            (off_t)(l->to - l->from));
    }
    a->n_lent = kept;
}

bool host_apart_give(struct host_apart *a, const void *memory)
{
    struct host_span block;
    if (!host_blocks_give(&a->blocks, (uint64_t)(uintptr_t)memory, &block))
        return false;
    take_back(a, block.from, block.to);
    (void)map_alone(block.from, block.to);
    return true;
}

void host_apart_end(struct host_apart *a, int file)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->n_lent; i++) {
        const struct lent *l = &a->lent[i];
        if (l->file == file)
            (void)map_alone(l->from, l->to);
        else
            a->lent[kept++] = *l;
    }
    a->n_lent = kept;
    close(file);
}

/* ---- lending ---- */

static bool note(struct host_apart *a, const struct lent *lent)
{
    if (a->n_lent == a->room) {
        size_t room = a->room > 0 ? 2 * a->room : 64;
        struct lent *more = realloc(a->lent, room * sizeof *more);
        if (more == NULL)
            return false;
        a->lent = more;
        a->room = room;
    }
    a->lent[a->n_lent++] = *lent;
    return true;
}

static bool copy(int file, uint64_t from, uint64_t to, uint64_t offset)
{
    while (from < to) {
        ssize_t done = pwrite(file, at(from), to - from, (off_t)offset);
        if (done <= 0)
            return false;
        from += (uint64_t)done;
        offset += (uint64_t)done;
    }
    return true;
}

bool host_apart_lend(struct host_apart *a, const struct host_loan *loan)
{
    uint64_t from = ((uint64_t)(uintptr_t)loan->from + PAGE - 1) / PAGE * PAGE,
             to = (uint64_t)(uintptr_t)loan->to / PAGE * PAGE;
    const struct lent lent = {from, to, loan->file};
    if (from < a->from || to > a->to || from >= to)
        return false;
    if (loan->keep && !copy(loan->file, from, to, from - a->from))
        return false;
    return map(from, to, MAP_SHARED, loan->file, from - a->from) && note(a, &lent);
}
