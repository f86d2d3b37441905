/*
 * roofline_points.h - what a roofline picture shows, before any of it is drawn: points, a row for each contender, the
 * device's peaks. Private to roofline.c and roofline_points.c.
 */
#ifndef CUDAL2_REPORT_ROOFLINE_POINTS_H
#define CUDAL2_REPORT_ROOFLINE_POINTS_H

#include "result/result.h"

struct roofline_point {
    double intensity, rate; /* FLOP/byte, FLOP/s */
    const struct result_cell *cell;
    const struct result_contender *contender;
    size_t row;
};

/* One contender, over the problems in which it has a time. */
struct roofline_row {
    const struct result_contender *contender; /* of the first of them */
    size_t n, colour;                         /* colour: number of its family among those of its role */
    double best_rate, log_percent;            /* log_percent: sum of logarithms of the roof's share */
};

struct roofline {
    const struct result_device *device;
    const struct result_cell *first;
    double peak_flops, peak_bytes; /* a second; 0 not known */
    struct roofline_point *points; /* owned, as rows is */
    struct roofline_row *rows;     /* the fastest first, by share of the roof */
    size_t n_points, n_rows, n_cells;
};

/* Points into the result. EXIT_CODE_INCOMPARABLE when nothing has a time. To be freed in every case. */
int roofline_gather(const struct result *result, struct roofline *out, struct error *err);
void roofline_free(struct roofline *r);

/* The roof at an intensity, FLOP/s; 0 where neither peak is known. */
double roofline_roof(const struct roofline *r, double intensity);

/* Geometric mean of a row's shares of the roof, in percent; NaN where that is not known. */
double roofline_percent(const struct roofline *r, const struct roofline_row *row);

#endif
