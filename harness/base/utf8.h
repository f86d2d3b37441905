/*
 * utf8.h - which bytes are UTF-8: names of files are bytes, and JSON, XML and Markdown are read as UTF-8.
 */
#ifndef CUDAL2_BASE_UTF8_H
#define CUDAL2_BASE_UTF8_H

#include <stdint.h>

#include "base/text.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for a byte that is no part of a character */

/* Bytes of the character that the first of `left` bytes begin, 0 when they begin none: no overlong form, no surrogate,
 * nothing above U+10FFFF (RFC 3629, table 3-7 of the Unicode standard). */
size_t utf8_length(const char *at, size_t left);

/* The character's number, with its bytes in *length; *length is 0 where the first byte begins none. */
uint32_t utf8_code(const char *at, size_t left, size_t *length);

/* Makes valid UTF-8 of the text: each byte that is no part of a character becomes U+FFFD. */
void utf8_repair(struct text *t);

#endif
