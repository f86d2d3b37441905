/* base/host_memory: what machines, containers and kernels of old say of memory, read from made-up roots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/host_memory.h"

#define MIB (1024ull * 1024)

static char root[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/cudal2-memory-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void put(const char *path, const char *text)
{
    char whole[PATH_MAX], directory[PATH_MAX];
    struct error err;
    snprintf(whole, sizeof whole, "%s%s", root, path);
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(whole, '/') - whole), whole);
    assert_int_equal(file_make_directories(directory, &err), 0);
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static struct host_memory look(void)
{
    struct host_memory m;
    host_memory_read(root, &m);
    return m;
}

#define MEMINFO "MemTotal: 8388608 kB\nMemFree: 1048576 kB\nMemAvailable: 4194304 kB\nCached: 2097152 kB\n"
#define V2_MOUNT "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

static void a_machine_without_groups(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/vmstat", "nr_free_pages 12\noom_kill 3\n");
    struct host_memory m = look();
    assert_int_equal(m.available, 4096 * MIB);
    assert_int_equal(m.total, 8192 * MIB);
    assert_int_equal(m.oom_kills, 3);
}

static void a_kernel_that_does_not_say_available(void **state)
{
    (void)state;
    put("/proc/meminfo",
        "MemTotal: 8388608 kB\nMemFree: 1048576 kB\nBuffers: 9 kB\nCached: 2097152 kB\nSwapCached: 7 kB\n");
    assert_int_equal(look().available, 3072 * MIB);
}

static void nobody_says(void **state)
{
    (void)state;
    assert_int_equal(look().available, 0);
    put("/proc/meminfo", "garbage\n\n");
    assert_int_equal(look().available, 0);
}

/* The limit is two levels up; what the page cache holds there can be given back. */
static void every_level_of_v2_counts(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "0::/slice/job/step\n");
    put("/proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n" V2_MOUNT);
    put("/sys/fs/cgroup/slice/memory.max", "max\n");
    put("/sys/fs/cgroup/slice/job/memory.max", "1073741824\n");
    put("/sys/fs/cgroup/slice/job/memory.current", "536870912\n");
    put("/sys/fs/cgroup/slice/job/memory.stat", "anon 1\nactive_file 5\ninactive_file 104857600\n");
    put("/sys/fs/cgroup/slice/job/step/memory.max", "max\n");
    put("/sys/fs/cgroup/slice/job/step/memory.events", "low 0\noom 2\noom_kill 1\noom_group_kill 0\n");
    struct host_memory m = look();
    assert_int_equal(m.available, 612 * MIB);
    assert_int_equal(m.total, 1024 * MIB);
    assert_int_equal(m.oom_kills, 1);
    put("/sys/fs/cgroup/slice/memory.max", "805306368\n"); /* tighter, and used up */
    put("/sys/fs/cgroup/slice/memory.current", "900000000\n");
    assert_int_equal(look().available, 0);
    assert_int_equal(look().total, 768 * MIB);
}

static void high_is_a_limit_too(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put("/sys/fs/cgroup/memory.max", "max\n");
    put("/sys/fs/cgroup/memory.high", "209715200\n");
    put("/sys/fs/cgroup/memory.current", "0\n");
    assert_int_equal(look().available, 200 * MIB);
}

/* Docker on v1: the process's path is the host's, the mount shows its own part. */
static void a_container_on_v1(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "12:cpu,cpuacct:/docker/abc\n5:memory:/docker/abc\n0::/docker/abc\n");
    put("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
                                "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "209715200\n");
    put("/sys/fs/cgroup/memory/memory.stat", "cache 5\ninactive_file 1\ntotal_inactive_file 104857600\n");
    put("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    struct host_memory m = look();
    assert_int_equal(m.available, 412 * MIB);
    assert_int_equal(m.oom_kills, 4);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    assert_int_equal(look().available, 4096 * MIB);
}

/* Neither the path nor its files are there: the machine's word stands. */
static void a_group_that_cannot_be_seen(void **state)
{
    (void)state;
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "0::/../../elsewhere\n");
    put("/proc/self/mountinfo", V2_MOUNT "short line\n - \n");
    assert_int_equal(look().available, 4096 * MIB);
}

static void this_machine(void **state)
{
    struct host_memory m;
    (void)state;
    host_memory_read("", &m);
    assert_true(m.available > 0 && m.total >= m.available);
}

#define ROOTED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOTED(a_machine_without_groups),
        ROOTED(a_kernel_that_does_not_say_available),
        ROOTED(nobody_says),
        ROOTED(every_level_of_v2_counts),
        ROOTED(high_is_a_limit_too),
        ROOTED(a_container_on_v1),
        ROOTED(a_group_that_cannot_be_seen),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
