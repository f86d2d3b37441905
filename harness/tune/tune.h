/*
 * tune.h - the search over the variants of a config's candidates, problem by problem: a run (run/supervisor.h) with a
 * director. Each cell is a problem: the worker races what the director asks for, verifies in the order of the race,
 * and measures the first TUNE_FINALISTS of each layout beside the baselines in blocks, on fresh allocations and inputs.
 * The journal of that run is all the memory there is; the table follows from it (table.h).
 *
 * What is raced for a kernel set with a search space (space.h): the set's own entries for the problem and the model's
 * fastest configurations (prune.h), compiled beforehand in child processes (pool.h), less those that do not compile in
 * time, that spill, or whose wgmma the compiler serialised. Any other candidate races the variants that it lists.
 */
#ifndef CUDAL2_TUNE_TUNE_H
#define CUDAL2_TUNE_TUNE_H

#include "config/config.h"
#include "run/supervisor.h"
#include "tune/family.h"
#include "tune/table.h"

#define TUNE_BREADTH 32
#define TUNE_EXPLORED 56        /* with explore */
#define TUNE_EXPLORED_RANDOM 14 /* of them */
#define TUNE_FINALISTS 3
#define TUNE_COMPILE_SECONDS 60.0 /* of one configuration */

struct tune_request {
    struct config *config;        /* tune_adjust has been called on it */
    const char *kernel_directory; /* NULL: the default */
    size_t breadth;               /* configurations raced per problem and layout; 0: TUNE_BREADTH */
    bool explore;                 /* for data: a quarter of the configurations are drawn at random */
    const char *output;           /* the table; NULL: tuned/ of the kernel directory, once every problem is there */
    bool dry;                     /* nothing is to be compiled either: tune_prepare alone */
    bool update;                  /* into the table that is there, also in part: merge.h */
    const volatile int *stop;     /* heard while compiling; may be NULL */
    void (*note)(void *context, const char *line); /* what compiling came to; may be NULL */
    void *note_context;
};

/* Makes a tuning config of a measuring one: one accumulate type (EXIT_CODE_USAGE when there are two and the caller has
 * not chosen), one mode (offline of two), no A/A copy, short blocks, tight limits, and of the baselines
 * cublaslt-autotuning alone where the config has it. EXIT_CODE_USAGE without a candidate. */
int tune_adjust(struct config *config, struct error *err);

struct tuner;

/* The request must outlive the tuner. */
int tune_open(const struct tune_request *request, struct tuner **out, struct error *err);
void tune_close(struct tuner *t);

/* What the first worker's device brings about: the tables are read, the candidates' spaces opened, and what races is
 * compiled. For a search that is only told (preview.h), of a GPU that need not be here. */
int tune_prepare(struct tuner *t, const struct device_info *device, struct error *err);
/* The kernel sets with a space, once prepared; returns how many. Valid until tune_close. */
size_t tune_families(const struct tuner *t, const struct family **out);
/* Where the table of a prepared search would go. */
int tune_target(const struct tuner *t, char *out, size_t capacity, struct error *err);

/* For run_hooks.director; valid until tune_close. */
const struct run_director *tune_director(struct tuner *t);

/* After the run: where the table was written ("" nowhere) and what it has come to. */
const char *tune_table_path(const struct tuner *t);
const struct table_summary *tune_summary(const struct tuner *t);

#endif
