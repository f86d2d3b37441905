/* A good text made bad in one place. Include after cmocka. */
#ifndef CUDAL2_TESTS_EDITED_H
#define CUDAL2_TESTS_EDITED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `text` with the first `from`, which must be in it, replaced by `to`. Free it. */
static inline char *edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    size_t size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);
    assert_non_null(at);
    assert_non_null(out);
    assert_true(snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    return out;
}

#endif
