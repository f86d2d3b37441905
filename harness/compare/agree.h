/*
 * agree.h - `compare --agreement BASE... NEW`: by how much runs of the same thing differ. Where compare looks for
 * losses, this measures repeatability: two independent runs, or a run by the adaptive protocol (BASE) and one by the
 * paper's (NEW), whose means should lie in BASE's intervals. The interval of one run speaks of its own process alone;
 * several BASE runs, each a process of its own, give one that holds what processes differ by.
 */
#ifndef CUDAL2_COMPARE_AGREE_H
#define CUDAL2_COMPARE_AGREE_H

#include "report/table.h"
#include "record/record.h"

#define AGREE_BASES_MAX 15

/* Paths of a result.json or journal; only journals have every timing and single layouts. */
struct agree_request {
    const char *const *bases;
    size_t n_bases; /* 1 .. AGREE_BASES_MAX */
    const char *fresh;
    bool force; /* also runs of different devices or drivers, and BASE runs of one seed */
};

/* One candidate against one reference in one cell and timing, in all runs. Speedups are ratios minus 1. */
struct agree_row {
    char key[RECORD_KEY_MAX], candidate[RECORD_NAME_MAX + 8], reference[RECORD_NAME_MAX + 8];
    enum mode mode;
    enum timing timing;
    double base, fresh; /* the geometric mean, or the mean of ratios of a run by the paper's protocol; of several BASE
                         * runs exp(mean of the logs of 1 + speedup) - 1 */
    double low, high;   /* of one BASE its 95% interval, of several the 95% prediction interval of those logs for one
                         * more run; NaN without one */
    bool other_variant; /* one of the two contenders was another kernel or algorithm in NEW than in a BASE */
    bool other_start;   /* device times, whose graphs were held in NEW and not in a BASE, or the other way round */
};

/* |fresh - base| over the rows of one mode and timing. */
struct agree_group {
    enum mode mode;
    enum timing timing;
    size_t n, with_interval, inside; /* inside: NEW's value lies in the row's interval */
    double median, p90, p95, most;   /* NaN without rows */
};

struct agreement {
    struct agree_row *rows; /* owned; the largest difference first */
    size_t n_rows;
    struct agree_group groups[MODE_COUNT * TIMING_COUNT]; /* those with rows */
    size_t n_groups;
    size_t n_bases;
    double seconds[2];     /* spent on the common cells by BASE, all its runs together, and by NEW */
    size_t n_cells;        /* common to all runs */
    size_t n_other_starts; /* rows with other_start */
};

/* EXIT_CODE_INCOMPARABLE: no pair that all runs have; without force, another device or driver than NEW's in a BASE,
 * and of several BASE runs one by the paper's protocol, or two (NEW among them) with one seed. EXIT_CODE_DATA as
 * load_results. On failure *out needs no free. */
int agree_open(const struct agree_request *request, struct agreement *out, struct error *err);
void agree_free(struct agreement *a);

/* Tables over one row model: the groups, and the rows (with more than AGREE_LISTED the largest differences). */
#define AGREE_LISTED 40
void agree_groups_table(const struct agreement *a, struct table *out);
void agree_rows_table(const struct agreement *a, struct table *out);

/* What a reader of one run should know of another: "between runs 95% of the 200 speedups by device time differ by up to
 * 1.96 points (offline), ...", for each mode by the first timing that both have. */
void agree_between(const struct agreement *a, char *out, size_t capacity);

/* Whether NEW's value lies in the row's interval; false without one. */
bool agree_is_inside(const struct agree_row *row);

#endif
