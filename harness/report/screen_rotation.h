/*
 * screen_rotation.h - what `--cache rotate` did, as a mark on a shape, a note below a table of shapes and a line for
 * the whole. Called by screen.c and its tables.
 */
#ifndef CUDAL2_REPORT_SCREEN_ROTATION_H
#define CUDAL2_REPORT_SCREEN_ROTATION_H

#include "report/screen_rows.h"

/* "^": the cache was emptied as well; "!": operands may have been in it; "" for everything else. */
const char *screen_rotation_mark(const struct result_cell *cell);

/* What the marks of these cells mean; "" where there are none. */
void screen_rotation_note(const struct result_cell *const *cells, size_t n, char *out, size_t capacity);

/* One line on all cells that were rotated; nothing where none was. */
void screen_rotation(struct screen *screen);

#endif
