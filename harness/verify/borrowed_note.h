/*
 * borrowed_note.h - writes into the records of strangers' candidates whose matrix product was seen in their launches or
 * in their process: `borrowed`, "OpenBLAS: libopenblas.so.0". The times are true all the same: no verdict follows.
 */
#ifndef CUDAL2_VERIFY_BORROWED_NOTE_H
#define CUDAL2_VERIFY_BORROWED_NOTE_H

#include "measure/bench.h"

/* Once a cell, when nothing more is timed: what a launch has loaded is there by then. */
void borrowed_note(struct bench *bench);
/* The same of one candidate's list; each text once. */
void borrowed_add(struct contender_record *record, const char *text);

#endif
