/*
 * alone.h - a crew's task after measuring, where the config asks for it (verify.rivals): baselines are timed again in a
 * few cells, in workers that load no plugin that races, and in workers that do, in turn and twice each. A baseline that
 * takes clearly longer each time beside the plugin was disturbed by it, whatever the means.
 */
#ifndef CUDAL2_RUN_ALONE_H
#define CUDAL2_RUN_ALONE_H

#include "run/crew.h"
#include "run/ledger.h"

/* Workers without and with, in turn. */
#define ALONE_PHASES 4
/* A baseline is disturbed where the shorter of its times beside the plugin is so much longer than the longer of its
 * times without, and those agree within the second. Between two workers of an honest run a time differs by a few per
 * cent, on a GPU by up to 45% where matrices lie badly: groups of a cell average that. */
#define ALONE_RATIO 1.25
#define ALONE_AGREE 1.1

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

/* By a baseline's times in the phases; 0: none. */
bool alone_is_disturbed(const double ns[ALONE_PHASES]);

#endif
