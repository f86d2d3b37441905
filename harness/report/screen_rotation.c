/*
 * screen_rotation.c - tells how `--cache rotate` kept operands out of the cache: marks, their note, one line for the
 * whole. Relies on `rotation` of the result's cells. Called by screen.c and its tables.
 */
#include "report/screen_rotation.h"

#include <stdio.h>
#include <string.h>

enum means { MEANS_NONE, MEANS_ALONE, MEANS_EMPTIED, MEANS_OPEN, MEANS_COUNT };

static enum means means_of(const struct result_cell *cell)
{
    const char *word = cell->rotation;
    if (!word[0])
        return MEANS_NONE;
    if (strcmp(word, "flush") == 0)
        return MEANS_EMPTIED;
    return strcmp(word, "size") == 0 || strcmp(word, "sets") == 0 ? MEANS_ALONE : MEANS_OPEN;
}

const char *screen_rotation_mark(const struct result_cell *cell)
{
    static const char *const marks[MEANS_COUNT] = {"", "", "^", "!"};
    return marks[means_of(cell)];
}

void screen_rotation_note(const struct result_cell *const *cells, size_t n, char *out, size_t capacity)
{
    size_t count[MEANS_COUNT] = {0};
    for (size_t i = 0; i < n; i++)
        count[means_of(cells[i])]++;
    snprintf(out, capacity, "%s%s%s",
             count[MEANS_EMPTIED] ? "^ rotated, and the cache emptied: the sets in between hold less than it" : "",
             count[MEANS_EMPTIED] && count[MEANS_OPEN] ? "\n" : "",
             count[MEANS_OPEN] ? "! rotated, but operands may still have been in the cache" : "");
}

void screen_rotation(struct screen *screen)
{
    unsigned count[MEANS_COUNT] = {0};
    for (size_t i = 0; i < screen->result->n_cells; i++)
        count[means_of(&screen->result->cells[i])]++;
    if (count[MEANS_ALONE] + count[MEANS_EMPTIED] + count[MEANS_OPEN] == 0)
        return;
    text_add(&screen->text,
             "Rotated: in %u cell%s no operand was still in the cache, in %u of them because it was emptied",
             count[MEANS_ALONE] + count[MEANS_EMPTIED], count[MEANS_ALONE] + count[MEANS_EMPTIED] == 1 ? "" : "s",
             count[MEANS_EMPTIED]);
    if (count[MEANS_OPEN] > 0)
        text_add(&screen->text, "; in %u operands may have been (rotation in the result)", count[MEANS_OPEN]);
    text_add(&screen->text, "\n");
}
