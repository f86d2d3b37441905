/*
 * page.c - puts styles, scripts and the data of page_data.c into one HTML file. Relies on assets.c, which the
 * assembler fills. Called by report.c.
 */
#include "report/page.h"

#include <string.h>

#include "report/assets.h"

/* A string inside a script must not be able to end it: "</script>" becomes "\u003c/script>". */
static void add_data(struct text *out, const struct text *data)
{
    const char *rest = data->bytes ? data->bytes : "{}";
    for (;;) {
        size_t plain = strcspn(rest, "<");
        text_add_bytes(out, rest, plain);
        if (!rest[plain])
            return;
        text_add(out, "\\u003c");
        rest += plain + 1;
    }
}

/* Replaces one marker of the template; false when it is none of ours. */
static bool add_part(struct text *out, const char *marker, size_t length, const struct text *data)
{
    static const struct {
        const char *name, *text;
    } parts[] = {
        {"page.css", asset_page_css},   {"model.js", asset_model_js},   {"table.js", asset_table_js},
        {"charts.js", asset_charts_js}, {"detail.js", asset_detail_js}, {"compare.js", asset_compare_js},
        {"page.js", asset_page_js},
    };
    if (length == 4 && strncmp(marker, "data", 4) == 0) {
        add_data(out, data);
        return true;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i].name) == length && strncmp(marker, parts[i].name, length) == 0) {
            text_add_bytes(out, parts[i].text, strlen(parts[i].text));
            return true;
        }
    return false;
}

bool page_fill(struct text *out, const char *template, const struct text *data)
{
    const char *rest = template;
    const char *marker;
    while ((marker = strstr(rest, "@@"))) {
        const char *end = strstr(marker + 2, "@@");
        text_add_bytes(out, rest, (size_t)(marker - rest));
        if (!end || !add_part(out, marker + 2, (size_t)(end - marker - 2), data))
            return false;
        rest = end + 2;
    }
    text_add_bytes(out, rest, strlen(rest));
    return true;
}

int page_make(const struct result *result, const struct dataset *dataset, const char *between, struct text *out,
              struct error *err)
{
    struct text data = {0};
    if (result->n_cells == 0)
        return error_set(err, EXIT_CODE_DATA, "nothing to report: no cells in what was given");
    page_data(result, dataset, between, &data);
    bool filled = page_fill(out, asset_page_html, &data);
    bool failed = data.failed || out->failed;
    text_free(&data);
    if (failed)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    return filled ? 0 : error_set(err, EXIT_CODE_INTERNAL, "the page template has a marker that nothing fills");
}
