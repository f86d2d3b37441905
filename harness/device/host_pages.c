/*
 * host_pages.c - blocks of one reserved stretch of addresses, first fit, and a look at how the kernel maps it. Relies
 * on mmap and /proc/self/smaps. Called by cpu.c.
 */
#include "device/host_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES_APART 65536u /* around a fenced area: the largest page that a kernel has */

/* Shared memory between two pages that nobody has. */
struct fenced_area {
    struct host_span span;
    bool taken;
};

struct host_pages {
    uint64_t bytes; /* asked for */
    struct fenced_area fences[HOST_PAGES_FENCES];
    bool shared;
    struct host_span span;
    struct host_apart *apart; /* behind the span, where it is shared */
    struct host_blocks blocks;
    bool watched, kept;
    bool spoiled; /* what was changed could not be put back */
};

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* ---- the stretch ---- */

/* Without large pages, even where the system gives them to everybody: it has them for some and not for others. */
static int reserve(uint64_t bytes, bool shared, struct host_span *out)
{
    uint64_t wanted = round_up(bytes, HOST_PAGES_ALIGNMENT), reserved = wanted + HOST_PAGES_ALIGNMENT;
    int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, reserved, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    uint64_t start = (uint64_t)(uintptr_t)memory, from = round_up(start, HOST_PAGES_ALIGNMENT);
    if (from > start)
        munmap(memory, from - start);
    if (start + reserved > from + wanted)
        munmap(at(from + wanted), start + reserved - from - wanted);
    (void)madvise(at(from), wanted, MADV_NOHUGEPAGE); /* fails where the kernel knows no large pages */
    *out = (struct host_span){from, from + wanted};
    return 0;
}

int host_pages_open(uint64_t bytes, struct host_pages **out)
{
    struct host_pages *pages = calloc(1, sizeof *pages);
    *out = NULL;
    if (!pages || reserve(bytes, false, &pages->span) != 0) {
        free(pages);
        return -1;
    }
    pages->bytes = bytes;
    *out = pages;
    return 0;
}

/* ---- shared with other processes ---- */

static void close_fences(struct host_pages *pages)
{
    for (size_t i = 0; i < HOST_PAGES_FENCES; i++)
        if (pages->fences[i].span.to > 0)
            munmap(at(pages->fences[i].span.from - PAGES_APART),
                   pages->fences[i].span.to - pages->fences[i].span.from + 2 * PAGES_APART);
    memset(pages->fences, 0, sizeof pages->fences);
}

static bool open_fence(struct host_pages *pages, struct fenced_area *area)
{
    uint64_t inside = pages->span.to - pages->span.from;
    char *base = mmap(NULL, inside + 2 * PAGES_APART, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    uint64_t from = (uint64_t)(uintptr_t)base + PAGES_APART;
    area->span = (struct host_span){from, from + inside};
    return mprotect(base + PAGES_APART, inside, PROT_READ | PROT_WRITE) == 0;
}

int host_pages_share(struct host_pages *pages)
{
    struct host_span shared;
    uint64_t each = round_up(pages->bytes, HOST_PAGES_ALIGNMENT);
    bool opened = pages->blocks.n == 0 && reserve(2 * each, true, &shared) == 0;
    if (!opened)
        return -1;
    pages->apart = host_apart_open(shared.from + each, shared.to);
    opened = pages->apart != NULL;
    for (size_t i = 0; i < HOST_PAGES_FENCES && opened; i++)
        opened = open_fence(pages, &pages->fences[i]);
    struct host_span unused = opened ? pages->span : shared;
    munmap(at(unused.from), unused.to - unused.from);
    if (!opened) {
        close_fences(pages);
        host_apart_close(pages->apart);
        pages->apart = NULL;
        return -1;
    }
    pages->span = (struct host_span){shared.from, shared.from + each};
    pages->shared = true;
    return 0;
}

struct host_apart *host_pages_apart(const struct host_pages *pages)
{
    return pages->apart;
}

static uint64_t whole_end(const struct host_pages *pages)
{
    return pages->apart ? 2 * pages->span.to - pages->span.from : pages->span.to;
}

struct host_span host_pages_whole(const struct host_pages *pages)
{
    return (struct host_span){pages->span.from, whole_end(pages)};
}

bool host_pages_are_shared(const struct host_pages *pages)
{
    return pages->shared;
}

void *host_pages_fence(struct host_pages *pages, uint64_t bytes, bool at_end)
{
    for (size_t i = 0; i < HOST_PAGES_FENCES; i++) {
        struct fenced_area *area = &pages->fences[i];
        if (area->taken || area->span.to - area->span.from < bytes)
            continue;
        area->taken = true;
        return at(at_end ? area->span.to - bytes : area->span.from);
    }
    return NULL;
}

bool host_pages_unfence(struct host_pages *pages, const void *memory)
{
    uint64_t address = (uint64_t)(uintptr_t)memory;
    for (size_t i = 0; i < HOST_PAGES_FENCES; i++) {
        struct fenced_area *area = &pages->fences[i];
        if (!area->taken || address < area->span.from || address >= area->span.to)
            continue;
        area->taken = false;
        (void)madvise(at(area->span.from), area->span.to - area->span.from, MADV_REMOVE);
        return true;
    }
    return false;
}

/* ---- its end ---- */

void host_pages_close(struct host_pages *pages)
{
    if (!pages)
        return;
    close_fences(pages);
    if (!pages->kept)
        munmap(at(pages->span.from), whole_end(pages) - pages->span.from);
    host_apart_close(pages->apart);
    host_blocks_free(&pages->blocks);
    free(pages);
}

void host_pages_keep(struct host_pages *pages)
{
    pages->kept = true;
}

struct host_span host_pages_span(const struct host_pages *pages)
{
    return pages->span;
}

/* Only where nobody is kept from changing it is one ever spoiled, and then nothing keeps this from being unmapped. */
static void replace_spoiled(struct host_pages *pages)
{
    struct host_span other;
    if (!pages->spoiled || pages->blocks.n > 0 || pages->apart || reserve(pages->bytes, pages->shared, &other) != 0)
        return;
    munmap(at(pages->span.from), pages->span.to - pages->span.from);
    pages->span = other;
    pages->spoiled = false;
}

/* ---- blocks ---- */

void *host_pages_take(struct host_pages *pages, size_t bytes)
{
    struct host_span block;
    replace_spoiled(pages);
    return host_blocks_take(&pages->blocks, pages->span, bytes, &block) ? at(block.from) : NULL;
}

bool host_pages_give(struct host_pages *pages, const void *memory)
{
    struct host_span block;
    if (!host_blocks_give(&pages->blocks, (uint64_t)(uintptr_t)memory, &block))
        return false;
    if (pages->blocks.n == 0) /* the one call that is let through */
        (void)madvise(at(pages->span.from), pages->span.to - pages->span.from,
                      pages->shared ? MADV_REMOVE : MADV_DONTNEED);
    return true;
}

/* ---- what became of it ---- */

void host_pages_watch(struct host_pages *pages)
{
    pages->watched = true;
}

/* A line of smaps: where a mapping lies. */
static bool is_mapping(const char *line, struct host_span *out, char rights[5])
{
    return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &out->from, &out->to, rights) == 3;
}

/* "VmFlags: rd wr mr mw me nr nh", of which hg is for large pages, lo locked, mg merged. */
static bool is_foreign(const char *line)
{
    unsigned long large = 0;
    if (sscanf(line, "AnonHugePages: %lu", &large) == 1)
        return large > 0;
    return strncmp(line, "VmFlags:", 8) == 0 && (strstr(line, " hg") || strstr(line, " lo") || strstr(line, " mg"));
}

static bool is_as_it_was(FILE *smaps, const struct host_span *span)
{
    char line[1024], rights[5] = "";
    struct host_span now;
    bool inside = false, whole = false, foreign = false;
    while (fgets(line, sizeof line, smaps)) {
        if (is_mapping(line, &now, rights))
            inside = now.from <= span->from && now.to >= span->to && strncmp(rights, "rw-", 3) == 0;
        whole = whole || inside;
        foreign = foreign || (inside && is_foreign(line));
    }
    return whole && !foreign;
}

/* Where a part was treated differently it is a mapping of its own. */
static bool is_changed(const struct host_pages *pages)
{
    FILE *smaps = fopen("/proc/self/smaps", "re");
    bool changed = smaps && !is_as_it_was(smaps, &pages->span);
    if (smaps)
        fclose(smaps);
    return changed;
}

void host_pages_changes(const struct host_pages *pages, char what[128])
{
    if (pages->watched && !pages->spoiled && is_changed(pages))
        snprintf(what, 128, "the pages that operands lie on were changed (madvise, mbind, mlock, mprotect or mremap)");
}

void host_pages_restore(struct host_pages *pages)
{
    uint64_t bytes = pages->span.to - pages->span.from;
    if (!pages->watched || pages->spoiled || !is_changed(pages))
        return;
    (void)mprotect(at(pages->span.from), bytes, PROT_READ | PROT_WRITE);
    (void)munlock(at(pages->span.from), bytes);
    (void)madvise(at(pages->span.from), bytes, MADV_NOHUGEPAGE);
    pages->spoiled = is_changed(pages);
}
