/*
 * row_check.h - a segment like the timed one that is cut short at a launch which nobody foresees, and judged there.
 * Ahead of that launch, or of one of the few before it, some inputs become others and some elements of C are spoiled. A
 * contender that leaves out launches in the middle of a row, or leaves alone what an earlier launch of the row wrote,
 * is told by its output. timed.c calls it behind segments that are drawn; its time is nobody's.
 */
#ifndef CUDAL2_MEASURE_ROW_CHECK_H
#define CUDAL2_MEASURE_ROW_CHECK_H

#include "device/probe.h"
#include "measure/bench.h"

/* Whether the entrant's segment has a row: two launches, one after the other. */
bool row_check_possible(const struct bench *bench, const struct entrant *entrant);

/* Runs it; *broken gets the operands of the launch behind the break, whose C is to be judged. Times nothing. The errors
 * are those of a segment. */
int row_check_run(struct bench *bench, const struct entrant *entrant, struct random *random,
                  const struct cudal2_operands **broken, struct error *err);

#endif
