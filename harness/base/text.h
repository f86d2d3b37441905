/*
 * text.h - a growing string, for reports and JSON lines; how a string ends.
 */
#ifndef CUDAL2_BASE_TEXT_H
#define CUDAL2_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes; /* NUL-terminated once anything was added; NULL before */
    size_t length, capacity;
    bool failed; /* out of memory: later calls do nothing, check once at the end */
};

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *t, const void *bytes, size_t length);
void text_free(struct text *t);

/* Whether `text` is something and then `ending`. */
bool text_ends_with(const char *text, const char *ending);

/* Whether a contender of this name comes from a file that is named: a plugin (.so) or a manifest (.json). */
bool text_is_contender_file(const char *name);

#endif
