/*
 * aa.c - the table of A/A comparisons, one row a mode, dtype and timing, from the result's summary. Relies
 * on table.c. Called by tables.c beside Table 1.
 */
#include "report/aa.h"

#include <math.h>
#include <stdio.h>

#include "report/overlap.h"

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

static void add_row(struct table *s, const struct result_aa_row *row, const bool rows[MODE_COUNT])
{
    table_add(s, NAN, "%s", row->contender);
    table_add(s, NAN, "%s", row->group.mode);
    table_add(s, NAN, "%s/%s", row->group.dtype, row->group.accumulate);
    table_add(s, NAN, "%s", overlap_timing(rows, row->group.mode, result_timing_name(row->timing)));
    add_count(s, row->with_interval);
    add_count(s, row->excludes_one);
    add_ratio(s, row->false_alarm_rate, "unsigned");
    add_ratio(s, expm1(row->mean_log_ratio), "signed");
    add_ratio(s, row->sd_log_ratio, "unsigned");
}

int aa_make(const struct result *result, table_sink sink, void *context)
{
    static const char *const columns[][2] = {
        {"contender", "contender"}, {"mode", "mode"},           {"types", "types"},
        {"timing", "timing"},       {"shapes", "shapes"},       {"excludes 0", "excludes_zero"},
        {"rate", "false_alarms"},   {"mean lead", "mean_lead"}, {"std", "std"}};
    struct table s = {0};
    bool overlapping[MODE_COUNT];
    if (result->summary.n_aa == 0)
        return 0;
    snprintf(s.name, sizeof s.name, "table1-aa");
    snprintf(s.title, sizeof s.title,
             "A/A: a copy over its original; about 5%% of the intervals may exclude 0 by chance");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(&s, columns[i][0], columns[i][1], i < 4);
    overlap_find(result, overlapping);
    for (size_t i = 0; i < result->summary.n_aa; i++)
        add_row(&s, &result->summary.aa[i], overlapping);
    int code = sink(context, 1, &s);
    table_free(&s);
    return code;
}
