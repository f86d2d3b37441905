/*
 * markdown.c - escapes words for Markdown tables, pipes and line ends included. Relies on base/plain.h. Called by
 * table_markdown.c and compare's form.
 */
#include "report/markdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

/* Between letters an underscore is one: "wrong_result" may stay as it is. */
static bool is_inside_word(const char *words, const char *c)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    return c > words && c[1] && strchr(letters, c[-1]) && strchr(letters, c[1]);
}

/* A bare address becomes a link by its "://", "www." or "@". */
static bool makes_link(const char *words, const char *c)
{
    bool scheme = *c == ':' && strncmp(c, "://", 3) == 0;
    bool www = *c == '.' && c - words >= 3 && strncmp(c - 3, "www", 3) == 0;
    return scheme || www || *c == '@';
}

/* "[95, 97]" is no link; what follows the bracket makes it one. */
static bool ends_link(const char *c)
{
    return *c == ']' && c[1] && strchr("([:", c[1]);
}

static void add_character(struct text *out, const char *words, const char *c)
{
    if (*c == '<' || *c == '>' || *c == '&')
        text_add(out, "%s", *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : "&amp;");
    else if (makes_link(words, c))
        text_add(out, "&#%d;", *c);
    else if (*c == '_' && is_inside_word(words, c))
        text_add(out, "_");
    else
        text_add(out, strchr("\\`*_|~$", *c) || ends_link(c) ? "\\%c" : "%c", *c);
}

void markdown_add(struct text *out, const char *words)
{
    char *plain = plain_copy(words);
    for (const char *c = plain; c && *c; c++)
        add_character(out, plain, c);
    out->failed |= !plain;
    free(plain);
}
