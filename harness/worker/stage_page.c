/*
 * stage_page.c - the shared page, written without a system call and read with a sequence count, and cleaned of
 * whatever a contender may have put there. Called by worker.c (writes) and run/slot.c (reads).
 */
#include "worker/stage_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define READ_TRIES 1000
/* A worker that made it shorter would have its reader die of SIGBUS. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* notes[count % 2] holds; the writer fills the other one and then counts. */
struct stage_page {
    _Atomic uint64_t count;
    struct stage_note notes[2];
    _Atomic int plugin_end;
};

static int map(int fd, struct stage_page **out)
{
    void *memory = mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *out = memory == MAP_FAILED ? NULL : memory;
    return *out ? 0 : -1;
}

int stage_page_create(struct stage_page **out, int *fd, struct error *err)
{
    *out = NULL;
    *fd = memfd_create("cudal2-stage", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd >= 0 && ftruncate(*fd, sizeof **out) == 0 && fcntl(*fd, F_ADD_SEALS, SEALS) == 0 && map(*fd, out) == 0)
        return 0;
    error_set(err, EXIT_CODE_UNAVAILABLE, "a page shared with the worker: %s", strerror(errno));
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return err->code;
}

int stage_page_map(int fd, struct stage_page **out, struct error *err)
{
    struct stage_page *page;
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_size == (off_t)sizeof *page && map(fd, out) == 0)
        return 0;
    return error_set(err, EXIT_CODE_USAGE, "no stage page on descriptor %d (`cudal2-bench run` starts workers)", fd);
}

void stage_page_unmap(struct stage_page *page)
{
    if (page)
        munmap(page, sizeof *page);
}

void stage_page_write(struct stage_page *page, const char *contender, const char *stage, double seconds)
{
    uint64_t count = atomic_load_explicit(&page->count, memory_order_relaxed);
    struct stage_note *note = &page->notes[(count + 1) % 2];
    strncpy(note->contender, contender, sizeof note->contender - 1);
    strncpy(note->stage, stage, sizeof note->stage - 1);
    note->seconds = seconds;
    note->written_ns = clock_now_ns();
    note->deadline_ns = note->written_ns + (uint64_t)(seconds * 1e9);
    note->counted_ns = 0;
    note->count = count + 1;
    atomic_store_explicit(&page->count, count + 1, memory_order_release);
    note->counted_ns = clock_now_ns(); /* a writer may lose the processor before it counts, for however long */
}

void stage_page_write_plugin_end(struct stage_page *page, int status)
{
    atomic_store_explicit(&page->plugin_end, status, memory_order_release);
}

int stage_page_plugin_end(const struct stage_page *page)
{
    return atomic_load_explicit(&page->plugin_end, memory_order_acquire);
}

/* A contender could scribble on the page: what is read must still be a line of text. */
static void sanitize(char *text, size_t capacity)
{
    text[capacity - 1] = '\0';
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

bool stage_page_read(const struct stage_page *page, struct stage_note *out)
{
    for (int i = 0; i < READ_TRIES; i++) {
        uint64_t count = atomic_load_explicit(&page->count, memory_order_acquire);
        struct stage_note note = page->notes[count % 2];
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&page->count, memory_order_relaxed) != count)
            continue;
        sanitize(note.contender, sizeof note.contender);
        sanitize(note.stage, sizeof note.stage);
        *out = note;
        return true;
    }
    return false;
}
