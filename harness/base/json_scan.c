/*
 * json_scan.c - checks a text against RFC 8259 before cJSON sees it, and finds what cJSON would let through: numbers
 * that lose value, bad UTF-8 (of keys that clash: json_keys.c). Relies on base/utf8.h. Recursive, with a depth cap.
 * Called by json_parse.c alone.
 */
#include "base/json_scan.h"
#include "base/json.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* cJSON copies a number into 64 bytes before strtod; longer ones would be cut. */
#define NUMBER_MAX 63

struct scan {
    const char *at, *end;
    int depth;
    const char *problem; /* set once, at the first error; `at` stays there */
};

static bool fail(struct scan *s, const char *problem)
{
    if (!s->problem)
        s->problem = problem;
    return false;
}

/* The byte at the cursor, or 0 at the end. A NUL in the text is no token either, so the two need no telling apart. */
static char peek(const struct scan *s)
{
    return s->at < s->end ? *s->at : '\0';
}

static bool accept(struct scan *s, char wanted)
{
    if (peek(s) != wanted || s->at == s->end)
        return false;
    s->at++;
    return true;
}

static void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool digits(struct scan *s)
{
    const char *start = s->at;
    while (peek(s) >= '0' && peek(s) <= '9')
        s->at++;
    return s->at > start;
}

/* Grammar only; *integer says that neither fraction nor exponent was there. */
static bool number_grammar(struct scan *s, bool *integer)
{
    *integer = true;
    accept(s, '-');
    if (accept(s, '0')) {
        if (peek(s) >= '0' && peek(s) <= '9')
            return fail(s, "a number may not start with 0");
    } else if (!digits(s)) {
        return fail(s, "expected a digit");
    }
    if (accept(s, '.')) {
        *integer = false;
        if (!digits(s))
            return fail(s, "expected a digit after the decimal point");
    }
    if (accept(s, 'e') || accept(s, 'E')) {
        *integer = false;
        if (!accept(s, '+'))
            accept(s, '-');
        if (!digits(s))
            return fail(s, "expected a digit in the exponent");
    }
    return true;
}

/* A value that a double cannot hold would silently become another one. */
static bool number_value(struct scan *s, const char *start, bool integer)
{
    char copy[NUMBER_MAX + 1];
    size_t length = (size_t)(s->at - start);
    if (length > NUMBER_MAX)
        return fail(s, "a number of more than 63 characters");
    memcpy(copy, start, length);
    copy[length] = '\0';
    double value = strtod(copy, NULL);
    if (!isfinite(value))
        return fail(s, "a number too large for a double");
    if (integer && fabs(value) > 0x1p53)
        return fail(s, "an integer beyond 2^53 (write it as a string)");
    if (integer && fabs(value) == 0x1p53 && copy[length - 1] != '2') /* 2^53+1 rounds to 2^53 */
        return fail(s, "an integer beyond 2^53 (write it as a string)");
    size_t mantissa = strcspn(copy, "eE");
    if (value == 0 && strcspn(copy, "123456789") < mantissa)
        return fail(s, "a number too small for a double");
    return true;
}

static bool scan_number(struct scan *s)
{
    const char *start = s->at;
    bool integer;
    return number_grammar(s, &integer) && number_value(s, start, integer);
}

/* Four hex digits after \u. */
static bool hex4(struct scan *s, unsigned *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        char c = peek(s);
        if (!isxdigit((unsigned char)c))
            return fail(s, "expected four hex digits after \\u");
        *value = *value * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        s->at++;
    }
    return true;
}

static bool unicode_escape(struct scan *s)
{
    unsigned high, low;
    if (!hex4(s, &high))
        return false;
    if (high == 0)
        return fail(s, "\\u0000 in a string"); /* would end the C string */
    if (high < 0xd800 || high > 0xdfff)
        return true;
    if (high > 0xdbff || !accept(s, '\\') || !accept(s, 'u'))
        return fail(s, "a lone surrogate in a \\u escape");
    if (!hex4(s, &low))
        return false;
    return (low >= 0xdc00 && low <= 0xdfff) || fail(s, "a lone surrogate in a \\u escape");
}

static bool escape(struct scan *s)
{
    if (accept(s, 'u'))
        return unicode_escape(s);
    char c = peek(s);
    if (c == '\0' || !strchr("\"\\/bfnrt", c))
        return fail(s, "an unknown escape in a string");
    s->at++;
    return true;
}

static bool scan_string(struct scan *s)
{
    if (!accept(s, '"'))
        return fail(s, "expected a string");
    while (s->at < s->end) {
        unsigned char c = (unsigned char)*s->at;
        if (c == '"') {
            s->at++;
            return true;
        }
        if (c < 0x20)
            return fail(s, "a control character in a string");
        size_t length = utf8_length(s->at, (size_t)(s->end - s->at));
        if (length == 0)
            return fail(s, "invalid UTF-8");
        s->at += length;
        if (c == '\\' && !escape(s))
            return false;
    }
    return fail(s, "a string without its closing quote");
}

static bool scan_value(struct scan *s);

static bool scan_member(struct scan *s)
{
    skip_space(s);
    if (peek(s) != '"')
        return fail(s, "expected a key in quotes");
    if (!scan_string(s))
        return false;
    skip_space(s);
    if (!accept(s, ':'))
        return fail(s, "expected ':' after a key");
    return scan_value(s);
}

/* What stands between the brackets of an array or object, with its closing bracket; the opening one is behind us. */
static bool scan_items(struct scan *s, bool (*item)(struct scan *), char close, const char *problem)
{
    if (s->depth == JSON_MAX_DEPTH)
        return fail(s, "nested too deeply");
    s->depth++;
    skip_space(s);
    bool done = accept(s, close);
    while (!done) {
        if (!item(s))
            return false;
        skip_space(s);
        if (accept(s, close))
            done = true;
        else if (!accept(s, ','))
            return fail(s, s->at == s->end ? "the text ends too early" : problem);
        else if (skip_space(s), peek(s) == close)
            return fail(s, "a ',' with nothing after it");
    }
    s->depth--;
    return true;
}

static bool scan_word(struct scan *s, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0)
        return fail(s, "expected a value");
    s->at += length;
    return true;
}

/* What other languages write where JSON has a value. */
static const char *foreign_word(const struct scan *s)
{
    static const char *const words[][2] = {{"NaN", "NaN is no number of JSON (write null)"},
                                           {"nan", "nan is no number of JSON (write null)"},
                                           {"-nan", "nan is no number of JSON (write null)"},
                                           {"Inf", "infinity is no number of JSON (write null)"},
                                           {"inf", "infinity is no number of JSON (write null)"},
                                           {"-Inf", "infinity is no number of JSON (write null)"},
                                           {"-inf", "infinity is no number of JSON (write null)"},
                                           {"True", "expected true in small letters"},
                                           {"False", "expected false in small letters"},
                                           {"None", "None is null in JSON"},
                                           {"'", "a string stands in double quotes"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i][0]);
        if ((size_t)(s->end - s->at) >= length && strncmp(s->at, words[i][0], length) == 0)
            return words[i][1];
    }
    return NULL;
}

static bool scan_value(struct scan *s)
{
    skip_space(s);
    if (peek(s) && strchr("NIiTFn-'", peek(s)) && foreign_word(s))
        return fail(s, foreign_word(s));
    switch (peek(s)) {
    case '{':
        s->at++;
        return scan_items(s, scan_member, '}', "expected ',' or '}'");
    case '[':
        s->at++;
        return scan_items(s, scan_value, ']', "expected ',' or ']'");
    case '"':
        return scan_string(s);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_word(s, "null");
    default:
        break;
    }
    if (peek(s) == '-' || (peek(s) >= '0' && peek(s) <= '9'))
        return scan_number(s);
    return fail(s, s->at == s->end ? "the text ends too early" : "expected a value");
}

/* Columns count characters. A text that ends too early does so behind its last one, not on an empty line below. */
static int tell(const struct scan *s, const char *text, struct json_origin origin, struct error *err)
{
    const char *at = s->at;
    const char *problem = at < s->end && *at == '\0' ? "a NUL byte: this is no text file" : s->problem;
    while (s->at == s->end && at > text && isspace((unsigned char)at[-1]))
        at--;
    size_t line = 1, column = 1;
    for (const char *c = text; c < at; c++) {
        bool continues = ((unsigned char)*c & 0xc0) == 0x80;
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + !continues;
    }
    if (origin.is_line)
        return error_set(err, EXIT_CODE_DATA, "%s, column %zu: %s", origin.source, column, problem);
    return error_set(err, EXIT_CODE_DATA, "%s: line %zu, column %zu: %s", origin.source, line, column, problem);
}

int json_scan(const char *text, size_t length, struct json_origin origin, struct error *err)
{
    struct scan s = {.at = text, .end = text + length};
    bool ok = scan_value(&s);
    if (ok) {
        skip_space(&s);
        ok = s.at == s.end || fail(&s, "something follows the value");
    }
    if (ok)
        return 0;
    return tell(&s, text, origin, err);
}
