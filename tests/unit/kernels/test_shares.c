/* STREAM_K deals out steps of tiles by the functions of kernels/shares.cuh, here compiled for the host: whatever the
 * numbers of tiles, steps and sharers, each step of each tile is multiplied once, and whoever has a tile's first step
 * adds just what others leave of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

typedef uint32_t u32;
#define DEVICE static inline
#include "../kernels/shares.cuh"

#define MAX_STEPS 70000
#define MAX_SHARERS 132

/* What became of a deal. */
struct outcome {
    unsigned char multiplied[MAX_STEPS]; /* how often, by tile and step */
    int left[MAX_SHARERS];               /* the tile of which a share leaves sums, or -1 */
    int whole[MAX_SHARERS], steps[MAX_SHARERS];
};

static void take_part(const struct deal *d, struct outcome *o, int share, struct round r)
{
    assert_true(r.begin >= 0 && r.begin < r.end && r.end <= d->steps);
    for (int k = r.begin; k < r.end; k++)
        o->multiplied[r.tile * d->steps + k]++;
    if (r.tile >= dealt_tiles(*d))
        o->whole[share]++;
    else
        o->steps[share] += r.end - r.begin;
    if (r.begin > 0) {
        assert_int_equal(o->left[share], -1); /* there is room for one tile's sums */
        o->left[share] = r.tile;
    }
}

static void take_share(const struct deal *d, struct outcome *o, int share)
{
    o->left[share] = -1;
    o->whole[share] = o->steps[share] = 0;
    int parts = 0;
    for (struct round r = begin_share(*d, share); r.tile < d->tiles; r = next_part(*d, share, r), parts++)
        take_part(d, o, share, r);
    assert_true(parts <= d->tiles);
}

/* The shares whose sums the one with the first step of `tile` adds are those that left some of it. */
static void check_sums(const struct deal *d, const struct outcome *o, int owner, int tile)
{
    for (int share = 0; share < d->sharers; share++) {
        int added = share > owner && leaves_some_of(*d, tile, share);
        assert_int_equal(added, o->left[share] == tile);
    }
}

static void check_owners(const struct deal *d, const struct outcome *o)
{
    for (int share = 0; share < d->sharers; share++)
        for (struct round r = begin_share(*d, share); r.tile < dealt_tiles(*d); r = next_part(*d, share, r))
            if (r.begin == 0)
                check_sums(d, o, share, r.tile);
}

static void check_deal(struct deal d)
{
    static struct outcome o;
    assert_true(d.tiles * d.steps <= MAX_STEPS);
    memset(o.multiplied, 0, sizeof o.multiplied);
    for (int share = 0; share < d.sharers; share++)
        take_share(&d, &o, share);
    for (int i = 0; i < d.tiles * d.steps; i++)
        assert_int_equal(o.multiplied[i], 1);
    int fair = dealt_tiles(d) * d.steps / d.sharers;
    for (int share = 0; share < d.sharers; share++) {
        assert_int_equal(o.whole[share], (d.tiles - dealt_tiles(d)) / d.sharers);
        assert_in_range(o.steps[share], fair, fair + 1);
    }
    check_owners(&d, &o);
}

/* As the manifest has it: more tiles than sharers, a last wave, and four steps and more a share. */
static int is_allowed(struct deal d)
{
    int over = d.tiles % d.sharers;
    return d.tiles > d.sharers && over > 0 && (d.kind == 2 || 2 * over < d.sharers) &&
           dealt_tiles(d) * d.steps >= 4 * d.sharers;
}

static void deals_out_every_step_once(void **state)
{
    (void)state;
    static const int sharers[] = {1, 2, 3, 5, 12, 66, 132}, steps[] = {1, 2, 3, 4, 7, 16, 64};
    int tried[3] = {0};
    for (size_t s = 0; s < sizeof sharers / sizeof *sharers; s++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
            for (int tiles = sharers[s] + 1; tiles < 4 * sharers[s] + 3; tiles += 1 + sharers[s] / 12)
                for (int kind = 1; kind <= 2; kind++) {
                    const struct deal d = {tiles, steps[k], sharers[s], kind};
                    if (is_allowed(d) && tiles * steps[k] <= MAX_STEPS) {
                        check_deal(d);
                        tried[kind]++;
                    }
                }
    assert_true(tried[1] > 50 && tried[2] > 300);
}

/* The figure at the head of stream.cuh. */
static void deals_out_the_example(void **state)
{
    (void)state;
    const struct deal d = {5, 6, 3, 2};
    const struct round expected[] = {{1, 4, 6, 8}, {2, 0, 6, 2}, {3, 0, 2, 0}};
    struct round r = begin_share(d, 1);
    for (size_t i = 0; i < 3; i++, r = next_part(d, 1, r)) {
        assert_int_equal(r.tile, expected[i].tile);
        assert_int_equal(r.begin, expected[i].begin);
        assert_int_equal(r.end, expected[i].end);
        assert_int_equal(r.rest, expected[i].rest);
    }
    assert_true(r.tile >= d.tiles);
    check_deal(d);
}

/* As many steps as 31 bits of product allow: 16384 x 16384 in tiles of 64 x 64 with K of 8192 on 132. */
static void counts_to_the_end_of_31_bits(void **state)
{
    (void)state;
    const struct deal d = {65536, 128, 132, 2};
    assert_int_equal(share_begins(d, 132), dealt_tiles(d) * 128);
    const struct deal most = {132 * 2 - 1, 61000, 132, 2}; /* 263 * 61000 * 132 < 2^31 */
    for (int share = 0; share < 132; share++)
        assert_true(share_begins(most, share + 1) - share_begins(most, share) >= 263LL * 61000 / 132);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deals_out_every_step_once),
        cmocka_unit_test(deals_out_the_example),
        cmocka_unit_test(counts_to_the_end_of_31_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
