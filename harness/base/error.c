/*
 * error.c - puts the first line of a failure into struct error, cleaned of control characters (base/plain.h), and
 * wraps context around it on the way up. Every function that can fail calls it; only cli/ and main.c print.
 */
#include "base/error.h"

#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_one_line(char *text)
{
    plain_mask(text);
}

int error_set(struct error *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    error_one_line(err->text);
    err->code = code;
    return code;
}

int error_wrap(struct error *err, const char *format, ...)
{
    char context[256];
    char old[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    memcpy(old, err->text, sizeof old);
    snprintf(err->text, sizeof err->text, "%s: %.500s", context, old);
    error_one_line(err->text);
    return err->code;
}
