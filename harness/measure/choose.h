/*
 * choose.h - what races for a problem that no tuning table has: the winners of its nearest neighbours in a table, what
 * the ranker expects to be fastest (choice/rank.h), and some of what the contender lists itself. They are compiled at
 * once, within a time; what is not compiled by then does not race, and races end within a time too, so that a first
 * call ends. Used by measure/variants.c.
 */
#ifndef CUDAL2_MEASURE_CHOOSE_H
#define CUDAL2_MEASURE_CHOOSE_H

#include "measure/bench.h"

#define CHOOSE_RANKED 16    /* of the ranker's, of which the model alone has two */
#define CHOOSE_NEIGHBOURS 4 /* different winners of a table... */
#define CHOOSE_OF_TABLE 8   /* ...where nobody else is asked */
#define CHOOSE_OWN 3        /* of the contender's own, beside those... */
#define CHOOSE_UNRANKED 12  /* ...and first of all of its kernels that nobody ranks */
#define CHOOSE_OTHERS 24    /* of the other layout's, compiled with an entrant's own */
#define CHOOSE_SECONDS 1.5  /* until which compiling begins, for both layouts at once... */
#define CHOOSE_WAIT 2.3     /* ...and until which it is waited for, less what long launches take of the race... */
#define CHOOSE_LEAST 1.2    /* ...but no less than that */
#define CHOOSE_CALL 2.7     /* seconds of a first call, both layouts' races included... */
#define CHOOSE_RACE 0.1     /* ...of which each race has this many, even where compilers took them all */

/* Who proposed a variant. */
enum choose_origin { CHOOSE_BY_RANKER, CHOOSE_BY_NEIGHBOUR, CHOOSE_BY_CONTENDER, CHOOSE_ORIGINS };

struct choose_member {
    struct cudal2_variant variant;
    enum choose_origin origin;
    enum cudal2_layout layout;
};

/* Who would race, in this order, if all compile and can be set up; how many, at most `most`. Nothing is compiled. */
size_t choose_members(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                      struct choose_member *out, size_t most);

/* The same of the entrants of its kernel set that are still to choose for this problem: the other layout's. They are
 * compiled with its own, so that a new problem waits for compilers once. */
size_t choose_others(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                     struct choose_member *out, size_t most);

/* Fills `out` (RACE_MAX_VARIANTS) by config->choice; returns how many, 0 where there is nothing but the contender's own
 * list to go by. `table` may be NULL. Says in record->tuning where they come from. */
size_t choose_unknown(struct bench *bench, struct entrant *entrant, const struct tuned_table *table,
                      struct cudal2_variant *out);

/* How long a layout's race may take when `spent` seconds of the first call are over: what is left, in equal parts where
 * another layout is still to choose. */
double choose_race_seconds(double spent, bool others);

/* Around an entrant's choice and race: a first call's time is that of all candidates of its cell. The end says in
 * record->tuning what it took, and lifts the race's limit. */
void choose_begin(struct bench *bench);
void choose_end(struct bench *bench, struct entrant *entrant);

/* Waits for what compiles behind the choices' backs: nobody computes on the host while contenders are measured. */
void choose_settle(struct bench *bench);

/* Whether the contender sets itself up with this variant here: its own constraints decide. */
bool choose_fits(struct bench *bench, const struct entrant *entrant, const char *key);

#endif
