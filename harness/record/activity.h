/*
 * activity.h - the journal's `activity` lines: what contenders really ran on the GPU, watched after everything had been
 * timed (verify/activity.h, run/audit.h), and what follows from it for the records of their cells.
 *
 * A line is one of
 *   {"recorder":{"cupti":130001,"path":"..."},"seconds":S}   who watched in this sitting; until it was ready
 *   {"cell":"offline/f16-f32-64x64x64","contenders":[{"name":"...",...}],"seconds":S}
 *   {"unavailable":"why"}                                    nobody could watch, or not to the end
 */
#ifndef CUDAL2_RECORD_ACTIVITY_H
#define CUDAL2_RECORD_ACTIVITY_H

#include "record/journal.h"
#include "record/record.h"

#define ACTIVITY_KIND "activity"
#define ACTIVITY_STAGE "activity"

/* How far the begin and end that CUPTI reads may be out: what overlaps by less stood alone. */
#define ACTIVITY_CLOCK_NS 300.0

/* EXIT_CODE_DATA with the JSON path unless it is one of the three. */
int activity_check(struct json_at line, struct error *err);
/* The same for the array of a cell's contenders. */
int activity_check_contenders(struct json_at list, struct error *err);

/* All of a journal. */
struct activity_book {
    cJSON *cells;       /* object: key of a cell -> array of contenders; NULL: none */
    cJSON *recorder;    /* the last one; NULL: none */
    double seconds;     /* of all lines */
    cJSON *unavailable; /* object {"unavailable":"why"}; NULL: none, or a later sitting has watched */
};

/* Reads the lines of a journal, a file or in memory; those of other kinds are not looked at, and a cell that is there
 * twice is EXIT_CODE_DATA. *out is owned by the caller (activity_book_free), also after errors. */
int activity_book_read(const char *journal_path, struct activity_book *out, struct error *err);
int activity_book_parse(const struct journal_text *text, struct activity_book *out, struct error *err);
void activity_book_free(struct activity_book *book);

/* What was seen of a cell, or NULL. */
const cJSON *activity_book_cell(const struct activity_book *book, const char *key);

/* Gives the record's contenders what was seen of them, and a contender that was refuted, with its A/A copy, its
 * verdict: from here on it is as if the cell's own checks had found it. False out of memory. */
bool activity_book_apply(const struct activity_book *book, struct cell_record *record);

/* What a result's `run` says of it, owned by the caller: {"recorder":{..},"cells","seconds"} and perhaps
 * "unavailable"; NULL for nothing. */
cJSON *activity_book_run(const struct activity_book *book);

#endif
