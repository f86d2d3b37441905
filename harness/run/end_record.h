/*
 * end_record.h - what a run as a whole came to.
 */
#ifndef CUDAL2_RUN_END_RECORD_H
#define CUDAL2_RUN_END_RECORD_H

#include "run/ledger.h"

/* Once nothing is measured any more: with cells left the code of the signal that stopped the run (negative when it came
 * again; SIGALRM: its budget is spent), or, with signal_number 0, `last`, why the latest worker did not start; else
 * ledger_verdict. `err` has the line. */
int end_record_of(const struct ledger *ledger, const struct run_spec *spec, int signal_number, const struct error *last,
                  struct error *err);

/* What the line of a stopped run ends in: how to go on, if one can. */
const char *end_record_advice(const struct run_spec *spec);

#endif
