/*
 * report.c - the command `report`: which sources, which form, and for each form what makes it. A new form is one row
 * of its table. Relies on load.c and tables.c. Called by cli/cmd_report.c.
 */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/problem.h"
#include "base/text.h"
#include "report/dataset.h"
#include "report/exports.h"
#include "report/figures.h"
#include "report/load.h"
#include "report/outcome.h"
#include "report/output.h"
#include "report/page.h"
#include "report/tables.h"
#include "result/result.h"
#include "result/result_thin.h"
#include "result/tree.h"

const char *const report_format_names[] = {
    "text",          "markdown",   "latex",   "csv",    "json",   "figures", "html", "bencher", "google-benchmark",
    "github-action", "prometheus", "medians", "shapes", "result", NULL};
static const char *const file_endings[] = {"txt", "md", "tex", "csv", "json"};

/* What every format is made from. */
struct inputs {
    const struct report_request *request;
    struct output output;
    cJSON *result; /* all results merged; NULL when there are published files only */
    struct dataset dataset;
};

/* ---- tables ---- */

/* Sheets of one table in one format, until they are written out. */
struct sheets {
    const struct inputs *in;
    enum report_format format;
    size_t n;
    char name[48]; /* of the last one */
    struct text text;
    cJSON *json; /* array, REPORT_JSON only */
    struct error *err;
};

/* Readers see neither hidden columns nor half a table that nobody measured; machines do. */
static void print_for_readers(struct text *out, const struct sheet *s, enum report_format format)
{
    struct sheet kept = {0};
    sheet_for_readers(s, &kept);
    if (format == REPORT_TEXT)
        sheet_print_text(out, &kept, false);
    else if (format == REPORT_MARKDOWN)
        sheet_print_markdown(out, &kept);
    else
        sheet_print_latex(out, &kept);
    sheet_free(&kept);
}

/* One table a file, which its name names. */
static int write_csv(struct sheets *sheets)
{
    char name[sizeof sheets->name + 4];
    if (!sheets->in->request->output || sheets->text.length == 0)
        return 0;
    snprintf(name, sizeof name, "%s.csv", sheets->name);
    int code = output_write(&sheets->in->output, name, &sheets->text, sheets->err);
    text_free(&sheets->text);
    return code;
}

/* Sheets of one name are one table. */
static int add_csv(struct sheets *sheets, const struct sheet *sheet)
{
    bool same = strcmp(sheets->name, sheet->name) == 0;
    if (!same && write_csv(sheets))
        return -1;
    if (!same && sheets->text.length > 0)
        text_add(&sheets->text, "\n");
    if (same)
        sheet_print_csv_rows(&sheets->text, sheet);
    else
        sheet_print_csv(&sheets->text, sheet);
    snprintf(sheets->name, sizeof sheets->name, "%s", sheet->name);
    return 0;
}

static int add_sheet(void *context, int table, const struct sheet *sheet)
{
    struct sheets *sheets = context;
    (void)table;
    sheets->n++;
    if (sheets->format == REPORT_JSON) {
        if (sheets->json && !tree_append(sheets->json, sheet_to_json(sheet)))
            sheets->json = NULL;
        return sheets->json ? 0 : -1;
    }
    if (sheets->format == REPORT_CSV)
        return add_csv(sheets, sheet);
    if (sheets->text.length > 0)
        text_add(&sheets->text, "\n");
    print_for_readers(&sheets->text, sheet, sheets->format);
    return sheets->text.failed ? -1 : 0;
}

/* Tables first to last in one file. */
static int write_tables(const struct inputs *in, int first, int last, struct error *err)
{
    struct sheets sheets = {.in = in, .format = in->request->format, .err = err};
    char name[32];
    bool failed = false, by_name = sheets.format == REPORT_CSV && in->request->output;
    sheets.json = sheets.format == REPORT_JSON ? cJSON_CreateArray() : NULL;
    for (int table = first; table <= last && !failed; table++)
        failed = tables_make(&in->dataset, in->result, table, add_sheet, &sheets) != 0;
    if (sheets.format == REPORT_JSON)
        json_add(&sheets.text, sheets.json);
    sheets.text.failed |= failed;
    snprintf(name, sizeof name, "table%d.%s", first, file_endings[sheets.format]);
    int code = 0;
    if (by_name && sheets.n > 0)
        code = failed && err->code ? err->code : write_csv(&sheets);
    else if (sheets.n > 0 || failed)
        code = output_write(&in->output, name, &sheets.text, err);
    else if (in->request->table) /* asked for by number */
        code = error_set(err, EXIT_CODE_DATA, "nothing to report: what was given has no rows for table %d", first);
    cJSON_Delete(sheets.json);
    text_free(&sheets.text);
    return code;
}

static int check_speedups(const struct inputs *in, struct error *err)
{
    const char *timing = in->request->timing;
    for (size_t i = 0; i < in->dataset.n; i++)
        if (in->dataset.lines[i].n > 0)
            return 0;
    if (!timing)
        return error_set(err, EXIT_CODE_DATA, "nothing to report: no speedups in what was given");
    return error_set(err, EXIT_CODE_DATA,
                     "nothing to report: no speedups in timing %s by shape (a result has those of the headline timing "
                     "alone, its journal has all)",
                     timing);
}

static int make_tables(const struct inputs *in, struct error *err)
{
    const struct report_request *request = in->request;
    int first = request->table ? request->table : TABLES_FIRST;
    int last = request->table ? request->table : TABLES_LAST;
    int code = check_speedups(in, err);
    if (code == 0 && !request->output)
        return write_tables(in, first, last, err);
    for (int table = first; table <= last && code == 0; table++)
        code = write_tables(in, table, table, err);
    return code;
}

/* ---- one file, or a few ---- */

/* -1 for none. */
static int find_timing(const char *name)
{
    for (int i = 0; name && timing_names[i]; i++)
        if (strcmp(timing_names[i], name) == 0)
            return i;
    return -1;
}

static int write_figure(const struct inputs *in, enum figure figure, struct error *err)
{
    struct sheet sheet = {0};
    struct text text = {0};
    char name[48];
    int code = figure_make(figure, &in->dataset, in->result, &sheet, err);
    snprintf(name, sizeof name, "%s.csv", figure_names[figure]);
    sheet_print_csv(&text, &sheet);
    if (code == 0)
        code = output_write(&in->output, name, &text, err);
    text_free(&text);
    sheet_free(&sheet);
    return code;
}

static int make_figures(const struct inputs *in, struct error *err)
{
    int code = check_speedups(in, err);
    for (int figure = 0; figure < FIGURE_COUNT && code == 0; figure++)
        code = write_figure(in, (enum figure)figure, err);
    return code;
}

static int make_html(const struct inputs *in, struct error *err)
{
    struct text page = {0};
    int code = page_make(in->result, &in->dataset, &page, err);
    if (code == 0)
        code = output_write(&in->output, "report.html", &page, err);
    text_free(&page);
    return code;
}

static const struct {
    enum report_format format;
    const char *name;
    int (*export)(const struct export_request *request, struct text *out, struct error *err);
} exports[] = {
    {REPORT_BENCHER, "bencher.json", export_bencher},
    {REPORT_GOOGLE, "google-benchmark.json", export_google},
    {REPORT_GITHUB, "github-action-smaller.json", export_github_smaller},
    {REPORT_GITHUB, "github-action-bigger.json", export_github_bigger},
    {REPORT_PROMETHEUS, "cudal2-bench.prom", export_prometheus},
    {REPORT_MEDIANS, "medians.csv", export_medians},
    {REPORT_SHAPES, "shapes.csv", export_shapes},
};

static int make_export(const struct inputs *in, size_t index, struct error *err)
{
    const char *timing = in->request->timing;
    const struct export_request request = {in->result, in->request->results, in->request->n_results,
                                           find_timing(timing)};
    struct text text = {0};
    int code = 0;
    if (!export_has_times(&request))
        return error_set(err, EXIT_CODE_DATA, "nothing to report: no times%s%s in what was given",
                         timing ? " in timing " : "", timing ? timing : "");
    code = exports[index].export(&request, &text, err);
    if (code == 0)
        code = output_write(&in->output, exports[index].name, &text, err);
    text_free(&text);
    return code;
}

static int make_exports(const struct inputs *in, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < sizeof exports / sizeof *exports && code == 0; i++)
        if (exports[i].format == in->request->format)
            code = make_export(in, i, err);
    return code;
}

static int make_result(const struct inputs *in, struct error *err)
{
    struct text text = {0};
    result_thin(in->result);
    char *printed = result_print(in->result);
    if (printed)
        text_add(&text, "%s", printed);
    text.failed |= !printed;
    free(printed);
    int code = output_write(&in->output, "result.json", &text, err);
    text_free(&text);
    return code;
}

static int make(const struct inputs *in, struct error *err)
{
    switch (in->request->format) {
    case REPORT_FIGURES:
        return make_figures(in, err);
    case REPORT_HTML:
        return make_html(in, err);
    case REPORT_BENCHER:
    case REPORT_GOOGLE:
    case REPORT_GITHUB:
    case REPORT_PROMETHEUS:
    case REPORT_MEDIANS:
    case REPORT_SHAPES:
        return make_exports(in, err);
    case REPORT_RESULT:
        return make_result(in, err);
    default:
        return make_tables(in, err);
    }
}

/* ---- the request ---- */

static int read_all(struct inputs *in, struct error *err)
{
    const struct report_request *request = in->request;
    const struct load_request load = {request->results, request->n_results, request->mixed, request->notes,
                                      request->format == REPORT_RESULT};
    int code = request->n_results ? load_results(&load, &in->result, err) : 0;
    if (code == 0 && in->result && dataset_add_result(&in->dataset, in->result, request->timing, err))
        code = request->n_results == 1 ? error_wrap(err, "%s", request->results[0]) : err->code;
    for (size_t i = 0; i < request->n_published && code == 0; i++)
        code = dataset_add_published(&in->dataset, request->published[i], err);
    return code;
}

static int check(const struct report_request *request, struct error *err)
{
    if (request->n_results + request->n_published == 0)
        return error_set(err, EXIT_CODE_USAGE, "report: name a result, a journal or --published FILE.csv");
    bool several = request->format == REPORT_FIGURES || request->format == REPORT_GITHUB;
    if (several && !request->output)
        return error_set(err, EXIT_CODE_USAGE, "report: the format %s is several files: give --output DIR",
                         report_format_names[request->format]);
    if (request->format > REPORT_FIGURES && request->n_results == 0)
        return error_set(err, EXIT_CODE_USAGE, "report: the format %s needs a result or journal of ours",
                         report_format_names[request->format]);
    if (request->format == REPORT_RESULT && request->n_results + request->n_published > 1)
        return error_set(err, EXIT_CODE_USAGE, "report: the format result is of one journal or result");
    if (request->table < 0 || request->table > TABLES_LAST)
        return error_set(err, EXIT_CODE_USAGE, "report: there are tables %d to %d", TABLES_FIRST, TABLES_LAST);
    return 0;
}

/* Tables and exports of a result without a measured cell are refused as one that does not hold what was asked for, and
 * a page is made of it: neither is a wrong file. */
static int make_of_measured(const struct inputs *in, struct error *err)
{
    struct error unmeasured = {0};
    int code = make(in, err);
    bool doubtful = code == EXIT_CODE_DATA || (code == 0 && in->request->format == REPORT_HTML);
    if (!doubtful || !in->result || outcome_expect_measured(in->result, &unmeasured) == 0)
        return code;
    *err = unmeasured;
    return err->code;
}

int report_main_from(const struct report_request *request, struct error *err)
{
    struct inputs in = {.request = request, .output = {request->output, request->stream}};
    int code = check(request, err);
    if (code == 0)
        code = read_all(&in, err);
    if (code == 0)
        code = output_begin(&in.output, err);
    if (code == 0)
        code = make_of_measured(&in, err);
    cJSON_Delete(in.result);
    dataset_free(&in.dataset);
    return code;
}
