/* contender/mapped: a library that another process has opened is found under any file name, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "contender/mapped.h"

/* A process that opens the file, deletes it if it is to, and stops. */
static pid_t open_apart(const char *path, bool gone)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        bool opened = path == NULL || dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
        if (gone)
            unlink(path);
        if (opened)
            raise(SIGSTOP);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void find(const char *name, char path[1024])
{
    char here[512];
    struct error err;
    assert_int_equal(file_executable_directory(here, sizeof here, &err), 0);
    snprintf(path, 1024, "%s/plugins/%s.so", here, name);
}

static void a_library_is_found(void **state)
{
    char path[1024];
    struct mapped found = {.n = 0};
    (void)state;
    find("lends", path);
    pid_t pid = open_apart(path, false);
    mapped_look(pid, &found);
    mapped_look(pid, &found); /* each once */
    end(pid);
    assert_int_equal(found.n, 1);
    assert_string_equal(found.list[0], "OpenBLAS: lends.so");
}

static void another_name_does_not_hide_it(void **state)
{
    char path[1024], command[2200], copy[] = "/tmp/cudal2-mapped-XXXXXX";
    struct mapped found = {.n = 0};
    (void)state;
    find("lends", path);
    int fd = mkstemp(copy);
    assert_true(fd >= 0);
    close(fd);
    snprintf(command, sizeof command, "cp '%s' %s", path, copy);
    assert_int_equal(system(command), 0);
    pid_t pid = open_apart(copy, true);
    mapped_look(pid, &found);
    end(pid);
    assert_int_equal(found.n, 1);
    assert_non_null(strstr(found.list[0], "OpenBLAS: cudal2-mapped-"));
}

/* A plugin's own file is looked through for what it has linked statically. */
static void a_plugin_that_holds_one_is_found(void **state)
{
    static const char *const names[] = {"holds", "honest"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char path[1024];
        struct mapped found = {.n = 0};
        find(names[i], path);
        pid_t pid = open_apart(path, false);
        mapped_look(pid, &found);
        end(pid);
        assert_int_equal(found.n, 1 - i);
        if (i == 0)
            assert_string_equal(found.list[0], "OpenBLAS: holds.so");
    }
}

/* A file of nothing but headers that point into the void, mapped over and over, comes to an end and is nobody's. */
static void rubbish_is_read_for_no_long_time(void **state)
{
    char path[] = "/tmp/cudal2-mapped-XXXXXX";
    ElfW(Ehdr) head = {.e_phoff = sizeof head, .e_phentsize = sizeof(ElfW(Phdr)), .e_phnum = 2};
    ElfW(Phdr) parts[2] = {{.p_type = PT_LOAD}, {.p_type = PT_DYNAMIC, .p_vaddr = 512, .p_memsz = 1024}};
    ElfW(Dyn) entries[] = {{DT_STRTAB, {.d_ptr = 8192}}, {DT_STRSZ, {.d_val = 16u << 20}}, {DT_NULL, {0}}};
    struct mapped found = {.n = 0};
    char page[4096] = "";
    int status;
    (void)state;
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    memcpy(page, &head, sizeof head);
    memcpy(page + sizeof head, parts, sizeof parts);
    memcpy(page + 512, entries, sizeof entries);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, page, sizeof page) == (ssize_t)sizeof page);
    assert_int_equal(ftruncate(fd, 32 << 20), 0);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 2000; i++)
            (void)mmap(NULL, 32 << 20, PROT_READ, MAP_PRIVATE, fd, 0);
        raise(SIGSTOP);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    uint64_t began = clock_now_ns();
    mapped_look(pid, &found);
    assert_true(clock_now_ns() - began < 20000000000ull); /* 32 GB of names would take longer */
    assert_int_equal(found.n, 0);
    end(pid);
    close(fd);
    unlink(path);
}

static void a_process_without_one_has_none(void **state)
{
    struct mapped found = {.n = 0};
    (void)state;
    pid_t pid = open_apart(NULL, false);
    mapped_look(pid, &found);
    end(pid);
    assert_int_equal(found.n, 0);
    mapped_look(pid, &found); /* it has ended */
    assert_int_equal(found.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_is_found),
        cmocka_unit_test(another_name_does_not_hide_it),
        cmocka_unit_test(a_plugin_that_holds_one_is_found),
        cmocka_unit_test(rubbish_is_read_for_no_long_time),
        cmocka_unit_test(a_process_without_one_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
