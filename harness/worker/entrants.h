/*
 * entrants.h - who takes part in a cell: the registry's contenders less those that cannot, with the reason in the
 * record.
 */
#ifndef CUDAL2_WORKER_ENTRANTS_H
#define CUDAL2_WORKER_ENTRANTS_H

#include "worker/cell.h"

/* Fills bench->entrants, bench->n_sets and one contender record for every contender of the registry, entrant or not;
 * adds the A/A copy when the config asks for one. EXIT_CODE_INTERNAL when the registry has more than
 * RECORD_MAX_CONTENDERS. */
int entrants_choose(const struct cell_context *context, const struct cell_request *request, struct bench *bench,
                    struct error *err);

/* The request's exclusions that are about one variant of a contender; out holds CELL_MAX_EXCLUSIONS. Returns how many.
 */
size_t entrants_skipped(const struct cell_request *request, struct skipped_variant *out);

#endif
