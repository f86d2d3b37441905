/*
 * form_table.h - rows of a comparison as a table. Private to form_*.c.
 */
#ifndef CUDAL2_COMPARE_FORM_TABLE_H
#define CUDAL2_COMPARE_FORM_TABLE_H

#include "compare/compare.h"
#include "report/table.h"

/* What a table has, the least telling first. */
struct table_form {
    size_t skip;     /* bytes of a key that all rows have in common, which stand above the table */
    bool statistics; /* p and groups */
    bool speedups;   /* over the baseline, in either run */
    bool against;    /* which baseline */
    bool remarks;    /* else they stand below it */
};

extern const struct table_form table_form_whole;

void form_table_begin(struct table *s, const struct table_form *form);
void form_table_add(struct table *s, const struct table_form *form, const struct compare_row *row);

#endif
