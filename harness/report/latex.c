/*
 * latex.c - escapes words for LaTeX, characters that it lacks included. Relies on base/plain.h. Called by
 * table_latex.c.
 */
#include "report/latex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

static const struct {
    const char *from, *to;
} special[] = {
    {"\\", "\\textbackslash{}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "{\\textquotedbl}"},
    {"[", "{[}"},
    {"]", "{]}"},
    {"*", "{*}"},
    {"`", "{\\textasciigrave}"},
    {"±", "$\\pm$"},
    {"µ", "$\\mu$"},
    {"×", "$\\times$"},
    {"→", "$\\to$"},
};

/* Bytes of what has a form of its own here, with the form; 0 for anything else. */
static size_t find_special(const char *at, const char **to)
{
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        size_t length = strlen(special[i].from);
        if (strncmp(at, special[i].from, length) == 0) {
            *to = special[i].to;
            return length;
        }
    }
    return 0;
}

static bool is_minus(const char *words, const char *c)
{
    return *c == '-' && isdigit((unsigned char)c[1]) && (c == words || strchr(" [(,", c[-1]));
}

static void add_all(struct text *out, const char *words)
{
    for (const char *c = words; *c;) {
        const char *to = NULL;
        size_t length = find_special(c, &to);
        if (length > 0)
            text_add(out, "%s", to);
        else
            text_add(out, is_minus(words, c) ? "$-$" : "%c", *c);
        c += length > 0 ? length : 1;
    }
}

void latex_add(struct text *out, const char *words)
{
    char *plain = plain_copy(words);
    if (plain)
        add_all(out, plain);
    out->failed |= !plain;
    free(plain);
}
