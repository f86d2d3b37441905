/*
 * csv.h - a field of words in CSV, the one way in which every CSV of report/ writes what comes from outside. Numbers
 * are printed as they are, beside this.
 */
#ifndef CUDAL2_REPORT_CSV_H
#define CUDAL2_REPORT_CSV_H

#include "base/text.h"

/* RFC 4180: quoted where it must be, quotes doubled, what does harm (plain.h) written out. Words that a spreadsheet
 * would take for a formula (= + - @ in front, and no number) get an apostrophe in front. */
void csv_add(struct text *out, const char *words);

#endif
