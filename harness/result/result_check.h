/*
 * result_check.h - whether a file that calls itself a result holds what a result can hold: the types and the ranges of
 * all that tables, pages and exports read from it.
 */
#ifndef CUDAL2_RESULT_RESULT_CHECK_H
#define CUDAL2_RESULT_RESULT_CHECK_H

#include "base/json.h"

/* Checks schema and version, then every member in the table of the .c file: times and sizes above 0, counts of 0 or
 * more, speedups of -1 or more, intervals with their lower end first. Members that are absent or unknown to the table
 * pass, and so does null for a figure: older results have fewer, newer ones more. EXIT_CODE_DATA with file, path, what
 * was expected and what was found. */
int result_check(struct json_at root, struct error *err);

#endif
