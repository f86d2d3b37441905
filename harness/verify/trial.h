/*
 * trial.h - the trials that honesty.c puts a contender through, one contender at a time.
 */
#ifndef CUDAL2_VERIFY_TRIAL_H
#define CUDAL2_VERIFY_TRIAL_H

#include "measure/bench.h"

struct trial {
    struct bench *bench;
    struct entrant *entrant;
    struct random *random;
    size_t set;          /* of the entrant's: the one with fresh inputs */
    const char *verdict; /* NULL: nothing found. The first finding stays */
    char reason[RECORD_REASON_MAX];
};

void trial_convict(struct trial *t, const char *verdict, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Chooses t->set and gives it N(0,1) inputs that nobody has seen; trial_restore brings the group's own back. */
int trial_fill_fresh(struct trial *t, struct error *err);
int trial_restore(struct trial *t, struct error *err);

/* Runs the timed segment once, exactly as a block does, gap included, and holds the clocks against each other. What it
 * took, untimed launches left out, comes back in *segment_ns. */
int trial_time(struct trial *t, double *segment_ns, struct error *err);

/* After trial_time on fresh inputs: every C that the segment writes is wholly written, and that of t->set right. */
int trial_judge_fresh(struct trial *t, struct error *err);
/* C of one of the entrant's sets is A B for the N(0,1) inputs that lie there, within the rounding that
 * the contender is allowed (measure/judge.h). */
int trial_judge(struct trial *t, size_t set, struct error *err);

/* honesty.h, `between`: on the group's own inputs. */
int trial_between(struct trial *t, struct error *err);
/* honesty.h, `escape`. */
int trial_escape(struct trial *t, struct error *err);

/* Counts one more passed check in the entrant's record. */
void trial_note(struct entrant *entrant);

#endif
