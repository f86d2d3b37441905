/*
 * cell.h - one cell of a result from one record: the struct that everybody reads, and the JSON of it.
 */
#ifndef CUDAL2_RESULT_CELL_H
#define CUDAL2_RESULT_CELL_H

#include "record/record.h"
#include "result/result.h"

/* What the device can do at its maximum clocks; 0 unknown. */
struct peak {
    double flops, flops_f32, bytes_per_s; /* flops_f32: 0 where it is not told apart */
};

/* The roofline, in seconds: arithmetic at the peak, or A, B and C moved once through DRAM. 0 when unknown. A problem in
 * the L2 can beat the second; only the first refutes a time (bench_is_plausible). */
double peak_floor_seconds(const struct peak *peak, const struct cudal2_problem *problem);

/* A cell that is made of a record. Its texts and trees are the record's, which must outlive it, or its own. */
struct made_cell {
    struct result_cell cell;
    char **texts; /* owned: names that no record has, as cublas-max */
    size_t n_texts;
    char key[RECORD_KEY_MAX], args[PROBLEM_ARGS_MAX];
    bool failed; /* out of memory, some time */
};

/* Figures are rounded as a file has them. *out is owned by the caller (cell_free), also after false: out of memory. */
bool cell_make(const struct cell_record *r, const struct peak *peak, struct made_cell *out);
void cell_free(struct made_cell *m);

/* A copy of the text that is the cell's; "" out of memory, and the cell has failed. */
const char *cell_keep(struct made_cell *m, const char *text);
/* Room for one more behind a list of n that malloc gave, with *n counted up; NULL out of memory, and it has failed. */
void *cell_grow(struct made_cell *m, void *list, size_t *n, size_t size);

/* As a result has it (docs/results.md), whole; owned by the caller, NULL out of memory. */
cJSON *cell_to_json(const struct result_cell *cell);
/* The same of a record. */
cJSON *cell_json_of(const struct cell_record *r, const struct peak *peak);

#endif
