/*
 * report.c - the command `report`: which sources, which format, and for each format what makes it, by the entries of
 * formats.h. Relies on load.c and tables.c. Called by cli/cmd_report.c.
 */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/problem.h"
#include "base/text.h"
#include "report/dataset.h"
#include "report/exports.h"
#include "report/figures.h"
#include "report/load.h"
#include "report/outcome.h"
#include "report/output.h"
#include "report/page.h"
#include "report/table_parts.h"
#include "report/tables.h"
#include "result/make.h"
#include "result/thin.h"
#include "base/tree.h"

#define NAME_OF(id, name, ...) name,
const char *const report_format_names[] = {REPORT_FORMATS(NAME_OF) NULL};

struct format;

/* What every format is made from. */
struct inputs {
    const struct report_request *request;
    const struct format *format;
    struct output output;
    struct result *result; /* all results together; NULL when there are published files only */
    struct dataset dataset;
};

struct tables;

#define FROM_PUBLISHED 1u
#define FROM_ONE 2u
#define GIVES_FILES 4u

/* An entry of formats.h. */
struct format {
    const char *name;
    int (*make)(const struct inputs *in, struct error *err);
    /* of tables: */
    const char *ending;
    int (*add)(struct tables *tables, const struct table *table);
    void (*print)(struct text *out, const struct table *table);
    /* of exports: */
    struct {
        const char *file;
        int (*make)(const struct export_request *request, struct text *out, struct error *err);
    } exports[2];
    unsigned accepts;
};

/* ---- tables ---- */

/* Tables of one format, until they are written out. */
struct tables {
    const struct inputs *in;
    size_t n;
    char name[48]; /* of the last one */
    struct text text;
    cJSON *json; /* array, of the format json only */
    struct error *err;
};

static void print_text(struct text *out, const struct table *table)
{
    table_print_text(out, table, false);
}

/* Readers see neither hidden columns nor half a table that nobody measured; machines do. */
static int add_for_readers(struct tables *tables, const struct table *table)
{
    struct table kept = {0};
    if (tables->text.length > 0)
        text_add(&tables->text, "\n");
    table_for_readers(table, &kept);
    tables->in->format->print(&tables->text, &kept);
    table_free(&kept);
    return tables->text.failed ? -1 : 0;
}

static int add_json(struct tables *tables, const struct table *table)
{
    if (!tables->json)
        tables->json = cJSON_CreateArray();
    if (!tree_append(tables->json, table_to_json(table)))
        tables->json = NULL;
    return tables->json ? 0 : -1;
}

/* One table a file, which its name names. */
static int write_csv(struct tables *tables)
{
    char name[sizeof tables->name + 4];
    if (!tables->in->request->output || tables->text.length == 0)
        return 0;
    snprintf(name, sizeof name, "%s.csv", tables->name);
    int code = output_write(&tables->in->output, name, &tables->text, tables->err);
    text_free(&tables->text);
    return code;
}

/* Tables of one name are one table. */
static int add_csv(struct tables *tables, const struct table *table)
{
    bool same = strcmp(tables->name, table->name) == 0;
    if (!same && write_csv(tables))
        return -1;
    if (!same && tables->text.length > 0)
        text_add(&tables->text, "\n");
    if (same)
        table_print_csv_rows(&tables->text, table);
    else
        table_print_csv(&tables->text, table);
    snprintf(tables->name, sizeof tables->name, "%s", table->name);
    return 0;
}

/* Whether it is of speedups that another run has as well. */
static bool has_leads(int number)
{
    return number == 1 || number == 5 || number == 7;
}

static int add_table(void *context, int number, const struct table *table)
{
    struct tables *tables = context;
    const char *between = tables->in->request->between;
    tables->n++;
    if (!between || !between[0] || !has_leads(number))
        return tables->in->format->add(tables, table);
    struct table noted = *table; /* whose cells stay the table's */
    table_note(&noted, "%s", between);
    return tables->in->format->add(tables, &noted);
}

/* Tables first to last in one file; as CSV in a directory, in one file for each name. */
static int write_tables(const struct inputs *in, int first, int last, struct error *err)
{
    struct tables tables = {.in = in, .err = err};
    char name[32];
    bool failed = false, by_name = in->format->add == add_csv && in->request->output;
    for (int number = first; number <= last && !failed; number++)
        failed = tables_make(&in->dataset, in->result, number, add_table, &tables) != 0;
    if (tables.json)
        json_add(&tables.text, tables.json);
    tables.text.failed |= failed;
    snprintf(name, sizeof name, "table%d.%s", first, in->format->ending);
    int code = 0;
    if (by_name && tables.n > 0)
        code = failed && err->code ? err->code : write_csv(&tables);
    else if (tables.n > 0 || failed)
        code = output_write(&in->output, name, &tables.text, err);
    else if (in->request->table) /* asked for by number */
        code = error_set(err, EXIT_CODE_DATA, "nothing to report: what was given has no rows for table %d", first);
    cJSON_Delete(tables.json);
    text_free(&tables.text);
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
    for (int number = first; number <= last && code == 0; number++)
        code = write_tables(in, number, number, err);
    return code;
}

/* ---- one file, or a few ---- */

static int write_figure(const struct inputs *in, enum figure figure, struct error *err)
{
    struct table table = {0};
    struct text text = {0};
    char name[48];
    int code = figure_make(figure, &in->dataset, in->result, &table, err);
    snprintf(name, sizeof name, "%s.csv", figure_names[figure]);
    table_print_csv(&text, &table);
    if (code == 0)
        code = output_write(&in->output, name, &text, err);
    text_free(&text);
    table_free(&table);
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
    int code = page_make(in->result, &in->dataset, in->request->between, &page, err);
    if (code == 0)
        code = output_write(&in->output, "report.html", &page, err);
    text_free(&page);
    return code;
}

static int make_export(const struct inputs *in, size_t index, struct error *err)
{
    const char *timing = in->request->timing;
    const struct export_request request = {in->result, in->request->results, in->request->n_results,
                                           timing_find(timing)};
    struct text text = {0};
    int code = 0;
    if (!export_has_times(&request))
        return error_set(err, EXIT_CODE_DATA, "nothing to report: no times%s%s in what was given",
                         timing ? " in timing " : "", timing ? timing : "");
    code = in->format->exports[index].make(&request, &text, err);
    if (code == 0)
        code = output_write(&in->output, in->format->exports[index].file, &text, err);
    text_free(&text);
    return code;
}

static int make_exports(const struct inputs *in, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < 2 && in->format->exports[i].file && code == 0; i++)
        code = make_export(in, i, err);
    return code;
}

static int make_result(const struct inputs *in, struct error *err)
{
    struct text text = {0};
    result_thin(in->result->json);
    char *printed = result_print(in->result->json);
    if (printed)
        text_add(&text, "%s", printed);
    text.failed |= !printed;
    free(printed);
    int code = output_write(&in->output, "result.json", &text, err);
    text_free(&text);
    return code;
}

/* ---- the table ---- */

#define TABLES(ending_, add_, print_) .make = make_tables, .ending = (ending_), .add = (add_), .print = (print_)
#define EXPORT(file_, function) .make = make_exports, .exports = {{(file_), (function)}}
#define EXPORTS(first, one, second, other) .make = make_exports, .exports = {{(first), (one)}, {(second), (other)}}
#define MADE_BY(function) .make = (function)
#define ENTRY(id, name_, help, accepts_, ...) [REPORT_##id] = {.name = (name_), .accepts = (accepts_), __VA_ARGS__},
static const struct format formats[REPORT_FORMAT_COUNT] = {REPORT_FORMATS(ENTRY)};

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
    const struct format *format = &formats[request->format];
    size_t sources = request->n_results + request->n_published;
    if (sources == 0)
        return error_set(err, EXIT_CODE_USAGE, "report: name a result, a journal or --published FILE.csv");
    if ((format->accepts & GIVES_FILES) && !request->output)
        return error_set(err, EXIT_CODE_USAGE, "report: the format %s is several files: give --output DIR",
                         format->name);
    if (!(format->accepts & FROM_PUBLISHED) && request->n_results == 0)
        return error_set(err, EXIT_CODE_USAGE, "report: the format %s needs a result or journal of ours", format->name);
    if ((format->accepts & FROM_ONE) && sources > 1)
        return error_set(err, EXIT_CODE_USAGE, "report: the format %s is of one journal or result", format->name);
    if (request->table < 0 || request->table > TABLES_LAST)
        return error_set(err, EXIT_CODE_USAGE, "report: there are tables %d to %d", TABLES_FIRST, TABLES_LAST);
    return 0;
}

/* Tables and exports of a result without a measured cell are refused as one that does not hold what was asked for, and
 * a page is made of it: neither is a wrong file. */
static int make_of_measured(const struct inputs *in, struct error *err)
{
    struct error unmeasured = {0};
    int code = in->format->make(in, err);
    bool doubtful = code == EXIT_CODE_DATA || (code == 0 && in->request->format == REPORT_HTML);
    if (!doubtful || !in->result || outcome_expect_measured(in->result, &unmeasured) == 0)
        return code;
    *err = unmeasured;
    return err->code;
}

/* What was asked for is not dropped in silence. */
static void tell_between(const struct inputs *in)
{
    const struct format *f = in->format;
    const char *between = in->request->between;
    bool shows = f->make == make_html || f->add == add_for_readers || f->add == add_json;
    if (between && between[0] && !shows)
        fprintf(in->request->notes, "report: the format %s has no place for this: %s\n", f->name, between);
}

int report_main_from(const struct report_request *request, struct error *err)
{
    struct inputs in = {
        .request = request, .format = &formats[request->format], .output = {request->output, request->stream}};
    int code = check(request, err);
    if (code == 0)
        code = read_all(&in, err);
    if (code == 0)
        code = output_begin(&in.output, err);
    if (code == 0)
        code = make_of_measured(&in, err);
    if (code == 0)
        tell_between(&in);
    result_free(in.result);
    dataset_free(&in.dataset);
    return code;
}
