/*
 * table.h - a table as rows of text and number: the one row model behind every output format.
 */
#ifndef CUDAL2_REPORT_TABLE_H
#define CUDAL2_REPORT_TABLE_H

#include "base/json.h"
#include "base/text.h"

#define TABLE_COLUMNS 40

/* What a cell shows, and the number behind it (NaN: the text is all there is) for formats that machines read. */
struct table_cell {
    char *text; /* owned, never NULL */
    double value;
    double high; /* the second number: an interval's upper end, of how many in all; NaN elsewhere */
};

enum table_pair { TABLE_SINGLE, TABLE_INTERVAL, TABLE_SHARE };

struct table_column {
    char group[64]; /* what several columns side by side have in common, "offline"; "" */
    char head[64];
    char key[48];         /* for csv and json, "mean", "wins" */
    bool left;            /* aligned left; numbers stand right */
    enum table_pair pair; /* of two numbers */
    bool hidden;          /* for csv and json alone */
};

struct table {
    char name[48];   /* "table1-aa": of its file in csv, where tables of one name have the same columns */
    char label[160]; /* what LaTeX refers to it by, behind "tab:"; "": its name */
    char title[320];
    char
        note[480]; /* what must be known of the numbers, a sentence or two below them; may be empty, and csv has none */
    size_t n_columns, n_cells, capacity;
    struct table_column column[TABLE_COLUMNS];
    struct table_cell *cells; /* row by row */
    bool failed;              /* out of memory; printers then do nothing and mark the text failed */
};

void table_column(struct table *s, const char *head, const char *key, bool left);
/* Two numbers in a cell, text in percent: csv has them in the columns KEY_low and KEY_high, json as [low, high]. */
void table_interval_column(struct table *s, const char *head, const char *key);
/* "896/1000": csv and json have the first as KEY and the second as KEY_of. */
void table_share_column(struct table *s, const char *head, const char *key);
/* The column added last belongs to a group, or is for machines alone. */
void table_group(struct table *s, const char *group);
void table_hide(struct table *s);
/* "offline wins". */
void table_head(const struct table_column *column, char out[132]);
/* Cells are added left to right, row by row; what does harm in them (plain.h) is written out here, for every format. */
void table_add(struct table *s, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));
void table_add_interval(struct table *s, double low, double high); /* NaN: there is none, "-" */
void table_add_share(struct table *s, size_t part, size_t whole);  /* none of none is "-" */
void table_free(struct table *s);
size_t table_rows(const struct table *s); /* complete ones */
const struct table_cell *table_at(const struct table *s, size_t row, size_t column);

/* Width of one column, and of the whole table as table_print_text sets it. */
size_t table_column_width(const struct table *s, size_t column);
size_t table_total_width(const struct table *s);

/* For readers: without columns that are hidden, or say nothing ("-" in every row, as of a mode that was not run). The
 * copy in *out, zeroed before, is the caller's (table_free). */
void table_for_readers(const struct table *s, struct table *out);
/* Its note in lines of so many columns (0: any); a word that is longer stays whole. */
void table_wrap_note(struct table *s, unsigned columns);
/* The same within so many columns of a terminal: the last columns of the table stay out, and its note is wrapped. */
void table_for_terminal(const struct table *s, unsigned columns, struct table *out);

/* One small file each. Text: aligned by spaces, `colour` makes heads bold and signed percents green or red. */
void table_print_text(struct text *out, const struct table *s, bool colour);
void table_print_markdown(struct text *out, const struct table *s);
void table_print_latex(struct text *out, const struct table *s); /* booktabs */
/* RFC 4180, keys as head, full numbers; a table with a title has it in a first column "table". Rows alone go below the
 * head of another table of the same name. */
void table_print_csv(struct text *out, const struct table *s);
void table_print_csv_rows(struct text *out, const struct table *s);
/* {"title":..., "rows":[{key: number, text or [low, high]}], "note":... where there is one}; NULL out of memory. */
cJSON *table_to_json(const struct table *s);

#endif
