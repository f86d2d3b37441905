/*
 * alone_judge.h - whether a baseline takes longer beside a plugin than without it: what one look says, and what pairs
 * of fresh workers prove. Pure functions of times. Called by alone.c.
 */
#ifndef CUDAL2_RUN_ALONE_JUDGE_H
#define CUDAL2_RUN_ALONE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

/* A share by which a baseline may take longer beside an honest plugin, whose threads and data leave caches and
 * processors as they will. */
#define ALONE_MARGIN 0.03
/* Of runs in which every plugin is honest, so many at most accuse one. */
#define ALONE_ERROR 1e-3
/* Pairs of workers, without the plugin and beside it, at most. */
#define ALONE_ROUNDS 24
/* The fewest that can prove anything: below, Student's quantile is so large that nothing but a factor would show. */
#define ALONE_LEAST 4

/* Workers without any plugin that look first. */
#define ALONE_SCREENS 2

/* What is said of a baseline's blocks in a worker, each judged by itself: on a busy machine the median scatters least;
 * whoever slows a rival in a third of its blocks moves the mean of the deciles alone. */
enum alone_measure { ALONE_MEDIAN, ALONE_DECILES, ALONE_MEASURES };

/* Of a cell that is timed again: less than it took in the run. */
#define ALONE_BLOCKS 96u

/* A baseline's times by one measure, ns: of the run, of as many blocks of it as a look has, and of the workers that
 * look first. 0: not timed. On a busy machine a process that has run for long waits more often than a young one: only
 * times of the same length are alike. */
struct alone_looks {
    double run, early, without[ALONE_SCREENS];
};

/* A baseline's times by one measure: in the rounds, and how many there are. */
struct alone_pairs {
    double without[ALONE_ROUNDS], beside[ALONE_ROUNDS]; /* ns; 0: not timed */
    size_t n;
};

/* How much longer it takes beside the plugin: shares, 0.1 for 10%. */
struct alone_interval {
    double from, to;
};

enum alone_verdict {
    ALONE_OPEN,     /* more rounds may tell */
    ALONE_ALIKE,    /* nothing is shown */
    ALONE_DISTURBED /* the interval lies above ALONE_MARGIN wholly */
};

/* Whether the run's time is over the margin, held against the slower of the first n looks. False where a time is
 * missing. */
bool alone_is_suspect(const struct alone_looks *looks, size_t n);

/* Whether the first blocks of the run are over the margin by more than the looks, all of them, differ from each other:
 * on a busy machine they differ by much, and nothing can be proved. */
bool alone_is_plain(const struct alone_looks *looks);

/* Student's interval of the trimmed mean difference of logarithms of pairs; outside of it on one side with probability
 * `error`. How workers differ from each other is in it, and a drift is not: the two of a pair follow each other. False
 * below two pairs, or where a time is missing. */
bool alone_interval(const struct alone_pairs *pairs, double error, struct alone_interval *out);

/* After any round; `last`: there will be no further one. Of `asked` pairs of a baseline and a plugin in this run this
 * is one: each measure of each has its part of ALONE_ERROR, and each of the looks has a part of that. ALONE_OPEN until
 * a look; after the last round never. */
enum alone_verdict alone_judge(const struct alone_pairs *pairs, size_t asked, bool last, struct alone_interval *out);

#endif
