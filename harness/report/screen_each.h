/*
 * screen_each.h - a row for each contender of a result that has something to tell.
 */
#ifndef CUDAL2_REPORT_SCREEN_EACH_H
#define CUDAL2_REPORT_SCREEN_EACH_H

#include <stdbool.h>

#include "report/table.h"
#include "result/result.h"

/* What a table is of: who tells it in a cell, and the row of all cells of that name. */
struct screen_each {
    bool (*tells)(const struct result_contender *c);
    void (*add)(const struct result *result, const char *name, struct table *out);
};

/* In the order of cells, each name once. */
void screen_each(const struct result *result, const struct screen_each *rows, struct table *out);

#endif
