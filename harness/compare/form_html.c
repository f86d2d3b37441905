/*
 * form_html.c - a comparison as one HTML page that needs nothing else: what JSON has, for people. Called through
 * forms.h.
 */
#include "compare/forms.h"

#include "report/assets.h"
#include "report/page.h"

/* Takes the data over. */
static void fill(struct text *out, struct text *data)
{
    bool filled = page_fill(out, asset_compare_html, data);
    out->failed |= data->failed || !filled;
    text_free(data);
}

void compare_form_html(struct text *out, const struct compare_runs *c, struct compare_style style)
{
    struct text data = {0};
    compare_form_json(&data, c, style);
    fill(out, &data);
}

void compare_failure_html(struct text *out, const struct compare_failure *failure)
{
    struct text data = {0};
    compare_failure_json(&data, failure);
    fill(out, &data);
}
