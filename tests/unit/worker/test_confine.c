/* worker/confine: what a confined process can no longer do, and what it must still be able to do. Each case runs in a
 * child of its own, for there is no way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/confine.h"

#include "confine_fixture.h"

static char directory[64];

static void *return_42(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)42;
}

static bool threads_start(void)
{
    pthread_t thread;
    void *result = NULL;
    return pthread_create(&thread, NULL, return_42, NULL) == 0 && pthread_join(thread, &result) == 0 &&
           (intptr_t)result == 42;
}

/* ---- system calls ---- */

static int other_processes(void)
{
    char word[8] = "";
    struct iovec here = {word, sizeof word}, there = {word, sizeof word};
    struct rlimit limit;
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    /* A sanitizer's runtime ends a process that it started. */
    if (!SANITIZED && (!refused(kill(getppid(), 0), EPERM) || !refused(kill(getppid(), SIGKILL), EPERM)))
        return 1;
    if (!SANITIZED && (!refused(kill(0, 0), EPERM) || !refused(kill(-1, 0), EPERM)))
        return 2;
    if (!refused(syscall(SYS_tgkill, getppid(), getppid(), 0), EPERM) ||
        !refused(syscall(SYS_tkill, getppid(), 0), EPERM))
        return 3;
    if (!refused(process_vm_writev(getppid(), &here, 1, &there, 1, 0), EPERM))
        return 4;
    if (!SANITIZED && !refused(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL), EPERM))
        return 5;
    if (!refused(prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit), EPERM))
        return 6;
    if (!SANITIZED && !refused(prctl(PR_SET_PDEATHSIG, 0), EPERM))
        return 7;
    return 0;
}

static void test_other_processes_are_out_of_reach(void **state)
{
    (void)state;
    check(other_processes);
}

static int new_programs(void)
{
    char *argv[] = {(char *)"true", NULL};
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    if (!refused(execv("/bin/true", argv), EPERM))
        return 1;
    if (!SANITIZED && !refused(fork(), EPERM))
        return 2;
    if (!SANITIZED && !refused(vfork(), EPERM))
        return 3;
    return !SANITIZED && system("true") == 0 ? 4 : 0;
}

static void test_no_new_process_and_no_other_program(void **state)
{
    (void)state;
    check(new_programs);
}

static int network(void)
{
    int pair[2];
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    if (!refused(socket(AF_INET, SOCK_STREAM, 0), EPERM) || !refused(socket(AF_INET6, SOCK_DGRAM, 0), EPERM))
        return 1;
    if (!refused(socket(AF_VSOCK, SOCK_STREAM, 0), EPERM) || !refused(syscall(SYS_io_uring_setup, 1, NULL), EPERM))
        return 2;
    return refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), EPERM) &&
                   refused(socket(AF_UNIX, SOCK_STREAM, 0), EPERM) && refused(socket(AF_NETLINK, SOCK_RAW, 0), EPERM)
               ? 0
               : 3;
}

static void test_no_network(void **state)
{
    (void)state;
    check(network);
}

static int machine(void)
{
    struct timespec now = {0};
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    if (!refused(unshare(CLONE_NEWNS), EPERM) || !refused(syscall(SYS_mount, "x", "/", "tmpfs", 0, 0), EPERM))
        return 1;
    if (!refused(clock_settime(CLOCK_REALTIME, &now), EPERM) || !refused(syscall(SYS_bpf, 0, NULL, 0), EPERM))
        return 2;
    return 0;
}

static void test_the_machine_is_left_alone(void **state)
{
    (void)state;
    check(machine);
}

#if defined(__x86_64__)
/* The same calls under their 32-bit numbers (1 is exit there, 20 getpid) and in the x32 numbering. */
static int other_numberings(void)
{
    long result = 20;
    if (!confined("calls", CONFINE_CALLS))
        return NOT_HERE;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    if (result != -EPERM && result != -ENOSYS)
        return 1;
    return refused(syscall(0x40000000 + SYS_getpid), ENOSYS) ? 0 : 2;
}

static void test_no_way_round_by_other_numbers(void **state)
{
    (void)state;
    check(other_numberings);
}
#endif

/* What CUDA, OpenMP and the harness live on. */
static int still_possible(void)
{
    struct rlimit limit;
    struct confinement c;
    struct error err;
    if (confine_parse("on", &c, &err))
        return 100;
    confine_process(&c);
    if (!threads_start())
        return 1;
    if (kill(getpid(), 0) != 0 || pthread_kill(pthread_self(), 0) != 0)
        return 2;
    if (mmap(NULL, (size_t)1 << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        return 3;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || prctl(PR_SET_NAME, "renamed") != 0)
        return 4;
    if (open("/dev/null", O_RDWR) < 0 || open("/proc/self/maps", O_RDONLY) < 0 || memfd_create("x", 0) < 0)
        return 5;
    return pthread_setname_np(pthread_self(), "again") == 0 ? 0 : 6;
}

static void test_what_libraries_need_still_works(void **state)
{
    (void)state;
    check(still_possible);
}

/* ---- threads that were there before ---- */

static int pipe_ends[2];

static void *try_socket_later(void *unused)
{
    char byte;
    (void)unused;
    if (read(pipe_ends[0], &byte, 1) != 1)
        return NULL;
    return (void *)(intptr_t)(refused(socket(AF_INET, SOCK_STREAM, 0), EPERM) ? 1 : 2);
}

static int older_threads(void)
{
    pthread_t thread;
    void *result = NULL;
    if (pipe(pipe_ends) != 0 || pthread_create(&thread, NULL, try_socket_later, NULL) != 0)
        return 1;
    bool here = confined("calls", CONFINE_CALLS);
    if (write(pipe_ends[1], "x", 1) != 1 || pthread_join(thread, &result) != 0)
        return 2;
    if (!here)
        return NOT_HERE;
    return (intptr_t)result == 1 ? 0 : 3;
}

static void test_older_threads_are_held_too(void **state)
{
    (void)state;
    check(older_threads);
}

/* ---- files ---- */

static bool can_write(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The journal and kernels compiled ahead lie outside, caches and temporary files inside. */
static int files(void)
{
    char path[256];
    if (chdir(directory) != 0 || mkdir("tmp", 0700) != 0 || mkdir("out", 0700) != 0 || mkdir("cubins", 0700) != 0)
        return 1;
    setenv("CUDAL2_CUBINS", "cubins", 1);
    snprintf(path, sizeof path, "%s/tmp", directory);
    setenv("TMPDIR", path, 1);
    snprintf(path, sizeof path, "%s/cache", directory);
    setenv("CUDAL2_CACHE", path, 1);
    int before = open("out/journal", O_RDWR | O_CREAT, 0600);
    if (before < 0)
        return 2;
    if (!confined("files", CONFINE_FILES))
        return NOT_HERE;
    if (can_write("out/new", O_WRONLY | O_CREAT) || can_write("out/journal", O_WRONLY | O_APPEND))
        return 3;
    if (can_write("cubins/new", O_WRONLY | O_CREAT))
        return 11;
    if (unlink("out/journal") == 0 || rename("out/journal", "tmp/journal") == 0 || mkdir("out/d", 0700) == 0)
        return 4;
    snprintf(path, sizeof path, "/proc/self/task/%d/mem", (int)getpid());
    if (can_write("/proc/self/mem", O_WRONLY) || can_write(path, O_WRONLY))
        return 5;
    if (can_write("/dev/kmsg", O_WRONLY) || can_write("/dev/tty", O_RDWR) || can_write("/dev/shm/x", O_RDWR | O_CREAT))
        return 9;
    if (!can_write("/dev/null", O_RDWR) || !can_write("/dev/urandom", O_RDONLY) ||
        !can_write("/proc/self/maps", O_RDONLY))
        return 10;
    if (!can_write("out/journal", O_RDONLY) || write(before, "x", 1) != 1)
        return 6;
    if (!can_write("tmp/new", O_WRONLY | O_CREAT) || !can_write("cache/new", O_WRONLY | O_CREAT))
        return 7;
    return rename("tmp/new", "tmp/newer") == 0 && unlink("tmp/newer") == 0 ? 0 : 8;
}

static void test_only_caches_and_temporary_files_can_be_written(void **state)
{
    (void)state;
    check(files);
}

/* The supervisor's memory is a file too. */
static int memory_of_another(void)
{
    char path[64];
    if (!confined("files", CONFINE_FILES))
        return NOT_HERE;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    return can_write(path, O_RDWR) || can_write(path, O_RDONLY) ? 1 : 0;
}

static void test_memory_of_another_process_cannot_be_opened(void **state)
{
    (void)state;
    check(memory_of_another);
}

/* ---- namespaces and temporary files ---- */

/* In force is what somebody has made for this process alone. */
static int temporary(void)
{
    char path[128];
    if (confined("temporary", CONFINE_TEMPORARY))
        return 1;
    snprintf(path, sizeof path, "%s/" CONFINE_TEMPORARY_NAME "x", directory);
    if (mkdir(path, 0755) != 0 || setenv("TMPDIR", path, 1) != 0 || confined("temporary", CONFINE_TEMPORARY))
        return 2;
    return chmod(path, 0700) == 0 && confined("temporary", CONFINE_TEMPORARY) && rmdir(path) == 0 ? 0 : 3;
}

static void test_a_temporary_directory_of_its_own(void **state)
{
    (void)state;
    check(temporary);
}

/* ---- limits ---- */

static int limits(void)
{
    struct rlimit limit;
    if (!confined("limits", CONFINE_LIMITS))
        return NOT_HERE;
    if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max != 0)
        return 1;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return 2;
    int fd = memfd_create("x", 0);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return 3;
    if (!refused(ftruncate(fd, (off_t)1 << 40), EFBIG)) /* and no signal */
        return 4;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : 5; /* the parts that were not asked for are not in force */
}

static void test_limits(void **state)
{
    (void)state;
    check(limits);
}

/* A limit that is lower already is not raised. */
static int lower_limit(void)
{
    struct rlimit limit = {100000, 100000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (!confined("limits", CONFINE_LIMITS))
        return NOT_HERE;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_max == 100000 && limit.rlim_cur == 100000 ? 0 : 2;
}

static void test_lower_limits_stay(void **state)
{
    (void)state;
    check(lower_limit);
}

/* ---- the switch and the record ---- */

static void test_switch(void **state)
{
    struct confinement c;
    struct error err;
    (void)state;
    assert_int_equal(confine_parse(NULL, &c, &err), 0);
    assert_true(c.wanted[CONFINE_LIMITS] && c.wanted[CONFINE_FILES] && c.wanted[CONFINE_CALLS]);
    assert_int_equal(confine_parse("on", &c, &err), 0);
    assert_true(c.wanted[CONFINE_LIMITS] && c.wanted[CONFINE_FILES] && c.wanted[CONFINE_CALLS]);
    assert_int_equal(confine_parse("off", &c, &err), 0);
    assert_false(c.wanted[CONFINE_LIMITS] || c.wanted[CONFINE_FILES] || c.wanted[CONFINE_CALLS]);
    assert_int_equal(confine_parse("calls,limits", &c, &err), 0);
    assert_true(c.wanted[CONFINE_LIMITS] && !c.wanted[CONFINE_FILES] && c.wanted[CONFINE_CALLS]);
    static const char *const bad[] = {"", "yes", "limits,", ",limits", "limit", "calls files", "on,off"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(confine_parse(bad[i], &c, &err), EXIT_CODE_USAGE);
        assert_non_null(strstr(err.text, "limits, memory, files, calls"));
    }
}

static void expect_json(const struct confinement *c, const char *text)
{
    cJSON *o = confine_to_json(c);
    char *got = json_print(o, false);
    assert_string_equal(got, text);
    free(got);
    cJSON_Delete(o);
}

static void test_record(void **state)
{
    struct confinement c = {.in_force = {true, true, true, true}, .landlock_abi = 3, .listened = true};
    (void)state;
    expect_json(&c, "{\"limits\":true,\"memory\":true,\"files\":true,\"calls\":true,\"namespaces\":false,"
                    "\"processes\":false,\"user\":false,\"temporary\":false,\"listened\":true,\"landlock\":3}");
    c = (struct confinement){.in_force = {true, false, false}};
    snprintf(c.note[CONFINE_CALLS], sizeof c.note[0], "seccomp: Invalid argument");
    expect_json(&c, "{\"limits\":true,\"memory\":false,\"files\":false,\"calls\":false,\"namespaces\":false,"
                    "\"processes\":false,\"user\":false,\"temporary\":false,\"listened\":false,\"notes\":["
                    "\"seccomp: Invalid argument\"]}");
}

static int off(void)
{
    return confined("off", CONFINE_CALLS) || socket(AF_INET, SOCK_STREAM, 0) < 0 ? 1 : 0;
}

static void test_off_is_off(void **state)
{
    (void)state;
    check(off);
}

/* ---- */

static int make_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/var/tmp/cudal2-confine-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_processes_are_out_of_reach),
        cmocka_unit_test(test_no_new_process_and_no_other_program),
        cmocka_unit_test(test_no_network),
        cmocka_unit_test(test_the_machine_is_left_alone),
#if defined(__x86_64__)
        cmocka_unit_test(test_no_way_round_by_other_numbers),
#endif
        cmocka_unit_test(test_what_libraries_need_still_works),
        cmocka_unit_test(test_older_threads_are_held_too),
        cmocka_unit_test(test_only_caches_and_temporary_files_can_be_written),
        cmocka_unit_test(test_memory_of_another_process_cannot_be_opened),
        cmocka_unit_test(test_a_temporary_directory_of_its_own),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_lower_limits_stay),
        cmocka_unit_test(test_switch),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_off_is_off),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
