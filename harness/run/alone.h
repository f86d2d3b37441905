/*
 * alone.h - a crew's task after measuring, where the config asks for it (verify.rivals): baselines are timed again in a
 * few cells, in workers that load no plugin that races, and in workers that do, in turn and three times each. A
 * baseline whose interval says that it takes longer beside the plugin was disturbed by it, whatever the means.
 */
#ifndef CUDAL2_RUN_ALONE_H
#define CUDAL2_RUN_ALONE_H

#include "run/crew.h"
#include "run/ledger.h"

/* Workers without and with, in turn. */
#define ALONE_PHASES 6
/* A baseline's time in a phase is the median of its blocks. What three workers with the plugin and three without show,
 * as a mean difference of logarithms, has Student's interval of four degrees of freedom: how workers differ from each
 * other is in it, whatever they differ by. A baseline is disturbed where that interval lies above ALONE_MARGIN wholly.
 * It is so wide that ALONE_ERROR of the cells at most have an honest plugin's baseline, any of them, above it. */
#define ALONE_MARGIN 0.05
#define ALONE_ERROR 1e-3

struct alone_request {
    const struct config *config;
    struct ledger *ledger;
    struct crew *crew;                 /* open; its workers have ended */
    const struct start_request *start; /* what every worker of the run is told */
};

/* Whether the config asks for it, something raced that has host code of its own, all cells are there, and the journal
 * has no line of it or of an audit yet. */
bool alone_is_due(const struct alone_request *request);

/* Times, judges, and writes a verdict (rival_disturbed, in the form of record/activity.h) into the journal for each
 * cell in which a baseline was disturbed, if most were. Names the plugin where one raced; else a note says that one of
 * them did it. A stop leaves it out. Errors are those of the crew and the journal. */
int alone_run(const struct alone_request *request, struct error *err);

/* How much longer a baseline takes beside the plugin, by its times in the phases (0: none): from and to are shares, 0.1
 * for 10%. `rivals` baselines of the cell are asked about. False where a time is missing. */
struct alone_interval {
    double from, to;
};
bool alone_interval(const double ns[ALONE_PHASES], size_t rivals, struct alone_interval *out);

#endif
