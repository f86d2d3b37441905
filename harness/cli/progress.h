/*
 * progress.h - how a run looks while it goes on: on a terminal one live line, otherwise one line for each finished
 * cell.
 */
#ifndef CUDAL2_CLI_PROGRESS_H
#define CUDAL2_CLI_PROGRESS_H

#include "base/text.h"
#include "run/supervisor.h"

#include <stdint.h>
#include <stdio.h>

enum progress_style { PROGRESS_QUIET, PROGRESS_LINES, PROGRESS_LIVE };

struct progress {
    FILE *out;
    enum progress_style style;
    size_t n_cells, done;
    double eta_seconds; /* as of told_ns; negative: unknown yet */
    uint64_t told_ns, drawn_ns;
    char cell[RECORD_KEY_MAX], contender[RECORD_NAME_MAX], stage[16];
    bool line_shown; /* a live line is on the screen and must be wiped first */
};

void progress_start(struct progress *p, FILE *out, enum progress_style style);
/* An observer that draws on `p`, which must outlive it. */
struct run_observer progress_observer(struct progress *p);
/* Leaves the cursor on an empty line. */
void progress_end(struct progress *p);

/* The text behind it, without newline: one finished cell, the live line cut to `width` columns, and "1:02:03". */
void progress_cell_line(const struct progress *p, const struct cell_record *record, struct text *out);
void progress_live_line(const struct progress *p, double eta_seconds, int width, struct text *out);
void progress_duration(double seconds, char out[24]);

#endif
