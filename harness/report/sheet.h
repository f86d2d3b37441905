/*
 * sheet.h - a table as rows of text and number: the one row model behind every output format.
 */
#ifndef CUDAL2_REPORT_SHEET_H
#define CUDAL2_REPORT_SHEET_H

#include "base/json.h"
#include "base/text.h"

#define SHEET_COLUMNS 40

/* What a cell shows, and the number behind it (NaN: the text is all there is) for formats that machines read. */
struct sheet_cell {
    char *text; /* owned, never NULL */
    double value;
    double high; /* the second number: an interval's upper end, of how many in all; NaN elsewhere */
};

enum sheet_pair { SHEET_SINGLE, SHEET_INTERVAL, SHEET_SHARE };

struct sheet_column {
    char group[64]; /* what several columns side by side have in common, "offline"; "" */
    char head[64];
    char key[48];         /* for csv and json, "mean", "wins" */
    bool left;            /* aligned left; numbers stand right */
    enum sheet_pair pair; /* of two numbers */
    bool hidden;          /* for csv and json alone */
};

struct sheet {
    char name[48];   /* "table1-aa": of its file in csv, where sheets of one name have the same columns */
    char label[160]; /* what LaTeX refers to it by, behind "tab:"; "": its name */
    char title[320];
    char
        note[480]; /* what must be known of the numbers, a sentence or two below them; may be empty, and csv has none */
    size_t n_columns, n_cells, capacity;
    struct sheet_column column[SHEET_COLUMNS];
    struct sheet_cell *cells; /* row by row */
    bool failed;              /* out of memory; printers then do nothing and mark the text failed */
};

void sheet_column(struct sheet *s, const char *head, const char *key, bool left);
/* Two numbers in a cell, text in percent: csv has them in the columns KEY_low and KEY_high, json as [low, high]. */
void sheet_interval_column(struct sheet *s, const char *head, const char *key);
/* "896/1000": csv and json have the first as KEY and the second as KEY_of. */
void sheet_share_column(struct sheet *s, const char *head, const char *key);
/* The column added last belongs to a group, or is for machines alone. */
void sheet_group(struct sheet *s, const char *group);
void sheet_hide(struct sheet *s);
/* "offline wins". */
void sheet_head(const struct sheet_column *column, char out[132]);
/* Cells are added left to right, row by row; what does harm in them (plain.h) is written out here, for every format. */
void sheet_add(struct sheet *s, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));
void sheet_add_interval(struct sheet *s, double low, double high); /* NaN: there is none, "-" */
void sheet_add_share(struct sheet *s, size_t part, size_t whole);  /* none of none is "-" */
void sheet_free(struct sheet *s);
size_t sheet_rows(const struct sheet *s); /* complete ones */
const struct sheet_cell *sheet_at(const struct sheet *s, size_t row, size_t column);

/* Width of one column, and of the whole table as sheet_print_text sets it. */
size_t sheet_column_width(const struct sheet *s, size_t column);
size_t sheet_total_width(const struct sheet *s);

/* For readers: without columns that are hidden, or say nothing ("-" in every row, as of a mode that was not run). The
 * copy in *out, zeroed before, is the caller's (sheet_free). */
void sheet_for_readers(const struct sheet *s, struct sheet *out);

/* One small file each. Text: aligned by spaces, `colour` makes heads bold and signed percents green or red. */
void sheet_print_text(struct text *out, const struct sheet *s, bool colour);
void sheet_print_markdown(struct text *out, const struct sheet *s);
void sheet_print_latex(struct text *out, const struct sheet *s); /* booktabs */
/* RFC 4180, keys as head, full numbers; a sheet with a title has it in a first column "table". Rows alone go below the
 * head of another sheet of the same name. */
void sheet_print_csv(struct text *out, const struct sheet *s);
void sheet_print_csv_rows(struct text *out, const struct sheet *s);
/* {"title":..., "rows":[{key: number, text or [low, high]}], "note":... where there is one}; NULL out of memory. */
cJSON *sheet_to_json(const struct sheet *s);

#endif
