/*
 * config.h - the config file (configs/; every key is described in configs/config.schema.json) as a struct. It is JSON
 * with comments (comments.h); every key but the shapes has a default, and some defaults follow the device.
 */
#ifndef CUDAL2_CONFIG_CONFIG_H
#define CUDAL2_CONFIG_CONFIG_H

#include "base/json.h"
#include "base/problem.h"
#include "config/faults.h"

#define CONFIG_MAX_BYTES (3u << 20)  /* of a file */
#define CONFIG_TEXT_BYTES (4u << 20) /* of config_parse: a config with its grid and defaults written out is longer */
#define CONFIG_MAX_SHAPES 100000
#define CONFIG_MAX_SIZE 1048576 /* of m, n or k */
#define CONFIG_NAMES_MAX 32
#define CONFIG_LABEL_MAX 64
#define CONFIG_INPUT "-" /* as a path: standard input */

struct shape {
    int64_t m, n, k;
    char label[CONFIG_LABEL_MAX]; /* "" when the config gives none */
};

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
    double max_cell_seconds[MODE_COUNT]; /* cap on the measuring of one cell; in server mode 0: as offline */
    double hopeless_share;               /* of that cap, after which a cell that will not converge ends; 0: never */
    double hopeless_within[MODE_COUNT];  /* ... but not while its interval is so many times delta; 0: however wide */
};

/* The cap of a cell in that mode. */
double stop_cell_seconds(const struct stop_config *stop, enum mode mode);

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
enum choice { CHOICE_RACE = 0, CHOICE_ZERO = 1, CHOICE_TABLE = 2 };
extern const char *const kernel_choice_names[]; /* "race", "zero", "table", NULL */

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
    enum cache_state cache[MODE_COUNT];
    enum overlap overlap; /* default none: device time is that of a launch alone */
    uint64_t workspace_bytes;
    struct stop_config stop;
    struct limits_config limits;
    struct protocol_paper paper;
    enum protocol protocol;
    enum timing headline; /* default device; the CPU device always uses wall */
    char aa_contender[CONFIG_LABEL_MAX];
    unsigned verify_seeds;         /* random inputs of the exact-match check, default 2 */
    enum activity_choice activity; /* default sample */
    enum timed_choice timed;       /* default sample */
    uint64_t seed;
    enum choice choice;           /* default race */
    unsigned tune_rounds;         /* race length of variants, adaptive protocol */
    unsigned other_timings_every; /* non-headline timings in every n-th block, later ones rarer (measure/block.h);
                                     default 4 */
    bool dtype_native;            /* f16 on CUDA, f32 on the CPU */
    bool baselines_given, candidates_given; /* else config_settle chooses */
    bool headline_given, seed_given;
    bool aa;           /* race a second copy of aa_contender (default: the first candidate, else baseline) */
    bool verify;       /* default true */
    bool verify_cache; /* default true: what passed before on this machine is not verified again (verify/verified.h) */
    bool time_anyway;  /* default false: what fails verification is timed, and its times marked invalid */
    bool verify_only;  /* default false: a cell ends after verification */
    bool honesty;      /* default true: outputs of timed launches are checked too (verify/honesty.h) */
};

/* Reads and checks the file, and tells all that is wrong with it: each fault is a line "file: $.path: what was
 * expected". Without a name the config has the file's; relative paths of contenders start at its directory. *out may be
 * used when no fault was added; free it in any case. */
void config_read(const char *path, struct config *out, struct faults *faults);

/* The same for who wants the first fault only: EXIT_CODE_DATA, and nothing is left to free. */
int config_load(const char *path, struct config *out, struct error *err);
/* The same from text (a journal, a pipe), whose paths start at the current directory. */
int config_parse(const char *text, size_t length, const char *source, struct config *out, struct error *err);
void config_free(struct config *c);

/* A config that names nothing: every default, no shapes. */
void config_defaults(struct config *c);

/* Fills in who is raced where the config does not name them: on CUDA all that NVIDIA ships, and our kernels against it;
 * on the CPU torch.matmul, OpenBLAS and an example. A config that names baselines alone has no candidate. Until
 * then the baselines are CUDA's. */
int config_settle(struct config *c, bool on_cuda, struct error *err);

/* "4096x4096x1024" as M, N and K, without a label. EXIT_CODE_DATA with what was expected. */
int shape_parse(const char *text, struct shape *out, struct error *err);

/* What no single key can tell: dtype against accumulate, stop rule, contenders. config_parse has called it; call it
 * again after changing a field. EXIT_CODE_DATA, the text names the key ("$.stop.max_blocks: ..."). */
int config_check(const struct config *c, struct error *err);

/* The type that the config's problems have on such a device. */
enum cudal2_dtype config_dtype(const struct config *c, bool on_cuda);

/* The accumulate types (bits) for a dtype: other types than f16 accumulate in f32 alone. */
uint32_t config_accumulates(const struct config *c, enum cudal2_dtype dtype);

/* Appends an owned copy of `name` to baselines or candidates. EXIT_CODE_DATA: empty, too long, already there, full. */
int config_add_name(char **names, const char *name, struct error *err);

/* Whether this baseline or candidate may be left out where this machine cannot run it: `optional` says so, or nobody
 * named it. */
bool config_is_optional(const struct config *c, const char *name);

/* Frees every name. */
void config_drop_names(char **names);

/* The config with every default filled in, as JSON that config_parse reads back to an equal struct; what the journal
 * keeps and its hash identifies. Owned by the caller. NULL out of memory. */
cJSON *config_to_json(const struct config *c);

#endif
