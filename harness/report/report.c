#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "report/dataset.h"
#include "report/tables.h"
#include "result/result.h"
#include "result/tree.h"

const char *const report_format_names[] = {"text", "markdown", "latex", "csv", "json", NULL};
static const char *const file_endings[] = {"txt", "md", "tex", "csv", "json"};

/* ---- reading ---- */

struct inputs {
    const struct report_request *request;
    cJSON **results; /* n_results of the request; NULL where not read yet */
    struct dataset dataset;
};

static bool is_journal(const char *path)
{
    size_t length = strlen(path);
    return length > 6 && strcmp(path + length - 6, ".jsonl") == 0;
}

static const cJSON *first_device(const cJSON *result)
{
    return tree_member(cJSON_GetArrayItem(tree_member(result, "env"), 0), "device");
}

static int refuse_mixed(const struct inputs *in, size_t i, struct error *err)
{
    static const char *const keys[] = {"name", "driver"};
    const cJSON *first = first_device(in->results[0]);
    const cJSON *here = first_device(in->results[i]);
    for (size_t k = 0; k < 2 && !in->request->mixed; k++)
        if (strcmp(tree_text(first, keys[k]), tree_text(here, keys[k])) != 0)
            return error_set(err, EXIT_CODE_DATA,
                             "%s: its device has %s \"%s\", that of %s has \"%s\" (--mixed accepts it)",
                             in->request->results[i], keys[k], tree_text(here, keys[k]), in->request->results[0],
                             tree_text(first, keys[k]));
    return 0;
}

static int refuse_shared_cells(const struct inputs *in, size_t i, struct error *err)
{
    const cJSON *cell;
    const cJSON *other;
    for (size_t j = 0; j < i; j++)
        cJSON_ArrayForEach(cell, tree_member(in->results[i], "cells")) cJSON_ArrayForEach(
            other, tree_member(in->results[j],
                               "cells")) if (strcmp(tree_text(cell, "key"), tree_text(other, "key")) ==
                                             0) return error_set(err, EXIT_CODE_DATA, "cell %s is in %s and in %s",
                                                                 tree_text(cell, "key"), in->request->results[j],
                                                                 in->request->results[i]);
    return 0;
}

static int read_result(struct inputs *in, size_t i, struct error *err)
{
    const char *path = in->request->results[i];
    int code =
        is_journal(path) ? result_from_journal(path, &in->results[i], err) : result_read(path, &in->results[i], err);
    if (code == 0)
        code = refuse_mixed(in, i, err);
    if (code == 0)
        code = refuse_shared_cells(in, i, err);
    if (code == 0 && dataset_add_result(&in->dataset, in->results[i], in->request->timing, err))
        code = error_wrap(err, "%s", path);
    return code;
}

static int read_all(struct inputs *in, struct error *err)
{
    const struct report_request *request = in->request;
    int code = 0;
    in->results = calloc(request->n_results + 1, sizeof *in->results);
    if (!in->results)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    for (size_t i = 0; i < request->n_results && code == 0; i++)
        code = read_result(in, i, err);
    for (size_t i = 0; i < request->n_published && code == 0; i++)
        code = dataset_add_published(&in->dataset, request->published[i], err);
    if (code)
        return code;
    for (size_t i = 0; i < in->dataset.n; i++)
        if (in->dataset.lines[i].n > 0)
            return 0;
    return error_set(err, EXIT_CODE_DATA, "nothing to report: no speedups%s%s in what was given",
                     request->timing ? " in timing " : "", request->timing ? request->timing : "");
}

static void inputs_free(struct inputs *in)
{
    for (size_t i = 0; in->results && i < in->request->n_results; i++)
        cJSON_Delete(in->results[i]);
    free(in->results);
    dataset_free(&in->dataset);
}

/* ---- printing ---- */

/* Sheets of one table in one format, until they are written out. */
struct page {
    enum report_format format;
    struct text text;
    cJSON *json; /* array, REPORT_JSON only */
};

static int add_sheet(void *context, int table, const struct sheet *sheet)
{
    struct page *page = context;
    (void)table;
    if (page->text.length > 0)
        text_add(&page->text, "\n");
    if (page->format == REPORT_TEXT)
        sheet_print_text(&page->text, sheet, false);
    else if (page->format == REPORT_MARKDOWN)
        sheet_print_markdown(&page->text, sheet);
    else if (page->format == REPORT_LATEX)
        sheet_print_latex(&page->text, sheet);
    else if (page->format == REPORT_CSV)
        sheet_print_csv(&page->text, sheet);
    else if (page->json && !tree_append(page->json, sheet_to_json(sheet)))
        page->json = NULL;
    return page->text.failed || (page->format == REPORT_JSON && !page->json) ? -1 : 0;
}

static int finish_page(struct page *page)
{
    if (page->format == REPORT_JSON && page->json) {
        char *printed = json_print(page->json, true);
        if (printed)
            text_add(&page->text, "%s\n", printed);
        page->text.failed |= !printed;
        free(printed);
    }
    return page->text.failed ? -1 : 0;
}

static int write_page(const struct report_request *request, int table, const struct text *text, struct error *err)
{
    char path[4096];
    const char *bytes = text->bytes ? text->bytes : "";
    if (!request->output) {
        bool written = fwrite(bytes, 1, text->length, request->stream) == text->length;
        return written && fflush(request->stream) == 0 ? 0 : error_set(err, EXIT_CODE_IO, "cannot write the report");
    }
    int length = snprintf(path, sizeof path, "%s/table%d.%s", request->output, table, file_endings[request->format]);
    if (length < 0 || (size_t)length >= sizeof path)
        return error_set(err, EXIT_CODE_CANTCREATE, "path of the output directory is too long");
    return file_write_atomic(path, bytes, text->length, err);
}

/* Tables first to last on one page. */
static int make_page(const struct inputs *in, int first, int last, struct error *err)
{
    struct page page = {.format = in->request->format};
    page.json = page.format == REPORT_JSON ? cJSON_CreateArray() : NULL;
    int failed = 0;
    for (int table = first; table <= last && !failed; table++)
        failed = tables_make(&in->dataset, table, add_sheet, &page);
    int code = failed || finish_page(&page) ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report")
                                            : write_page(in->request, first, &page.text, err);
    cJSON_Delete(page.json);
    text_free(&page.text);
    return code;
}

int report_main_from(const struct report_request *request, struct error *err)
{
    struct inputs in = {.request = request};
    int first = request->table ? request->table : TABLES_FIRST;
    int last = request->table ? request->table : TABLES_LAST;
    if (request->n_results + request->n_published == 0)
        return error_set(err, EXIT_CODE_USAGE, "report: name a result, a journal or --published FILE.csv");
    if (request->table < 0 || request->table > TABLES_LAST)
        return error_set(err, EXIT_CODE_USAGE, "report: there are tables %d to %d", TABLES_FIRST, TABLES_LAST);
    int code = read_all(&in, err);
    if (code == 0 && request->output)
        code = file_make_directories(request->output, err);
    if (code == 0 && !request->output)
        code = make_page(&in, first, last, err);
    for (int table = first; request->output && table <= last && code == 0; table++)
        code = make_page(&in, table, table, err);
    inputs_free(&in);
    return code;
}
