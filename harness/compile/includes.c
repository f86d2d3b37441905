/*
 * includes.c - finds the headers that CUDA source names, in every spelling that the preprocessor takes, and refuses
 * those that are not quoted names of the given directories. Reads no file itself. Called by kernels.c.
 */
#include "compile/includes.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 80

/* A text without its line splices, and the line on which each of its characters was. */
struct spliced {
    char *text;
    int *lines;
};

static size_t splice_at(const char *at)
{
    if (at[0] != '\\')
        return 0;
    return at[1] == '\n' ? 2 : at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

static bool splice(const char *text, struct spliced *out)
{
    size_t length = strlen(text), n = 0;
    int line = 1;
    out->text = malloc(length + 1);
    out->lines = malloc((length + 1) * sizeof *out->lines);
    for (const char *at = text; out->text && out->lines && *at;) {
        size_t joined = splice_at(at);
        line += joined > 0;
        at += joined;
        if (joined > 0)
            continue;
        out->text[n] = *at;
        out->lines[n++] = line;
        line += *at++ == '\n';
    }
    if (out->text && out->lines) {
        out->text[n] = '\0';
        out->lines[n] = line;
    }
    return out->text && out->lines;
}

static const char *skip_blank(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\v\f\r");
        if (at[0] != '/' || at[1] != '*')
            return at;
        const char *end = strstr(at + 2, "*/");
        at = end ? end + 2 : at + strlen(at);
    }
}

static size_t word_length(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$");
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

/* Where a directive's name stands, if `at` is the '#' of one; else NULL. */
static const char *directive_at(const char *at)
{
    if (at[0] == '#')
        return skip_blank(at + 1);
    return at[0] == '%' && at[1] == ':' ? skip_blank(at + 2) : NULL;
}

static int refuse(const char *source, int line, const char *at, struct error *err)
{
    size_t length = strcspn(at, "\r\n");
    return error_set(err, EXIT_CODE_DATA,
                     "%s(%d): %.*s: only #include \"name\" is read, of a header beside the source or in the kernel "
                     "directory",
                     source, line, length > SHOWN_MAX ? SHOWN_MAX : (int)length, at);
}

/* No way out of the directories. */
static bool stays_inside(const char *name)
{
    const char *up = strstr(name, "..");
    return name[0] != '\0' && name[0] != '/' && !up;
}

/* The name in quotes behind `include`. */
static bool quoted_name(const char *at, char name[INCLUDE_NAME_MAX])
{
    size_t length = *at == '"' ? strcspn(at + 1, "\"\n") : 0;
    if (length == 0 || length >= INCLUDE_NAME_MAX || at[1 + length] != '"')
        return false;
    memcpy(name, at + 1, length);
    name[length] = '\0';
    return stays_inside(name);
}

static int look_at(const char *source, const char *at, int line, const struct include_visitor *visitor,
                   struct error *err)
{
    static const char *const readers[] = {"include", "include_next", "import", "embed"};
    char name[INCLUDE_NAME_MAX];
    const char *directive = directive_at(at);
    size_t length = directive ? word_length(directive) : 0, i = 0;
    while (i < 4 && !is_word(directive, length, readers[i]))
        i++;
    if (length == 0 || i == 4)
        return 0;
    if (i > 0 || !quoted_name(skip_blank(directive + length), name))
        return refuse(source, line, at, err);
    return visitor->visit(visitor->context, name, line, err);
}

/* Where one word that asks for files may be pasted together from others, each of its beginnings is refused: what is
 * left of the first ## has to be written out somewhere. */
static bool begins_reader(const char *word, size_t length)
{
    static const char *const readers[] = {"__has_include_next", "__has_embed"}; /* __has_include begins the first */
    for (size_t i = 0; i < 2; i++)
        if (length < strlen(readers[i]) && strncmp(word, readers[i], length) == 0)
            return true;
    return false;
}

bool includes_paste(const char *text)
{
    struct spliced s = {0};
    bool pastes = !splice(text, &s) || strstr(s.text, "##") || strstr(s.text, "%:%:");
    free(s.text);
    free(s.lines);
    return pastes;
}

/* A string, a character or a comment, of which no word is made; 0 where none begins, SIZE_MAX where its end is not told
 * as plainly as here: a line that ends first, or a quote behind a word, as of R"(...)" and of 1'000. */
static size_t quoted_length(const char *text, const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? (size_t)(end + 2 - at) : SIZE_MAX;
    }
    if (at[0] != '"' && at[0] != '\'')
        return 0;
    const char *end = at + 1;
    while (*end && *end != '\n' && *end != at[0])
        end += end[0] == '\\' && end[1] ? 2 : 1;
    bool plain = *end == at[0] && (at == text || word_length(at - 1) == 0);
    return plain ? (size_t)(end + 1 - at) : SIZE_MAX;
}

/* Whether what is quoted can be left out. A trigraph is a backslash to some compilers. */
static bool quotes_are_plain(const char *text)
{
    size_t length = 0;
    bool plain = !strstr(text, "??");
    for (const char *at = text; plain && *at; at += length > 0 ? length : 1) {
        length = quoted_length(text, at);
        plain = length != SIZE_MAX;
    }
    return plain;
}

int includes_no_pieces(const char *source, const char *text, struct error *err)
{
    struct spliced s = {0};
    int code = splice(text, &s) ? 0 : error_set(err, EXIT_CODE_INTERNAL, "no memory to read %s", source);
    bool skips = code == 0 && quotes_are_plain(s.text);
    for (const char *at = s.text; code == 0 && *at;) {
        size_t quoted = skips ? quoted_length(s.text, at) : 0, length = quoted > 0 ? quoted : word_length(at);
        if (quoted == 0 && length > 0 && begins_reader(at, length))
            code = refuse(source, s.lines[at - s.text], at, err);
        at += length > 0 ? length : 1;
    }
    free(s.text);
    free(s.lines);
    return code;
}

int includes_walk(const char *source, const char *text, const struct include_visitor *visitor, struct error *err)
{
    struct spliced s = {0};
    int code = 0;
    if (!splice(text, &s))
        code = error_set(err, EXIT_CODE_INTERNAL, "no memory to read %s", source);
    for (const char *at = s.text; code == 0 && *at; at++) {
        int line = s.lines[at - s.text];
        if (*at == '#' || *at == '%')
            code = look_at(source, at, line, visitor, err);
        else if (strncmp(at, "__has_include", 13) == 0 || strncmp(at, "__has_embed", 11) == 0)
            code = refuse(source, line, at, err);
    }
    free(s.text);
    free(s.lines);
    return code;
}
