/*
 * latex.h - words from outside inside LaTeX, the one way in which report/ writes them there.
 */
#ifndef CUDAL2_REPORT_LATEX_H
#define CUDAL2_REPORT_LATEX_H

#include "base/text.h"

/* No command, group, column or math comes of the words. A '-' in front of a number is a minus sign; at the beginning
 * of a cell neither '[' nor '*' is taken for an argument of the row's end before it. */
void latex_add(struct text *out, const char *words);

#endif
