/*
 * roofline.h - a roofline picture of a run (SVG): each contender that has a time as a point with its name, arithmetic
 * intensity across and speed up, under the device's peaks of arithmetic and memory. `verify --roofline` makes it.
 */
#ifndef CUDAL2_REPORT_ROOFLINE_H
#define CUDAL2_REPORT_ROOFLINE_H

#include "base/text.h"
#include "result/result.h"

/* Appends a whole SVG document; by the first worker's device and the number format of the first cell that has a time,
 * others are left out. Where a peak is unknown its line is, and the picture says so. EXIT_CODE_INCOMPARABLE when
 * nothing has a time, EXIT_CODE_INTERNAL out of memory. */
int roofline_svg(const struct result *result, struct text *out, struct error *err);

/* The same of a journal, into a file (by rename). */
int roofline_write(const char *journal, const char *path, struct error *err);

#endif
