/*
 * comments.c - blanks out comments and spare commas of a config, byte for byte, so that lines and columns in errors
 * stay right. Strings are left alone. Called by config.c before it parses.
 */
#include "config/comments.h"

#include <stdbool.h>

struct walk {
    char *text;
    size_t length, at;
};

static bool begins(const struct walk *w, char first, char second)
{
    return w->at + 1 < w->length && w->text[w->at] == first && w->text[w->at + 1] == second;
}

static void blank(struct walk *w)
{
    if (w->text[w->at] != '\n' && w->text[w->at] != '\r')
        w->text[w->at] = ' ';
    w->at++;
}

/* To the quote that ends it; one that does not end is told by the parser. */
static void skip_string(struct walk *w)
{
    for (w->at++; w->at < w->length && w->text[w->at] != '"' && w->text[w->at] != '\n'; w->at++)
        if (w->text[w->at] == '\\')
            w->at++;
    w->at++;
}

static void blank_line(struct walk *w)
{
    while (w->at < w->length && w->text[w->at] != '\n')
        blank(w);
}

/* False when it has no end. */
static bool blank_block(struct walk *w)
{
    blank(w);
    blank(w);
    while (w->at < w->length && !begins(w, '*', '/'))
        blank(w);
    if (w->at >= w->length)
        return false;
    blank(w);
    blank(w);
    return true;
}

static size_t line_of(const struct walk *w, size_t place)
{
    size_t line = 1;
    for (size_t i = 0; i < place; i++)
        line += w->text[i] == '\n';
    return line;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A comma behind a value and before the end of its list. */
static bool is_spare(const struct walk *w)
{
    size_t before = w->at, after = w->at + 1;
    while (before > 0 && is_space(w->text[before - 1]))
        before--;
    while (after < w->length && is_space(w->text[after]))
        after++;
    bool ends = after < w->length && (w->text[after] == '}' || w->text[after] == ']');
    char last = before > 0 ? w->text[before - 1] : ',';
    return ends && last != '[' && last != '{' && last != ',' && last != ':';
}

static void blank_spare_commas(char *text, size_t length)
{
    struct walk w = {text, length, 0};
    while (w.at < length) {
        if (text[w.at] == '"')
            skip_string(&w);
        else if (text[w.at] == ',' && is_spare(&w))
            blank(&w);
        else
            w.at++;
    }
}

int comments_blank(char *text, size_t length, const char *source, struct error *err)
{
    struct walk w = {text, length, 0};
    while (w.at < length) {
        size_t begin = w.at;
        if (text[w.at] == '"')
            skip_string(&w);
        else if (begins(&w, '/', '/'))
            blank_line(&w);
        else if (!begins(&w, '/', '*'))
            w.at++;
        else if (!blank_block(&w))
            return error_set(err, EXIT_CODE_DATA, "%s: line %zu: the comment has no end (expected */)", source,
                             line_of(&w, begin));
    }
    blank_spare_commas(text, length);
    return 0;
}
