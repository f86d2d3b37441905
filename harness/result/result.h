/*
 * result.h - result.json: a pure function of its journal (docs/results.md has the schema).
 */
#ifndef CUDAL2_RESULT_RESULT_H
#define CUDAL2_RESULT_RESULT_H

#include "base/json.h"

/* Builds the result tree {schema:"cudal2-bench/result", schema_version, run, env[], cells[]} from the journal. Cells
 * come in plan order whatever order they were measured in. Owned by the caller. */
int result_from_journal(const char *journal_path, cJSON **out, struct error *err);
/* result_from_journal, then file_write_atomic. */
int result_write(const char *journal_path, const char *result_path, struct error *err);

#endif
