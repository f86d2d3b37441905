/*
 * side.h - one of the two runs: what its journal says about every candidate, cell by cell, as group values.
 */
#ifndef CUDAL2_COMPARE_SIDE_H
#define CUDAL2_COMPARE_SIDE_H

#include "record/activity.h"
#include "record/record.h"
#include "result/run_info.h"

#include <limits.h>

/* What a contender with a choice chose: "<kernel> <parameters>" of a kernel set, else all its attributes. */
#define SIDE_VARIANT_MAX 256
#define SIDE_WHY_MAX (RECORD_REASON_MAX + RECORD_NAME_MAX + 8)

/* A candidate against one baseline in the cell's headline timing. */
struct side_pair {
    char reference[RECORD_NAME_MAX], variant[SIDE_VARIANT_MAX]; /* the reference's */
    bool comparable;                                            /* both on the same rung of the ladder */
    double candidate_ns, reference_ns;                          /* medians of the cell's headline time */
    double *values; /* owned; ln(t_reference / t_candidate) of each group without slowdown */
    size_t n;       /* groups */
};

struct side_candidate {
    char name[RECORD_NAME_MAX], rung[48], variant[SIDE_VARIANT_MAX];
    char word[RECORD_WORD_MAX], reason[RECORD_REASON_MAX]; /* of the verdict */
    enum verdict verdict;
    struct side_pair *pairs; /* owned; in the record's order of baselines; none unless the verdict is ok */
    size_t n_pairs;
};

/* A contender of either role that was not there: what could not be loaded goes by the name of its file. */
struct side_absent {
    char name[RECORD_NAME_MAX], reason[RECORD_REASON_MAX];
};

struct side_cell {
    char key[RECORD_KEY_MAX], word[RECORD_WORD_MAX]; /* word: of the outcome */
    char reason[RECORD_REASON_MAX];                  /* "" unless skipped or failed */
    struct cudal2_problem problem;
    enum mode mode;
    enum timing headline;
    enum cell_status outcome;
    struct side_candidate *candidates; /* owned */
    size_t n_candidates;
    struct side_absent *absent; /* owned; verdict unavailable, with their reasons */
    size_t n_absent;
};

struct side {
    char path[PATH_MAX];         /* as given; "": not read */
    cJSON *run_line, *first_env; /* owned; the journal's, which `run` and `env` point into */
    struct run_info run;
    struct env_info env; /* clear where the journal has none */
    struct activity_book book;
    struct side_cell *cells; /* owned; sorted by key */
    size_t n_cells, capacity;
    bool complete; /* the journal has its `end` */
    struct {
        double *values; /* owned; one for each copy in each cell: estimated ln ratio to its original, truth 0 */
        size_t n;
    } aa[MODE_COUNT];
    size_t wrong_results;
    char first_wrong[RECORD_NAME_MAX + RECORD_KEY_MAX + 8];
};

/* Reads the journal that report/source.h finds under this name; where that is a result, the journal beside it must
 * belong to it. Candidates are the contenders marked so; in a run without any, those of the first family that was
 * there. A candidate in one layout stands against baselines in the same layout and those without. EXIT_CODE_DATA: not a
 * result or journal of this version, a cell twice, a contender that is ok and has no block, nothing measured. On
 * failure *out needs no side_free. */
int side_read(const char *path, struct side *out, struct error *err);
void side_free(struct side *s);

/* Why `cell`, of one run, lacks a candidate of `base`'s, in words: the cell failed, or what was not there in this run
 * and was in that one, first of all what may have held the candidate by its name. "" when the record does not say. */
void side_tell_absent(const struct side_cell *base, const struct side_cell *cell, const char *candidate,
                      char out[SIDE_WHY_MAX]);

bool side_was_absent(const struct side_cell *cell, const char *name);

/* NULL when the side has no such cell, candidate or pair. */
const struct side_cell *side_find_cell(const struct side *s, const char *key);
const struct side_candidate *side_find_candidate(const struct side_cell *cell, const char *name);
const struct side_pair *side_find_pair(const struct side_candidate *candidate, const char *reference);

#endif
