/*
 * run_spec.h - what one run is to do, settled before it begins: config, devices, names of its files, program. It is
 * made of the command line (cli/spec.h) or by whoever else wants a run, and is all that run/ ever sees of either. Plain
 * values; nothing changes them once the run has begun.
 */
#ifndef CUDAL2_RUN_RUN_SPEC_H
#define CUDAL2_RUN_RUN_SPEC_H

#include "config/config.h"
#include "run/devices.h"
#include "run/shard.h"

#include <limits.h>

#define RUN_PROGRAM "/proc/self/exe" /* the one that runs */
#define RUN_LOCK_SECONDS 30.0
#define RUN_PAUSE_SECONDS 1.0

struct run_spec {
    const struct config *config;                     /* settled for these devices (config_settle) */
    const char *config_path;                         /* for the record; NULL: none */
    char *const *argv;                               /* for the record, argc of them */
    const char *program;                             /* what a worker runs, as `program worker` */
    const char *plugin_directory, *kernel_directory; /* NULL: the defaults of contender.h */
    const char *const *tuned; /* NULL-terminated tuning tables; NULL or empty: the device's own */
    double budget_seconds;    /* ends the run after this time as a TERM would; 0: none */
    double lock_seconds;      /* wait for a GPU's lock */
    double pause_seconds;     /* times the failed starts: before a worker is started again; a GPU may need a moment */
    struct shard shard;       /* of a cluster; count 0: the whole plan */
    struct devices devices;   /* one worker each */
    int argc;
    bool resume;
    bool no_tuned, force_tuned; /* no table; also those of another device */
    bool search;                /* its cells search variants, which a director names (supervisor.h) */
    bool extends;               /* `output` may be there before the run, which adds to it */
    bool temporary;             /* the caller deletes what it writes: no line says that --resume goes on */
    bool journal_only;          /* the caller reads the journal: no result is written, and nothing waits for the disk */
    char output[PATH_MAX];      /* result.json */
    char journal[PATH_MAX];     /* beside it */
};

/* Defaults, this config, and no device and no output yet. */
void run_spec_init(struct run_spec *spec, const struct config *config);

/* Names output and journal. EXIT_CODE_USAGE when `output` can be no file's name, or is too long. */
int run_spec_name(struct run_spec *spec, const char *output, struct error *err);

/* "x.json" -> "x.shard-3-of-8.json": shards are told the same --output. EXIT_CODE_USAGE as above. */
int run_shard_path(const char *output, const struct shard *shard, char path[PATH_MAX], struct error *err);

/* The journal beside an output: "x.json" -> "x.journal.jsonl"; any other name gets the ending appended. EXIT_CODE_USAGE
 * as above. */
int run_journal_path(const char *output, char path[PATH_MAX], struct error *err);

#endif
