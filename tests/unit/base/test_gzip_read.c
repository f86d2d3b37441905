/* base/gzip_read: what gzip writes comes back; what is cut short or damaged is refused, whatever bit it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/gzip_read.h"
#include "scratch_fixture.h"

/* Packs by the real program. Owned by the caller. */
static char *pack(const char *bytes, size_t length, const char *flags, size_t *packed_length)
{
    char command[256];
    char *packed;
    struct error err = {0};
    assert_int_equal(file_write_atomic(scratch_path("in"), bytes, length, &err), 0);
    snprintf(command, sizeof command, "gzip %s <'%s/in' >'%s/out.gz'", flags, scratch, scratch);
    assert_int_equal(system(command), 0);
    assert_int_equal(file_read(scratch_path("out.gz"), 1u << 24, &packed, packed_length, &err), 0);
    return packed;
}

static int unpack(const char *source, const void *bytes, size_t length, size_t max_bytes, char **out,
                  size_t *out_length, struct error *err)
{
    const struct gzip_input input = {source, bytes, length, max_bytes};
    return gzip_read(&input, out, out_length, err);
}

static void comes_back(const char *bytes, size_t length, const char *flags)
{
    size_t packed_length;
    size_t got_length = 0;
    char *got = NULL;
    struct error err = {0};
    char *packed = pack(bytes, length, flags, &packed_length);
    assert_true(gzip_is(packed, packed_length));
    if (unpack("x.gz", packed, packed_length, length + 1, &got, &got_length, &err))
        fail_msg("%s", err.text);
    assert_int_equal(got_length, length);
    assert_memory_equal(got, bytes, length);
    assert_int_equal(got[length], '\0');
    free(got);
    free(packed);
}

/* Text like a journal's, noise (which gzip stores), one long run, and mixtures of them. */
static char *sample(size_t length, int kind)
{
    char *bytes = malloc(length + 1);
    uint32_t x = 12345;
    assert_non_null(bytes);
    for (size_t i = 0; i < length; i++) {
        x = x * 1664525u + 1013904223u;
        bool noise = kind == 1 || (kind == 3 && i / 5000 % 2);
        bytes[i] = noise ? (char)(x >> 24) : kind == 2 ? 'a' : "0123456789,:{}\"abc"[(x >> 24) % (kind == 0 ? 18 : 5)];
    }
    return bytes;
}

static void what_gzip_writes_comes_back(void **state)
{
    static const size_t lengths[] = {0, 1, 2, 100, 65534, 65535, 65536, 70000, 1000000};
    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            char *bytes = sample(lengths[i], kind);
            comes_back(bytes, lengths[i], i % 2 ? "-1n" : "-9");
            free(bytes);
        }
}

static void members_follow_each_other(void **state)
{
    size_t first_length;
    size_t second_length;
    size_t length;
    char *out;
    struct error err = {0};
    (void)state;
    char *first = pack("one", 3, "-9", &first_length);
    char *second = pack("two", 3, "-1", &second_length);
    char *both = malloc(first_length + second_length + 1);
    memcpy(both, first, first_length);
    memcpy(both + first_length, second, second_length);
    assert_int_equal(unpack("x", both, first_length + second_length, 100, &out, &length, &err), 0);
    assert_string_equal(out, "onetwo");
    free(out);
    both[first_length + second_length] = 'x'; /* and then something else */
    assert_int_equal(unpack("x", both, first_length + second_length + 1, 100, &out, &length, &err), EXIT_CODE_DATA);
    free(first);
    free(second);
    free(both);
}

/* The optional parts of the head: extra field, name, comment and the head's own CRC. */
static void every_part_of_the_head_is_passed_over(void **state)
{
    /* "x" in a fixed block (ab 00 00), its CRC-32 and its length. */
    static const char good[] = "\x1f\x8b\x08\x1e\0\0\0\0\0\x03"
                               "\x03\0ext"
                               "n\0"
                               "co\0"
                               "\x69\xa5"
                               "\xab\0\0"
                               "\x83\x16\xdc\x8c"
                               "\x01\0\0";
    size_t length;
    char *out;
    struct error err = {0};
    (void)state;
    if (unpack("x", good, sizeof good, 10, &out, &length, &err))
        fail_msg("%s", err.text);
    assert_string_equal(out, "x");
    free(out);
    for (size_t n = 0; n < sizeof good; n++)
        assert_int_equal(unpack("x", good, n, 10, &out, &length, &err), EXIT_CODE_DATA);
}

static void damage_is_refused(void **state)
{
    size_t packed_length;
    size_t length;
    char *out;
    struct error err = {0};
    char *bytes = sample(3000, 0);
    char *packed = pack(bytes, 3000, "-9n", &packed_length);
    (void)state;
    for (size_t n = 0; n < packed_length; n++) /* cut short anywhere */
        assert_int_equal(unpack("x", packed, n, 1 << 20, &out, &length, &err), EXIT_CODE_DATA);
    for (size_t bit = 0; bit < 8 * packed_length; bit++) {
        packed[bit / 8] ^= (char)(1 << bit % 8);
        if (unpack("x", packed, packed_length, 1 << 20, &out, &length, &err) == 0) {
            /* Only the head's flags and time, and the bits that fill the last byte of codes, say nothing. */
            assert_true((bit / 8 >= 3 && bit / 8 < 10) || bit / 8 == packed_length - 9);
            assert_memory_equal(out, bytes, 3000);
            free(out);
        }
        packed[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(packed);
    free(bytes);
}

static void the_limit_is_of_the_unpacked_size(void **state)
{
    size_t packed_length;
    size_t length;
    char *out;
    struct error err = {0};
    char *bytes = sample(100000, 2);
    char *packed = pack(bytes, 100000, "-9", &packed_length);
    (void)state;
    assert_true(packed_length < 1000);
    assert_int_equal(unpack("bomb.gz", packed, packed_length, 99999, &out, &length, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "bomb.gz: cannot be unpacked: it unpacks to more than the limit");
    assert_int_equal(unpack("x", packed, packed_length, 100000, &out, &length, &err), 0);
    free(out);
    assert_int_equal(unpack("x", packed, packed_length, 0, &out, &length, &err), EXIT_CODE_DATA);
    free(packed);
    free(bytes);
}

static void a_file_is_plain_or_packed(void **state)
{
    size_t length;
    char *bytes;
    struct error err = {0};
    (void)state;
    free(pack("hello\n", 6, "-9", &length));
    assert_int_equal(gzip_read_file(scratch_path("in"), 100, &bytes, &length, &err), 0);
    assert_string_equal(bytes, "hello\n");
    free(bytes);
    assert_int_equal(gzip_read_file(scratch_path("out.gz"), 100, &bytes, &length, &err), 0);
    assert_string_equal(bytes, "hello\n");
    free(bytes);
    assert_int_equal(gzip_read_file("/nowhere.gz", 100, &bytes, &length, &err), EXIT_CODE_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_gzip_writes_comes_back),           cmocka_unit_test(members_follow_each_other),
        cmocka_unit_test(every_part_of_the_head_is_passed_over), cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(the_limit_is_of_the_unpacked_size),     cmocka_unit_test(a_file_is_plain_or_packed),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
