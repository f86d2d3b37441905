/*
 * base64.c - decodes base64, once its text was checked. Relies on nothing else. Called by submission.c and compiling.c.
 */
#include "serve/base64.h"

#include <string.h>

static int value_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool base64_length(const char *text, size_t *length)
{
    size_t n = strlen(text), padding = n >= 2 && text[n - 1] == '=' ? 1 + (text[n - 2] == '=') : 0;
    if (n % 4 != 0)
        return false;
    for (size_t i = 0; i < n - padding; i++)
        if (value_of(text[i]) < 0)
            return false;
    *length = n / 4 * 3 - padding;
    return true;
}

void base64_decode(const char *text, unsigned char *out)
{
    unsigned bits = 0, kept = 0;
    for (const char *c = text; *c && *c != '='; c++) {
        bits = (bits << 6 | (unsigned)value_of(*c)) & 0xffffffu;
        kept += 6;
        if (kept < 8)
            continue;
        kept -= 8;
        *out++ = (unsigned char)(bits >> kept);
    }
}
