/*
 * base64.h - binaries in JSON (RFC 4648, with its padding and nothing else between).
 */
#ifndef CUDAL2_SERVE_BASE64_H
#define CUDAL2_SERVE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes the text stands for; false when it is no base64. */
bool base64_length(const char *text, size_t *length);

/* Writes them; base64_length has said that it may, and how many. */
void base64_decode(const char *text, unsigned char *out);

#endif
