/*
 * screen_borrowed.c - tells which candidates showed a library's product (summary.borrowed), and whether they say so
 * themselves. Called by screen.c.
 */
#include "report/screen_borrowed.h"

#include "result/result.h"

void screen_borrowed(struct screen *screen)
{
    const struct result_summary *summary = &screen->result->summary;
    if (summary->n_borrowed > 0)
        text_add(&screen->text,
                 "Libraries seen in candidates: such times are the library's, unless it is CUTLASS, which "
                 "is built\n  into kernels of one's own:\n");
    for (size_t i = 0; i < summary->n_borrowed; i++) {
        const struct result_borrowed *row = &summary->borrowed[i];
        text_add(&screen->text, "  %s: %s (%s), in %.0f cell%s; %s\n", row->contender, row->library, row->seen,
                 row->cells, row->cells == 1 ? "" : "s", row->declared ? "it says so" : "it does not say so");
    }
}
