/* CRC-32 against published check values; the content hash against what a hash must and must not do. */
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_crc32(void **state)
{
    unsigned char all[256];
    (void)state;
    assert_int_equal(digest_crc32("", 0), 0);
    assert_int_equal(digest_crc32("123456789", 9), 0xcbf43926u); /* the check value of CRC-32/ISO-HDLC */
    assert_int_equal(digest_crc32("The quick brown fox jumps over the lazy dog", 43), 0x414fa339u);
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    assert_int_equal(digest_crc32(all, 256), 0x29058c73u);
    assert_int_equal(digest_crc32("\0\0\0\0", 4), 0x2144df1cu);
}

static void digest_of(const void *bytes, size_t length, char hex[DIGEST_HEX])
{
    struct digest d;
    digest_start(&d);
    digest_add(&d, bytes, length);
    digest_finish(&d, hex);
}

/* Cache keys and committed results depend on the value: it must never change. */
static void test_known_value(void **state)
{
    char hex[DIGEST_HEX];
    (void)state;
    digest_of("", 0, hex);
    assert_string_equal(hex, "f52a15e9a9b5e89b046f7d15e686fe8c");
    digest_of("cudal2-bench", 12, hex);
    assert_string_equal(hex, "d0cc924c9a78d3897059c8cbaef03c48");
}

static void test_chunks_do_not_matter(void **state)
{
    static const char text[] = "a digest of parts is the digest of the whole";
    char whole[DIGEST_HEX], parts[DIGEST_HEX];
    (void)state;
    digest_of(text, sizeof text, whole);
    assert_int_equal(strlen(whole), 32);
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        struct digest d;
        digest_start(&d);
        digest_add(&d, text, cut);
        digest_add(&d, text + cut, sizeof text - cut);
        digest_finish(&d, parts);
        assert_string_equal(parts, whole);
    }
}

static void test_strings_are_delimited(void **state)
{
    struct digest a, b;
    char first[DIGEST_HEX], second[DIGEST_HEX];
    (void)state;
    digest_start(&a);
    digest_add_string(&a, "ab");
    digest_add_string(&a, "c");
    digest_start(&b);
    digest_add_string(&b, "a");
    digest_add_string(&b, "bc");
    digest_finish(&a, first);
    digest_finish(&b, second);
    assert_string_not_equal(first, second);
}

static int by_text(const void *a, const void *b)
{
    return memcmp(a, b, DIGEST_HEX);
}

/* Short inputs, runs of zeros and single flipped bits: 20000 digests, none equal, and neither half repeats. */
static void test_no_collisions(void **state)
{
    enum { COUNT = 20000 };
    char(*hex)[DIGEST_HEX] = malloc(COUNT * sizeof *hex);
    unsigned char block[1250] = {0};
    size_t used = 0;
    (void)state;
    for (uint32_t i = 0; i < 9000; i++)
        digest_of(&i, sizeof i, hex[used++]);
    for (size_t length = 5; length < 1005; length++)
        digest_of(block, length, hex[used++]);
    for (size_t bit = 0; bit < 10000; bit++) {
        block[bit / 8] ^= (unsigned char)(1u << bit % 8);
        digest_of(block, sizeof block, hex[used++]);
        block[bit / 8] = 0;
    }
    assert_int_equal(used, COUNT);
    qsort(hex, COUNT, sizeof *hex, by_text);
    for (size_t i = 1; i < COUNT; i++)
        assert_memory_not_equal(hex[i - 1], hex[i], 16); /* the first lane alone */
    for (size_t i = 0; i < COUNT; i++) {
        memmove(hex[i], hex[i] + 16, 16);
        memset(hex[i] + 16, 0, DIGEST_HEX - 16);
    }
    qsort(hex, COUNT, sizeof *hex, by_text);
    for (size_t i = 1; i < COUNT; i++)
        assert_memory_not_equal(hex[i - 1], hex[i], 16); /* the second */
    free(hex);
}

static void bulk_of(const void *bytes, size_t length, char hex[DIGEST_HEX])
{
    struct digest d;
    digest_start(&d);
    digest_add_bulk(&d, bytes, length);
    digest_finish(&d, hex);
}

/* Every single bit, and every two that are 8 or 16 bytes apart, in whole words and in the rest. */
static void test_bulk_sees_each_bit(void **state)
{
    enum { BYTES = 43 };
    unsigned char block[BYTES] = {0};
    char plain[DIGEST_HEX], hex[DIGEST_HEX];
    (void)state;
    bulk_of(block, BYTES, plain);
    for (size_t bit = 0; bit < 8 * BYTES; bit++) {
        for (size_t apart = 0; apart <= 16; apart += 8) {
            size_t other = bit / 8 + apart;
            if (other >= BYTES)
                continue;
            block[bit / 8] = (unsigned char)(1u << bit % 8);
            block[other] = block[bit / 8];
            bulk_of(block, BYTES, hex);
            assert_memory_not_equal(hex, plain, 16);
            assert_memory_not_equal(hex + 16, plain + 16, 16);
            block[bit / 8] = block[other] = 0;
        }
    }
    bulk_of(block, BYTES - 8, hex);
    assert_string_not_equal(hex, plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc32),
        cmocka_unit_test(test_known_value),
        cmocka_unit_test(test_chunks_do_not_matter),
        cmocka_unit_test(test_strings_are_delimited),
        cmocka_unit_test(test_no_collisions),
        cmocka_unit_test(test_bulk_sees_each_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
