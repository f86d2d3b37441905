/*
 * timed_check.h - the trials that honesty.c puts a contender through, one contender at a time.
 */
#ifndef CUDAL2_VERIFY_TIMED_CHECK_H
#define CUDAL2_VERIFY_TIMED_CHECK_H

#include "measure/bench.h"

/* Of a trial behind veils: dependencies on a veil are full, the contender's own programmatic ones, or joined. */
enum timed_check_edges { TIMED_CHECK_PLAIN, TIMED_CHECK_EARLY, TIMED_CHECK_JOINED };

struct timed_check {
    struct bench *bench;
    struct entrant *entrant;
    struct random *random;
    size_t set;                   /* of the entrant's: the one with fresh inputs */
    double alone_ns;              /* what a launch on these took that is all of its segment; 0: there was none */
    bool is_last;                 /* of the cell: nothing is timed behind it */
    bool veiled;                  /* between: a few launches, each behind a veil (join_trial.h) */
    enum timed_check_edges edges; /* of the latest between */
    enum verdict verdict;         /* ok: nothing found. The first finding stays */
    char reason[RECORD_REASON_MAX];
};

void timed_check_convict(struct timed_check *t, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives t->set the inputs of a seed, those that the entrant is handed; timed_check_restore brings the group's
 * own back. */
int timed_check_fill(struct timed_check *t, uint64_t seed, struct error *err);
int timed_check_restore(struct timed_check *t, struct error *err);

/* Runs the timed segment once, exactly as a block does, gap included, and holds the clocks against each other. What it
 * took, untimed launches left out, comes back in *segment_ns. */
int timed_check_time(struct timed_check *t, double *segment_ns, struct error *err);

/* After timed_check_time on fresh inputs: every C that the segment writes is wholly written, and that of t->set right.
 */
int timed_check_judge_fresh(struct timed_check *t, struct error *err);
/* C of one of the entrant's sets is A B for the inputs that lie there, within the rounding that
 * the contender is allowed (measure/judge.h). */
int timed_check_judge(struct timed_check *t, size_t set, struct error *err);

/* Bytes between the rows of C that a launch has written, with the words for them in why (RECORD_REASON_MAX); 0 for a
 * packed problem. */
int gaps_check(const struct bench *bench, const void *c, uint64_t *written, char *why, struct error *err);

/* Whether what was found (an error of *code, or a verdict) was of joined launches: they are parted then (join.h) and
 * the verdict is taken back. *code is not 0 when the worker must end. */
bool timed_check_parts(struct timed_check *t, int *code, struct error *err);

/* honesty.h, `between`: on the group's own inputs. */
int timed_check_between(struct timed_check *t, struct error *err);

/* Counts one more passed check in the entrant's record. */
void timed_check_note(struct entrant *entrant);

#endif
