/*
 * behind.h - kernels compiled while cells are measured: the first cell begins when its own kernels are there, not when
 * all are. lanes.h compiles, in the order in which cells will come; a cell waits for its own kernels before it begins.
 *
 * What keeps a comparison of contenders clean of the compilers beside it:
 * - They are processes of their own, so that no lock, no allocator and no address space is shared with what is timed.
 * - They stay off two processors or more, whole cores, which the worker's threads have to themselves, and off other
 *   workers' cores; where one of them and the worker meet all the same, they give way (nice).
 * - Only runs whose headline is time that the GPU takes of itself, on any host, begin so. Time by events or the host's
 *   clock, mode chain (half of it is by events), the paper's protocol and CPUs have all compiled before the first cell.
 *   Event and wall times beside such a headline decide nothing, and each block takes them of all contenders in turn.
 * - No cell that may compile by itself, in a race against time, begins while lanes work.
 * - Nor where code of strangers is in the worker's process, which could write to the list.
 */
#ifndef CUDAL2_WORKER_BEHIND_H
#define CUDAL2_WORKER_BEHIND_H

#include "worker/lanes.h"
#include "worker/precompile.h"
#include "worker/protocol.h"

#define BEHIND_LEAST_LANES 4u /* with fewer processors for them all is compiled ahead */

/* Whether cells of this config may be measured while kernels are compiled. */
bool behind_may(const struct config *config, const char *device, const char *plugin_directory);

/* Divides the processors that this process may use: the first cores, two processors or more, stay free, *lanes gets the
 * rest. How many those are; 0 where they are too few. `root` is "/sys", or a test's. */
unsigned behind_cores(const char *root, const cpu_set_t *usable, cpu_set_t *lanes);

/* Fills in how lanes compile: confined as a worker is, by NVRTC, into the cache. */
void behind_compiler(struct lanes_request *out);

/* Lanes that wait for a list, or NULL where a run compiles ahead. Before the device is opened: while there is one
 * thread. */
struct lanes *behind_open(const struct config *config, const char *device, const char *plugin_directory);

/* A worker's kernels. All zero before the first call. */
struct behind {
    struct lanes *lanes; /* NULL: nobody compiles beside the cells */
    struct precompiling what;
    size_t n_own;  /* the first of the list: the harness's, which every cell asks for */
    size_t *order; /* owned */
};

/* Lists what the run's cells ask for, in the order in which lanes take it. In *b the lanes are set, and of `what` all
 * but the order. */
void behind_list(struct behind *b, const struct start_request *start);

/* Returns when the cell's kernels are compiled, or could not be, which setup will tell; where the cell may ask for
 * others too, when all are. */
void behind_wait(struct behind *b, const struct cudal2_problem *problem, enum mode mode);

void behind_close(struct behind *b);

/* The order in which this worker has shapes compiled: `order` is that of the run's cells, and of several `workers` that
 * share a cache each begins with its share of them. Into out, which has room for n. */
void behind_share(const size_t *order, size_t n, int worker, int workers, size_t *out);

#endif
