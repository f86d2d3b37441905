/*
 * config.h - what a run is asked to do, as plain values: shapes, types, layouts, modes, contenders, the stop rule,
 * limits and protocol, and the names of its choices. config/ reads and checks it; every room above model/ may read it.
 */
#ifndef CUDAL2_MODEL_CONFIG_H
#define CUDAL2_MODEL_CONFIG_H

#include "model/problem.h"
#include "model/timing.h"

#define CONFIG_MAX_SHAPES 100000
#define CONFIG_MAX_SIZE 1048576 /* of m, n or k */
#define CONFIG_NAMES_MAX 32
#define CONFIG_LABEL_MAX 64

struct shape {
    int64_t m, n, k;
    int64_t lda, ldb, ldc;        /* as in struct cudal2_problem; 0: packed */
    double alpha, beta;           /* 0: 1 and 0 */
    char label[CONFIG_LABEL_MAX]; /* "" when the config gives none */
};

/* As a problem of these types. */
struct cudal2_problem shape_problem(const struct shape *shape, enum cudal2_dtype dtype,
                                    enum cudal2_accumulate accumulate);
/* Whether two shapes are the same, whatever their labels. */
bool shape_equal(const struct shape *a, const struct shape *b);

/* Every baseline family the project has, built here or not; NULL-terminated. */
extern const char *const family_names[];

enum gap_kind { GAP_POISSON = 0, GAP_UNIFORM = 1, GAP_FIXED = 2 };
extern const char *const gap_names[]; /* "poisson", "uniform", "fixed", NULL */

struct gap_config {
    enum gap_kind kind;
    double mean_ns; /* of the idle gap; uniform is 0.5..1.5 of it */
};

/* Start at min_blocks, look every look_every, stop when the 95% half-width of every pair that
 * decides (measure/stop.h) is <= delta, or at max. */
struct stop_config {
    unsigned min_blocks, look_every, max_blocks;
    unsigned group_blocks;               /* blocks per group, each at other places and with fresh inputs */
    double delta[MODE_COUNT];            /* log units, about a relative half-width */
    unsigned least_blocks;               /* of a cell that has not converged, even when its time is up; 0: none */
    double max_cell_seconds[MODE_COUNT]; /* cap on the measuring of one cell; in other modes 0: as offline */
    double hopeless_share;               /* of that cap, after which a cell that will not converge ends; 0: never */
    double hopeless_within[MODE_COUNT];  /* ... but not while its interval is so many times delta; 0: however wide */
    double near_baselines;               /* those decide that take at most so many times the fastest; 0: all do */
    double long_delta;                   /* delta offline of launches from STOP_LONG_NS on; 0: as of shorter ones */
    double lead_delta;                   /* delta offline of leads ten times as large; 0: as of smaller ones */
};

struct limits_config {
    double setup_seconds, verify_seconds, launch_seconds, tune_seconds; /* deadlines of one contender's stage */
    uint64_t memory_bytes;                                              /* 0: what the device has free */
};

struct protocol_paper {
    double warmup_seconds, pair_seconds;      /* 10 and 30 */
    unsigned tune_warmup_rounds, tune_rounds; /* 50 and 100 */
};

/* Which launches are watched by a recorder of GPU activity when everything has been timed (run/audit.h). */
enum activity_choice { ACTIVITY_SAMPLE = 0, ACTIVITY_ALL = 1, ACTIVITY_OFF = 2 };
extern const char *const activity_names[]; /* "sample", "all", "off", NULL */

/* How many of the launches that are timed are checks as well (measure/timed.h). */
enum timed_choice { TIMED_SAMPLE = 0, TIMED_ALL = 1, TIMED_OFF = 2 };

enum protocol { PROTOCOL_ADAPTIVE = 0, PROTOCOL_PAPER = 1 };
extern const char *const protocol_names[]; /* "adaptive", "paper", NULL */

/* How a kernel is chosen for a problem that no tuning table has. */
enum choice { CHOICE_RACE = 0, CHOICE_ZERO = 1, CHOICE_TABLE = 2, CHOICE_PORTFOLIO = 3 };
extern const char *const kernel_choice_names[]; /* "race", "zero", "table", "portfolio", NULL */
/* Whether several are raced, once, and the winner is remembered. */
bool choice_races(enum choice choice);

struct config {
    char name[CONFIG_LABEL_MAX];
    struct shape *shapes; /* owned */
    size_t n_shapes;
    enum cudal2_dtype dtype; /* when not native */
    uint32_t accumulates;    /* bits; on the CPU f32 dtype only f32 */
    uint32_t layouts;
    uint32_t modes;
    char *baselines[CONFIG_NAMES_MAX + 1]; /* owned strings, NULL-terminated */
    char *candidates[CONFIG_NAMES_MAX + 1];
    uint32_t optional_baselines, optional_candidates; /* bits of those that may be left out (optional.c) */
    struct gap_config gap;
    enum cache_state cache[MODE_COUNT]; /* of chain: rotate, by the layers' weights */
    unsigned chain_layers;              /* of a chain (measure/chain.h); 0: as many as suit the problem */
    enum overlap overlap;               /* of older configs: launches is timing device-row (config_check) */
    uint64_t workspace_bytes;
    struct stop_config stop;
    struct limits_config limits;
    struct protocol_paper paper;
    enum protocol protocol;
    enum timing headline; /* default device; the CPU device always uses wall */
    uint32_t timings;     /* bits; taken where the device can: the defaults, the headline, those asked for beside it */
    char aa_contender[CONFIG_LABEL_MAX];
    unsigned verify_seeds;         /* random inputs of the exact-match check, default 2 */
    enum activity_choice activity; /* default sample */
    enum timed_choice timed;       /* default sample */
    bool process_per_plugin;       /* plugins run in processes of their own (contender/plugin_process.h) */
    unsigned rivals;               /* cells in which baselines are timed without plugins too (run/alone.h), default 2 */
    uint64_t seed;
    double race_seconds;          /* of choosing among variants, each contender, adaptive protocol; 0: no limit */
    enum choice choice;           /* default race */
    unsigned tune_rounds;         /* race length of variants, adaptive protocol */
    unsigned other_timings_every; /* non-headline timings in every n-th block, later ones rarer (measure/block.h);
                                     default 4 */
    bool dtype_native;            /* f16 on CUDA, f32 on the CPU */
    bool baselines_given, candidates_given; /* else config_settle chooses */
    bool headline_given, seed_given, rivals_given;
    bool aa;           /* race a second copy of aa_contender (default: the first candidate, else baseline) */
    bool verify;       /* default true */
    bool verify_cache; /* default true: what passed before on this machine is not verified again (verify/verified.h) */
    bool time_anyway;  /* default false: what fails verification is timed, and its times marked invalid */
    bool verify_only;  /* default false: a cell ends after verification */
    bool energy;       /* default false: what a launch takes of energy is measured (measure/energy.h) */
    bool join_rows;    /* default false: launches of a row are joined where they wait (measure/join.h) */
    bool invariance;   /* default false: whether bits depend on M or on the launch is found out (verify/invariance.h) */
    bool honesty;      /* default true: outputs of timed launches are checked too (verify/honesty.h) */
};

#endif
