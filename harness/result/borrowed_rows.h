/*
 * borrowed_rows.h - candidates whose launches or process showed a library's matrix product (model/borrowed.h), over the
 * cells of a result.
 */
#ifndef CUDAL2_RESULT_BORROWED_ROWS_H
#define CUDAL2_RESULT_BORROWED_ROWS_H

#include "result/result.h"

/* *rows_n rows of a contender and a library each, owned by the caller; their texts are the cells'. What records list
 * (verify/borrowed_note.h), and kernels that were watched (record/activity.h). False out of memory. */
bool borrowed_rows(const struct result_cell *cells, size_t n, struct result_borrowed **rows, size_t *rows_n);

/* A row is declared, too, where the plugin's `versions` say the library's name: in `libraries` of this worker's start,
 * by the plugin's name or file. */
void borrowed_declare(struct result_borrowed *rows, size_t n, const cJSON *env);

#endif
