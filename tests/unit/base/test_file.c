/* Whole files, atomic writes under injected faults, and the cache. write, fsync and rename are replaced here by
 * versions that fail on request: a full disk at each step must leave the old file and nothing else. */
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <unistd.h>

enum fault { FAULT_NONE, FAULT_WRITE, FAULT_SHORT_WRITE, FAULT_SYNC, FAULT_RENAME };
static enum fault fault;
static int syncs; /* of files and directories */

ssize_t write(int fd, const void *bytes, size_t length)
{
    if (fault == FAULT_WRITE && fd > 2) {
        errno = ENOSPC;
        return -1;
    }
    if (fault == FAULT_SHORT_WRITE && fd > 2 && length > 3)
        length = 3; /* legal: the caller has to go on */
    return syscall(SYS_write, fd, bytes, length);
}

int fsync(int fd)
{
    syncs++;
    if (fault == FAULT_SYNC) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    if (fault == FAULT_RENAME) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static char directory[] = "/tmp/test_file_XXXXXX";
static char path[512];

static const char *in(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    memcpy(directory, "/tmp/test_file_XXXXXX", sizeof directory);
    fault = FAULT_NONE;
    syncs = 0;
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[600];
    (void)state;
    fault = FAULT_NONE;
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static int entries(const char *name)
{
    int count = 0;
    DIR *d = opendir(name);
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d)
        closedir(d);
    return count;
}

static void assert_content(const char *name, const char *wanted)
{
    char *bytes = NULL;
    size_t length = 0;
    struct error err;
    assert_int_equal(file_read(in(name), 1000, &bytes, &length, &err), 0);
    assert_int_equal(length, strlen(wanted));
    assert_string_equal(bytes, wanted);
    free(bytes);
}

static void put(const char *name, const char *text)
{
    struct error err;
    assert_int_equal(file_write_atomic(in(name), text, strlen(text), &err), 0);
}

static void test_read_cap(void **state)
{
    char *bytes = NULL;
    size_t length = 0;
    struct error err;
    (void)state;
    put("ten", "0123456789");
    assert_int_equal(file_read(in("ten"), 10, &bytes, &length, &err), 0);
    assert_int_equal(length, 10);
    assert_int_equal(bytes[10], '\0');
    free(bytes);
    bytes = NULL;
    assert_int_equal(file_read(in("ten"), 9, &bytes, &length, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "10 bytes, the limit is 9"));
    assert_null(bytes);
    put("empty", "");
    assert_int_equal(file_read(in("empty"), 10, &bytes, &length, &err), 0);
    assert_int_equal(length, 0);
    assert_int_equal(bytes[0], '\0');
    free(bytes);
}

/* A sparse file of 1 TB must be refused by its size, before anything is allocated. */
static void test_read_huge(void **state)
{
    char *bytes = NULL;
    size_t length;
    struct error err;
    (void)state;
    int fd = open(in("huge"), O_CREAT | O_WRONLY, 0600);
    if (ftruncate(fd, (off_t)1 << 40) == 0)
        assert_int_equal(file_read(in("huge"), 1 << 20, &bytes, &length, &err), EXIT_CODE_DATA);
    assert_null(bytes);
    close(fd);
}

/* Files of /proc state size 0 and have content all the same. */
static void test_read_without_size(void **state)
{
    char *bytes = NULL;
    size_t length = 0;
    struct error err;
    (void)state;
    assert_int_equal(file_read("/proc/self/status", 1 << 20, &bytes, &length, &err), 0);
    assert_true(length > 100);
    assert_memory_equal(bytes, "Name:", 5);
    free(bytes);
    bytes = NULL;
    assert_int_equal(file_read("/proc/self/status", 50, &bytes, &length, &err), EXIT_CODE_DATA);
    assert_null(bytes);
}

static void test_read_refuses_others(void **state)
{
    char *bytes = NULL;
    size_t length;
    struct error err;
    (void)state;
    assert_int_equal(file_read(in("absent"), 10, &bytes, &length, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "No such file"));
    assert_int_equal(file_read(directory, 10, &bytes, &length, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(mkfifo(in("fifo"), 0600), 0);
    assert_int_equal(file_read(in("fifo"), 10, &bytes, &length, &err), EXIT_CODE_DATA); /* and does not block */
    assert_int_equal(file_read("/dev/zero", 10, &bytes, &length, &err), EXIT_CODE_DATA);
    assert_null(bytes);
}

static void test_write_replaces(void **state)
{
    (void)state;
    put("r", "old");
    put("r", "new and longer");
    assert_content("r", "new and longer");
    assert_int_equal(entries(directory), 1);
    assert_int_equal(syncs, 4); /* the file and its directory, twice */
    fault = FAULT_SHORT_WRITE;
    put("r", "written three bytes at a time");
    assert_content("r", "written three bytes at a time");
}

static void test_write_faults(void **state)
{
    static const struct {
        enum fault fault;
        const char *text;
    } cases[] = {{FAULT_WRITE, "write failed: No space left"},
                 {FAULT_SYNC, "sync failed: No space left"},
                 {FAULT_RENAME, "rename failed: No space left"}};
    struct error err;
    (void)state;
    put("r", "old");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fault = cases[i].fault;
        assert_int_equal(file_write_atomic(in("r"), "new", 3, &err), EXIT_CODE_IO);
        assert_non_null(strstr(err.text, cases[i].text));
        fault = FAULT_NONE;
        assert_content("r", "old");
        assert_int_equal(entries(directory), 1);
    }
}

static void test_write_targets(void **state)
{
    char longest[5000];
    struct error err;
    (void)state;
    assert_int_equal(file_write_atomic(in("no/such/dir/r"), "x", 1, &err), EXIT_CODE_CANTCREATE);
    assert_int_equal(file_write_atomic(directory, "x", 1, &err), EXIT_CODE_CANTCREATE);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(file_write_atomic(longest, "x", 1, &err), EXIT_CODE_CANTCREATE);
    /* A FIFO (as root, /dev/null) would be replaced by the rename. */
    assert_int_equal(mkfifo(in("fifo"), 0600), 0);
    assert_int_equal(file_write_atomic(in("fifo"), "x", 1, &err), EXIT_CODE_CANTCREATE);
    struct stat st;
    assert_int_equal(stat(in("fifo"), &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
}

static void test_write_relative(void **state)
{
    char before[1024];
    struct error err;
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(file_write_atomic("plain", "x", 1, &err), 0);
    assert_int_equal(chdir(before), 0);
    assert_content("plain", "x");
}

static void test_directories(void **state)
{
    struct error err;
    struct stat st;
    (void)state;
    assert_int_equal(file_make_directories(in("a/b//c/"), &err), 0);
    assert_int_equal(stat(in("a/b/c"), &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(file_make_directories(in("a/b/c"), &err), 0);
    put("file", "x");
    assert_int_equal(file_make_directories(in("file/x"), &err), EXIT_CODE_CANTCREATE);
    assert_int_equal(file_make_directories(in("file"), &err), EXIT_CODE_CANTCREATE);
    assert_int_equal(file_make_directories("", &err), EXIT_CODE_CANTCREATE);
}

static void test_executable_directory(void **state)
{
    char here[4096], program[4200];
    char small[4];
    struct error err;
    (void)state;
    assert_int_equal(file_executable_directory(here, sizeof here, &err), 0);
    assert_int_equal(here[0], '/');
    assert_true(here[strlen(here) - 1] != '/');
    snprintf(program, sizeof program, "%s/test_file", here);
    assert_int_equal(access(program, X_OK), 0);
    assert_int_equal(file_executable_directory(small, sizeof small, &err), EXIT_CODE_INTERNAL);
}

static void test_cache_round_trip(void **state)
{
    static const char bytes[] = {'a', 0, 'b', '\n', 0};
    char *back = NULL;
    size_t length = 0;
    bool found = true;
    struct error err;
    (void)state;
    setenv("CUDAL2_CACHE", in("deep/cache"), 1);
    assert_int_equal(file_cache_get("cubin", "key-1", &back, &length, &found, &err), 0);
    assert_false(found);
    assert_int_equal(file_cache_put("cubin", "key-1", bytes, sizeof bytes, &err), 0);
    assert_int_equal(file_cache_get("cubin", "key-1", &back, &length, &found, &err), 0);
    assert_true(found);
    assert_int_equal(length, sizeof bytes);
    assert_memory_equal(back, bytes, sizeof bytes);
    assert_int_equal(back[length], '\0');
    free(back);
    assert_int_equal(file_cache_get("tune", "key-1", &back, &length, &found, &err), 0);
    assert_false(found); /* kinds are apart */
    assert_int_equal(file_cache_put("cubin", "empty", "", 0, &err), 0);
    assert_int_equal(file_cache_get("cubin", "empty", &back, &length, &found, &err), 0);
    assert_true(found);
    assert_int_equal(length, 0);
    free(back);
}

/* A worker puts a dozen entries for each cell, and waiting for a disk takes longer than anything else it does there. */
static void test_cache_does_not_wait(void **state)
{
    struct error err;
    (void)state;
    setenv("CUDAL2_CACHE", directory, 1);
    assert_int_equal(file_cache_put("kind", "key", "x", 1, &err), 0);
    assert_int_equal(syncs, 0);
    fault = FAULT_SYNC;
    assert_int_equal(file_cache_put("kind", "key", "y", 1, &err), 0);
    fault = FAULT_RENAME;
    assert_int_equal(file_cache_put("kind", "key", "z", 1, &err), EXIT_CODE_IO);
}

/* Every single flipped byte and every truncation of an entry is a miss, not wrong content. */
/* Several workers compile the same kernel at the same time: whoever reads finds nothing or all of it. */
static void test_cache_with_many_writers(void **state)
{
    enum { WRITERS = 4, ROUNDS = 60, LENGTH = 200000 };
    struct error err;
    char *wanted = malloc(LENGTH), *found_bytes = NULL;
    size_t length = 0;
    bool found = false;
    pid_t writers[WRITERS];
    (void)state;
    assert_non_null(wanted);
    for (size_t i = 0; i < LENGTH; i++)
        wanted[i] = (char)(i * 31 + i / 251);
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = fork();
        if (writers[w] == 0) {
            int code = 0;
            for (int i = 0; i < ROUNDS && code == 0; i++)
                code = file_cache_put("many", "entry", wanted, LENGTH, &err);
            _exit(code);
        }
        assert_true(writers[w] > 0);
    }
    int status, left = WRITERS, failed = 0, seen = 0;
    while (left > 0) {
        assert_int_equal(file_cache_get("many", "entry", &found_bytes, &length, &found, &err), 0);
        seen += found;
        assert_true(seen == 0 || found); /* once it is there it stays */
        if (found) {
            assert_int_equal(length, LENGTH);
            assert_memory_equal(found_bytes, wanted, LENGTH);
            free(found_bytes);
        }
        while (left > 0 && waitpid(-1, &status, WNOHANG) > 0) {
            failed += status != 0;
            left--;
        }
    }
    assert_int_equal(failed, 0);
    assert_true(seen > 0);
    free(wanted);
}

static void test_cache_corruption(void **state)
{
    char entry[600];
    char *bytes = NULL, *back = NULL;
    size_t length, got;
    bool found;
    struct error err;
    (void)state;
    setenv("CUDAL2_CACHE", directory, 1);
    assert_int_equal(file_cache_put("k", "x", "content", 7, &err), 0);
    assert_int_equal(file_cache_path("k", "x", entry, sizeof entry, &err), 0);
    assert_int_equal(file_read(entry, 1000, &bytes, &length, &err), 0);
    for (size_t i = 0; i < 2 * length; i++) {
        size_t cut = i < length ? length : i - length;
        if (i < length)
            bytes[i] ^= 1;
        assert_int_equal(file_write_atomic(entry, bytes, cut, &err), 0);
        if (i < length)
            bytes[i] ^= 1;
        assert_int_equal(file_cache_get("k", "x", &back, &got, &found, &err), 0);
        assert_false(found);
    }
    assert_int_equal(file_write_atomic(entry, bytes, length, &err), 0);
    assert_int_equal(file_cache_get("k", "x", &back, &got, &found, &err), 0);
    assert_true(found);
    free(back);
    free(bytes);
}

static void test_cache_names(void **state)
{
    static const char *const bad[] = {"", ".", "..", "../x", "a/b", "a b", ".hidden", "a\n"};
    char out[4096];
    struct error err;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(file_cache_path("k", bad[i], out, sizeof out, &err), EXIT_CODE_INTERNAL);
        assert_int_equal(file_cache_path(bad[i], "x", out, sizeof out, &err), EXIT_CODE_INTERNAL);
    }
}

static void test_cache_place(void **state)
{
    char out[4096];
    char tmp[64];
    struct error err;
    (void)state;
    setenv("CUDAL2_CACHE", "/own", 1);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("HOME", "/home/x", 1);
    assert_int_equal(file_cache_path("k", "x", out, sizeof out, &err), 0);
    assert_string_equal(out, "/own/k/x");
    unsetenv("CUDAL2_CACHE");
    assert_int_equal(file_cache_path("k", "x", out, sizeof out, &err), 0);
    assert_string_equal(out, "/xdg/cudal2-bench/k/x");
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_int_equal(file_cache_path("k", "x", out, sizeof out, &err), 0);
    assert_string_equal(out, "/home/x/.cache/cudal2-bench/k/x");
    unsetenv("HOME");
    snprintf(tmp, sizeof tmp, "/tmp/cudal2-bench-cache-%lu/k/x", (unsigned long)getuid());
    assert_int_equal(file_cache_path("k", "x", out, sizeof out, &err), 0);
    assert_string_equal(out, tmp);
    assert_int_equal(file_cache_path("k", "x", out, 5, &err), EXIT_CODE_CANTCREATE);
}

static void test_cache_unwritable(void **state)
{
    struct error err;
    (void)state;
    put("file", "x");
    setenv("CUDAL2_CACHE", in("file"), 1);
    assert_int_equal(file_cache_put("k", "x", "y", 1, &err), EXIT_CODE_CANTCREATE);
    setenv("CUDAL2_CACHE", directory, 1);
    fault = FAULT_WRITE;
    assert_int_equal(file_cache_put("k", "x", "y", 1, &err), EXIT_CODE_IO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_read_cap),
        TEST(test_read_huge),
        TEST(test_read_without_size),
        TEST(test_read_refuses_others),
        TEST(test_write_replaces),
        TEST(test_write_faults),
        TEST(test_write_targets),
        TEST(test_write_relative),
        TEST(test_directories),
        TEST(test_executable_directory),
        TEST(test_cache_with_many_writers),
        TEST(test_cache_round_trip),
        TEST(test_cache_corruption),
        TEST(test_cache_names),
        TEST(test_cache_place),
        TEST(test_cache_unwritable),
        TEST(test_cache_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
