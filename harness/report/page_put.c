/*
 * page_put.c - writes single values of the page's data. Relies on base/json.h. Called by page_data.c.
 */
#include "report/page_put.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void page_put_string(struct text *out, const char *text)
{
    cJSON string = {.type = cJSON_String, .valuestring = (char *)(uintptr_t)text};
    page_put_tree(out, &string);
}

void page_put_tree(struct text *out, const cJSON *tree)
{
    char *printed = tree ? json_print(tree, false) : strdup("null");
    if (printed)
        text_add_bytes(out, printed, strlen(printed));
    out->failed |= !printed;
    free(printed);
}

void page_put_number(struct text *out, double value, int digits)
{
    if (isfinite(value))
        text_add(out, "%.*g", digits, value);
    else
        text_add(out, "null");
}
