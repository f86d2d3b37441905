/*
 * width.h - how many columns of a terminal a text takes: every table is padded, and every label cut, by this. Locales
 * have no say in it. Relies on utf8.h; called by the tables of report/ and compare/ and by whatever fits a line.
 */
#ifndef CUDAL2_BASE_WIDTH_H
#define CUDAL2_BASE_WIDTH_H

#include "base/text.h"

/* Columns, as wcwidth() counts them: 2 for CJK and emoji, 0 for combining marks, 1 for a byte that is no part of a
 * character. */
size_t width_of(const char *text);

/* Bytes of the longest beginning that takes at most so many columns. Characters stay whole, and keep their marks. */
size_t width_fit(const char *text, size_t columns);

/* Appends the text in at most so many columns: what is too long ends with "…". */
void width_add_cut(struct text *out, const char *text, size_t columns);

/* Appends the text and blanks up to so many columns; what is wider stays whole. */
void width_add_padded(struct text *out, const char *text, size_t columns);

#endif
