/*
 * record.h - what one cell leaves behind: the worker fills it, the journal keeps it, result/ and report/ read it.
 * JSON form in docs/results.md; record_to_json and record_from_json are inverses.
 */
#ifndef CUDAL2_RECORD_RECORD_H
#define CUDAL2_RECORD_RECORD_H

#include "base/json.h"
#include "model/health.h"
#include "model/timing.h"
#include "model/verdict.h"

#define RECORD_NAME_MAX 64
#define RECORD_REASON_MAX 256
#define RECORD_WORD_MAX 32
/* The stage in which a candidate runs beside unmapped pages (verify/fence.h): who loses a worker there, reached out of
 * bounds. */
#define STAGE_FENCE "fence"
#define RECORD_MAX_CONTENDERS 40

/* Values of one contender under one timing; block[i] is the block that value i was taken in (ascending). */
struct series {
    size_t n, capacity;
    double *ns;
    unsigned *block;
};

/* `stage` says where the verdict was found: probe setup verify tune measure. A word that this program does not know, as
 * a newer one may have written it, stays in other_verdict, beside VERDICT_COUNT; so does the outcome of a cell. */
struct contender_record {
    char name[RECORD_NAME_MAX];
    char family[RECORD_NAME_MAX];
    bool candidate, has_layout_suffix;
    enum cudal2_layout layout;
    enum verdict verdict;
    char other_verdict[RECORD_WORD_MAX], stage[16], reason[RECORD_REASON_MAX];
    bool invalid; /* timed although it failed verification (verify.time_anyway): no table may count its times */
    char copy_of[RECORD_NAME_MAX];       /* A/A: the contender this one is a second copy of; "" otherwise */
    char rung[16];                       /* ladder rung of the device timing: graph, blocked, events */
    char rung_reason[RECORD_REASON_MAX]; /* why it is not the first; "" on the first */
    bool host_sync;
    bool early;                          /* its launches are made so that they may overlap (device_ops.early) */
    bool joined;                         /* the harness made them so in rows (measure/join.h) */
    char join_reason[RECORD_REASON_MAX]; /* it was asked for and is not so: why; else "" */
    unsigned launches, primers;          /* of a device-timed segment */
    cJSON *attributes;                   /* owned; object from describe(), or NULL */
    cJSON *tuning;                       /* owned; {variants, verified, rejected[], winner, cached, race[]}, or NULL */
    cJSON *verification;                 /* owned; {coverage, seeds, class, cached, ...}, or NULL */
    cJSON *deviation;  /* owned; [largest, RMS over the output's RMS, and against fp64 if taken] on N(0,1), or NULL */
    cJSON *invariance; /* owned; whether its bits depend on M or on the launch (verify/invariance.h), or NULL */
    cJSON *energy;     /* owned; what a launch takes of it (measure/energy.h), or NULL */
    cJSON *activity;   /* owned; what it ran on the GPU (record/activity.h), or NULL. No part of the record's JSON */
    struct series timings[TIMING_COUNT];
    /* Event and wall times of this contender launched as a captured graph of one launch (those by segments stay
     * empty): the equal launch path, so that an event or wall lead can be split into GPU work and launch cost. */
    struct series equal_path[TIMING_COUNT];
    struct series gaps; /* server mode: actual idle gap before each headline launch, ns */
};

struct health_sample {
    unsigned block;
    struct device_health health;
};

/* What a cell's time goes to. */
enum phase { PHASE_OPERANDS, PHASE_SETUP, PHASE_VERIFY, PHASE_TUNE, PHASE_MEASURE, PHASE_OTHER, PHASE_COUNT };
extern const char *const phase_names[]; /* "operands", "setup", ..., NULL */

/* What measuring's part of it goes to: contenders torn down; matrices put elsewhere, filled; setups; graphs prepared;
 * untimed load; headline times; those beside it; timed launches checked; the stop rule. */
enum part {
    PART_TEARDOWN,
    PART_PLACES,
    PART_FILL,
    PART_SETUP,
    PART_GRAPHS,
    PART_LOAD,
    PART_HEADLINE,
    PART_OTHERS,
    PART_CHECKS,
    PART_DECIDE,
    /* Of PHASE_OTHER: a launch on new inputs and the wait for late work; the group's inputs put back; launches amid
     * changes; launches on new inputs against known ones. */
    PART_FRESH,
    PART_RESTORE,
    PART_BETWEEN,
    PART_REPLAY,
    PART_COUNT
};
extern const char *const part_names[]; /* "teardown", "places", ..., NULL */

struct cell_record {
    struct cudal2_problem problem;
    char label[RECORD_NAME_MAX]; /* the config's name for the shape, or "" */
    enum mode mode;
    enum timing headline;
    enum cache_state cache;
    enum cell_status outcome;
    bool alone; /* no timed launch could begin before the one ahead of it had ended; else one made so (early) could */
    char other_outcome[RECORD_WORD_MAX];
    char reason[RECORD_REASON_MAX];
    int worker; /* index into the run's env[] */
    unsigned groups, blocks, dropped_blocks;
    bool held;               /* graphs begin with their start event, and all are held (device_ops.held) */
    unsigned visits, passes; /* places that a segment visits; segments that a headline value is the mean of; 0: one */
    cJSON *verification;     /* owned; what deviations were held against (verify/deviation.h), or NULL */
    bool converged;
    bool coarse;             /* an interval of a pair that decides is narrower than what the clock's steps hide */
    double worst_half_width; /* log units, over the pairs that drive stopping */
    char worst_pair[2 * RECORD_NAME_MAX + 4];
    size_t n_contenders;
    struct contender_record contenders[RECORD_MAX_CONTENDERS];
    /* Launch order of each block: order[block] is a string with one base-36-like digit per contender index (0-9a-zA-Z),
     * timing by timing separated by '.', headline first. group_of[block] gives the group; it never falls. */
    char **order;
    unsigned *group_of;
    cJSON *rotation;          /* owned; how --cache rotate did it (measure/rotation.h), or NULL */
    cJSON *chain;             /* owned; what the chains were made of (measure/chain.h), or NULL */
    cJSON *paper_pairs;       /* owned; array filled under --protocol paper (measure/paper.h), or NULL */
    struct series null_graph; /* empty kernel in the same topology, ns */
    struct health_sample *health;
    size_t n_health;
    double phase_seconds[PHASE_COUNT];
    double part_seconds[PART_COUNT]; /* of PHASE_MEASURE, and some of PHASE_OTHER; all 0: not known */
    double busy_seconds;             /* GPU time of contenders' launches, primers included (formula in method.md) */
};

int series_add(struct series *s, unsigned block, double ns); /* 0, or -1 out of memory */
void series_free(struct series *s);
struct cell_record *record_new(void); /* NULL out of memory; zeroed */
void record_free(struct cell_record *r);

/* The contender of that name; NULL when there is none, and for "". */
const struct contender_record *record_contender(const struct cell_record *r, const char *name);

/* The contender's `verification`, made where there was none. NULL out of memory. */
cJSON *record_verification(struct contender_record *c);

/* The words of `status`, as they are written. They live as long as the record. */
const char *record_verdict(const struct contender_record *c);
const char *record_outcome(const struct cell_record *r);
/* The counterparts: any word is taken, and given back. What is longer than RECORD_WORD_MAX - 1 is cut. */
void record_set_verdict(struct contender_record *c, const char *word);
void record_set_outcome(struct cell_record *r, const char *word);

/* True when the block's group saw a thermal or hardware slowdown: figures are published with and without it. */
bool record_block_dropped(const struct cell_record *r, unsigned block);

/* "offline/f16-f32-64x64x64": what makes a cell unique in a run. key holds RECORD_KEY_MAX bytes. */
#define RECORD_KEY_MAX (PROBLEM_KEY_MAX + 16)
void record_key(const struct cudal2_problem *p, enum mode mode, char *key);

/* A tree owned by the caller, or NULL out of memory. Times are written with 0.1 ns resolution below 100 us, 1 ns above.
 */
cJSON *record_to_json(const struct cell_record *r);
/* Strict: unknown keys, wrong types, lengths that disagree are EXIT_CODE_DATA with the JSON path. */
int record_from_json(struct json_at at, struct cell_record **out, struct error *err);

/* How operands were kept out of the cache: "size", "sets" or "flush"; "partial", "none" or "unknown" where they may
 * have been in it; "" where the cache was in another state. */
const char *record_rotation(const struct cell_record *record);

#endif
