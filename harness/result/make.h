/*
 * make.h - result.json as a pure function of its journal (docs/results.md has the schema): the JSON, its text, its
 * file.
 */
#ifndef CUDAL2_RESULT_MAKE_H
#define CUDAL2_RESULT_MAKE_H

#include "result/result.h"

/* Builds {schema:"cudal2-bench/result", schema_version, run, env[], summary, cells[]} from the journal. Cells come in
 * plan order whatever order they were measured in. Owned by the caller. */
int result_json_from_journal(const char *journal_path, cJSON **out, struct error *err);
/* The same of a journal in memory (fuzzing). */
struct journal_text;
int result_json_from_text(const struct journal_text *text, cJSON **out, struct error *err);

/* The text of a result: one cell a line, so that two results can be compared by diff. Owned by the caller (free); NULL
 * out of memory. */
char *result_print(const cJSON *result);
/* result_json_from_journal, result_thin (the file has less), result_print, then file_write_atomic. */
int result_write(const char *journal_path, const char *result_path, struct error *err);

#endif
