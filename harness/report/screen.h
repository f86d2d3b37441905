/*
 * screen.h - what the terminal shows after a run, from the result alone.
 */
#ifndef CUDAL2_REPORT_SCREEN_H
#define CUDAL2_REPORT_SCREEN_H

#include "base/error.h"
#include "result/result.h"

struct screen_options {
    unsigned columns; /* of the terminal; 0: no limit. Tables by shape drop columns to fit, and say which */
    bool colour;
    bool all; /* every shape and every contender, in as many tables as the width asks for */
};

/* Per mode and accumulate type: the summary by baseline for the headline timing and the other timings, and rows by
 * shape (above 20 shapes the 10 best and 10 worst unless all are wanted); then what was left out and why. *out is owned
 * by the caller (free). EXIT_CODE_DATA: a speedup without value; EXIT_CODE_INTERNAL out of memory. */
int screen_report(const struct result *result, const struct screen_options *options, char **out, struct error *err);

#endif
