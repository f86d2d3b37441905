/* record/journal: torn at every byte, damaged in the middle, locked, disk full, sync failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "record/journal.h"

static char path[64];

static int make_path(void **state)
{
    static char directory[] = "/tmp/cudal2-journal-XXXXXX";
    (void)state;
    strcpy(directory, "/tmp/cudal2-journal-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/j.jsonl", directory);
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    *strrchr(path, '/') = '\0';
    return rmdir(path);
}

/* ---- what a visitor saw ---- */

struct seen {
    unsigned lines;
    char kinds[256];
    int numbers[64];
    int refuse_at;
};

static int see(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct seen *seen = context;
    int64_t number = -1;
    if (seen->refuse_at && seen->lines + 1 == (unsigned)seen->refuse_at)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "visitor says no");
    if (json_read_int(json_member(data, "number"), 0, 1000, &number, err))
        return err->code;
    seen->numbers[seen->lines++] = (int)number;
    strcat(seen->kinds, kind);
    strcat(seen->kinds, " ");
    return 0;
}

static int append(struct journal *j, const char *kind, int number, const char *text, struct error *err)
{
    cJSON *data = cJSON_CreateObject();
    cJSON_AddNumberToObject(data, "number", number);
    cJSON_AddStringToObject(data, "text", text);
    int code = journal_append(j, kind, data, err);
    cJSON_Delete(data);
    return code;
}

static void write_journal(int lines)
{
    struct journal *j;
    struct error err = {0};
    assert_int_equal(journal_create(path, &j, &err), 0);
    for (int i = 0; i < lines; i++)
        assert_int_equal(append(j, i ? "cell" : "run", i, "a \"quoted\" line\nwith {\"crc\":\"00000000\"} in it", &err),
                         0);
    journal_close(j);
}

static char *slurp(size_t *length)
{
    char *bytes = NULL;
    struct error err = {0};
    assert_int_equal(file_read(path, 1u << 20, &bytes, length, &err), 0);
    return bytes;
}

static void spill(const char *bytes, size_t length)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

static off_t size_now(void)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* ---- tests ---- */

static void reads_back_in_order(void **state)
{
    struct seen seen = {0};
    struct error err = {0};
    bool torn = true;
    (void)state;
    write_journal(4);
    assert_int_equal(journal_read(path, see, &seen, &torn, &err), 0);
    assert_false(torn);
    assert_int_equal(seen.lines, 4);
    assert_string_equal(seen.kinds, "run cell cell cell ");
    assert_int_equal(seen.numbers[3], 3);
}

static void refuses_to_overwrite(void **state)
{
    struct journal *j;
    struct error err = {0};
    (void)state;
    write_journal(1);
    assert_int_equal(journal_create(path, &j, &err), EXIT_CODE_CANTCREATE);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(journal_create("/nonexistent/dir/j.jsonl", &j, &err), EXIT_CODE_CANTCREATE);
    assert_int_equal(journal_resume("/nonexistent/dir/j.jsonl", see, NULL, &j, &err), EXIT_CODE_DATA);
}

static size_t start_of_last_line(const char *bytes, size_t length)
{
    size_t last = length - 1;
    while (bytes[last - 1] != '\n')
        last--;
    return last;
}

/* Every way of cutting the last line short: what is before is read, the rest is cut off, and writing goes on. */
static void torn_at_every_byte(void **state)
{
    size_t length;
    (void)state;
    write_journal(3);
    char *bytes = slurp(&length);
    size_t last = start_of_last_line(bytes, length);
    for (size_t cut = last; cut < length; cut++) {
        struct seen seen = {0};
        struct seen again = {0};
        struct journal *j;
        struct error err = {0};
        bool torn;
        spill(bytes, cut);
        assert_int_equal(journal_read(path, see, &seen, &torn, &err), 0);
        assert_int_equal(seen.lines, 2);
        assert_int_equal(torn, cut > last);
        assert_int_equal(size_now(), cut);
        assert_int_equal(journal_resume(path, see, &again, &j, &err), 0);
        assert_int_equal(again.lines, 2);
        assert_int_equal(size_now(), last);
        assert_int_equal(append(j, "cell", 7, "new", &err), 0);
        journal_close(j);
        memset(&seen, 0, sizeof seen);
        assert_int_equal(journal_read(path, see, &seen, &torn, &err), 0);
        assert_false(torn);
        assert_int_equal(seen.lines, 3);
        assert_int_equal(seen.numbers[2], 7);
    }
    free(bytes);
}

/* A file system may leave zeros or the right length with wrong content after a power cut. */
static void last_line_of_zeros_or_garbage_is_torn(void **state)
{
    struct seen seen = {0};
    struct error err = {0};
    size_t length;
    bool torn = false;
    (void)state;
    write_journal(3);
    char *bytes = slurp(&length);
    memset(bytes + length - 40, 0, 40);
    spill(bytes, length);
    assert_int_equal(journal_read(path, see, &seen, &torn, &err), 0);
    assert_true(torn);
    bytes[length - 1] = '\n';
    spill(bytes, length);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(journal_read(path, see, &seen, &torn, &err), 0);
    assert_true(torn);
    assert_int_equal(seen.lines, 2);
    free(bytes);
}

static unsigned line_of(const char *bytes, size_t at)
{
    unsigned line = 1;
    for (size_t i = 0; i < at; i++)
        line += bytes[i] == '\n';
    return line;
}

static void damage_in_the_middle_is_refused(void **state)
{
    size_t length;
    (void)state;
    write_journal(4);
    char *bytes = slurp(&length);
    size_t last = start_of_last_line(bytes, length);
    for (size_t at = 0; at < last; at += at + 1 < last && bytes[at + 1] == '\n' ? 1 : 7) {
        static const char damage[] = {'\x01', '\n', ' ', 0};
        for (size_t d = 0; d < sizeof damage; d++) {
            struct seen seen = {0};
            struct error err = {0};
            struct journal *j;
            char line[32];
            char kept = bytes[at];
            bytes[at] = kept == damage[d] ? 'Z' : damage[d];
            spill(bytes, length);
            bytes[at] = kept;
            snprintf(line, sizeof line, "line %u:", line_of(bytes, at));
            if (journal_read(path, see, &seen, NULL, &err) != EXIT_CODE_DATA || !strstr(err.text, line))
                fail_msg("damage at %zu: expected %s, got: %s", at, line, err.text);
            assert_int_equal(journal_resume(path, see, &seen, &j, &err), EXIT_CODE_DATA);
            assert_int_equal(size_now(), length);
        }
    }
    free(bytes);
}

/* The newline between the last two lines is lost: cutting "the last line" would throw a good cell away. */
static void a_lost_newline_is_damage_not_a_tear(void **state)
{
    struct seen seen = {0};
    struct error err = {0};
    size_t length;
    (void)state;
    write_journal(3);
    char *bytes = slurp(&length);
    size_t last = start_of_last_line(bytes, length);
    bytes[last - 1] = 'X';
    spill(bytes, length);
    assert_int_equal(journal_read(path, see, &seen, NULL, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "line 2"));
    spill(bytes, length - 5); /* and torn besides */
    assert_int_equal(journal_read(path, see, &seen, NULL, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "line 2"));
    free(bytes);
}

static void visitors_can_stop_it(void **state)
{
    struct seen seen = {.refuse_at = 2};
    struct error err = {0};
    struct journal *j;
    (void)state;
    write_journal(3);
    assert_int_equal(journal_read(path, see, &seen, NULL, &err), EXIT_CODE_INCOMPARABLE);
    assert_int_equal(seen.lines, 1);
    memset(&seen, 0, sizeof seen);
    seen.refuse_at = 3;
    assert_int_equal(journal_resume(path, see, &seen, &j, &err), EXIT_CODE_INCOMPARABLE);
}

static void an_empty_file_is_an_empty_journal(void **state)
{
    struct seen seen = {0};
    struct error err = {0};
    bool torn = true;
    struct journal *j;
    (void)state;
    spill("", 0);
    assert_int_equal(journal_read(path, see, &seen, &torn, &err), 0);
    assert_false(torn);
    assert_int_equal(journal_resume(path, see, &seen, &j, &err), 0);
    assert_int_equal(append(j, "run", 1, "", &err), 0);
    journal_close(j);
}

/* Exit status of the child: the code journal_resume gave there. */
static int resume_in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        struct seen seen = {0};
        struct error err = {0};
        struct journal *j;
        _exit(journal_resume(path, see, &seen, &j, &err));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void one_writer_at_a_time(void **state)
{
    struct journal *j;
    struct error err = {0};
    (void)state;
    assert_int_equal(journal_create(path, &j, &err), 0);
    assert_int_equal(append(j, "run", 0, "", &err), 0);
    int inherited = open(path, O_RDONLY);
    assert_int_equal(resume_in_child(), EXIT_CODE_TEMPORARY);
    assert_int_equal(append(j, "cell", 1, "", &err), 0);
    journal_close(j);
    close(inherited);
    assert_int_equal(resume_in_child(), 0);
}

/* RLIMIT_FSIZE cuts a write short, then refuses the rest: what a full disk does. */
static void disk_full_leaves_a_clean_file(void **state)
{
    struct rlimit before;
    struct error err = {0};
    struct journal *j;
    char long_text[3000];
    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(journal_create(path, &j, &err), 0);
    assert_int_equal(append(j, "run", 0, "", &err), 0);
    off_t good = size_now();
    struct rlimit small = {.rlim_cur = (rlim_t)good + 1000, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    int code = append(j, "cell", 1, long_text, &err);
    off_t after = size_now();
    int short_line = append(j, "cell", 2, "fits", &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, EXIT_CODE_IO);
    assert_int_equal(after, good);
    assert_int_equal(short_line, 0);
    assert_int_equal(append(j, "cell", 3, long_text, &err), 0);
    journal_close(j);
    struct seen seen = {0};
    bool torn = true;
    assert_int_equal(journal_read(path, see, &seen, &torn, &err), 0);
    assert_false(torn);
    assert_int_equal(seen.lines, 3);
    assert_int_equal(seen.numbers[1], 2);
    assert_int_equal(seen.numbers[2], 3);
}

static int failing_sync(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}

static void a_failing_sync_takes_the_line_back(void **state)
{
    struct journal *j;
    struct error err = {0};
    (void)state;
    assert_int_equal(journal_create(path, &j, &err), 0);
    assert_int_equal(append(j, "run", 0, "", &err), 0);
    off_t good = size_now();
    journal_replace_sync(j, failing_sync);
    assert_int_equal(append(j, "cell", 1, "", &err), EXIT_CODE_IO);
    assert_non_null(strstr(err.text, strerror(EIO)));
    assert_int_equal(size_now(), good);
    journal_replace_sync(j, fdatasync);
    assert_int_equal(append(j, "cell", 2, "", &err), 0);
    journal_close(j);
    struct seen seen = {0};
    assert_int_equal(journal_read(path, see, &seen, NULL, &err), 0);
    assert_int_equal(seen.numbers[1], 2);
}

/* Whoever goes on with nothing waits for no disk; all else is the same. */
static void a_passing_journal(void **state)
{
    struct journal *j, *other;
    struct error err = {0};
    struct seen seen = {0};
    (void)state;
    assert_int_equal(journal_create_passing(path, &j, &err), 0);
    assert_int_equal(journal_create_passing(path, &other, &err), EXIT_CODE_CANTCREATE);
    assert_int_equal(append(j, "run", 0, "", &err), 0);
    assert_int_equal(append(j, "cell", 2, "", &err), 0);
    journal_close(j);
    assert_int_equal(journal_read(path, see, &seen, NULL, &err), 0);
    assert_int_equal(seen.numbers[1], 2);
}

static void a_line_must_be_an_object_of_ours(void **state)
{
    static const char *const lines[] = {
        "{}\n{}\n",
        "\n\n",
        "{\"crc\":\"00000000\",\"kind\":\"run\",\"data\":{}}\n{\"crc\":\"00000000\",\"kind\":\"run\",\"data\":{}}\n",
        "not json\nnot json\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct seen seen = {0};
        struct error err = {0};
        spill(lines[i], strlen(lines[i]));
        assert_int_equal(journal_read(path, see, &seen, NULL, &err), EXIT_CODE_DATA);
        assert_non_null(strstr(err.text, "line 1:"));
    }
}

/* The checksum is right: who wrote the line meant it so, and only its text is no JSON. */
static void a_fault_of_syntax_has_one_position(void **state)
{
    static const char good[] = "\"kind\":\"run\",\"data\":{}}", bad[] = "\"kind\":\"cell\",\"data\":{,}}";
    struct error err = {0};
    char text[256], wanted[128];
    (void)state;
    snprintf(text, sizeof text, "{\"crc\":\"%08x\",%s\n{\"crc\":\"%08x\",%s\n{\"crc\":\"%08x\",%s\n",
             digest_crc32(good, strlen(good)), good, digest_crc32(bad, strlen(bad)), bad,
             digest_crc32(good, strlen(good)), good);
    spill(text, strlen(text));
    assert_int_equal(journal_read(path, NULL, NULL, NULL, &err), EXIT_CODE_DATA);
    snprintf(wanted, sizeof wanted, "%s: line 2, column 41: expected a key in quotes", path);
    assert_string_equal(err.text, wanted);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_back_in_order),
        TEST(refuses_to_overwrite),
        TEST(torn_at_every_byte),
        TEST(last_line_of_zeros_or_garbage_is_torn),
        TEST(damage_in_the_middle_is_refused),
        TEST(a_lost_newline_is_damage_not_a_tear),
        TEST(visitors_can_stop_it),
        TEST(an_empty_file_is_an_empty_journal),
        TEST(one_writer_at_a_time),
        TEST(disk_full_leaves_a_clean_file),
        TEST(a_failing_sync_takes_the_line_back),
        TEST(a_passing_journal),
        TEST(a_line_must_be_an_object_of_ours),
        TEST(a_fault_of_syntax_has_one_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
