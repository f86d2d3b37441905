/*
 * table_parts.h - what the tables of the paper have in common: cells, columns by mode, counts of shapes that reached
 * the wanted precision, and which line a row is of. Private to tables.c, claimed.c and their like.
 */
#ifndef CUDAL2_REPORT_TABLE_PARTS_H
#define CUDAL2_REPORT_TABLE_PARTS_H

#include "report/groups.h"
#include "report/table.h"

/* How the two estimates of a speedup are called, in every table. */
#define TRIMMED "trimmed"
#define PAPER "paper"
#define PAPER_INTERVAL "95% of paper"

void add_percent(struct table *s, double value, bool sign);
void add_count(struct table *s, size_t count, bool known);

/* A column of one mode: group "offline", key "offline_KEY". */
void mode_column(struct table *s, const char *mode, const char *what, const char *key, enum table_pair pair);

#define LEFT_OUT_WORDS "%zu of %zu shapes left out, without a result"

/* How many shapes the line's means leave out, and its geometric mean with those in it, as 1; "-" where none is. */
void left_out_columns(struct table *s, const char *mode);
void left_out_cells(struct table *s, const struct line *line, double geomean);
/* A sentence for each mode in which the group's line over some reference leaves shapes out. */
void left_out_note(struct table *s, const struct dataset *d, const struct line *group);
/* The same of one line; nothing for NULL. */
void left_out_note_of(struct table *s, const struct line *line);

/* NaN and 0 without a line. */
void aggregate_or_nothing(const struct line *line, struct aggregate *out);

/* Makes letters, digits and single dashes of a label: it stands in LaTeX as it is. */
void make_label(char *label);

/* "Table 1: cudal2-max, measured over each baseline, f16 accumulated in f32, device time", with a label to match. */
void describe_table(struct table *s, const char *name, const char *title, const struct line *group);

/* What a row is of, for machines: candidate, source, dtype, accumulate, timing. */
void identity_columns(struct table *s);
void identity_cells(struct table *s, const struct line *line);

__attribute__((format(printf, 2, 3))) void table_note(struct table *s, const char *format, ...);

/* Of a group, by mode; {0, 0} for a mode that it lacks. */
struct outcomes {
    struct outcome mode[GROUP_MODES];
    bool scant; /* one of them allows no mean */
};

struct outcomes outcomes_of(const struct dataset *d, const struct line *group);
void outcome_note(struct table *s, const char *mode, struct outcome outcome);
/* Counts of shapes; readers see them only where they are what took a mean away. */
void outcome_columns(struct table *s, const struct outcomes *o);
void outcome_cells(struct table *s, const struct outcomes *o);

#endif
