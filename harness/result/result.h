/*
 * result.h - result.json: a pure function of its journal (docs/results.md has the schema).
 */
#ifndef CUDAL2_RESULT_RESULT_H
#define CUDAL2_RESULT_RESULT_H

#include "base/json.h"

#define RESULT_SCHEMA "cudal2-bench/result"
#define RESULT_SCHEMA_VERSION 1
#define RESULT_FILE_MAX_BYTES (64u << 20)

/* Builds the result tree {schema:"cudal2-bench/result", schema_version, run, env[], summary, cells[]} from the journal.
 * Cells come in plan order whatever order they were measured in. Owned by the caller. */
int result_from_journal(const char *journal_path, cJSON **out, struct error *err);
/* The same of a journal in memory (fuzzing). */
struct journal_text;
int result_from_text(const struct journal_text *text, cJSON **out, struct error *err);
/* The text of a result: one cell a line, so that two results can be compared by diff. Owned by the caller (free); NULL
 * out of memory. */
char *result_print(const cJSON *result);
/* result_from_journal, result_thin (the file has less than the tree), result_print, then file_write_atomic. */
int result_write(const char *journal_path, const char *result_path, struct error *err);

/* Reads a result.json (plain or compressed by gzip) and puts back what result_widen can. EXIT_CODE_DATA for anything
 * that is not a result of this schema version (result_check.h), or has a cell twice. */
int result_read(const char *path, cJSON **out, struct error *err);
/* The same from text; `source` stands for the file's name. */
int result_parse(const char *source, const char *text, size_t length, cJSON **out, struct error *err);

#endif
