/* record/journal_copy: a journal that is deleted, moved, replaced or changed while it is written is noticed, and every
 * line of it is in another file then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "record/journal.h"

static char top[64], directory[96], path[128], rescued[160];
static struct journal *journal;

static int append(int number)
{
    struct error err = {0};
    cJSON *data = cJSON_CreateObject();
    cJSON_AddNumberToObject(data, "number", number);
    int code = journal_append(journal, "cell", data, &err);
    cJSON_Delete(data);
    return code;
}

/* Half a MiB. */
static int append_long(void)
{
    struct error err = {0};
    char *text = calloc(1, 1 << 19);
    memset(text, 'x', (1 << 19) - 1);
    cJSON *data = cJSON_CreateObject();
    cJSON_AddStringToObject(data, "text", text);
    int code = journal_append(journal, "cell", data, &err);
    cJSON_Delete(data);
    free(text);
    return code;
}

static int begin_in(const char *where)
{
    struct error err = {0};
    snprintf(top, sizeof top, "%s/cudal2-copy-XXXXXX", where);
    if (!mkdtemp(top))
        return -1;
    snprintf(directory, sizeof directory, "%s/results", top);
    snprintf(path, sizeof path, "%s/j.jsonl", directory);
    snprintf(rescued, sizeof rescued, "%s.rescued", path);
    return mkdir(directory, 0755) || journal_create(path, &journal, &err) || append(1) || append(2);
}

static int begin(void **state)
{
    (void)state;
    return begin_in("/tmp");
}

static int begin_in_memory(void **state)
{
    (void)state;
    return begin_in(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

static int end(void **state)
{
    char command[128];
    (void)state;
    journal_close(journal);
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

static int count(void *context, const char *kind, struct json_at data, struct error *err)
{
    (void)kind;
    (void)data;
    (void)err;
    ++*(int *)context;
    return 0;
}

static void expect_lines(const char *file, int lines)
{
    struct error err = {0};
    int got = 0;
    bool torn = false;
    assert_int_equal(journal_read(file, count, &got, &torn, &err), 0);
    assert_int_equal(got, lines);
    assert_false(torn);
}

static void expect_fault(const char *words, const char *where, int lines)
{
    struct error err = {0};
    assert_int_equal(journal_check(journal, &err), EXIT_CODE_IO);
    assert_non_null(strstr(err.text, words));
    assert_non_null(strstr(err.text, where));
    assert_true(journal_is_lost(journal));
    expect_lines(where, lines);
}

static void expect_sound(void)
{
    struct error err = {0};
    assert_int_equal(journal_check(journal, &err), 0);
    assert_false(journal_is_lost(journal));
}

static void test_untouched(void **state)
{
    (void)state;
    expect_sound();
    assert_int_equal(append(3), 0);
    expect_sound();
    expect_lines(path, 3);
}

/* Looking at it, copying it and giving it another mode change nothing. */
static void test_touched(void **state)
{
    struct error err = {0};
    char *bytes = NULL;
    size_t length;
    (void)state;
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
    assert_int_equal(file_read(path, 1 << 20, &bytes, &length, &err), 0);
    free(bytes);
    expect_sound();
    assert_int_equal(append(3), 0);
}

static void test_deleted(void **state)
{
    (void)state;
    assert_int_equal(unlink(path), 0);
    expect_fault("was deleted", rescued, 2);
}

/* The line that is being appended is not lost either. */
static void test_deleted_before_a_line(void **state)
{
    (void)state;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(append(3), EXIT_CODE_IO);
    assert_true(journal_is_lost(journal));
    expect_lines(rescued, 3);
}

static void test_directory_deleted(void **state)
{
    char above[160];
    (void)state;
    snprintf(above, sizeof above, "%s/j.jsonl.rescued", top);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
    expect_fault("was deleted", above, 2);
}

static void test_directory_moved(void **state)
{
    char elsewhere[128], above[160];
    (void)state;
    snprintf(above, sizeof above, "%s/j.jsonl.rescued", top);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", top);
    assert_int_equal(rename(directory, elsewhere), 0);
    expect_fault("was moved", above, 2);
}

static void test_replaced(void **state)
{
    char other[160];
    (void)state;
    snprintf(other, sizeof other, "%s.other", path);
    FILE *f = fopen(other, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(rename(other, path), 0);
    expect_fault("was replaced", rescued, 2);
}

/* A line with another number in it, and of the same length. */
static void test_rewritten(void **state)
{
    int fd = open(path, O_RDWR);
    (void)state;
    assert_int_equal(pwrite(fd, "9", 1, 42), 1);
    close(fd);
    expect_fault("was changed", rescued, 2);
}

/* Through a page that was mapped before our latest write: the file's times stay as they were. */
static void test_rewritten_in_memory(void **state)
{
    int fd = open(path, O_RDWR);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)state;
    assert_ptr_not_equal(page, MAP_FAILED);
    *(volatile char *)&page[42] = page[42];
    assert_int_equal(append(3), 0);
    page[42] = '9';
    expect_fault("was changed", rescued, 3);
    munmap(page, 4096);
    close(fd);
}

/* A change that no look has come to yet is found when the run ends. */
static void test_all_of_a_long_one(void **state)
{
    char *page;
    int fd = open(path, O_RDWR);
    struct error err = {0};
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(append_long(), 0);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    *(volatile char *)&page[42] = page[42];
    assert_int_equal(append(3), 0);
    expect_sound(); /* from the start again */
    page[42] = '9';
    assert_int_equal(journal_check_all(journal, &err), EXIT_CODE_IO);
    assert_true(journal_is_lost(journal));
    munmap(page, 4096);
    close(fd);
}

static void test_longer(void **state)
{
    int fd = open(path, O_WRONLY | O_APPEND);
    (void)state;
    assert_int_equal(write(fd, "x\n", 2), 2);
    close(fd);
    expect_fault("was changed", rescued, 2);
}

static void test_shorter(void **state)
{
    (void)state;
    assert_int_equal(truncate(path, 10), 0);
    expect_fault("was changed", rescued, 2);
}

/* What an earlier sitting wrote is in the copy too. */
static void test_resumed(void **state)
{
    struct error err = {0};
    int seen = 0;
    (void)state;
    journal_close(journal);
    assert_int_equal(journal_resume(path, count, &seen, &journal, &err), 0);
    assert_int_equal(append(3), 0);
    expect_sound();
    assert_int_equal(unlink(path), 0);
    expect_fault("was deleted", rescued, 3);
}

/* A name that is taken is left alone, a link too. */
static void test_names_that_are_taken(void **state)
{
    char second[192];
    (void)state;
    snprintf(second, sizeof second, "%s-2", rescued);
    assert_int_equal(symlink("/dev/null", rescued), 0);
    assert_int_equal(unlink(path), 0);
    expect_fault("was deleted", second, 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
#define IN_MEMORY(f) cmocka_unit_test_setup_teardown(f, begin_in_memory, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_untouched),
        TEST(test_touched),
        TEST(test_deleted),
        TEST(test_deleted_before_a_line),
        TEST(test_directory_deleted),
        TEST(test_directory_moved),
        TEST(test_replaced),
        TEST(test_rewritten),
        IN_MEMORY(test_rewritten_in_memory),
        IN_MEMORY(test_all_of_a_long_one),
        TEST(test_longer),
        TEST(test_shorter),
        TEST(test_resumed),
        TEST(test_names_that_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
