/*
 * merge.h - brings a new search into the table that is there (tune --update): what was searched again is replaced,
 * what was not is kept, under the commit that measured it.
 *
 * Doing it again with the same search changes nothing, so a table may be written after every sitting.
 */
#ifndef CUDAL2_TUNE_MERGE_H
#define CUDAL2_TUNE_MERGE_H

#include "contender/tuned.h"
#include "tune/lines.h"

/* What a table is of. Entries of another kind do not belong into it: its head speaks for all of them. */
struct merge_kind {
    const char *device;
    enum cudal2_dtype dtype;
    enum cudal2_accumulate accumulate;
    enum mode mode;
    enum timing timing;
    enum cache_state cache;
};

/* Reads the table to go into; *out is owned by the caller (tuned_free), NULL where there is no such file.
 * EXIT_CODE_DATA for a file that cannot be read, is no table, or is of another kind. */
int merge_read(const char *path, const struct merge_kind *kind, struct tuned_table **out, struct error *err);

struct merge_counts {
    size_t replaced, added; /* of the search's lines: those that the table had when it was last written, and the rest */
    size_t kept;            /* entries that were not searched */
};

/* Puts what is to be kept of `from` (NULL: nothing) among the lines of a search by `commit`. They are in order before
 * and after; their texts are those of `from`. */
int merge_keep(const struct tuned_table *from, const char *commit, struct table_lines *lines,
               struct merge_counts *counts, struct error *err);

#endif
