/*
 * run_fixture.h - a supervised run of six cells (three shapes, both modes) over fake workers, and what it left behind.
 */
#ifndef CUDAL2_TESTS_RUN_FIXTURE_H
#define CUDAL2_TESTS_RUN_FIXTURE_H

#include "result/record.h"
#include "run/supervisor.h"

#define N_CELLS 6

struct run_fixture {
    char directory[64], output[96], journal[128];
    struct config config;
    struct run_options options;
    struct devices devices;
    struct error err;
    volatile int stop;
    int stop_after; /* sets stop after so many cells; 0: never; -1: at the first stage message */
    int stop_value;
    const char *stop_at_note; /* NULL, or stops at the first line of the run's that has this in it */
    int n_notes;
    char last_note[1024];
};
extern struct run_fixture t;

/* For cmocka: a fresh directory and an uninterrupted run in `t`. */
int set_up(void **state);
int tear_down(void **state);

/* Runs with this $CUDAL2_FAKE (NULL: as before); returns the exit code, which t.err has too. */
int go(const char *script);

/* The journal, which must be whole and have no cell twice. Index of a cell: mode * 3 + m / 32 - 1. */
struct journal_view {
    int runs, sittings, envs, ends, cells;
    int of_cell[N_CELLS]; /* how often each is there */
    struct cell_record *records[N_CELLS];
};
struct journal_view view(void);
/* The same of a finished run: every cell, one `end`, and the result. */
struct journal_view complete_view(void);
void free_view(struct journal_view *v);

/* How many workers were started. */
long starts(void);

#endif
