/*
 * text_diff.c - finds where two texts begin to differ and cuts both to a stretch around that place, never inside of a
 * UTF-8 character. Pure. Called where two runs are told apart: run/mismatch.c, compare/provenance.c,
 * worker/environment.c.
 */
#include "base/text_diff.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DOTS "..."
#define DOTS_LENGTH (sizeof DOTS - 1)

/* The last place at or before `at` where a character begins. */
static size_t at_character(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static void put(const char *text, size_t start, size_t capacity, char *out)
{
    const char *from = text + start;
    const char *before = start > 0 ? DOTS : "";
    size_t room = capacity - 1 - strlen(before);
    bool whole = strlen(from) <= room;
    size_t length = whole ? strlen(from) : at_character(from, room - DOTS_LENGTH);
    snprintf(out, capacity, "%s%.*s%s", before, (int)length, from, whole ? "" : DOTS);
}

void text_diff(const char *a, const char *b, size_t capacity, char *out_a, char *out_b)
{
    size_t same = 0, start = 0;
    while (a[same] && a[same] == b[same])
        same++;
    bool fit = strlen(a) < capacity && strlen(b) < capacity;
    if (!fit && same > capacity / 2)
        start = at_character(a, same - capacity / 2 + DOTS_LENGTH);
    put(a, start, capacity, out_a);
    put(b, start, capacity, out_b);
}
