/*
 * table.h - from a tuning journal to a tuning table (contender/tuned.h): a pure function of the journal, and with
 * --update of the table that it goes into.
 *
 * For each problem and layout of a searched family the finalists are compared on the groups of one half (even numbers)
 * and the winner's time is taken from the other half, so that the choice does not flatter the time: the same rule by
 * which -max rows are scored. Passed over: finalists that failed, and those whose kernel spills or uses a stack.
 */
#ifndef CUDAL2_TUNE_TABLE_H
#define CUDAL2_TUNE_TABLE_H

#include "base/json.h"
#include "model/problem.h"
#include "tune/keys.h"
#include "tune/merge.h"

/* What the table has come to, for a line to the user. */
struct table_summary {
    size_t cells, entries; /* problems in the journal; entries made from them */
    size_t without;        /* problem and layout of a searched family of which no finalist was left */
    size_t rejected;       /* variants struck off in races and by verification, over all problems */
    size_t ahead;          /* entries whose time is below the reference's */
    double geomean;        /* of reference over time; NaN without a reference */
    bool merged;           /* table_merge has been called: */
    struct merge_counts counts;
    char name[192]; /* nvidia-h200-f16: what the file should be called for `run` to find it */
};

struct table;

/* EXIT_CODE_DATA for a journal that is none, or of which no entry can be made. Close in every case. */
int table_open(const char *journal_path, struct table **out, struct error *err);
void table_close(struct table *t);

const struct table_summary *table_summary(const struct table *t);

/* Keeps what the table at `path`, if there is one, has besides or has better (merge.h); `keys` say which variants are
 * the same. Once; EXIT_CODE_DATA as merge_read. */
int table_merge(struct table *t, const char *path, const struct key_sets *keys, struct error *err);

/* The text of the table, owned by the caller. */
int table_text(const struct table *t, char **text, struct error *err);

#endif
