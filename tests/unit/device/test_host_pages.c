/* device/host_pages: blocks of one stretch, and every change of its pages that is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "device/host_pages.h"

#define LARGE ((size_t)2 << 20)

static struct host_pages *pages;

static int open_pages(void **state)
{
    (void)state;
    return host_pages_open(5ull << 30, &pages);
}

static int close_pages(void **state)
{
    (void)state;
    host_pages_close(pages);
    return 0;
}

static void expect_told(bool told)
{
    char what[128] = "";
    host_pages_changes(pages, what);
    assert_int_equal(what[0] != '\0', told);
}

static void a_stretch_has_round_ends(void **state)
{
    struct host_span span = host_pages_span(pages);
    (void)state;
    assert_int_equal(span.from % HOST_PAGES_ALIGNMENT, 0);
    assert_int_equal(span.to - span.from, 2 * HOST_PAGES_ALIGNMENT);
}

static void blocks_lie_apart_and_gaps_are_filled(void **state)
{
    char *a = host_pages_take(pages, 1), *b = host_pages_take(pages, 10000), *c = host_pages_take(pages, 0);
    (void)state;
    assert_int_equal((uintptr_t)a, host_pages_span(pages).from);
    assert_ptr_equal(b, a + 4096);
    assert_ptr_equal(c, b + 3 * 4096);
    assert_true(host_pages_give(pages, b));
    assert_ptr_equal(host_pages_take(pages, 2 * 4096), b);
    assert_ptr_equal(host_pages_take(pages, 4097), c + 4096); /* the gap of one page is too small */
    assert_ptr_equal(host_pages_take(pages, 4096), b + 2 * 4096);
    assert_false(host_pages_give(pages, a + 1));
    assert_true(host_pages_give(pages, a));
    assert_false(host_pages_give(pages, a));
}

static void many_blocks(void **state)
{
    char *block[100];
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        block[i] = host_pages_take(pages, 100);
        assert_non_null(block[i]);
        memset(block[i], (int)i, 100);
    }
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(block[i][99], (char)i);
    for (size_t i = 0; i < 100; i++)
        assert_true(host_pages_give(pages, block[99 - i]));
}

static void no_room(void **state)
{
    (void)state;
    assert_null(host_pages_take(pages, 3 * HOST_PAGES_ALIGNMENT));
    assert_null(host_pages_take(pages, SIZE_MAX));
    assert_non_null(host_pages_take(pages, 2 * HOST_PAGES_ALIGNMENT));
    assert_null(host_pages_take(pages, 1));
}

/* What the last one held has gone to the machine: its pages come back empty. */
static void with_the_last_block_all_is_given_back(void **state)
{
    char *a = host_pages_take(pages, 4096), *b = host_pages_take(pages, 4096);
    (void)state;
    *a = *b = 1;
    assert_true(host_pages_give(pages, a));
    assert_int_equal(*b, 1);
    assert_true(host_pages_give(pages, b));
    assert_int_equal(*(volatile char *)a, 0);
}

/* ---- changes ---- */

/* A kernel without large pages knows others. */
static void huge(char *block)
{
    if (madvise(block, LARGE, MADV_HUGEPAGE) != 0)
        assert_int_equal(syscall(SYS_mlock, block, 4096ul), 0);
}

static void all_huge(char *block)
{
    struct host_span span = host_pages_span(pages);
    if (madvise((void *)(uintptr_t)span.from, span.to - span.from, MADV_HUGEPAGE) != 0)
        huge(block);
}

/* By number: a sanitizer's mlock does nothing. */
static void locked(char *block)
{
    assert_int_equal(syscall(SYS_mlock, block, 4096ul), 0);
}

static void unreadable(char *block)
{
    assert_int_equal(mprotect(block + 4096, 4096, PROT_READ), 0);
}

static void moved(char *block)
{
    char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_equal(mremap(own, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, block), block);
}

static void (*const changes[])(char *block) = {huge, all_huge, locked, unreadable, moved};

static void every_change_is_told_where_it_is_watched_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct host_pages *outer = pages;
        assert_int_equal(host_pages_open(1, &pages), 0);
        char *block = host_pages_take(pages, 2 * LARGE);
        memset(block, 1, LARGE);
        expect_told(false);
        changes[i](block);
        expect_told(false);
        host_pages_watch(pages);
        expect_told(true);
        host_pages_restore(pages);
        expect_told(false); /* whether it could be put back or not: the next contender is not to blame */
        host_pages_close(pages);
        pages = outer;
    }
}

static void what_is_put_back_is_watched_again(void **state)
{
    char *block = host_pages_take(pages, 2 * LARGE);
    (void)state;
    host_pages_watch(pages);
    for (int i = 0; i < 2; i++) {
        huge(block);
        expect_told(true);
        host_pages_restore(pages);
        expect_told(false);
    }
}

/* Once no block is left there is another stretch, which is looked at again. */
static void a_spoiled_stretch_is_replaced(void **state)
{
    struct host_span before = host_pages_span(pages);
    char *block = host_pages_take(pages, 4096);
    (void)state;
    host_pages_watch(pages);
    moved(block);
    if (madvise(block, 4096, MADV_NOHUGEPAGE) != 0)
        skip();
    assert_ptr_not_equal(mmap(block, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), MAP_FAILED);
    host_pages_restore(pages);
    expect_told(false);
    assert_true(host_pages_give(pages, block));
    block = host_pages_take(pages, 2 * LARGE);
    assert_int_not_equal(host_pages_span(pages).from, before.from);
    expect_told(false);
    huge(block);
    expect_told(true);
}

/* ---- the device ---- */

/* Who is confined may not unmap it, and is named for trying. */
static void a_stretch_that_is_kept_outlives_its_device(void **state)
{
    struct host_pages *kept;
    (void)state;
    assert_int_equal(host_pages_open(1, &kept), 0);
    struct host_span span = host_pages_span(kept);
    host_pages_keep(kept);
    host_pages_close(kept);
    assert_int_equal(msync((void *)(uintptr_t)span.from, 4096, MS_ASYNC), 0); /* fails where nothing is mapped */
    assert_int_equal(munmap((void *)(uintptr_t)span.from, span.to - span.from), 0);
}

static bool is_within(const struct device *d, const void *memory)
{
    struct host_span span = host_pages_span(d->pages);
    return (uintptr_t)memory >= span.from && (uintptr_t)memory < span.to;
}

static void what_the_device_gives_lies_there(void **state)
{
    struct device *d;
    struct error err;
    void *memory;
    (void)state;
    assert_int_equal(device_open_cpu(&d, &err), 0);
    if (!d->pages) { /* under a sanitizer, or with a limit of the address space */
        d->ops->close(d);
        skip();
    }
    assert_int_equal(d->ops->alloc(d, 100, &memory, &err), 0);
    assert_true(is_within(d, memory));
    memset(memory, 1, 100);
    d->ops->release(d, memory);
    d->ops->release(d, NULL);
    d->ops->close(d);
}

#define ON_PAGES(test) cmocka_unit_test_setup_teardown(test, open_pages, close_pages)

/* ---- shared with processes that are forked ---- */

/* The signal that a child dies of which writes there, 0 if it lives. */
static int signal_of_writing(volatile char *where)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        *where = 42;
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void blocks_are_shared_where_asked(void **state)
{
    char *own = host_pages_take(pages, 10);
    (void)state;
    own[0] = 1;
    assert_int_equal(signal_of_writing(own), 0);
    assert_int_equal(own[0], 1);
    assert_int_equal(host_pages_share(pages), -1); /* there is a block */
    assert_false(host_pages_are_shared(pages));
    assert_true(host_pages_give(pages, own));
    assert_int_equal(host_pages_share(pages), 0);
    assert_true(host_pages_are_shared(pages));
    assert_int_equal(host_pages_span(pages).from % HOST_PAGES_ALIGNMENT, 0);
    char *shared = host_pages_take(pages, 10);
    shared[0] = 1;
    assert_int_equal(signal_of_writing(shared), 0);
    assert_int_equal(shared[0], 42);
    assert_true(host_pages_give(pages, shared));
    assert_int_equal(*(char *)host_pages_take(pages, 10), 0); /* given back to the machine */
}

static void a_shared_fence_borders_on_nothing(void **state)
{
    (void)state;
    assert_null(host_pages_fence(pages, 256, true)); /* not shared: others make these */
    assert_int_equal(host_pages_share(pages), 0);
    char *end = host_pages_fence(pages, 256, true), *start = host_pages_fence(pages, 256, false);
    assert_int_equal(signal_of_writing(end + 255), 0);
    assert_int_equal(end[255], 42);
    assert_int_equal(signal_of_writing(end + 256), SIGSEGV);
    assert_int_equal(signal_of_writing(start), 0);
    assert_int_equal(signal_of_writing(start - 1), SIGSEGV);
    assert_non_null(host_pages_fence(pages, 1, true));
    assert_null(host_pages_fence(pages, 1, true)); /* three at once */
    assert_true(host_pages_unfence(pages, end));
    assert_false(host_pages_unfence(pages, end));
    end = host_pages_fence(pages, 256, true);
    assert_int_equal(end[255], 0);
    assert_null(host_pages_fence(pages, UINT64_MAX / 2, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_PAGES(a_stretch_has_round_ends),
        ON_PAGES(blocks_lie_apart_and_gaps_are_filled),
        ON_PAGES(many_blocks),
        ON_PAGES(no_room),
        ON_PAGES(with_the_last_block_all_is_given_back),
        ON_PAGES(every_change_is_told_where_it_is_watched_for),
        ON_PAGES(what_is_put_back_is_watched_again),
        ON_PAGES(a_spoiled_stretch_is_replaced),
        cmocka_unit_test(a_stretch_that_is_kept_outlives_its_device),
        cmocka_unit_test(what_the_device_gives_lies_there),
        ON_PAGES(blocks_are_shared_where_asked),
        ON_PAGES(a_shared_fence_borders_on_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
