/*
 * journal_line.h - the text of one journal line, both ways. Private to journal_*.c and fuzzing.
 */
#ifndef CUDAL2_RESULT_JOURNAL_LINE_H
#define CUDAL2_RESULT_JOURNAL_LINE_H

#include "base/json.h"
#include "base/text.h"

/* Appends {"crc":"xxxxxxxx","kind":"...","data":{...}}\n. */
int journal_line_print(struct text *out, const char *kind, const cJSON *data, struct error *err);

/* Reads a line (no newline). *tree is owned by the caller; *kind and *data point into it. EXIT_CODE_DATA, with
 * `source` in front, when anything is not as journal_line_print writes it. */
int journal_line_parse(const char *line, size_t length, const char *source, cJSON **tree, const char **kind,
                       struct json_at *data, struct error *err);

/* True when another line begins inside this one: its newline was lost, so it is damage and not a torn write. */
bool journal_line_is_merged(const char *line, size_t length);

#endif
