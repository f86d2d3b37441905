/* bulk.cu puts rows, fragments and sums where the functions of kernels/bulk.cuh and decode.cuh say, here compiled for
 * the host: whole tiles, run with ldmatrix and mma.sync as the PTX manual has them, are the product, in both layouts,
 * with slices, shares of K, edges, and rubbish wherever nothing is copied; each quad of a tile has one owner, and no
 * warp reads eight rows of one bank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

typedef long long i64;
#define DEVICE static inline
#include "../kernels/bulk.cuh"
#include "../kernels/decode.cuh"

enum { MOST = 128, STAGE = 64 * 1024, LANES = 32 };
#include "mma.h"

struct shape {
    int bm, bn, bk, slices, tn, shares, m, n, k;
};

static int16_t stage_weights[STAGE], stage_tokens[STAGE];
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

static int elements_of(const struct shape *s)
{
    return s->tn ? s->bk : s->bn;
}

/* copy_stage: a copy for each row that is there. */
static void fill_stage(const struct shape *s, int col, int k)
{
    int length = bulk_inside(k, s->bk, s->k), columns = bulk_inside(col, s->bn, s->n);
    int rows = s->tn ? columns : length, elements = s->tn ? length : columns;
    memset(stage_weights, 0x7f, sizeof stage_weights);
    memset(stage_tokens, 0x7f, sizeof stage_tokens);
    for (int row = 0; row < rows; row++) {
        int to = bulk_place(row, 0, elements_of(s));
        assert_int_equal(to % 16, 0);
        for (int i = 0; i < elements; i++) {
            assert_int_equal(stage_weights[to / 2 + i], 0x7f7f); /* nobody has written here */
            stage_weights[to / 2 + i] = s->tn ? b_at(k + i, col + row) : b_at(k + row, col + i);
        }
    }
    for (int row = 0; row < s->m; row++)
        for (int i = 0; i < length; i++)
            stage_tokens[bulk_place(row, 0, s->bk) / 2 + i] = a_at(row, k + i);
}

static void load_weights(const struct shape *s, int n, int step, int16_t out[LANES][4][2])
{
    int place[LANES];
    for (int lane = 0; lane < LANES; lane++)
        place[lane] =
            s->tn ? bulk_place(n + decode_tall_row(lane), step * 2 + decode_tall_chunk(lane), elements_of(s))
                  : bulk_place(step * 16 + decode_wide_row(lane), n / 8 + decode_wide_chunk(lane), elements_of(s));
    ldmatrix(stage_weights, place, !s->tn, out);
}

/* Of the last one of an odd number of tiles, ldmatrix.x2 has the first two matrices. */
static void load_tokens(const struct shape *s, int tile, int step, int16_t out[LANES][4][2])
{
    int place[LANES], alone = tile * 8 + 8 == s->bm;
    for (int lane = 0; lane < LANES; lane++)
        place[lane] = alone ? bulk_place(tile * 8 + lane % 8, step * 2 + lane / 8 % 2, s->bk)
                            : bulk_place(tile * 8 + decode_wide_row(lane), step * 2 + decode_wide_chunk(lane), s->bk);
    ldmatrix(stage_tokens, place, 0, out);
}

/* A stage's steps of one slice, for all m16 tiles of weights. */
static void run_slice(const struct shape *s, int slice, int length, int acc[MOST / 16][MOST / 8][LANES][4])
{
    int16_t weights[LANES][4][2], tokens[LANES][4][2];
    for (int step = slice; step * 16 < length; step += s->slices)
        for (int j = 0; j < s->bn / 16; j++) {
            load_weights(s, j * 16, step, weights);
            for (int i = 0; i < s->bm / 8; i += 2) {
                load_tokens(s, i, step, tokens);
                multiply(weights, tokens, 0, acc[j][i]);
                if (i + 1 < s->bm / 8)
                    multiply(weights, tokens, 2, acc[j][i + 1]);
            }
        }
}

static void run_share(const struct shape *s, int share, int col, int begin, int end)
{
    static int acc[MOST / 16][MOST / 8][LANES][4];
    for (int slice = 0; slice < s->slices; slice++) {
        memset(acc, 0, sizeof acc);
        for (int at = begin; at < end; at++) {
            fill_stage(s, col, at * s->bk);
            run_slice(s, slice, bulk_inside(at * s->bk, s->bk, s->k), acc);
        }
        for (int j = 0; j < s->bn / 16; j++)
            for (int i = 0; i < s->bm / 8; i++)
                for (int lane = 0; lane < LANES; lane++)
                    for (int e = 0; e < 4; e++)
                        add_to(&sums[share][decode_sum_at(i * 8 + decode_token_of(lane, e),
                                                          j * 16 + decode_weight_of(lane, e), s->bn)],
                               acc[j][i][lane][e]);
    }
}

/* A tile's quads, each by its owner, are C's elements. */
static void check_tile(const struct shape *s, int col)
{
    int total = s->m * (s->bn / 4), seen = 0, shared = s->shares > 1 ? s->shares : 0;
    for (int rank = 0; rank < s->shares; rank++) {
        int own = shared ? bulk_own_quads(rank, shared, total) : total;
        for (int place = 0; place < own; place++, seen++) {
            int u = shared ? bulk_quad(place, rank, shared) : place, row = u / (s->bn / 4);
            if (shared)
                assert_true(bulk_owner(u, shared) == rank && bulk_own_place(u, shared) == place);
            for (int at = u % (s->bn / 4) * 4, e = 0; e < 4 && col + at + e < s->n; e++) {
                int wanted = 0, found = 0;
                for (int k = 0; k < s->k; k++)
                    wanted += a_at(row, k) * b_at(k, col + at + e);
                for (int share = 0; share < s->shares; share++)
                    found += sums[share][decode_sum_at(row, at, s->bn) + e];
                assert_int_equal(found, wanted);
            }
        }
    }
    assert_int_equal(seen, total);
}

static void check(const struct shape *s)
{
    int steps = (s->k + s->bk - 1) / s->bk;
    for (int col = 0; col < s->n; col += s->bn) {
        memset(sums, 0, sizeof sums);
        for (int share = 0; share < s->shares; share++)
            run_share(s, share, col, decode_share(share, s->shares, steps), decode_share(share + 1, s->shares, steps));
        check_tile(s, col);
    }
}

static void tiles_are_the_product(void **state)
{
    static const struct shape shapes[] = {
        {8, 32, 128, 4, 1, 1, 1, 64, 128},    {8, 32, 64, 4, 0, 1, 8, 64, 128},    {16, 48, 256, 8, 1, 1, 13, 90, 336},
        {24, 64, 64, 2, 1, 4, 23, 100, 208},  {24, 64, 64, 2, 0, 4, 17, 104, 208}, {96, 32, 32, 1, 1, 8, 95, 33, 96},
        {48, 128, 32, 2, 0, 2, 41, 136, 176}, {16, 32, 512, 8, 1, 2, 16, 32, 16},  {32, 16, 128, 8, 0, 1, 31, 24, 144},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check(&shapes[i]);
}

/* What each CTA of a cluster expects is what all send it, and no two quads share a place. */
static void quads_are_dealt_out(void **state)
{
    static unsigned char taken[MOST * MOST];
    (void)state;
    for (int shares = 2; shares <= 8; shares *= 2)
        for (int total = 8; total <= 96 * 8; total += 8) {
            int places = (96 * 32 / 4 / 8 + shares - 1) / shares * 8;
            memset(taken, 0, sizeof taken);
            for (int u = 0; u < total; u++) {
                int place = bulk_own_place(u, shares);
                assert_in_range(place, 0, places - 1);
                taken[bulk_owner(u, shares) * places + place]++;
            }
            for (int rank = 0; rank < shares; rank++)
                for (int place = 0; place < places; place++)
                    assert_int_equal(taken[rank * places + place], place < bulk_own_quads(rank, shares, total));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_the_product),
        cmocka_unit_test(quads_are_dealt_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
