/* What the screen says of a result. */
#ifndef CUDAL2_TESTS_SCREEN_FIXTURE_H
#define CUDAL2_TESTS_SCREEN_FIXTURE_H

#include "report/screen.h"

/* 100 columns of it, without colour; the caller frees it. */
__attribute__((unused)) static char *screen_text(const cJSON *result)
{
    static const struct screen_options options = {.columns = 100};
    struct error err = {0};
    char *text = NULL;
    if (screen_report(result, &options, &text, &err))
        fail_msg("%s", err.text);
    return text;
}

#endif
