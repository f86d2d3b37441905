/*
 * known_note.h - what a launch takes on new inputs over what it takes on known ones, in the record. Who remembers a
 * part of its work is right on every input, and faster on what it has seen before by less than replay_check.h judges
 * by. The two differ in nothing but the values' being new: told (`known`), and a verdict where a second series of
 * pairs says the same.
 */
#ifndef CUDAL2_VERIFY_KNOWN_NOTE_H
#define CUDAL2_VERIFY_KNOWN_NOTE_H

#include "measure/bench.h"

#define KNOWN_PAIRS 8u
#define KNOWN_AGAIN 24u /* of the second series: more, and each between two launches on new inputs */

struct known_times {
    double log_ratio[KNOWN_AGAIN], more_ns[KNOWN_AGAIN]; /* fresh over known, and less it */
    size_t n;
};

/* Whether the entrant is to be compared: a candidate from a file that was named, and not compared in this cell so far.
 */
bool known_note_wanted(const struct entrant *entrant);
/* Times of one pair, above 0. At most KNOWN_AGAIN. */
void known_add(struct known_times *times, double fresh_ns, double known_ns);
/* Writes `known` into verification: the median ratio and a 95% interval of it; null below six pairs. */
void known_note(struct entrant *entrant, const struct known_times *times);
/* Whether the lower ends of both 95% intervals are above what honest contenders show: a tenth more, and 1 us. False
 * where there are too few pairs. */
bool known_remembers(const struct known_times *times);
double known_ratio(const struct known_times *times); /* the median; NaN of none */

#endif
