/*
 * form_table.h - rows of a comparison as a sheet. Private to form_*.c.
 */
#ifndef CUDAL2_COMPARE_FORM_TABLE_H
#define CUDAL2_COMPARE_FORM_TABLE_H

#include "compare/compare.h"
#include "report/sheet.h"

void form_table_begin(struct sheet *s);
void form_table_add(struct sheet *s, const struct compare_row *row);

#endif
