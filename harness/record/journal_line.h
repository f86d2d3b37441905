/*
 * journal_line.h - the text of one journal line, both ways. For journal_*.c, fuzzing, and gather/merge.c, which copies
 * lines.
 */
#ifndef CUDAL2_RECORD_JOURNAL_LINE_H
#define CUDAL2_RECORD_JOURNAL_LINE_H

#include "base/json.h"
#include "base/text.h"

/* Appends {"crc":"xxxxxxxx","kind":"...","data":{...}}\n. */
int journal_line_print(struct text *out, const char *kind, const cJSON *data, struct error *err);

/* A line taken apart; kind and data point into the tree, which the caller owns. */
struct journal_line {
    cJSON *tree;
    const char *kind;
    struct json_at data;
};

/* Reads a line (no newline). EXIT_CODE_DATA, with `source` in front, when anything is not as journal_line_print writes
 * it; nothing is owned then. */
int journal_line_parse(const char *line, size_t length, const char *source, struct journal_line *out,
                       struct error *err);

/* Whether the line says that it is of this kind; nothing else of it is looked at. */
bool journal_line_is_kind(const char *line, size_t length, const char *kind);

/* True when another line begins inside this one: its newline was lost, so it is damage and not a torn write. */
bool journal_line_is_merged(const char *line, size_t length);

#endif
