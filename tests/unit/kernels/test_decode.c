/* decode.cu puts chunks, fragments and sums where the functions of kernels/decode.cuh say, here compiled for the host:
 * a whole tile, run with ldmatrix and mma.sync as the PTX manual has them, is the product, in both layouts, with shares
 * of K and edges; no chunk is copied twice, and no warp reads eight rows of one bank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

typedef long long i64;
#define DEVICE static inline
#include "../kernels/decode.cuh"

enum { MOST = 128, RING = 128 * 128 * 2, LANES = 32 };
#include "mma.h"

struct shape {
    int bm, bn, bk, warps, tn, shares, m, n, k;
};

static int16_t ring_weights[RING], ring_tokens[RING];
static int sums[8][MOST * (MOST + 4)];

/* Small numbers that tell places apart. */
static int16_t a_at(int row, int k)
{
    return (int16_t)((row * 7 + k * 3) % 11 - 5);
}

static int16_t b_at(int k, int col)
{
    return (int16_t)((k * 5 + col * 2) % 13 - 6);
}

/* copy_stage: chunk by chunk, zero past the ends. */
static void fill_stage(const struct shape *s, int k)
{
    int rows = s->tn ? s->bn : s->bk, chunks = (s->tn ? s->bk : s->bn) / 8;
    memset(ring_weights, 0x7f, sizeof ring_weights);
    for (int at = 0; at < rows * chunks; at++) {
        int row = at / chunks, part = at % chunks, first = (s->tn ? k : 0) + part * 8;
        int there = s->tn ? row < s->n : k + row < s->k, inside = decode_inside(first, s->tn ? s->k : s->n);
        int16_t *to = ring_weights + decode_place(row, part, chunks) / 2;
        for (int i = 0; i < 8; i++) {
            assert_int_equal(to[i], 0x7f7f); /* nobody has written here */
            int is = there && i < inside;
            to[i] = is ? (s->tn ? b_at(first + i, row) : b_at(k + row, first + i)) : (int16_t)0;
        }
    }
    for (int at = 0; at < s->bm * (s->bk / 8); at++) {
        int row = at / (s->bk / 8), part = at % (s->bk / 8), first = k + part * 8;
        int inside = row < s->m ? decode_inside(first, s->k) : 0;
        for (int i = 0; i < 8; i++)
            ring_tokens[decode_place(row, part, s->bk / 8) / 2 + i] = i < inside ? a_at(row, first + i) : (int16_t)0;
    }
}

static void load_weights(const struct shape *s, int n, int step, int16_t out[LANES][4][2])
{
    int place[LANES];
    for (int lane = 0; lane < LANES; lane++)
        place[lane] = s->tn
                          ? decode_place(n + decode_tall_row(lane), step * 2 + decode_tall_chunk(lane), s->bk / 8)
                          : decode_place(step * 16 + decode_wide_row(lane), n / 8 + decode_wide_chunk(lane), s->bn / 8);
    ldmatrix(ring_weights, place, !s->tn, out);
}

static void load_tokens(const struct shape *s, int token, int step, int16_t out[LANES][4][2])
{
    int place[LANES];
    for (int lane = 0; lane < LANES; lane++)
        place[lane] = decode_place(token + decode_wide_row(lane), step * 2 + decode_wide_chunk(lane), s->bk / 8);
    ldmatrix(ring_tokens, place, 0, out);
}

/* One warp's m16 tile of weights over a share of K, left in the share's sums. */
static void run_tile(const struct shape *s, int share, int n, int begin, int end)
{
    static int acc[MOST / 8][LANES][4];
    int16_t weights[LANES][4][2], tokens[LANES][4][2];
    memset(acc, 0, sizeof acc);
    for (int at = begin; at < end; at++) {
        fill_stage(s, at * s->bk);
        for (int step = 0; step < s->bk / 16; step++) {
            load_weights(s, n, step, weights);
            for (int i = 0; i < s->bm / 8; i += 2) {
                load_tokens(s, i * 8, step, tokens);
                multiply(weights, tokens, 0, acc[i]);
                multiply(weights, tokens, 2, acc[i + 1]);
            }
        }
    }
    for (int i = 0; i < s->bm / 8; i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int e = 0; e < 4; e++)
                add_to(
                    &sums[share][decode_sum_at(i * 8 + decode_token_of(lane, e), n + decode_weight_of(lane, e), s->bn)],
                    acc[i][lane][e]);
}

static void check(const struct shape *s)
{
    int steps = (s->k + s->bk - 1) / s->bk;
    memset(sums, 0, sizeof sums);
    assert_int_equal(decode_share(0, s->shares, steps), 0);
    assert_int_equal(decode_share(s->shares, s->shares, steps), steps);
    for (int share = 0; share < s->shares; share++)
        for (int n = 0; n < s->bn; n += 16)
            run_tile(s, share, n, decode_share(share, s->shares, steps), decode_share(share + 1, s->shares, steps));
    for (int row = 0; row < s->m; row++)
        for (int col = 0; col < s->n; col++) {
            int wanted = 0, found = 0;
            for (int k = 0; k < s->k; k++)
                wanted += a_at(row, k) * b_at(k, col);
            for (int share = 0; share < s->shares; share++)
                found += sums[share][decode_sum_at(row, col, s->bn)];
            assert_int_equal(found, wanted);
        }
}

static void a_tile_is_the_product(void **state)
{
    static const struct shape shapes[] = {
        {16, 64, 64, 4, 1, 1, 16, 64, 64},    {16, 64, 64, 4, 0, 1, 16, 64, 64},
        {32, 128, 64, 4, 1, 2, 31, 125, 200}, {32, 128, 64, 4, 0, 2, 31, 120, 200},
        {48, 64, 128, 4, 1, 4, 40, 64, 130},  {48, 64, 128, 4, 0, 4, 40, 64, 131},
        {96, 64, 64, 4, 1, 8, 96, 64, 96},    {128, 128, 64, 8, 0, 1, 127, 127, 63},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check(&shapes[i]);
}

/* The CTAs of a cluster store every quad of a tile once between them. */
static void every_quad_is_stored_once(void **state)
{
    static unsigned char stored[MOST * MOST / 4];
    (void)state;
    for (int shares = 1; shares <= 8; shares *= 2)
        for (int threads = 128; threads <= 256; threads *= 2) {
            memset(stored, 0, sizeof stored);
            for (int rank = 0; rank < shares; rank++)
                for (int tid = 0; tid < threads; tid++)
                    for (int u = rank * threads + tid; u < 48 * 64 / 4; u += shares * threads)
                        stored[u]++;
            for (int u = 0; u < 48 * 64 / 4; u++)
                assert_int_equal(stored[u], 1);
        }
}

/* A warp's stores of sums touch each bank once. */
static void sums_have_banks_of_their_own(void **state)
{
    (void)state;
    for (int bn = 64; bn <= 128; bn *= 2)
        for (int e = 0; e < 4; e++) {
            uint32_t banks = 0;
            for (int lane = 0; lane < LANES; lane++)
                banks |= 1u << decode_sum_at(decode_token_of(lane, e), decode_weight_of(lane, e), bn) % 32;
            assert_int_equal(banks, 0xffffffffu);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tile_is_the_product),
        cmocka_unit_test(every_quad_is_stored_once),
        cmocka_unit_test(sums_have_banks_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
