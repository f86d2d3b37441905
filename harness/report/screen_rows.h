/*
 * screen_rows.h - the rows by shape of screen.h. Private to screen*.c.
 */
#ifndef CUDAL2_REPORT_SCREEN_ROWS_H
#define CUDAL2_REPORT_SCREEN_ROWS_H

#include "base/text.h"
#include "report/dataset.h"
#include "report/screen.h"

#define SCREEN_MANY_SHAPES 20
#define SCREEN_ENDS 10   /* rows of the best and of the worst when there are many */
#define SCREEN_LISTED 10 /* lines of a list of exceptions */

struct screen {
    const struct result *result;
    const struct screen_options *options;
    struct text text;
    struct dataset dataset; /* the same, by line: whole candidates in each cell's headline timing */
};

/* The cells of one mode, dtype and accumulate type. */
void screen_rows(struct screen *screen, const struct result_cell *const *cells, size_t n);

#endif
