/*
 * markdown.h - words from outside inside Markdown, the one way in which report/ and compare/ write them there.
 */
#ifndef CUDAL2_REPORT_MARKDOWN_H
#define CUDAL2_REPORT_MARKDOWN_H

#include "base/text.h"

/* One line that reads as the words do: no markup, HTML, table border, link or mention comes of it. */
void markdown_add(struct text *out, const char *words);

#endif
