/*
 * picture.h - where an output is wrong: the first wrong elements with what was expected, and a map of at most 16 x 16
 * marks. exact.c makes one of what failed; the record keeps it as verification.wrong, `verify` prints it.
 */
#ifndef CUDAL2_VERIFY_PICTURE_H
#define CUDAL2_VERIFY_PICTURE_H

#include "base/json.h"
#include "device/device.h"

#define PICTURE_SIDE 16
#define PICTURE_ELEMENTS 4

struct wrong_element {
    int64_t row, column;
    double expected, got;
};

struct picture {
    int64_t rows_each, columns_each; /* elements that a mark stands for */
    int rows, columns;               /* marks */
    char marks[PICTURE_SIDE][PICTURE_SIDE + 1];
    struct wrong_element first[PICTURE_ELEMENTS];
    size_t n_first;
    int64_t row_range[2], column_range[2]; /* least and largest of what is wrong in the rows looked at */
};

/* Looks at the output c and the reference, row-major on the device: all rows where that is little, else some of each
 * mark, its first and last among them, and the row of `first_index`. An element counts as device_ops.compare has it. */
struct picture_request {
    struct cudal2_problem problem;
    const void *c;
    const float *reference;
    double limit;
    uint64_t first_index;
};
int picture_take(struct device *d, const struct picture_request *request, struct picture *out, struct error *err);

/* {"elements":[[row,column,expected,got],...],"rows":[a,b],"columns":[a,b],"mark":[rows,columns],"map":["..#.",...]};
 * NaN is null. Owned by the caller. */
cJSON *picture_to_json(const struct picture *picture);

#endif
