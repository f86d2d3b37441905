/*
 * page_put.h - strings, trees and numbers as the JSON that the page's data is written in.
 */
#ifndef CUDAL2_REPORT_PAGE_PUT_H
#define CUDAL2_REPORT_PAGE_PUT_H

#include "base/json.h"
#include "base/text.h"

/* Each marks the text failed when memory runs out. */
void page_put_string(struct text *out, const char *text);
void page_put_tree(struct text *out, const cJSON *tree); /* NULL: null */
/* So many significant digits; what is not finite is null. */
void page_put_number(struct text *out, double value, int digits);

#endif
