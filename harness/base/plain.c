/*
 * plain.c - writes out what does harm on a terminal or in a file: control characters, direction marks, broken UTF-8.
 * Relies on utf8.c. Called on every name and reason that comes from outside before it is printed.
 */
#include "base/plain.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* Controls, line and paragraph separators, what is invisible or changes the reading order, noncharacters. The joiners
 * U+200C and U+200D stay: words and emoji need them. */
static bool does_harm(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0x0, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},   {0x180e, 0x180e},
        {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f}, {0xfdd0, 0xfdef},
        {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return (code & 0xfffe) == 0xfffe;
}

size_t plain_length(const char *at, size_t left)
{
    size_t length;
    if (left > 0 && *at >= ' ' && *at < 0x7f)
        return 1;
    uint32_t code = utf8_code(at, left, &length);
    return length > 0 && !does_harm(code) ? length : 0;
}

size_t plain_next(const char *at, size_t left)
{
    size_t length = utf8_length(at, left);
    return length > 0 ? length : 1;
}

bool plain_is(const char *words)
{
    for (size_t left = strlen(words), length; left > 0; words += length, left -= length) {
        length = plain_length(words, left);
        if (length == 0)
            return false;
    }
    return true;
}

static void add_written_out(struct text *out, const char *at, size_t left)
{
    size_t length;
    uint32_t code = utf8_code(at, left, &length);
    if (length == 0 || code < 0x80)
        text_add(out, "\\x%02x", (unsigned char)*at);
    else
        text_add(out, code > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)code);
}

static void add_bytes(struct text *out, const char *words, size_t left)
{
    while (left > 0) {
        size_t length = plain_length(words, left);
        size_t whole = plain_next(words, left);
        if (length > 0)
            text_add_bytes(out, words, length);
        else
            add_written_out(out, words, left);
        words += whole;
        left -= whole;
    }
}

void plain_add(struct text *out, const char *words)
{
    add_bytes(out, words, strlen(words));
}

char *plain_copy(const char *words)
{
    struct text copy = {0};
    text_add_bytes(&copy, "", 0);
    plain_add(&copy, words);
    if (copy.failed)
        text_free(&copy);
    return copy.bytes;
}

/* Bytes of "ESC [ digits m" that begin here, 0 for none. */
static size_t colour_length(const char *at)
{
    if (strncmp(at, "\033[", 2) != 0)
        return 0;
    size_t digits = strspn(at + 2, "0123456789");
    return at[2 + digits] == 'm' ? digits + 3 : 0;
}

void plain_for_terminal(struct text *t)
{
    struct text out = {0};
    for (size_t at = 0; at < t->length;) {
        const char *here = t->bytes + at;
        size_t stays = *here == '\n' ? 1 : colour_length(here);
        size_t length = stays ? stays : plain_next(here, t->length - at);
        if (stays)
            text_add_bytes(&out, here, stays);
        else
            add_bytes(&out, here, length);
        at += length;
    }
    out.failed |= t->failed;
    text_free(t);
    *t = out;
}

void plain_mask(char *text)
{
    char *to = text;
    for (size_t left = strlen(text); left > 0;) {
        size_t whole = plain_next(text, left);
        size_t length = plain_length(text, left);
        if (length > 0)
            memmove(to, text, length);
        else
            *to = '?';
        to += length > 0 ? length : 1;
        text += whole;
        left -= whole;
    }
    *to = '\0';
}
