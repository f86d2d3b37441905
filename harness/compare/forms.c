/*
 * forms.c - the table of forms: which function says a comparison, or a failure, in which. Relies on formats.h and
 * form_*.c. Called by the command.
 */
#include "compare/forms.h"

#include <stdlib.h>

#include "base/plain.h"
#include "base/utf8.h"

#define NAME_OF(id, name, ...) name,
const char *const compare_format_names[] = {COMPARE_FORMATS(NAME_OF) NULL};

#define FORM_OF(id, name, help, say, say_failure) {say, say_failure},
/* How each says a comparison, and that there is none. */
static const struct form {
    void (*say)(struct text *out, const struct compare_runs *c, struct compare_style style);
    void (*say_failure)(struct text *out, const struct compare_failure *failure); /* NULL: it has no words for it */
} forms[COMPARE_FORMAT_COUNT] = {COMPARE_FORMATS(FORM_OF)};

/* What does harm was written out where it came in; this is the last look. */
static int hand_over(struct text *text, enum compare_format format, char **out, struct error *err)
{
    if (format == COMPARE_TEXT)
        plain_for_terminal(text);
    else
        utf8_repair(text);
    if (!text->failed && text->bytes) {
        *out = text->bytes;
        return 0;
    }
    text_free(text);
    return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
}

int compare_print(const struct compare_runs *c, enum compare_format format, struct compare_style style, char **out,
                  struct error *err)
{
    struct text text = {0};
    *out = NULL;
    forms[format].say(&text, c, style);
    return hand_over(&text, format, out, err);
}

int compare_print_failure(const struct compare_failure *failure, enum compare_format format, char **out,
                          struct error *err)
{
    struct text text = {0};
    *out = NULL;
    if (!forms[format].say_failure)
        return 0;
    forms[format].say_failure(&text, failure);
    return hand_over(&text, format, out, err);
}
