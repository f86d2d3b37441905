/* slide.cu puts chunks, fragments and sums where the functions of kernels/slide.cuh say, here compiled for the host: a
 * whole tile with mma.sync as the PTX manual has it is the product, for any K and edge, though all that lies outside of
 * a row is poison; copies begin at addresses of 16 and stay in the matrix; every element of C is stored once.
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
#define FUNNEL(low, high, bits) ((u32)(((uint64_t)(high) << 32 | (low)) >> (bits)))
#include "../kernels/slide.cuh"

enum { MOST = 128, LANES = 32, POISON = 0x7e7f };

struct tile {
    int bm, bn, bk, slices, m, n, k, row0, col0;
    int aligned;
};

struct matrix {
    int rows, k;
    uint16_t *at; /* of exactly rows x k, so that a sanitizer sees what lies beyond */
};

static uint16_t ring[2 * MOST * (256 + 8)];
static int sums[MOST * (MOST + 4)];

static int value(int row, int k)
{
    return (row * 7 + k * 3) % 11 + 1;
}

static struct matrix make(int rows, int k)
{
    struct matrix m = {rows, k, malloc((size_t)rows * (size_t)k * sizeof(uint16_t))};
    assert_non_null(m.at);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < k; j++)
            m.at[i * k + j] = (uint16_t)value(i, j);
    return m;
}

/* copy_chunks() of one thread: chunk `part` of every `stride`-th line. */
static void copy_chunks(const struct tile *t, const struct matrix *m, uint16_t *to, const int rows[2], const int at[4])
{
    int first = rows[0] + at[0], part = at[1], stride = at[2], k0 = at[3];
    int parts = t->bk / 8, line = parts + 1, lies = slide_place(part, parts, 4 * t->slices), ahead = k0 + part * 8,
        slip = slide_slip(first, m->k);
    u32 total = (u32)m->rows * (u32)m->k, place = slide_from(first, m->k) + (u32)ahead;
    for (int i = 0; at[0] + i < rows[1]; i += stride) {
        u32 next = place + (u32)i * (u32)m->k;
        int wanted = (part < parts || slip > 0) && first + i < m->rows;
        u32 bytes = wanted ? slide_bytes(ahead, slip, m->k, next, total) : 0;
        uint16_t *chunk = to + ((at[0] + i) * line + lies) * 8;
        assert_int_equal(next % 8, 0);
        assert_true(bytes <= 16 && bytes % 2 == 0 && (!bytes || next + bytes / 2 <= total));
        for (int e = 0; e < 8; e++) {
            assert_int_equal(chunk[e], POISON); /* nobody has written here */
            chunk[e] = (u32)e < bytes / 2 ? m->at[next + (u32)e] : 0;
        }
    }
}

static void copy_lines(const struct tile *t, const struct matrix *m, uint16_t *to, int first, int lines, int k0)
{
    int parts = t->bk / 8, rows[2] = {first, lines};
    for (int tid = 0; tid < 2 * t->bk; tid++) { /* threads: a multiple of BK */
        copy_chunks(t, m, to, rows, (int[4]){tid / parts, tid % parts, 2 * t->bk / parts, k0});
        if (!t->aligned)
            copy_chunks(t, m, to, rows, (int[4]){tid, parts, 2 * t->bk, k0});
    }
}

/* Where the chunks `i` of a slice's lanes lie, from line `base` on; of eight lanes that read at once no two touch a
 * bank.
 */
static void lanes_read(const struct tile *t, int base, int slice, int i, int place[LANES])
{
    int parts = t->bk / 8, takers = 4 * t->slices, each = parts / takers;
    for (int lane = 0; lane < LANES; lane++) {
        int taker = slice * 4 + lane % 4, chunk = taker * each + i;
        int lies = i < each ? taker + i * takers : taker + 1 == takers ? parts : taker + 1; /* as load_chunk() has it */
        assert_int_equal(lies, slide_place(chunk, parts, takers));
        place[lane] = (base + slide_line(lane / 4)) * (parts + 1) + lies;
    }
    for (int from = 0; from < LANES; from += 8) {
        unsigned banks = 0;
        for (int lane = from; lane < from + 8; lane++)
            banks |= 1u << place[lane] % 8;
        assert_int_equal(banks, 0xff);
    }
}

/* load_pairs() of a warp of `slice`: eight lines from `base` on. */
static void load_pairs(const struct tile *t, int base, int slice, int i, u32 out[LANES][4])
{
    int low[LANES], high[LANES];
    lanes_read(t, base, slice, i, low);
    lanes_read(t, base, slice, i + 1, high);
    for (int lane = 0; lane < LANES; lane++) {
        u32 chunks[8];
        memcpy(chunks, ring + low[lane] * 8, 16);
        memcpy(chunks + 4, ring + high[lane] * 8, 16);
        slide_pairs(out[lane], chunks, t->aligned ? 0 : slide_slip(slide_line(lane / 4), t->k));
    }
}

static int half_of(u32 pair, int e)
{
    return (int)(e ? pair >> 16 : pair & 0xffff);
}

/* mma.m16n8k16, row.col: A's registers are (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8); B's (2t, g), (2t + 8,
 * g). */
static void multiply(u32 low[LANES][4], u32 high[LANES][4], u32 b[LANES][4], int c[LANES][4])
{
    for (int half = 0; half < 2; half++) {
        int left[16][16], right[16][8];
        for (int lane = 0; lane < LANES; lane++)
            for (int e = 0; e < 2; e++)
                for (int r = 0; r < 2; r++) {
                    int g = lane / 4, k = lane % 4 * 2 + e + r * 8;
                    left[g][k] = half_of(low[lane][2 * half + r], e);
                    left[g + 8][k] = half_of(high[lane][2 * half + r], e);
                    right[k][g] = half_of(b[lane][2 * half + r], e);
                }
        for (int lane = 0; lane < LANES; lane++)
            for (int e = 0; e < 4; e++)
                for (int k = 0; k < 16; k++)
                    c[lane][e] += left[lane / 4 + e / 2 * 8][k] * right[k][lane % 4 * 2 + e % 2];
    }
}

/* Zeros behind the rows' ends. */
static void end_lines(const struct tile *t, int left)
{
    for (int line = 0; line < t->bm + t->bn; line++) {
        int end = slide_slip(line, t->k) + left, lies = slide_place(end / 8, t->bk / 8, 4 * t->slices);
        for (int i = end % 8; i % 8 != 0; i++)
            ring[(line * (t->bk / 8 + 1) + lies) * 8 + i] = 0;
    }
}

/* A slice's products of an m16n8 tile of a stage, added to the sums. */
static void multiply_tile(const struct tile *t, int slice, int row, int col)
{
    static u32 low[LANES][4], high[LANES][4], right[LANES][4];
    int c[LANES][4] = {{0}};
    for (int i = 0; i < t->bk / 32 / t->slices; i++) {
        load_pairs(t, row, slice, i, low);
        load_pairs(t, row + 8, slice, i, high);
        load_pairs(t, t->bm + col, slice, i, right);
        multiply(low, high, right, c);
    }
    for (int lane = 0; lane < LANES; lane++)
        for (int e = 0; e < 4; e++)
            sums[slide_sum_at(row + slide_row_of(lane, e), col + slide_col_of(lane, e), t->bn)] += c[lane][e];
}

static void multiply_stage(const struct tile *t)
{
    for (int slice = 0; slice < t->slices; slice++)
        for (int row = 0; row < t->bm; row += 16)
            for (int col = 0; col < t->bn; col += 8)
                multiply_tile(t, slice, row, col);
}

static void check_tile(const struct tile *t)
{
    struct matrix a = make(t->m, t->k), b = make(t->n, t->k);
    memset(sums, 0, sizeof sums);
    for (int k0 = 0; k0 < t->k; k0 += t->bk) {
        for (size_t i = 0; i < sizeof ring / sizeof *ring; i++)
            ring[i] = POISON;
        copy_lines(t, &a, ring, t->row0, t->bm, k0);
        copy_lines(t, &b, ring + t->bm * (t->bk + 8), t->col0, t->bn, k0);
        if (!t->aligned && t->k - k0 < t->bk)
            end_lines(t, t->k - k0);
        multiply_stage(t);
    }
    for (int row = 0; row < t->bm && t->row0 + row < t->m; row++)
        for (int col = 0; col < t->bn && t->col0 + col < t->n; col++) {
            int wanted = 0;
            for (int k = 0; k < t->k; k++)
                wanted += value(t->row0 + row, k) * value(t->col0 + col, k);
            assert_int_equal(sums[slide_sum_at(row, col, t->bn)], wanted);
        }
    free(a.at);
    free(b.at);
}

static void a_tile_is_the_product(void **state)
{
    static const struct tile tiles[] = {
        {16, 16, 64, 1, 16, 16, 64, 0, 0, 0},      {16, 16, 64, 2, 1, 1, 1, 0, 0, 0},
        {16, 16, 64, 1, 3, 5, 17, 0, 0, 0},        {32, 16, 64, 2, 31, 9, 129, 0, 0, 0},
        {48, 32, 128, 1, 47, 31, 257, 0, 0, 0},    {16, 24, 64, 2, 40, 30, 71, 32, 24, 0},
        {32, 64, 128, 2, 70, 130, 99, 64, 128, 0}, {16, 32, 128, 4, 9, 20, 123, 0, 0, 0},
        {128, 16, 64, 2, 127, 3, 65, 0, 0, 0},     {16, 16, 256, 2, 15, 13, 301, 0, 0, 0},
        {16, 16, 64, 1, 16, 16, 72, 0, 0, 1},      {32, 16, 128, 2, 29, 33, 200, 0, 16, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        check_tile(&tiles[i]);
}

/* All that a K can be modulo eight, and the ends of its last step. */
static void any_k_will_do(void **state)
{
    (void)state;
    for (int k = 1; k <= 75; k++)
        check_tile(&(struct tile){16, 16, 64, 1 + k % 2, 13, 11, k, 0, 0, 0});
}

/* The CTAs of a cluster store each element of a tile's row once, by four bytes where the address takes them. */
static void each_element_is_stored_once(void **state)
{
    (void)state;
    for (int at = 0; at < 2; at++)
        for (int columns = 1; columns <= 48; columns++) {
            int stored[48] = {0};
            for (int u = 0; u < 48 / 2 + 1; u++) {
                int col = slide_pair(at, u);
                assert_int_equal((at + col) & 1, 0);
                for (int i = col; i < col + 2; i++)
                    if (i >= 0 && i < columns)
                        stored[i]++;
            }
            for (int i = 0; i < 48; i++)
                assert_int_equal(stored[i], i < columns);
        }
}

/* The same by 16 bytes, wherever a row begins; what is loaded for them lies in the row's sums or in their padding. */
static void wide_stores_store_each_once(void **state)
{
    (void)state;
    for (int bn = 16; bn <= MOST; bn += 16)
        for (int place = 0; place < 8; place++)
            for (int columns = 1; columns <= bn; columns++) {
                int stored[MOST] = {0}, parts = bn / 8 > 8 ? bn / 8 : 8;
                for (int part = 0; part < parts; part++) {
                    struct slide_wide s = slide_wide_of(part, place, columns);
                    assert_true(!s.whole || ((place + s.at) % 8 == 0 && s.at / 4 * 4 + 12 <= bn + 4));
                    for (int i = 0; s.whole && i < 8; i++)
                        stored[s.at + i]++;
                    stored[part] += s.first;
                    if (s.last >= 0)
                        stored[s.last]++;
                }
                for (int i = 0; i < bn; i++)
                    assert_int_equal(stored[i], i < columns);
            }
}

/* Of the CTAs that share a tile each has rows of its own, also where there are more of them than rows. */
static void each_row_has_one_share(void **state)
{
    (void)state;
    for (int rows = 16; rows <= MOST; rows += 16)
        for (int shares = 1; shares <= 2 * MOST; shares++) {
            int had[MOST] = {0};
            for (int share = 0; share < shares; share++)
                for (int i = 0; i < slide_rows_of(share, shares, rows); i++) {
                    assert_in_range(i * shares + share, 0, rows - 1);
                    had[i * shares + share]++;
                }
            for (int row = 0; row < rows; row++)
                assert_int_equal(had[row], 1);
        }
}

/* A warp's stores of sums touch each bank once. */
static void sums_have_banks_of_their_own(void **state)
{
    (void)state;
    for (int bn = 16; bn <= 128; bn += 16)
        for (int e = 0; e < 4; e++) {
            u32 banks = 0;
            for (int lane = 0; lane < LANES; lane++)
                banks |= 1u << slide_sum_at(slide_row_of(lane, e), slide_col_of(lane, e), bn) % 32;
            assert_int_equal(banks, 0xffffffffu);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tile_is_the_product),        cmocka_unit_test(any_k_will_do),
        cmocka_unit_test(each_element_is_stored_once),  cmocka_unit_test(wide_stores_store_each_once),
        cmocka_unit_test(sums_have_banks_of_their_own), cmocka_unit_test(each_row_has_one_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
