/*
 * join.h - launches of a row that are joined: the harness makes the dependency of a launch on the one ahead
 * programmatic, as the launch itself could have asked for (device_shape.join). Only of who was seen to wait for what is
 * ahead of it (verify/join_trial.h), and only with config->join_rows. Joining is the harness's doing: what goes wrong
 * in a joined row convicts nobody, and ends the joining.
 */
#ifndef CUDAL2_MEASURE_JOIN_H
#define CUDAL2_MEASURE_JOIN_H

#include "measure/bench.h"

/* Stands behind the stage, as a variant's tag does, while a contender is joined: who costs the worker then is not
 * joined in the cell's next try (bench_skipped), and not blamed. */
#define JOIN_TAG "joined"

/* Whether the cell takes rows whose launches may overlap, and the config wants them joined. */
bool join_is_wanted(const struct bench *bench);

/* What shape.join is to be in a row of the entrant. */
static inline enum device_join join_of(const struct entrant *entrant, bool overlap)
{
    return entrant->joins && overlap ? JOIN_LAUNCHES : JOIN_NONE;
}

/* Whether the entrant's row of this timing was prepared to be joined. */
static inline bool join_is_in(const struct bench *bench, struct entrant *entrant, enum timing timing)
{
    return timing_is_segment(timing) && bench_row(bench, entrant, timing)->shape.join != JOIN_NONE;
}

/* The entrant's launches are not joined from here on, and the record says why; times of rows that were are dropped. A
 * row that is prepared stays as it is. EXIT_CODE_UNAVAILABLE when the device is lost: the worker must end. */
int join_end(struct bench *bench, struct entrant *entrant, const char *why, struct error *err);

#endif
