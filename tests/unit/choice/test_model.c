/* choice/cudal2/model: bounds and directions that hold for any constants. How far from measured races it may be:
 * test_model_races.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "h200_fixture.h"
#include "tile_fixture.h"

static double seconds(int64_t m, int64_t n, int64_t k, const struct model_tile *t)
{
    const struct model_machine machine = figures_machine(&h200.info);
    const struct cudal2_problem p = {.m = m, .n = n, .k = k, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    return model_seconds(&machine, &p, CUDAL2_TN, t);
}

static double waves(int64_t m, int64_t n, int64_t k, const struct model_tile *t)
{
    const struct model_machine machine = figures_machine(&h200.info);
    const struct cudal2_problem p = {.m = m, .n = n, .k = k, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    return model_waves(&machine, &p, t);
}

static void nothing_is_under_the_floor(void **state)
{
    (void)state;
    for (int64_t size = 64; size <= 16384; size *= 2) {
        double flops = 2.0 * (double)size * (double)size * (double)size;
        assert_true(seconds(size, size, size, &plain) >= flops / (0.75 * h200.info.peak_flops));
        assert_true(seconds(size, size, 64, &plain) >= 2.0 * (double)size * (double)size / h200.info.peak_bytes_per_s);
    }
}

static void waves_are_counted(void **state)
{
    struct model_tile t = plain;
    (void)state;
    assert_true(waves(128 * 132, 128, 64, &t) == 1);
    assert_true(waves(128 * 132, 256, 64, &t) == 2);
    assert_true(waves(1, 1, 64, &t) == 1.0 / 132); /* a tile in part is a whole CTA */
    t.per_sm = 2;
    assert_true(waves(128 * 132, 256, 64, &t) == 1);
    t.per_sm = 1;
    t.split = 4;
    assert_true(waves(128 * 33, 128, 4096, &t) == 1);
    t.split = 1;
    t.cluster = t.b_readers = 2; /* a pair's second CTA takes a place beyond the edge too */
    assert_true(waves(128 * 3, 128 * 33, 64, &t) == 1 && waves(128 * 3, 128 * 34, 64, &t) > 1);
    assert_true(model_tiles(600, 128, 2) == 6 && model_tiles(600, 128, 4) == 8 && model_tiles(600, 128, 1) == 5);
    t.b_readers = 1;
    t.split = 4;
    t.cluster = 4; /* 30 clusters of four find a place, 39 of three, 15 of eight */
    assert_true(waves(128 * 30, 128, 4096, &t) == 1 && waves(128 * 31, 128, 4096, &t) > 1);
    t.split = t.cluster = 3;
    assert_true(waves(128 * 39, 128, 4096, &t) == 1 && waves(128 * 40, 128, 4096, &t) > 1);
    t.split = t.cluster = 8;
    assert_true(waves(128 * 15, 128, 4096, &t) == 1 && waves(128 * 16, 128, 4096, &t) > 1);
    t.split = t.cluster = 16; /* places for so many at once are few */
    assert_true(waves(128 * 8, 128, 4096, &t) > 1.5);
}

/* One row of tiles more than fills the machine costs about a wave more. */
static void a_last_wave_costs(void **state)
{
    (void)state;
    double full = seconds(12 * 128, 11 * 128, 4096, &plain), over = seconds(12 * 128 + 1, 11 * 128, 4096, &plain);
    assert_true(over > 1.6 * full);
    /* The tile that is left over has the L2 for itself. */
    assert_true(seconds(24 * 128, 11 * 128, 4096, &plain) < 1.25 * over);
}

static void each_term_has_its_direction(void **state)
{
    struct model_tile t = plain;
    (void)state;
    double before = seconds(4096, 4096, 4096, &plain);
    t.stages = 2;
    assert_true(seconds(4096, 4096, 4096, &t) > before); /* latency shows */
    t = plain;
    t.m = t.n = 64;
    assert_true(seconds(4096, 4096, 4096, &t) > 1.05 * before); /* more bytes through the L2 */
    double alone = seconds(256, 4096, 4096, &t); /* the L2 is the limit, and of B a pair in the walk shares nothing */
    t.b_readers = t.cluster = 2;
    assert_true(seconds(256, 4096, 4096, &t) < alone);
    t = plain;
    t.wgmma = false;
    assert_true(seconds(4096, 4096, 4096, &t) > before);
    t = plain;
    t.overlaps = 0;
    double bare = seconds(16384, 1024, 256, &t);
    t.overlaps = 2;
    assert_true(seconds(16384, 1024, 256, &t) < bare); /* short K: the epilogue is what there is to hide */
    t = plain;
    t.split = t.cluster = 8;
    assert_true(seconds(128, 128, 16384, &t) < 0.5 * seconds(128, 128, 16384, &plain)); /* one tile, long K */
    assert_true(seconds(128, 128, 64, &t) > seconds(128, 128, 64, &plain));             /* short K: only the exchange */
    t = plain;
    t.slices = 8;
    assert_true(seconds(64, 64, 64, &t) > seconds(64, 64, 64, &plain));
}

/* Two CTAs that share the larger operand ask the L2 for less than two that share the smaller one. */
static void what_is_shared_matters(void **state)
{
    struct model_tile a = plain, b = plain;
    (void)state;
    a.m = a.n = b.m = b.n = 64;
    a.cluster = a.a_readers = b.cluster = b.b_readers = 2;
    assert_true(seconds(32 * 64, 4 * 64, 8192, &a) < 0.95 * seconds(32 * 64, 4 * 64, 8192, &b));
    assert_true(seconds(4 * 64, 32 * 64, 8192, &b) < 0.95 * seconds(4 * 64, 32 * 64, 8192, &a));
}

/* With both layouts alike (TN), walking down a problem's columns is walking along the rows of its mirror image. */
static void down_is_the_mirror_image(void **state)
{
    /* the last: a band's part of A fits where a tile is 128 high, and does not where it is 192 */
    static const int64_t sizes[][3] = {
        {4096, 16384, 16384}, {16384, 2048, 8192}, {512, 1024, 4096}, {128, 12288, 256}, {16384, 4096, 12288}};
    const size_t n_sizes = sizeof sizes / sizeof *sizes;
    struct model_tile t = plain, mirror = plain;
    bool differs = false;
    (void)state;
    t.streams = 1, mirror.streams = 2, mirror.down = true;
    for (size_t i = 0; i < 4 * n_sizes; i++) {
        int64_t m = sizes[i % n_sizes][0], n = sizes[i % n_sizes][1], k = sizes[i % n_sizes][2];
        t.cluster = mirror.cluster = i / n_sizes % 2 ? 2 : 1; /* alone, neighbours share what a cluster does not */
        t.m = mirror.n = i < 2 * n_sizes ? 192 : 64;          /* small tiles ask the most of the L2 */
        t.n = mirror.m = i < 2 * n_sizes ? 128 : 64;
        t.b_readers = mirror.a_readers = i < 2 * n_sizes ? 2 : 1;
        double along = seconds(m, n, k, &t), down = seconds(n, m, k, &mirror);
        assert_true(fabs(along - down) < 1e-9 * along);
        differs = differs || fabs(along - seconds(n, m, k, &t)) > 1e-3 * along;
    }
    assert_true(differs);
    t = plain; /* what is wide is walked down: fewer bands, and what they share stays */
    double before = seconds(2048, 16384, 16384, &t);
    t.down = true;
    assert_true(seconds(2048, 16384, 16384, &t) < before);
}

static void the_fourth_runs_parameters_count(void **state)
{
    struct model_tile t = plain;
    (void)state;
    double before = seconds(16384, 16384, 64, &t);
    t.evicts = true;
    assert_true(seconds(16384, 16384, 64, &t) < 0.95 * before); /* half a gigabyte is written */
    assert_true(seconds(1024, 1024, 64, &t) == seconds(1024, 1024, 64, &plain));
    t = plain;
    before = seconds(16384, 16384, 16384, &t);
    t.band = 64; /* too wide to be found again in the L2 */
    assert_true(seconds(16384, 16384, 16384, &t) > before);
    t = plain;
    t.copied_n = 192; /* NN copies whole boxes of 64 columns */
    t.n = 144;
    before = seconds(2048, 144 * 8, 4096, &t);
    t.copied_n = 0;
    assert_true(seconds(2048, 144 * 8, 4096, &t) < before);
    t = plain;
    t.split = 4;
    t.exchange = MODEL_EXCHANGE_WORKSPACE;
    before = seconds(512, 512 * 2, 8192, &t); /* 128 CTAs at once, which no clusters of four find */
    t.cluster = 4;
    t.exchange = MODEL_EXCHANGE_ARRIVALS;
    assert_true(seconds(512, 512 * 2, 8192, &t) > before);
    assert_true(seconds(512, 512, 512, &t) < seconds(512, 512, 512, &plain) * 1.5);
    t.exchange = MODEL_EXCHANGE_PARTS;
    before = seconds(512, 512, 8192, &t);
    t.exchange = MODEL_EXCHANGE_ARRIVALS;
    assert_true(seconds(512, 512, 8192, &t) < before);
}

/* 0.14 us, which a short launch feels; kernels that wait for no store anyway have nothing to save. */
static void own_rows_save_a_wait(void **state)
{
    struct model_tile t = plain;
    (void)state;
    t.wgmma = true;
    double before = seconds(512, 512, 512, &t);
    t.own_rows = true;
    double saved = before - seconds(512, 512, 512, &t);
    assert_true(saved > 0.1e-6 && saved < 0.2e-6);
    t.wgmma = false;
    before = seconds(512, 512, 512, &t);
    t.own_rows = false;
    assert_true(fabs(seconds(512, 512, 512, &t) - before) < 1e-12);
}

/* The more where the next launch's CTAs fit beside; a kernel without tensor maps has less to set up. */
static void beginning_early_saves(void **state)
{
    struct model_tile t = plain;
    (void)state;
    t.m = t.n = 64;
    double late = seconds(1024, 512, 256, &t); /* 128 CTAs */
    t.early = true;
    double full = seconds(1024, 512, 256, &t);
    t.fits = 2;
    double room = seconds(1024, 512, 256, &t);
    assert_true(late - full > 0.3e-6 && full - room > 0.05e-6 && late - room <= 0.65e-6);
    double crowded = seconds(1024, 512, 8192, &t); /* with long K it costs more that some places have two CTAs */
    t.fits = 1;
    assert_true(crowded > seconds(1024, 512, 8192, &t));
    /* 64 CTAs: others' multiprocessors are free */
    late = seconds(512, 512, 512, &t);
    t.fits = 2;
    assert_true(fabs(seconds(512, 512, 512, &t) - late) < 1e-12);
    t.wgmma = false;
    room = seconds(512, 512, 512, &t);
    t.early = false;
    double saved = seconds(512, 512, 512, &t) - room;
    assert_true(saved > 0.1e-6 && saved < 0.3e-6);
}

/* 64 x 12288 x 16384: 403 MB of B pass once. With K of 1024 they stay in the L2 from launch to launch, if they may. */
static void streams_pay_where_nothing_stays(void **state)
{
    struct model_tile t = plain, streams = plain;
    (void)state;
    t.n = streams.n = 96;
    t.m = streams.m = 64;
    streams.streams = 2;
    assert_true(seconds(64, 12288, 16384, &streams) < seconds(64, 12288, 16384, &t));
    assert_true(seconds(64, 12288, 16384, &streams) > 0.95 * seconds(64, 12288, 16384, &t));
    assert_true(seconds(64, 12288, 1024, &streams) > 1.05 * seconds(64, 12288, 1024, &t));
    streams.streams = 1; /* A is small, whatever becomes of it */
    double ratio = seconds(64, 12288, 16384, &streams) / seconds(64, 12288, 16384, &t);
    assert_true(ratio > 0.995 && ratio < 1.005);
    streams.streams = 3;
    assert_true(isinf(seconds(64, 64, 64, &streams)));
}

/* 64 of k for a CTA in a cluster of four: those of two tiles ask for 24 KB of the L2 where strangers ask for 32. */
static void tiles_abreast_are_served_together(void **state)
{
    struct model_tile strangers = plain, abreast;
    (void)state;
    strangers.m = strangers.n = 64, strangers.warps = 4, strangers.stages = 8;
    strangers.split = 2, strangers.cluster = 4, strangers.exchange = MODEL_EXCHANGE_ARRIVALS;
    abreast = strangers;
    abreast.abreast = 2;
    double gain = seconds(512, 512, 8192, &strangers) - seconds(512, 512, 8192, &abreast);
    assert_true(gain > 0);
    assert_true(seconds(512, 512, 16384, &strangers) - seconds(512, 512, 16384, &abreast) > 1.9 * gain);
    abreast.cluster = strangers.cluster = 1; /* who is in no cluster has such neighbours anyhow */
    assert_true(fabs(seconds(512, 512, 8192, &abreast) / seconds(512, 512, 8192, &strangers) - 1) < 1e-9);
    abreast.split = strangers.split = 4, abreast.cluster = strangers.cluster = 8; /* measured: nothing */
    assert_true(fabs(seconds(512, 512, 8192, &abreast) / seconds(512, 512, 8192, &strangers) - 1) < 1e-9);
}

/* Handing tiles out pays for pairs that share what their neighbours in the walk do not, at the power limit. */
static void queues_pay_for_crosswise_pairs(void **state)
{
    struct model_tile shares = plain, queue;
    (void)state;
    shares.n = 192, shares.stages = 4, shares.overlaps = 2, shares.cluster = 2, shares.b_readers = 2;
    queue = shares;
    queue.queue = true;
    double ratio = seconds(8192, 8192, 8192, &queue) / seconds(8192, 8192, 8192, &shares);
    assert_true(ratio > 0.965 && ratio < 0.975);
    queue.overlaps = shares.overlaps = 1; /* all store at once, which takes power of those without */
    assert_true(seconds(8192, 8192, 8192, &queue) / seconds(8192, 8192, 8192, &shares) < ratio - 0.01);
    queue.overlaps = shares.overlaps = 2;
    queue.down = shares.down = true; /* now both share B */
    assert_true(fabs(seconds(8192, 8192, 8192, &queue) / seconds(8192, 8192, 8192, &shares) - 1) < 1e-9);
    queue.b_readers = shares.b_readers = 1, queue.a_readers = shares.a_readers = 2;
    ratio = seconds(8192, 8192, 8192, &queue) / seconds(8192, 8192, 8192, &shares);
    assert_true(ratio > 0.965 && ratio < 0.975);
    queue.band = shares.band = 1; /* bands one tile wide are walked along them, and so both share A */
    assert_true(fabs(seconds(8192, 8192, 8192, &queue) / seconds(8192, 8192, 8192, &shares) - 1) < 1e-9);
    queue.cluster = shares.cluster = 1, queue.a_readers = shares.a_readers = 1;
    assert_true(fabs(seconds(8192, 8192, 8192, &queue) / seconds(8192, 8192, 8192, &shares) - 1) < 1e-9);
}

/* Half of a tile's stores hides, less those of 64x64; measured were 0, 0.22 and 0.56 to 0.72 us. Before another wave a
 * part of them hides anyhow. */
static void tails_hide_stores(void **state)
{
    (void)state;
    static const double measured[] = {0, 0.22e-6, 0.64e-6};
    for (int i = 0; i < 3; i++) {
        int64_t n = 64 << i;
        struct model_tile bare = plain, tail = plain;
        bare.n = tail.n = (double)n;
        tail.tail = true;
        double saved = seconds(1024, 16 * n, 512, &bare) - seconds(1024, 16 * n, 512, &tail);
        double of_two = seconds(2048, 16 * n, 512, &bare) - seconds(2048, 16 * n, 512, &tail);
        assert_true(fabs(saved - measured[i]) < 0.05e-6);
        assert_true(i == 0 || (of_two > 1.3 * saved && of_two < 1.9 * saved));
    }
}

/* From a CTA's second tile on, if it has one of the same lane: as far as copies are what it waits for. With 128x192 it
 * was some 4% at K = 256. */
static void what_is_kept_is_not_copied(void **state)
{
    struct model_tile copies = plain, keeps = plain;
    (void)state;
    copies.n = keeps.n = 192;
    copies.stages = keeps.stages = keeps.kept_for = 4;
    copies.overlaps = keeps.overlaps = 2;
    for (keeps.keeps = 1; keeps.keeps <= 2; keeps.keeps++) {
        double gain = 1 - seconds(8192, 12288, 256, &keeps) / seconds(8192, 12288, 256, &copies);
        assert_true(gain > 0 && gain < 0.06);
        assert_true(fabs(seconds(1024, 1024, 256, &keeps) / seconds(1024, 1024, 256, &copies) - 1) < 1e-9);
    }
    keeps.keeps = 2;
    double soon = seconds(4096, 6144, 64, &keeps); /* 8 waves */
    keeps.kept_for = 1;
    assert_true(seconds(4096, 6144, 64, &keeps) < soon);
    assert_true(seconds(4096, 6144, 64, &copies) > soon);
    struct model_tile wide = keeps;
    wide.band = 32; /* lanes are as long as the matrix, and there are fewer of them to begin */
    assert_true(seconds(4096, 6144, 64, &wide) < seconds(4096, 6144, 64, &keeps));
    assert_true(waves(1024, 3072, 64, &copies) < 1); /* 128 tiles are one wave, of 132 places or of 128 */
    assert_true(waves(1024, 3072, 64, &keeps) == 1);
}

/* Fetching line by line pays for what comes from memory, and says nothing of what the L2 holds. */
static void fetching_less_pays_where_nothing_stays(void **state)
{
    struct model_tile t = plain, lines = plain;
    (void)state;
    t.m = lines.m = 64;
    lines.fetch = 128;
    double ratio = seconds(64, 12288, 16384, &lines) / seconds(64, 12288, 16384, &t);
    assert_true(ratio > 0.97 && ratio < 0.99);
    assert_true(fabs(seconds(64, 12288, 1024, &lines) / seconds(64, 12288, 1024, &t) - 1) < 1e-9);
    assert_true(fabs(seconds(64, 12288, 3800, &lines) / seconds(64, 12288, 3800, &t) - 1) <
                1e-9);                                                       /* 1.5 times the L2 */
    ratio = seconds(64, 12288, 6400, &lines) / seconds(64, 12288, 6400, &t); /* 2.5 times */
    assert_true(ratio > 0.97 && ratio < 0.99);
    ratio = seconds(12288, 64, 16384, &lines) / seconds(12288, 64, 16384, &t); /* it may be A */
    assert_true(ratio > 0.97 && ratio < 0.99);
    ratio = seconds(64, 12288, 16384, &lines) / seconds(64, 12288, 16384, &t);
    t.fetch = 256;
    assert_true(fabs(seconds(64, 12288, 16384, &lines) / seconds(64, 12288, 16384, &t) - ratio) < 1e-9);
}

static void nonsense_is_infinite(void **state)
{
    struct model_tile t = plain;
    (void)state;
    assert_true(isinf(seconds(0, 64, 64, &plain)) && isinf(seconds(64, 64, -1, &plain)));
    t.per_sm = 0;
    assert_true(isinf(seconds(64, 64, 64, &t)));
    t = plain;
    t.overlaps = 3;
    assert_true(isinf(seconds(64, 64, 64, &t)));
    t = plain;
    t.stages = 0; /* multistage with one stage */
    assert_true(isinf(seconds(64, 64, 64, &t)) && isinf(waves(64, 64, 64, &t)));
    t = plain;
    t.keeps = 3, t.kept_for = 6;
    assert_true(isinf(seconds(64, 64, 64, &t)));
    t.keeps = 1, t.kept_for = 0;
    assert_true(isinf(seconds(64, 64, 64, &t)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_under_the_floor),
        cmocka_unit_test(waves_are_counted),
        cmocka_unit_test(a_last_wave_costs),
        cmocka_unit_test(each_term_has_its_direction),
        cmocka_unit_test(what_is_shared_matters),
        cmocka_unit_test(down_is_the_mirror_image),
        cmocka_unit_test(the_fourth_runs_parameters_count),
        cmocka_unit_test(own_rows_save_a_wait),
        cmocka_unit_test(beginning_early_saves),
        cmocka_unit_test(streams_pay_where_nothing_stays),
        cmocka_unit_test(fetching_less_pays_where_nothing_stays),
        cmocka_unit_test(tiles_abreast_are_served_together),
        cmocka_unit_test(queues_pay_for_crosswise_pairs),
        cmocka_unit_test(tails_hide_stores),
        cmocka_unit_test(what_is_kept_is_not_copied),
        cmocka_unit_test(nonsense_is_infinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
