/*
 * merge.h - brings a new search into the table that is there (tune --update): what was searched again is replaced,
 * what was not is kept, under the commit that measured it.
 *
 * An entry that was searched again stays as it was where the search has nothing on its variant and has found nothing as
 * good: its winner takes over 2% longer, in itself and against the fastest baseline of its own search (two hosts
 * differ). That winner becomes the runner-up, at the entry's own scale. An entry without a reference is replaced.
 *
 * Doing it again with the same search changes nothing, so a table may be written after every sitting: what stayed stays
 * for the same reason, and a winner that is there was measured in the search.
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

/* The search whose lines go into the table. */
struct merge_search {
    const char *commit;
    /* Whether the search has nothing on this variant of the line's problem, layout and family: it was not measured in
     * the blocks, nor struck off, though it can still be launched. */
    bool (*missed)(const void *context, const struct table_line *line, const char *variant);
    const void *context;
};

struct merge_counts {
    size_t replaced, added; /* of the search's lines: those that the table had when it was last written, and the rest */
    size_t stayed;          /* entries that the search's lines did not replace */
    size_t kept;            /* entries that were not searched */
};

/* Puts what is to be kept of `from` (NULL: nothing) among the lines of a search, and what stays in their place. They
 * are in order before and after; what they take from `from` has its texts. */
int merge_keep(const struct tuned_table *from, const struct merge_search *search, struct table_lines *lines,
               struct merge_counts *counts, struct error *err);

#endif
