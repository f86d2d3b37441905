/* What is written of C before a launch on the CPU (device/host_renew.c): all of it, whatever the kind of the spoil. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "device/host_check.h"

enum { M = 256, N = 200, K = 8, PAGES_MOST = 64 };

static struct {
    unsigned char *memory;
    size_t page, pages;
    bool written[PAGES_MOST];
} c;

/* The first write into a page opens it. */
static void open_page(int number, siginfo_t *info, void *context)
{
    size_t at = (size_t)((uintptr_t)info->si_addr - (uintptr_t)c.memory) / c.page;
    (void)number, (void)context;
    if (at >= c.pages || c.written[at])
        _exit(1);
    c.written[at] = true;
    (void)mprotect(c.memory + at * c.page, c.page, PROT_READ | PROT_WRITE);
}

static void close_pages(void)
{
    memset(c.written, 0, sizeof c.written);
    assert_int_equal(mprotect(c.memory, c.pages * c.page, PROT_READ), 0);
}

static int map(void **state)
{
    (void)state;
    c.page = (size_t)sysconf(_SC_PAGESIZE);
    c.pages = (M * N * sizeof(float) + c.page - 1) / c.page;
    c.memory = mmap(NULL, c.pages * c.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return c.memory == MAP_FAILED || c.pages > PAGES_MOST ? -1 : 0;
}

static int unmap(void **state)
{
    (void)state;
    return munmap(c.memory, c.pages * c.page);
}

static void every_page_is_written(void **state)
{
    static float pool[HOST_POOL_ELEMENTS], a[M * K], b[K * N];
    const struct cudal2_operands operands = {a, b, c.memory};
    const struct fill fill = {FILL_POOL, CUDAL2_F32, 5, 0, HOST_POOL_ELEMENTS, 1, false, 0, 0};
    struct probe_renewal r = {.problem = {.m = M, .n = N, .k = K, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32},
                              .operands = &operands,
                              .pool = pool,
                              .seed = 3};
    const struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
    struct sigaction cmockas;
    struct device *device;
    struct error err;
    (void)state;
    assert_int_equal(sigaction(SIGSEGV, &action, &cmockas), 0);
    assert_int_equal(device_open_cpu(&device, &err), 0);
    assert_int_equal(device->ops->fill(device, pool, &fill, &err), 0);
    for (int kind = SPOIL_NONE; kind < SPOIL_KINDS; kind++) {
        r.spoil = (enum probe_spoil)kind;
        close_pages();
        assert_int_equal(host_renew(device, &r, &err), 0);
        for (size_t i = 0; i < c.pages; i++)
            assert_true(c.written[i]);
    }
    device->ops->close(device);
    (void)sigaction(SIGSEGV, &cmockas, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(every_page_is_written, map, unmap)};
    return cmocka_run_group_tests_name("host_spoil", tests, NULL, NULL);
}
