/*
 * alone.h - a crew's task after measuring: no plugin slows the baselines that it is compared with, by whatever means.
 * In cells that are drawn then, baselines are timed again in a fresh worker that loads none of the plugins that raced,
 * and held against the run's own times. Where one took longer in the run, two looks in a row, pairs of fresh workers
 * follow, without the plugin and beside it, until Student's interval tells. An honest plugin mostly costs one worker.
 */
#ifndef CUDAL2_RUN_ALONE_H
#define CUDAL2_RUN_ALONE_H

#include "run/crew.h"
#include "run/ledger.h"

struct alone_request {
    const struct config *config;
    struct ledger *ledger;
    struct crew *crew;                 /* open; its workers have ended */
    const struct start_request *start; /* what every worker of the run is told */
    uint64_t began_ns;                 /* the run */
    bool on_cuda;                      /* then a run of ALONE_GPU_SECONDS has it, or a config that asks for it */
};

/* A hundred times what a look at two cells takes there: 1 s for the worker's start, 1 s at most for each cell. */
#define ALONE_GPU_SECONDS 300.0

/* Whether the config has it, something was timed that has host code of its own, all cells are there, and the journal
 * has no line of it or of an audit yet. */
bool alone_is_due(const struct alone_request *request);

/* Times, judges, and writes a verdict (rival_disturbed, in the form of record/activity.h) into the journal for each
 * cell in which the interval says that a plugin disturbed a baseline: the contenders of that plugin have it. Each
 * plugin is tried by itself. A note says what came of it, also where the run's own time was longer and no plugin can be
 * named. A stop leaves it out. Errors are those of the crew and the journal. */
int alone_run(const struct alone_request *request, struct error *err);

#endif
