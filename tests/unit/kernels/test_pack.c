/* pack.cuh, compiled for the host: every element of an operand lies once in the packed one, where wgmma's swizzle looks
 * for it, and zeros past its end; loads read the matrix and nothing beyond; a warp stores each element of a row once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
#define DEVICE static inline
#include "../kernels/pack.cuh"
#define FUNNEL(low, high, bits) ((u32)(((uint64_t)(high) << 32 | (low)) >> (bits)))
#include "../kernels/slide.cuh"

enum { BLOCK = 64 }; /* of K */

struct matrix {
    int rows, columns;
    uint16_t *at; /* of exactly rows x columns, so that a sanitizer sees what lies beyond */
};

static uint16_t value(int row, int column)
{
    return (uint16_t)(1 + (row * 131 + column * 7) % 65000);
}

static struct matrix make(int rows, int columns)
{
    struct matrix m = {rows, columns, malloc((size_t)rows * (size_t)columns * sizeof(uint16_t))};
    assert_non_null(m.at);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            m.at[i * columns + j] = value(i, j);
    return m;
}

/* The loads of packing.cuh: words that pack_reads() allows, then the last element by itself. */
static void load(const struct matrix *m, struct pack_chunk c, uint16_t out[8])
{
    int total = m->rows * m->columns, at = 0;
    int left = m->columns - c.column, inside = c.row >= m->rows || left <= 0 ? 0 : left < 8 ? left : 8;
    u32 word[5] = {0};
    if (inside > 0)
        at = c.row * m->columns + c.column;
    for (int j = 0; j < 5; j++)
        if (pack_reads(at, j, inside, total)) {
            int first = (at & ~1) + 2 * j;
            assert_true(first >= 0 && first + 1 < total);
            memcpy(&word[j], m->at + first, sizeof word[j]);
        }
    for (int i = 0; i < 4; i++) {
        u32 pair = pack_pair(word, i, at & 1, inside);
        if (pack_lacks_last(at, inside, total) && (inside - 1) / 2 == i)
            pair |= (u32)m->at[total - 1] << ((inside - 1) % 2 * 16);
        out[2 * i] = (uint16_t)pair;
        out[2 * i + 1] = (uint16_t)(pair >> 16);
    }
}

/* Byte of element (row, k) of a K-major stage under the 128-byte swizzle: bits 4 to 6 of the address XOR bits 7 to 9.
 */
static int swizzled(int byte)
{
    return byte ^ (byte >> 7 & 7) << 4;
}

static uint16_t expected(const struct matrix *m, int row, int column)
{
    return row < m->rows && column < m->columns ? value(row, column) : 0;
}

/* One block, chunk by chunk, and then looked at as the tensor cores do. */
static void check_along(const struct matrix *m, int tile, int step, int tall)
{
    static uint16_t block[256 * BLOCK];
    for (int line = 0; line < tall; line++)
        for (int slot = 0; slot < 8; slot++)
            load(m, pack_along(tile, step, line, slot, tall), block + line * 64 + slot * 8);
    for (int row = 0; row < tall; row++)
        for (int k = 0; k < BLOCK; k++)
            assert_int_equal(block[swizzled(row * 128 + k * 2) / 2], expected(m, tile * tall + row, step * 64 + k));
}

static void check_down(const struct matrix *m, int tile, int step, int wide)
{
    static uint16_t block[256 * BLOCK];
    int boxes = (wide + 63) / 64;
    for (int line = 0; line < boxes * 64; line++)
        for (int slot = 0; slot < 8; slot++)
            load(m, pack_down(tile, step, line, slot, wide), block + line * 64 + slot * 8);
    for (int k = 0; k < BLOCK; k++)
        for (int column = 0; column < wide; column++)
            assert_int_equal(block[swizzled(column / 64 * 8192 + k * 128 + column % 64 * 2) / 2],
                             expected(m, step * 64 + k, tile * wide + column));
}

static void blocks_are_what_a_stage_holds(void **state)
{
    static const int sizes[] = {1, 2, 7, 63, 64, 65, 129, 200, 255};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            struct matrix m = make(sizes[i], sizes[j]);
            for (int tile = 0; tile < 3; tile++)
                for (int step = 0; step < 5; step++) {
                    check_along(&m, tile, step, 64);
                    check_along(&m, tile, step, 192);
                    check_down(&m, tile, step, 32);
                    check_down(&m, tile, step, 96);
                    check_down(&m, tile, step, 128);
                }
            free(m.at);
        }
}

/* ---- by 16 bytes ---- */

/* Eight elements from one that is at an address of 16, all of them the matrix's. */
static void load16(const struct matrix *m, u32 from, u32 *out)
{
    assert_true(from % 8 == 0 && from + 8 <= (u32)(m->rows * m->columns));
    memcpy(out, m->at + from, 16);
}

/* The loads of packing.cuh with LOADS 16. */
static void pull(const struct matrix *m, int row, int part, u32 out[4])
{
    u32 begin = (u32)(row * m->columns), word[8] = {0};
    struct pack_pull p = pack_pull_of(begin, part, m->columns, (u32)(m->rows * m->columns));
    assert_true(p.inside > 0 || (!p.low && !p.high && !p.lacks));
    if (p.low)
        load16(m, p.from, word);
    if (p.high)
        load16(m, p.from + 8, word + 4);
    slide_pairs(out, word, p.slip);
    for (int i = 0; i < 4; i++)
        out[i] = pack_inside(out[i], i, p.inside);
    for (int i = 0; i < 8 && p.lacks; i++) {
        assert_true(p.from + 16 > (u32)(m->rows * m->columns)); /* at the matrix's end alone */
        uint16_t one = i < p.inside ? m->at[begin + (u32)part * 8 + (u32)i] : 0;
        memcpy((uint16_t *)out + i, &one, sizeof one);
    }
}

/* All of an operand, row by row; rows past its end are nobody's. */
static void check_pulled(const struct matrix *m, int tall)
{
    int steps = (m->columns + 63) / 64, tiles = (m->rows + tall - 1) / tall, chunks = tiles * steps * tall * 8;
    uint16_t *packed = malloc((size_t)chunks * 16);
    char *times = calloc((size_t)chunks, 1);
    assert_true(packed && times);
    for (int row = 0; row < m->rows; row++)
        for (int part = 0; part < steps * 8; part++) {
            int at = pack_place_along(row, part, tall, steps);
            assert_true(at >= 0 && at < chunks && times[at]++ == 0);
            pull(m, row, part, (u32 *)(packed + at * 8));
        }
    for (int row = 0; row < m->rows; row++)
        for (int k = 0; k < steps * BLOCK; k++) {
            int block = row / tall * steps + k / BLOCK, byte = row % tall * 128 + k % BLOCK * 2;
            assert_int_equal(packed[block * tall * 64 + swizzled(byte) / 2], expected(m, row, k));
        }
    free(packed);
    free(times);
}

static void blocks_are_the_same_by_16_bytes(void **state)
{
    static const int rows[] = {1, 3, 63, 64, 65, 200}, columns[] = {1, 2, 7, 8, 9, 15, 63, 64, 65, 127, 129, 200, 251};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) {
            struct matrix m = make(rows[i], columns[j]);
            check_pulled(&m, 64);
            check_pulled(&m, 96);
            free(m.at);
        }
}

/* A row of C from an odd or even place on, by 32 lanes with two elements each. */
static void check_row(int odd, int columns)
{
    int stored[66] = {0};
    for (int lane = 0; lane < 32; lane++) {
        struct pack_store s = pack_store_of(lane, odd, columns);
        assert_true(s.many < 2 || (s.at + odd) % 2 == 0); /* four bytes at an address that takes them */
        for (int i = 0; i < s.many; i++) {
            int own =
                2 * lane + odd + i; /* of the lane's pair, or shifted by one its second and its neighbour's first */
            assert_int_equal(s.at + i, own);
            stored[own]++;
        }
        if (s.head) {
            assert_int_equal(lane, 0);
            stored[0]++;
        }
    }
    for (int i = 0; i < 66; i++)
        assert_int_equal(stored[i], i < columns && i < 64);
}

static void each_element_of_a_row_is_stored_once(void **state)
{
    (void)state;
    for (int odd = 0; odd < 2; odd++)
        for (int columns = -3; columns < 130; columns++)
            check_row(odd, columns);
}

/* The same by eight lanes with 16 bytes each, from an address of `place` elements behind one of 16 bytes on. */
static void check_wide_row(int place, int columns)
{
    int stored[64 + 8] = {0};
    for (int chunk = 0; chunk < 8; chunk++) {
        struct pack_wide s = pack_wide_of(chunk, place, columns);
        if (s.whole)
            assert_int_equal((place + s.at) % 8, 0);
        for (int i = 0; i < 8 && s.whole; i++)
            stored[s.at + i]++;
        assert_true(s.head < 8 && (!s.whole || s.at == s.head + 8 * chunk)); /* what slides into place */
        if (s.first)
            stored[chunk]++;
        if (s.last >= 0)
            stored[s.last]++;
    }
    for (int i = 0; i < 64 + 8; i++)
        assert_int_equal(stored[i], i < columns && i < 64);
}

static void wide_stores_store_each_once(void **state)
{
    (void)state;
    for (int place = 0; place < 8; place++)
        for (int columns = -3; columns < 130; columns++)
            check_wide_row(place, columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_what_a_stage_holds), cmocka_unit_test(blocks_are_the_same_by_16_bytes),
        cmocka_unit_test(each_element_of_a_row_is_stored_once), cmocka_unit_test(wide_stores_store_each_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
