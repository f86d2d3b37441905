/* short.cu finds its elements where the functions of kernels/short.cuh say, here compiled for the host: copies begin at
 * addresses of 16 and stay in the matrix; a row of A times a row of B is their product, whatever lies behind them;
 * every element of C is stored once, eight at an address of 16.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
#define DEVICE static inline
#define FUNNEL(low, high, bits) ((u32)(((uint64_t)(high) << 32 | (low)) >> (bits)))
#include "../kernels/short.cuh"

enum { LINES = 32, MOST_K = 256, POISON = 0x7e7f, MOST_COLUMNS = 128 };
enum { BEHIND = 24 }; /* elements behind the last row that are there too: 48 bytes, as kernels/short.json has it */

static int value(int row, int k)
{
    return (row * 7 + k * 3) % 11 + 1;
}

/* copy_rows() of the block of `lines` rows that begins at row `first`. */
static void copy_rows(uint16_t *to, const uint16_t *matrix, const int rows[2], int k)
{
    long long total = (long long)rows[1] * k, begin = (long long)rows[0] * k;
    assert_int_equal(begin % 8, 0);
    int there = short_there(total - begin, LINES * k);
    for (int u = 0; u < LINES * k; u += 8) {
        u32 bytes = short_bytes(there, u);
        assert_true(bytes <= 16 && bytes % 2 == 0 && (!bytes || begin + u + bytes / 2 <= total));
        for (u32 e = 0; e < 8; e++)
            to[u + (int)e] = e < bytes / 2 ? matrix[begin + u + (int)e] : 0;
    }
}

/* load_four(): what a lane takes of line `line` from k on. */
static void four_of(const uint16_t *block, int line, int from, int k, int out[4])
{
    int at = line * k + from;
    u32 words[3], pairs[2];
    assert_true(at / 2 * 2 + 6 <= LINES * k + BEHIND);
    memcpy(words, block + at / 2 * 2, sizeof words);
    short_four(pairs, words, at, k - from);
    for (int i = 0; i < 4; i++)
        out[i] = (int)(pairs[i / 2] >> (i % 2 * 16) & 0xffff);
}

static int product_of(const uint16_t *a, const uint16_t *b, const int lines[2], int k)
{
    int sum = 0;
    for (int k0 = 0; k0 < k; k0 += 16)
        for (int t = 0; t < 4; t++) {
            int left[4], right[4];
            four_of(a, lines[0], k0 + 4 * t, k, left);
            four_of(b, lines[1], k0 + 4 * t, k, right);
            for (int i = 0; i < 4; i++) {
                int there = k0 + 4 * t + i < k;
                assert_int_equal(left[i], there ? value(lines[0], k0 + 4 * t + i) : 0);
                sum += left[i] * right[i];
            }
        }
    return sum;
}

/* The matrix is of exactly that many elements, so that a sanitizer sees what is read beyond. */
static uint16_t *make(int rows, int k)
{
    uint16_t *m = malloc((size_t)rows * (size_t)k * sizeof *m);
    assert_non_null(m);
    for (int i = 0; i < rows * k; i++)
        m[i] = (uint16_t)value(i / k, i % k);
    return m;
}

static void check_products(int m, int k)
{
    static uint16_t a[LINES * MOST_K + BEHIND], b[LINES * MOST_K + BEHIND];
    uint16_t *matrix = make(m, k);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = b[i] = POISON;
    copy_rows(a, matrix, (int[2]){0, m}, k);
    copy_rows(b, matrix, (int[2]){0, m}, k);
    for (int row = 0; row < m; row += 5)
        for (int column = 0; column < m; column += 3) {
            int wanted = 0;
            for (int i = 0; i < k; i++)
                wanted += value(row, i) * value(column, i);
            assert_int_equal(product_of(a, b, (int[2]){row, column}, k), wanted);
        }
    free(matrix);
}

static void rows_multiply_to_their_product(void **state)
{
    (void)state;
    for (int k = 1; k <= MOST_K; k++) {
        check_products(LINES, k);
        check_products(1 + k % (LINES - 1), k);
    }
}

static void a_block_ends_with_the_matrix(void **state)
{
    (void)state;
    assert_int_equal(short_bytes(23, 0), 16);
    assert_int_equal(short_bytes(23, 16), 14);
    assert_int_equal(short_bytes(16, 16), 0);
    assert_int_equal(short_bytes(8, 16), 0);
    assert_int_equal(short_there(1LL << 40, 1 << 10), 1 << 10);
    assert_int_equal(short_there(23, 1 << 10), 23);
}

/* store_wholes() and store_ends() of one row: how often each element of it is stored. Eight lanes' ends lie together.
 */
static void store_row(int row, int n, int columns, int stored[MOST_COLUMNS])
{
    int shift = short_shift(row, n), at = row * n; /* modulo eight, as the tile begins at a multiple of eight */
    for (int place = 0; place < MOST_COLUMNS / 8; place++) {
        int begin = short_begin(place, shift);
        assert_true((at + begin) % 8 == 0 && begin >= 0);
        assert_true(begin + shift + 8 <= MOST_COLUMNS + 8); /* in the row's line of shared memory */
        for (int i = 0; i < 8 && begin + 8 <= columns; i++)
            stored[begin + i]++;
    }
    for (int place = 0; place < 16; place++) {
        int column = short_end(place, shift, columns), sector = (at + (place < 8 ? 0 : columns)) / 8;
        assert_true(column < columns && column >= -1);
        assert_true(column < 0 || (at + column) / 8 == sector || columns + shift < 8);
        if (column >= 0)
            stored[column]++;
    }
}

static void each_element_is_stored_once(void **state)
{
    (void)state;
    for (int n = 1; n <= 137; n++)
        for (int row = 0; row < 16; row++) {
            int columns = n < MOST_COLUMNS ? n : MOST_COLUMNS, stored[MOST_COLUMNS] = {0};
            store_row(row, n, columns, stored);
            for (int column = 0; column < columns; column++)
                assert_int_equal(stored[column], 1);
        }
}

static void a_row_begins_as_late_as_its_address_says(void **state)
{
    (void)state;
    for (int n = 1; n < 40; n++)
        for (int row = 0; row < 64; row++) {
            assert_int_equal(short_shift(row, n), row * n % 8);
            assert_int_equal(short_shift(row, n), short_shift(row % 8, n));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_multiply_to_their_product),
        cmocka_unit_test(a_block_ends_with_the_matrix),
        cmocka_unit_test(each_element_is_stored_once),
        cmocka_unit_test(a_row_begins_as_late_as_its_address_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
