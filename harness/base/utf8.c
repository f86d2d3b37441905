/*
 * utf8.c - decodes one UTF-8 character, refuses overlong forms and surrogates, and repairs bytes that are none. Pure.
 * Called by the JSON scanner, by plain.c and width.c, and where file names become text.
 */
#include "base/utf8.h"

size_t utf8_length(const char *at, size_t left)
{
    const unsigned char *p = (const unsigned char *)at;
    if (left > 0 && p[0] < 0x80)
        return 1;
    if (left == 0 || p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (left < length || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

uint32_t utf8_code(const char *at, size_t left, size_t *length)
{
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *p = (const unsigned char *)at;
    *length = utf8_length(at, left);
    uint32_t code = *length ? p[0] & mask[*length] : 0;
    for (size_t i = 1; i < *length; i++)
        code = code << 6 | (p[i] & 0x3fu);
    return code;
}

void utf8_repair(struct text *t)
{
    struct text out = {0};
    for (size_t at = 0; at < t->length;) {
        size_t length = utf8_length(t->bytes + at, t->length - at);
        text_add_bytes(&out, length ? t->bytes + at : UTF8_REPLACEMENT, length ? length : sizeof UTF8_REPLACEMENT - 1);
        at += length ? length : 1;
    }
    out.failed |= t->failed;
    text_free(t);
    *t = out;
}
