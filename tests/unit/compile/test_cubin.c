/* compile/cubin: what is read of a cubin, and that no cut or changed byte makes it read elsewhere. Needs no NVRTC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile/cubin.h"

#define NAMES "\0.shstrtab\0.text.gemm\0.nv.info.gemm"
#define TEXT_BYTES 48u
#define HEADERS 256u
#define N_SECTIONS 4u
#define FILE_BYTES (HEADERS + N_SECTIONS * 64u)

static unsigned char file[FILE_BYTES];

static void put(size_t at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        file[at + i] = (unsigned char)(value >> 8 * i);
}

static void put_section(unsigned index, uint32_t name, uint64_t offset, uint64_t size)
{
    size_t at = HEADERS + 64u * index;
    put(at, name, 4);
    put(at + 24, offset, 8);
    put(at + 32, size, 8);
}

/* gemm(pointer, int, tensor map) for 128 threads in clusters of 2, as ptxas writes it. */
static const unsigned char info[] = {
    4, 0x17, 12, 0, 0,  0,    0,  0, 2, 0, 0x40, 0, 0, 0xf0, 1,    2,                   /* argument 2: 128 bytes */
    4, 0x17, 12, 0, 0,  0,    0,  0, 1, 0, 8,    0, 0, 0xf0, 0x11, 0,                   /* 1: 4 */
    4, 0x17, 12, 0, 0,  0,    0,  0, 0, 0, 0,    0, 0, 0xf0, 0x21, 0,                   /* 0: 8 */
    1, 0x3e, 0,  0, 4,  0x3d, 12, 0, 2, 0, 0,    0, 1, 0,    0,    0, 1, 0,    0,    0, /* cluster */
    4, 5,    12, 0, 64, 0,    0,  0, 2, 0, 0,    0, 1, 0,    0,    0, 3, 0x19, 0xc0, 0,
    2, 0x5f, 1,  1 /* threads, bytes */
};

static void make(void)
{
    static const unsigned char head[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    memset(file, 0, sizeof file);
    memcpy(file, head, sizeof head);
    put(40, HEADERS, 8);
    put(58, 64, 2);
    put(60, N_SECTIONS, 2);
    put(62, 1, 2);
    memcpy(file + 64, NAMES, sizeof NAMES);
    memcpy(file + 112, info, sizeof info);
    put_section(1, 1, 64, sizeof NAMES);
    put_section(2, 11, 16, TEXT_BYTES);
    put_section(3, 22, 112, sizeof info);
}

static void an_entry_is_read(void **state)
{
    (void)state;
    struct cubin_entry e;
    struct error err;
    make();
    assert_true(112 + sizeof info <= HEADERS && 64 + sizeof NAMES <= 112);
    if (cubin_read(file, sizeof file, "gemm", &e, &err))
        fail_msg("%s", err.text);
    assert_int_equal(e.code_bytes, TEXT_BYTES);
    assert_int_equal(e.n_parameters, 3);
    assert_int_equal(e.sizes[0], 8);
    assert_int_equal(e.sizes[1], 4);
    assert_int_equal(e.sizes[2], 128);
    assert_int_equal(e.parameter_bytes, 0xc0);
    assert_int_equal(e.max_threads, 128);
    assert_int_equal(e.cluster[0], 2);
    assert_int_equal(e.required_block[0], 0);
}

/* As CUDA 13.4 lists arguments. */
static void arguments_of_the_second_form_are_read(void **state)
{
    static const unsigned char second[] = {4, 0x45, 12, 0, 0, 0, 0, 0, 1, 0, 8, 0, 4, 0, 0, 0,
                                           4, 0x45, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 4};
    (void)state;
    struct cubin_entry e;
    struct error err;
    make();
    memcpy(file + 112, second, sizeof second);
    put_section(3, 22, 112, sizeof second);
    if (cubin_read(file, sizeof file, "gemm", &e, &err))
        fail_msg("%s", err.text);
    assert_int_equal(e.n_parameters, 2);
    assert_int_equal(e.sizes[0], 8);
    assert_int_equal(e.sizes[1], 4);
}

static void an_entry_that_is_not_there_names_those_that_are(void **state)
{
    (void)state;
    struct cubin_entry e;
    struct error err;
    make();
    assert_int_equal(cubin_read(file, sizeof file, "gem", &e, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "no kernel \"gem\" in the code, which has: gemm (is its entry extern \"C\"?)"));
    assert_int_equal(cubin_read("no cubin", 8, "gemm", &e, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "no cubin"));
}

static void expect_arch(unsigned version, uint64_t flags, const char *suffix, int cc)
{
    struct cubin_arch arch;
    struct error err;
    make();
    put(8, version, 1);
    put(18, 190, 2);
    put(48, flags, 4);
    if (cubin_arch_of(file, sizeof file, &arch, &err))
        fail_msg("%s", err.text);
    assert_int_equal(arch.cc, cc);
    assert_string_equal(cubin_arch_suffix(&arch), suffix);
}

/* The flags as ptxas 12.9 and 13.0 write them. */
static void its_architecture_is_in_the_flags(void **state)
{
    struct cubin_arch arch;
    struct error err;
    (void)state;
    expect_arch(7, 0x500550, "", 80);
    expect_arch(7, 0x5a055a, "", 90);
    expect_arch(7, 0x5a0d5a, "a", 90);
    expect_arch(8, 0x600640a, "a", 100);
    expect_arch(8, 0x6005a04, "", 90);
    put(18, 62, 2);
    assert_int_equal(cubin_arch_of(file, sizeof file, &arch, &err), EXIT_CODE_DATA);
    for (size_t length = 0; length < HEADERS; length++)
        assert_int_equal(cubin_arch_of(file, length, &arch, &err), EXIT_CODE_DATA);
}

static void an_architecture_runs_on_later_ones_of_its_family(void **state)
{
    static const struct {
        struct cubin_arch arch;
        int cc;
        bool runs;
    } cases[] = {{{80, false, false}, 80, true},  {{80, false, false}, 86, true},   {{86, false, false}, 80, false},
                 {{80, false, false}, 90, false}, {{90, true, false}, 90, true},    {{100, true, false}, 103, false},
                 {{100, true, true}, 103, true},  {{100, false, false}, 103, true}, {{103, true, true}, 100, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cubin_runs_on(&cases[i].arch, cases[i].cc), cases[i].runs);
}

/* Each from memory of its own length, so that a sanitizer sees a byte too many. */
static int read_copy(size_t length)
{
    struct cubin_entry e;
    struct error err;
    unsigned char *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy + 1, file, length);
    struct cubin_arch arch;
    int code = cubin_read(copy + 1, length, "gemm", &e, &err);
    (void)cubin_arch_of(copy + 1, length, &arch, &err);
    free(copy);
    return code;
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    make();
    for (size_t length = 0; length < sizeof file; length++)
        assert_int_equal(read_copy(length), EXIT_CODE_DATA);
    assert_int_equal(read_copy(sizeof file), 0);
}

static void a_cut_attribute_is_refused(void **state)
{
    (void)state;
    make();
    for (uint64_t size = 1; size < sizeof info; size++) { /* where no attribute ends */
        static const uint64_t ends[] = {16, 32, 48, 52, 68, 84, 88};
        bool whole = false;
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
            whole |= size == ends[i];
        put_section(3, 22, 112, size);
        assert_int_equal(read_copy(sizeof file), whole ? 0 : EXIT_CODE_DATA);
    }
}

static void changed_bytes_read_nothing_outside(void **state)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
    size_t refused = 0;
    (void)state;
    for (size_t at = 0; at < sizeof file; at++) {
        for (size_t v = 0; v < sizeof values; v++) {
            make();
            file[at] = values[v];
            refused += read_copy(sizeof file) != 0;
        }
    }
    assert_true(refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_read),
        cmocka_unit_test(arguments_of_the_second_form_are_read),
        cmocka_unit_test(an_entry_that_is_not_there_names_those_that_are),
        cmocka_unit_test(its_architecture_is_in_the_flags),
        cmocka_unit_test(an_architecture_runs_on_later_ones_of_its_family),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(a_cut_attribute_is_refused),
        cmocka_unit_test(changed_bytes_read_nothing_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
