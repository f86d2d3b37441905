/*
 * text.c - a string that grows. After a failed allocation it stays failed, so that a caller looks once at the end.
 * Called by everything that builds a report, a JSON line or help.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and a NUL; false (and failed set) when it cannot. */
static bool reserve(struct text *t, size_t more)
{
    if (t->failed)
        return false;
    if (more < t->capacity - t->length) /* capacity 0 makes this false */
        return true;
    size_t wanted = t->capacity ? t->capacity : 256;
    while (wanted - t->length <= more) {
        if (wanted > SIZE_MAX / 2) {
            t->failed = true;
            return false;
        }
        wanted *= 2;
    }
    char *bytes = realloc(t->bytes, wanted);
    if (!bytes) {
        t->failed = true;
        return false;
    }
    t->bytes = bytes;
    t->capacity = wanted;
    return true;
}

void text_add_bytes(struct text *t, const void *bytes, size_t length)
{
    if (!reserve(t, length))
        return;
    if (length)
        memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
    t->bytes[t->length] = '\0';
}

void text_add(struct text *t, const char *format, ...)
{
    char local[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(local, sizeof local, format, args);
    va_end(args);
    if (length < 0) {
        t->failed = true;
    } else if ((size_t)length < sizeof local) {
        text_add_bytes(t, local, (size_t)length);
    } else if (reserve(t, (size_t)length)) {
        va_start(args, format);
        vsnprintf(t->bytes + t->length, (size_t)length + 1, format, args);
        va_end(args);
        t->length += (size_t)length;
    }
}

void text_free(struct text *t)
{
    free(t->bytes);
    memset(t, 0, sizeof *t);
}

bool text_ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

bool text_is_contender_file(const char *name)
{
    return text_ends_with(name, ".so") || text_ends_with(name, ".json");
}
