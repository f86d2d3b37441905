/*
 * entry.h - what can be compared in a cell: its contenders, for each family the faster layout ("-max"), and the
 * strongest of all baselines.
 */
#ifndef CUDAL2_ANALYSIS_ENTRY_H
#define CUDAL2_ANALYSIS_ENTRY_H

#include "analysis/pair.h"
#include "record/record.h"

#define ENTRIES_MAX (2 * RECORD_MAX_CONTENDERS + 1)
#define ENTRY_STRONGEST "strongest"

/* A contender itself (contender set, members empty), the -max of a family (contender NULL, its layouts are the members)
 * or ENTRY_STRONGEST (contender NULL, every baseline is a member). */
struct entry {
    char name[RECORD_NAME_MAX];
    const struct contender_record *contender;
    const struct contender_record *members[RECORD_MAX_CONTENDERS];
    size_t n_members;
    const char *family;
    bool candidate;                             /* plays the candidate's part in this cell */
    const struct series *timings[TIMING_COUNT]; /* NULL where not taken */
    struct series owned[TIMING_COUNT];
    double choosing[TIMING_COUNT]; /* what choosing adds to the variance of its mean log time (stats/choice.h) */
    const char *rung;              /* of the device timing */
};

struct entries {
    struct entry list[ENTRIES_MAX];
    size_t n;
};

/* The ok contenders of a record (copies for A/A left out) and the families' -max. In a record of
 * baselines alone the first one's family plays a candidate's part, so that it has something to say; for candidates that
 * failed nobody does.
 *
 * -max is per shape the faster layout; where a layout has several contenders (a search's finalists), the first stands
 * for it. Choosing and scoring on the same blocks would flatter it, so each block takes
 * its value from the layout that was faster (by median) on the other half of the groups. A family with one ok
 * layout is that layout.
 * *out is owned by the caller (entries_free), also after -1 (out of memory). */
int entries_of(const struct cell_record *r, struct entries *out);
/* Adds ENTRY_STRONGEST to the entries of r, chosen and scored as -max is, but among all ok baselines. Nothing unless
 * they are of two families at least and the record has a candidate of its own. -1 out of memory. */
int entries_add_strongest(const struct cell_record *r, struct entries *e);
void entries_free(struct entries *e);

/* Two entries that both have times of this kind. */
struct match {
    const struct entry *candidate, *reference;
    enum timing timing;
};

/* As rungs_are_comparable. */
bool match_is_comparable(const struct match *m);

/* Their common blocks, and what choosing adds on either side. As pair_collect. */
int match_collect(const struct cell_record *r, const struct match *m, enum pair_blocks which, struct pair *out);

#endif
