/* compile/fatbin: which part a GPU takes, packed or not, and that no cut or changed byte makes it read elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "compile/fatbin.h"

#define ALONE 0x100000u
#define LZ4 0x2000u
#define ZSTD 0x8000u

static unsigned char file[4096];
static size_t file_bytes;

static void put(size_t at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        file[at + i] = (unsigned char)(value >> 8 * i);
}

struct piece {
    unsigned kind; /* 1: PTX, 2: a cubin */
    int cc;
    uint64_t flags;
    const char *text;
};

static void begin(void)
{
    memset(file, 0, sizeof file);
    put(0, 0xba55ed50, 4);
    put(4, 1, 2);
    put(6, 16, 2);
    file_bytes = 16;
}

/* Its content is padded to 8 bytes, as nvcc does. */
static void add_bytes(const struct piece *p, const void *bytes, size_t length, size_t unpacked)
{
    size_t at = file_bytes, padded = (length + 7) / 8 * 8;
    put(at, p->kind, 2);
    put(at + 4, 64, 4);
    put(at + 8, padded, 8);
    put(at + 16, unpacked ? length : 0, 4);
    put(at + 28, (uint64_t)p->cc, 4);
    put(at + 40, p->flags, 8);
    put(at + 56, unpacked, 8);
    memcpy(file + at + 64, bytes, length);
    file_bytes += 64 + padded;
    put(8, file_bytes - 16, 8);
}

static void add(struct piece p)
{
    add_bytes(&p, p.text, strlen(p.text) + 1, 0);
}

static int choose(int cc, struct fatbin_part *out, struct error *err)
{
    return fatbin_choose(file, file_bytes, cc, out, err);
}

static void expect(int cc, const char *text, bool ptx)
{
    struct fatbin_part part;
    struct error err;
    if (choose(cc, &part, &err))
        fail_msg("sm_%d: %s", cc, err.text);
    assert_string_equal(part.bytes, text);
    assert_int_equal(part.ptx, ptx);
    free(part.bytes);
}

static void the_best_part_is_taken(void **state)
{
    struct fatbin_part part;
    struct error err;
    (void)state;
    begin();
    add((struct piece){2, 80, 0, "code 80"});
    add((struct piece){2, 90, ALONE, "code 90a"});
    add((struct piece){2, 90, 0, "code 90"});
    add((struct piece){1, 90, 0, "text 90"});
    expect(80, "code 80", false);
    expect(86, "code 80", false); /* of the same family, and not later */
    expect(90, "code 90a", false);
    expect(100, "text 90", true);
    assert_int_equal(choose(75, &part, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "no code for sm_75: sm_80, sm_90a, sm_90, PTX of compute_90"));
    begin();
    add((struct piece){1, 90, ALONE, "text 90a"});
    assert_int_equal(choose(100, &part, &err), EXIT_CODE_INCOMPARABLE);
    expect(90, "text 90a", true);
    begin();
    assert_int_equal(choose(90, &part, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "none at all"));
}

/* Packs the text by the library that unpacks it; false where it is not here. */
static bool add_packed(struct piece p)
{
    bool zstd = p.flags == ZSTD;
    void *handle = dlopen(zstd ? "libzstd.so.1" : "liblz4.so.1", RTLD_NOW);
    void *symbol = handle ? dlsym(handle, zstd ? "ZSTD_compress" : "LZ4_compress_default") : NULL;
    size_t (*by_zstd)(void *, size_t, const void *, size_t, int);
    int (*by_lz4)(const char *, char *, int, int);
    char packed[1024];
    size_t length = strlen(p.text) + 1;
    if (!symbol)
        return false;
    memcpy(&by_zstd, &symbol, sizeof symbol);
    memcpy(&by_lz4, &symbol, sizeof symbol);
    size_t n = zstd ? by_zstd(packed, sizeof packed, p.text, length, 3)
                    : (size_t)by_lz4(p.text, packed, (int)length, (int)sizeof packed);
    add_bytes(&p, packed, n, length);
    return true;
}

static void packed_parts_are_unpacked(void **state)
{
    static const uint64_t packings[] = {ZSTD, LZ4};
    static const char text[] = "PTX that says the same that says the same that says the same that says the same";
    struct fatbin_part part;
    struct error err;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        begin();
        if (!add_packed((struct piece){1, 80, packings[i], text})) {
            print_message("skipped: no library for %s\n", i ? "LZ4" : "zstd");
            continue;
        }
        expect(90, text, true);
        put(16 + 56, sizeof text + 1, 8); /* it is longer than what comes out */
        assert_int_equal(choose(90, &part, &err), EXIT_CODE_DATA);
        put(16 + 56, (uint64_t)1 << 40, 8);
        assert_int_equal(choose(90, &part, &err), EXIT_CODE_DATA);
        put(16 + 56, sizeof text, 8);
        memset(file + 16 + 64, 0xff, 8);
        assert_int_equal(choose(90, &part, &err), EXIT_CODE_DATA);
        assert_non_null(strstr(err.text, "cannot be unpacked"));
    }
}

/* From memory of its own length, so that a sanitizer sees a byte too many. */
static int choose_copy(size_t length)
{
    struct fatbin_part part;
    struct error err;
    unsigned char *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy + 1, file, length);
    int rc = fatbin_choose(copy + 1, length, 90, &part, &err);
    free(part.bytes);
    free(copy);
    return rc;
}

static void make_two(void)
{
    begin();
    add((struct piece){2, 80, 0, "code 80"});
    add((struct piece){2, 90, 0, "code 90"});
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    make_two();
    for (size_t length = 0; length < file_bytes; length++)
        assert_int_equal(choose_copy(length), EXIT_CODE_DATA);
    assert_int_equal(choose_copy(file_bytes), 0);
}

static void changed_bytes_read_nothing_outside(void **state)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
    size_t refused = 0;
    (void)state;
    for (size_t at = 0; at < 16 + 64 + 8 + 64; at++) {
        for (size_t v = 0; v < sizeof values; v++) {
            make_two();
            file[at] = values[v];
            refused += choose_copy(file_bytes) != 0;
        }
    }
    assert_true(refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_part_is_taken),
        cmocka_unit_test(packed_parts_are_unpacked),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(changed_bytes_read_nothing_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
