/*
 * measuring.h - a crew's first task: every cell of the plan that the journal lacks is measured once, and recorded.
 */
#ifndef CUDAL2_RUN_MEASURING_H
#define CUDAL2_RUN_MEASURING_H

#include "run/between.h"
#include "run/crew.h"
#include "run/ledger.h"
#include "run/refusals.h"
#include "run/supervisor.h"

struct measuring {
    const struct run_spec *spec;
    const struct run_hooks *hooks;
    struct ledger *ledger;
    struct crew *crew;
    bool *given;   /* owned; cells handed to a slot */
    size_t *order; /* owned; in which cells are handed out */
    size_t next;   /* of it; everything ahead has been handed out */
    cJSON *config; /* owned; as workers are told, like the next */
    cJSON *shapes; /* owned; start_request.order */
    struct refusals refusals;
    uint64_t first_cell_ns;      /* when a worker got the first; 0 before */
    uint64_t worker_ready_bytes; /* the most that one held when it had loaded its libraries */
    double cost_done, cost_left;
    struct between between;
    bool checking;                  /* all was measured before: one worker is started for what it says of itself */
    const struct crew_task *behind; /* crew_task.next; NULL: none */
};

/* Set spec, hooks, ledger, crew, `checking` and `behind` in *m, everything else 0. measuring_close is due whatever
 * comes back. */
int measuring_open(struct measuring *m, struct error *err);

/* The order of the plan, or with several workers the cells that take longest first, so that all end at about the same
 * time. `order` has room for all cells. */
void measuring_order(const struct plan *plan, int workers, size_t *order);

/* Measures what is left; 0 also when a stop or the loss of every device leaves cells (crew->last, the ledger). */
int measuring_run(struct measuring *m, struct error *err);

/* What every worker of the run is told. Valid as long as *m. */
void measuring_tell(const struct measuring *m, struct start_request *out);

void measuring_close(struct measuring *m);

#endif
