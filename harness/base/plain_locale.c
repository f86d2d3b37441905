/*
 * plain_locale.c - sets the thread's locale to "C" around JSON, and sets it back. Relies on uselocale, which a plugin
 * cannot change behind it. Called by json_parse.c, json_print.c, main.c and the worker for its thread.
 */
#include "base/plain_locale.h"

#include <string.h>

/* libc has the "C" locale built in: nothing is allocated, and it is the same object every time. */
static locale_t plain(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t plain_locale_enter(void)
{
    return uselocale(plain());
}

void plain_locale_leave(locale_t before)
{
    if (before)
        uselocale(before);
}

bool plain_locale_is_here(void)
{
    return uselocale((locale_t)0) == plain();
}

bool plain_locale_is_global(void)
{
    const char *name = setlocale(LC_NUMERIC, NULL);
    if (name && strcmp(name, "C") == 0)
        return true;
    locale_t before = uselocale(LC_GLOBAL_LOCALE);
    const struct lconv *form = localeconv();
    bool is_plain = strcmp(form->decimal_point, ".") == 0 && form->thousands_sep[0] == '\0';
    plain_locale_leave(before);
    return is_plain;
}
