/*
 * bands.h - a reference with fp64 sums for some rows of the output: all of them where there are few, else bands at
 * random places, so that an error profile costs milliseconds at any size. A band of rows is a problem of its own.
 */
#ifndef CUDAL2_VERIFY_BANDS_H
#define CUDAL2_VERIFY_BANDS_H

#include "device/device.h"

#define BANDS_MAX 4
#define BANDS_ROWS 32

struct bands {
    struct cudal2_problem problem;
    size_t n;
    int64_t rows; /* of each band */
    int64_t first[BANDS_MAX];
    double *reference; /* device memory, n * rows * problem.n */
};

/* Elements of all bands. */
double bands_elements(const struct cudal2_problem *p);

/* Bytes that bands_make takes on the device. */
uint64_t bands_bytes(const struct cudal2_problem *p);

/* Computes the reference of the bands that `seed` draws, for these operands (b in `layout`). bands_free releases it,
 * also after a failure. */
struct bands_request {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    const struct cudal2_operands *operands;
    uint64_t seed;
};
int bands_make(struct device *d, const struct bands_request *request, struct bands *out, struct error *err);
void bands_free(struct device *d, struct bands *bands);

/* Adds up the comparisons of the bands of C, of the problem's dtype. NaN counts as in device_ops.compare. */
int bands_compare(struct device *d, const struct bands *bands, const void *c, struct comparison *out,
                  struct error *err);

/* RMS of the error over the RMS of the reference; infinite where an element is NaN. */
double comparison_relative_rms(const struct comparison *cmp);

#endif
