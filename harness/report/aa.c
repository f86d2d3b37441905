/*
 * aa.c - the table of A/A comparisons, one row a mode, dtype and timing, from the result's summary. Relies on
 * summaries.c. Called by report.c beside Table 1.
 */
#include "report/aa.h"

#include <math.h>
#include <stdio.h>

#include "report/overlap.h"
#include "base/tree.h"

static void add_ratio(struct table *s, double value, const char *format)
{
    if (isnan(value))
        table_add(s, NAN, "-");
    else if (format[0] == 's')
        table_add(s, value, "%+.2f%%", 100 * value);
    else
        table_add(s, value, "%.2f%%", 100 * value);
}

static void add_count(struct table *s, double n)
{
    if (isnan(n))
        table_add(s, NAN, "-");
    else
        table_add(s, n, "%.0f", n);
}

static void add_row(struct table *s, const cJSON *row, const bool rows[MODE_COUNT])
{
    table_add(s, NAN, "%s", tree_text(row, "contender"));
    table_add(s, NAN, "%s", tree_text(row, "mode"));
    table_add(s, NAN, "%s/%s", tree_text(row, "dtype"), tree_text(row, "accumulate"));
    table_add(s, NAN, "%s", overlap_timing(rows, tree_text(row, "mode"), tree_text(row, "timing")));
    add_count(s, tree_number(row, "with_interval"));
    add_count(s, tree_number(row, "excludes_one"));
    add_ratio(s, tree_number(row, "false_alarm_rate"), "unsigned");
    add_ratio(s, expm1(tree_number(row, "mean_log_ratio")), "signed");
    add_ratio(s, tree_number(row, "sd_log_ratio"), "unsigned");
}

int aa_make(const cJSON *result, table_sink sink, void *context)
{
    static const char *const columns[][2] = {
        {"contender", "contender"}, {"mode", "mode"},           {"types", "types"},
        {"timing", "timing"},       {"shapes", "shapes"},       {"excludes 0", "excludes_zero"},
        {"rate", "false_alarms"},   {"mean lead", "mean_lead"}, {"std", "std"}};
    struct table s = {0};
    const cJSON *rows = tree_member(tree_member(result, "summary"), "aa");
    const cJSON *row;
    bool overlapping[MODE_COUNT];
    if (cJSON_GetArraySize(rows) == 0)
        return 0;
    snprintf(s.name, sizeof s.name, "table1-aa");
    snprintf(s.title, sizeof s.title,
             "A/A: a copy over its original; about 5%% of the intervals may exclude 0 by chance");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(&s, columns[i][0], columns[i][1], i < 4);
    overlap_find(result, overlapping);
    cJSON_ArrayForEach(row, rows) add_row(&s, row, overlapping);
    int code = sink(context, 1, &s);
    table_free(&s);
    return code;
}
