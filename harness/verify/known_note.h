/*
 * known_note.h - what a launch takes on new inputs over what it takes on known ones, in the record. Who remembers a
 * part of its work is right on every input, and faster on what it has seen before by less than replay_check.h judges
 * by. The two differ in nothing but the values' being new: told (`known`), no verdict follows.
 */
#ifndef CUDAL2_VERIFY_KNOWN_NOTE_H
#define CUDAL2_VERIFY_KNOWN_NOTE_H

#include "measure/bench.h"

#define KNOWN_PAIRS 8u

struct known_times {
    double log_ratio[KNOWN_PAIRS];
    size_t n;
};

/* Whether the entrant is to be compared: a candidate from a file that was named, and not compared in this cell so far.
 */
bool known_note_wanted(const struct entrant *entrant);
/* Times of one pair, above 0. At most KNOWN_PAIRS. */
void known_add(struct known_times *times, double fresh_ns, double known_ns);
/* Writes `known` into verification: the median ratio and a 95% interval of it; null below six pairs. */
void known_note(struct entrant *entrant, const struct known_times *times);

#endif
