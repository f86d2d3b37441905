/*
 * timed.h - every launch that is timed is a check. Right before the start stamp its inputs are renewed and C is
 * spoiled; behind the stop stamp C is judged: elements at places drawn after the launch, read at once; a projection
 * A (B x) against C x with an x drawn after the launch; now and then whole rows. Inputs are made alike always, and
 * nothing about them or C tells one launch from another. Neither is part of the time. A segment of many launches is
 * disturbed before it, and behind half of those that are judged comes another of the same kind that is disturbed in the
 * middle (row_check.h).
 *
 * What it costs is bounded: elements take at most TIMED_SPOTS_SHARE of the launch's time beyond the first few, and
 * where a projection takes longer than TIMED_PRODUCT_SHARE of the launch, a random share of the launches gets one (one
 * in TIMED_PRODUCT_LEAST at least). segment.c calls it around each timed launch; what is found is an error of the kind
 * that entrant_fault makes a verdict of.
 */
#ifndef CUDAL2_MEASURE_TIMED_H
#define CUDAL2_MEASURE_TIMED_H

#include "measure/bench.h"

/* On a GPU, of the time that segments take: what is spent before and behind them with verify.timed "sample". */
#define TIMED_SEGMENT_SHARE 0.05
#define TIMED_SEGMENT_LEAST (1.0 / 32)
/* And of a candidate so many segments, with a row each, whatever that costs: gaps between them are drawn up to so many
 * segments, and grow by a share of those that were timed. */
#define TIMED_ROW_GAP 6u
#define TIMED_ROW_GAP_SHARE 3u

#define TIMED_SPOTS_EARLY 4u /* of these, drawn ahead of the launch */
#define TIMED_SPOTS_LEAST 8u
#define TIMED_SPOTS_MOST 64u
#define TIMED_SPOTS_SHARE 0.02
#define TIMED_PRODUCT_SHARE 0.25
#define TIMED_PRODUCT_LEAST 8u
/* Problems of so few elements in A, B and C have every launch projected. */
#define TIMED_PRODUCT_ALWAYS 65536.0
/* One launch in so many has whole rows compared, as many as take a quarter of the launch's time. */
#define TIMED_BAND_EVERY 8u
#define TIMED_BAND_MOST 16

/* What segments (or chains) and the checks of some of them have taken so far. */
struct timed_cost {
    double runs, runs_ns, checks, checks_ns;
};

/* Keeps what the checks of a cell need in bench->timed, which stays NULL where config or device have none.
 * timed_close frees it. */
int timed_open(struct bench *bench, struct error *err);
void timed_close(struct bench *bench);

/* 64 bits that a contender cannot foresee, where the cell's timed launches are checked; else of the run's seed. */
uint64_t timed_draw(struct bench *bench);
/* What is drawn behind a launch must not have been in memory before it: to be called between the launch and the draw.
 */
void timed_stir(struct bench *bench);

/* Whether a launch that is timed by itself has new inputs each time: not on every device (probe_ops.renew). */
bool timed_renews(const struct bench *bench);
/* Ahead of a launch on the entrant's set 0 that is timed by itself. `cold`: the cache state that was set is one without
 * the inputs. timed_prepare comes first, while the contender's process stands still, and makes new inputs where it
 * cannot see them, unless they take over TIMED_STAGE_MOST; timed_renew comes last and puts them where it does. */
#define TIMED_STAGE_MOST (256u << 20)
int timed_prepare(struct bench *bench, struct entrant *entrant, bool cold, struct error *err);
int timed_renew(struct bench *bench, struct entrant *entrant, struct error *err);
/* Ahead of what is timed otherwise, a device-timed segment or a launch on a GPU: of random ones (verify.timed), or of
 * `always` all, the inputs of all sets are disturbed and every C is spoiled. */
int timed_disturb(struct bench *bench, struct entrant *entrant, enum timing timing, bool always, struct error *err);
/* Whether timed_disturb leaves it to the trial that runs (bench->renewed) what a segment of the headline timing finds,
 * and judges none of these. */
bool timed_lets_put(const struct bench *bench);
/* The same for its first n sets, without asking whether. bench->timed and probe_ops.disturb are not NULL. */
int timed_disturb_sets(struct bench *bench, const struct entrant *entrant, size_t n, struct error *err);
/* Whether the next segment is checked, by what others and their checks cost: drawn. bench->timed is not NULL. */
bool timed_chooses(struct bench *bench, const struct timed_cost *cost);
/* timed_renew on another of its sets, with the values of `seed`: twice the same are the same values, of C too where it
 * is an input. Where timed_renews says so. */
int timed_put(struct bench *bench, struct entrant *entrant, size_t set, uint64_t seed, struct error *err);
/* Where C is an input: C of that set holds it again, whatever launches without a check have made of it. */
int timed_restore_c(struct bench *bench, struct entrant *entrant, size_t set, struct error *err);
/* Right behind it, before its process stands still: reads elements of C at places that are drawn now. It took `ns`. */
int timed_read(struct bench *bench, struct entrant *entrant, enum timing timing, double ns, struct error *err);
/* Behind that, once verification is over (a variant that races before is verified when it has won).
 * EXIT_CODE_VERIFICATION with "wrong_result: why" when the output is wrong. */
int timed_judge(struct bench *bench, struct entrant *entrant, enum timing timing, double ns, struct error *err);

/* ns that disturbances and checks of segments have taken so far: no part of what the host waits for a segment. */
double timed_spent(const struct bench *bench);

/* Writes what was checked into each entrant's record (verification.timed). */
void timed_note(struct bench *bench);

#endif
