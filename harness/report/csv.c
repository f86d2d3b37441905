/*
 * csv.c - quotes a field of words for CSV and keeps a spreadsheet from taking it for a formula. Relies on
 * base/plain.h. Called by every CSV of this room.
 */
#include "report/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

static bool is_number(const char *words)
{
    char *end;
    strtod(words, &end);
    return end != words && *end == '\0';
}

/* Tab and CR, which do the same to some, are written out before. */
static bool is_formula(const char *words)
{
    return words[0] && strchr("=+-@", words[0]) && !is_number(words);
}

static void add_field(struct text *out, const char *words)
{
    bool quoted = strpbrk(words, ",\"") != NULL;
    text_add(out, "%s%s", quoted ? "\"" : "", is_formula(words) ? "'" : "");
    for (const char *c = words; *c; c++)
        text_add(out, *c == '"' ? "\"\"" : "%c", *c);
    text_add(out, "%s", quoted ? "\"" : "");
}

void csv_add(struct text *out, const char *words)
{
    char *plain = plain_copy(words);
    if (plain)
        add_field(out, plain);
    out->failed |= !plain;
    free(plain);
}
