/*
 * page.h - the report as one HTML page that needs nothing else: styles, scripts and data are inside, no network.
 */
#ifndef CUDAL2_REPORT_PAGE_H
#define CUDAL2_REPORT_PAGE_H

#include "base/text.h"
#include "report/dataset.h"

/* Appends the page of a result (merged or not); `claimed` lines of the dataset become a column of the headline table.
 * EXIT_CODE_DATA when the result has no cells. */
int page_make(const struct result *result, const struct dataset *dataset, const char *between, struct text *out,
              struct error *err);

/* Appends a template, in which markers stand as @@name@@, with styles, scripts and data (JSON) in their places. False
 * when it has a marker that nothing fills. */
bool page_fill(struct text *out, const char *template, const struct text *data);

/* What the page's scripts read, as JSON (html/model.js says how it is laid out). Appends to out. */
void page_data(const struct result *result, const struct dataset *dataset, const char *between, struct text *out);
/* Its member `tables`: Tables 5, 6 and 8 as readers see them, with what they are of. */
void page_tables(const struct result *result, struct text *out);

#endif
