/*
 * options.h - the command line. ONE table (options_table.c) describes every subcommand and option; the parser, --help,
 * the man page and the shell completions all read it.
 *
 * A new option is one row of the table, one enum value and one field of struct options.
 */
#ifndef CUDAL2_CLI_OPTIONS_H
#define CUDAL2_CLI_OPTIONS_H

#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_NAME "cudal2-bench"
/* From the file VERSION, by the Makefile. */
#ifndef CUDAL2_VERSION
#define CUDAL2_VERSION "unknown"
#endif
#define PROGRAM_VERSION CUDAL2_VERSION
#define PROGRAM_DATE "2026-11-25" /* of the version, for the man page */

enum command {
    COMMAND_RUN,
    COMMAND_TUNE,
    COMMAND_COMPILE,
    COMMAND_LIST,
    COMMAND_DOCTOR,
    COMMAND_REPORT,
    COMMAND_COMPARE,
    COMMAND_MERGE,
    COMMAND_WATCH,
    COMMAND_VERIFY,
    COMMAND_SERVE,
    COMMAND_INIT,
    COMMAND_HELP,
    COMMAND_WORKER,
    COMMAND_COUNT
};

enum option_id {
    OPTION_CONFIG,
    OPTION_MODE,
    OPTION_PROTOCOL,
    OPTION_TIMING,
    OPTION_ACCUMULATE,
    OPTION_CACHE,
    OPTION_CHOICE,
    OPTION_EQUAL_BUDGET,
    OPTION_RATE,
    OPTION_GAP,
    OPTION_SEED,
    OPTION_AA,
    OPTION_NO_VERIFY,
    OPTION_VERIFY_AGAIN,
    OPTION_TIME_ANYWAY,
    OPTION_ENERGY,
    OPTION_JOIN_ROWS,
    OPTION_INVARIANCE,
    OPTION_ACTIVITY,
    OPTION_SHAPE,
    OPTION_WHERE,
    OPTION_LIMIT,
    OPTION_ROOFLINE,
    OPTION_MEMCHECK,
    OPTION_RACECHECK,
    OPTION_TIMEOUT,
    OPTION_IN_PROCESS,
    OPTION_ONE_LAUNCH,
    OPTION_COUNTERS,
    OPTION_COMPILE_ONLY,
    OPTION_ARCH,
    OPTION_VARIANTS,
    OPTION_BREADTH,
    OPTION_EXPLORE,
    OPTION_DRY_RUN,
    OPTION_BUDGET,
    OPTION_UPDATE,
    OPTION_BASELINES,
    OPTION_CANDIDATE,
    OPTION_PLUGINS,
    OPTION_KERNELS,
    OPTION_TUNED,
    OPTION_DEVICE,
    OPTION_SHARD,
    OPTION_FORMAT,
    OPTION_TABLE,
    OPTION_PUBLISHED,
    OPTION_BETWEEN,
    OPTION_MIXED,
    OPTION_ALL,
    OPTION_AGREEMENT,
    OPTION_CONFIRM,
    OPTION_DELTA,
    OPTION_LISTEN,
    OPTION_TOKENS,
    OPTION_PEERS,
    OPTION_QUEUE,
    OPTION_QUOTA,
    OPTION_OUTPUT,
    OPTION_RESUME,
    OPTION_EXPLAIN,
    OPTION_ONCE,
    OPTION_QUIET,
    OPTION_NO_COLOR,
    OPTION_FORCE,
    OPTION_MAN,
    OPTION_COMPLETION,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
};

enum mode_choice { MODE_CHOICE_OFFLINE, MODE_CHOICE_SERVER, MODE_CHOICE_BOTH, MODE_CHOICE_CHAIN };
enum completion_shell { COMPLETION_BASH, COMPLETION_ZSH };

#define OPTIONS_OPERANDS_MAX 16

/* Indices into an option's choices, without repeats. */
struct option_list {
    int first;
    uint32_t bits; /* of all */
};

/* Strings point into argv and live as long as it. A field whose option was not given holds its default, stated here;
 * options_given() tells the two apart. */
struct options {
    enum command command; /* COMMAND_RUN when none is named */
    enum command topic;   /* of help; COMMAND_COUNT: the whole program */
    char *const *argv;    /* as main() got it, argc of them, for the record of a run */
    int argc;
    bool given[OPTION_COUNT]; /* read it through options_given */

    const char *config;        /* NULL; run refuses to go without it and --shape */
    int mode;                  /* enum mode_choice */
    int protocol;              /* enum protocol */
    struct option_list timing; /* enum timing */
    int accumulate;            /* enum cudal2_accumulate */
    int cache;                 /* enum cache_state, offline and in server mode */
    int choice;                /* enum choice */
    double equal_budget;       /* seconds */
    double rate_hz;            /* server launches a second: the mean gap is 1/rate */
    int gap;                   /* enum gap_kind */
    uint64_t seed;
    const char *aa;                               /* "" when --aa has no name: the config's choice */
    int activity;                                 /* enum activity_choice */
    const char *shapes[CONFIG_NAMES_MAX + 1];     /* "MxNxK"; NULL-terminated */
    const char *where;                            /* an expression over M, N and K; NULL: every shape */
    uint64_t limit;                               /* how many shapes */
    double timeout_seconds;                       /* of each sanitizer run; 0: verify's own */
    const char *arch;                             /* NULL: the default of chips.h */
    uint64_t variants;                            /* of --compile-only; 0: its own choice */
    uint64_t breadth;                             /* tune: 0: its own choice */
    double budget_seconds;                        /* tune: 0: no limit */
    const char *baselines;                        /* comma-separated family names, replaces the config's */
    const char *candidates[CONFIG_NAMES_MAX + 1]; /* added to the config's; NULL-terminated */
    const char *plugins, *kernels;                /* directories; NULL: the defaults of contender.h */
    const char *tuned[CONFIG_NAMES_MAX + 1];      /* NULL-terminated; "none": no table */
    const char *device;                           /* "auto"; checked (options.c) */
    const char *shard;                            /* "I/N" or "none"; NULL: as the environment says (shard.h) */
    const char *output;                           /* NULL: the command's choice */
    int format;                                   /* index into format_choices; 0 is text */
    uint64_t table;                               /* 0: all */
    const char *published[CONFIG_NAMES_MAX + 1];  /* NULL-terminated */
    const char *between;                          /* report: another run; NULL: none */
    double delta_percent;                         /* of --delta; 0: compare's own */
    const char *confirm;    /* NULL: no second look; "" when --confirm has no file: measure it now */
    const char *roofline;   /* verify: the picture's file; NULL: nothing is timed */
    const char *one_launch; /* verify: "CONTENDER=VARIANT", "CONTENDER", "@FILE", "": of all; NULL: verify */
    const char *counters;   /* verify: metrics, separated by commas; "": those of counters.h; NULL: none */
    const char *listen;     /* serve: NULL: its own address */
    const char *tokens;     /* serve: NULL: no tokens */
    const char *peers;      /* serve: NULL: no other servers */
    uint64_t queue;         /* serve: 0: its own limit */
    uint64_t quota;         /* serve: 0: as the queue */
    int completion;         /* enum completion_shell */
    bool no_verify, verify_again, time_anyway, energy, join_rows, invariance, memcheck, racecheck, in_process,
        compile_only; /* verification */
    bool explore, dry_run, update, mixed, all, agreement, force, resume, explain, once, quiet, no_color, man, help,
        version;

    const char *operands[OPTIONS_OPERANDS_MAX + 1]; /* what is neither option nor command; NULL-terminated */
    size_t n_operands;
};

/* Reads argv[1..argc) into *out. GNU style: --name=value, --name value, -cVALUE, -c VALUE, "--" ends the options;
 * options and operands mix. EXIT_CODE_USAGE with one line that says what to write instead. With --help or --version
 * nothing else is required. argv must outlive *out, which owns nothing. */
int options_parse(int argc, char **argv, struct options *out, struct error *err);

bool options_given(const struct options *o, enum option_id id);

/* Overrides the config by what was given: mode, protocol, timing, accumulate, cache, rate, gap, seed, aa, what is
 * verified, baselines (replaced), candidates (added), and checks the whole again. EXIT_CODE_USAGE when they cannot go
 * together.
 */
int options_apply(const struct options *o, struct config *config, struct error *err);

/* ---- The table, for the parser and the generators of help, man page and completions. ---- */

enum option_kind {
    OPTION_KIND_FLAG,     /* bool */
    OPTION_KIND_TEXT,     /* const char * */
    OPTION_KIND_OPTIONAL, /* const char *, only as --name=value; "" without value */
    OPTION_KIND_CHOICE,   /* int, index into choices */
    OPTION_KIND_LIST,     /* struct option_list: choices separated by commas */
    OPTION_KIND_INTEGER,  /* uint64_t */
    OPTION_KIND_REAL,     /* double > 0 */
    OPTION_KIND_MANY      /* const char *[CONFIG_NAMES_MAX + 1], repeatable */
};

/* What a completion offers for the argument; kernels are the names that are here, and files. */
enum option_hint {
    OPTION_HINT_NONE,
    OPTION_HINT_FILE,
    OPTION_HINT_DIRECTORY,
    OPTION_HINT_CHOICES,
    OPTION_HINT_KERNELS
};

struct option_info {
    const char *name;
    char letter; /* 0: none */
    enum option_kind kind;
    enum option_hint hint;
    uint32_t commands;          /* bits 1 << enum command */
    const char *argument;       /* "FILE"; NULL for a flag, and for a choice (its choices are shown) */
    const char *const *choices; /* NULL-terminated; NULL unless a choice or completed words */
    size_t offset;              /* of the field in struct options */
    const char *section;        /* heading in --help and the man page */
    const char *help;           /* one sentence, no full stop */
};

struct command_info {
    const char *name;
    const char *operands; /* "[FILE]..." or "" */
    size_t max_operands;
    bool hidden;
    enum option_hint hint; /* for the operands */
    const char *help;      /* one sentence, no full stop */
};

extern const char *const format_choices[]; /* of --format, NULL-terminated; each command says which it knows */
extern const struct option_info option_table[OPTION_COUNT];
extern const struct command_info command_table[COMMAND_COUNT];

/* What an option is for one of its commands, where that differs from option_table, which speaks of all of them. */
struct option_use {
    enum option_id id;
    uint32_t commands;
    const char *help;
    const char *const *choices; /* NULL: the table's */
    const char *argument;       /* NULL: the table's */
};
extern const struct option_use use_table[]; /* ends with a NULL help */

/* Of this command; with COMMAND_COUNT of all of them. NULL choices where the option has none. */
const char *option_help(enum option_id id, enum command command);
const char *const *option_choices(enum option_id id, enum command command);
const char *option_argument(enum option_id id, enum command command);

/* Exit codes for --help and the man page, a row for each meaning; ends with a NULL text. */
struct exit_info {
    int code;
    uint32_t commands; /* that can end with it and mean this */
    const char *text;
};
extern const struct exit_info exit_table[];

/* "run, tune: ": whom a row of exit_table is about, where it is one or two; else "", for a list would hide the text. */
void commands_text(uint32_t commands, char *out, size_t capacity);

/* "-c, --config FILE", "    --aa[=CONTENDER]": the option as help shows it (help.c). */
void option_form(const struct option_info *option, char *out, size_t capacity);

/* "FILE" or "offline|server|both"; "" for a flag. Writes into out. */
void option_argument_text(const struct option_info *option, char *out, size_t capacity);

#endif
