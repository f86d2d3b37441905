/*
 * result.h - a result as structs: what a result.json or a journal says, read and checked once, for everything that
 * shows or exports it. The configuration and the environment of a run, which compare/ sets beside another's, are in
 * run_info.h.
 *
 * Numbers are doubles: NaN is a figure that is not known, or not there. Texts are never NULL: "" is one that is not
 * there. Both point into, or were read from, the JSON that the result owns.
 */
#ifndef CUDAL2_RESULT_RESULT_H
#define CUDAL2_RESULT_RESULT_H

#include "base/json.h"
#include "model/problem.h"
#include "model/timing.h"
#include "model/verdict.h"

#define RESULT_SCHEMA "cudal2-bench/result"
#define RESULT_SCHEMA_VERSION 1
#define RESULT_FILE_MAX_BYTES (64u << 20)

/* What belongs in one table: cells and summary rows of one mode and number format. */
struct result_group {
    const char *mode, *dtype, *accumulate;
};

/* 95%, ratios minus 1. Both NaN, or neither. */
struct result_interval {
    double low, high;
};

/* ---- a cell ---- */

enum result_answer { ANSWER_NONE, ANSWER_NO, ANSWER_YES };

/* n: of the blocks without slowdown; NaN: not taken. */
struct result_timing {
    double n, median_ns, mean_ns, p95_ns, p99_ns, median_low_ns, median_high_ns, min_ns, sd_ns;
};

/* What was seen of a contender's launch under CUPTI (record/activity.h). */
struct result_activity {
    const cJSON *json; /* NULL: nobody looked */
    const char *unavailable;
    double ratio, overlap_ns;
};

/* Whether bits of C depend on M or on the launch. */
struct result_invariance {
    const cJSON *json; /* NULL: nobody asked */
    enum result_answer batch_invariant, deterministic;
};

/* By the GPU's counter, over a row of launches. */
struct result_energy {
    const cJSON *json;                     /* NULL: nobody asked */
    const char *not_measured;              /* why; "": it is */
    double joules;                         /* a launch */
    double gflop_per_joule;                /* of the unpadded problem */
    double launches, seconds, steps, busy; /* of the row: its length, the counter's steps, the share of launches */
};

/* As the plugin described what it runs. */
struct result_attributes {
    const cJSON *json; /* NULL: it said nothing */
    const char *kernel, *parameters;
};

/* Of what was raced before the blocks. */
struct result_tuning {
    const cJSON *json;                   /* NULL: nothing */
    const char *variant;                 /* that won */
    double raced, seconds, busy_seconds; /* raced: variants; 0 or NaN: a winner was remembered */
};

enum result_role { RESULT_BASELINE, RESULT_CANDIDATE, RESULT_COPY, RESULT_ROLE_COUNT };
extern const char *const result_role_names[]; /* "baseline", "candidate", "copy", NULL */

struct result_contender {
    const char *name, *status, *stage, *reason, *family, *layout, *copy_of, *rung, *rung_reason;
    const cJSON *json;                     /* its own, where it was read from some */
    const cJSON *verification, *deviation; /* as its record has them; NULL: nothing */
    struct result_timing timings[TIMING_COUNT], equal_path[TIMING_COUNT];
    struct result_activity activity;
    struct result_attributes attributes;
    struct result_tuning tuning;
    struct result_invariance invariance;
    struct result_energy energy;
    double tflops, percent_of_roofline, launches;
    enum verdict verdict; /* of the status */
    enum result_role role;
    const char *join_reason;
    bool invalid, early, joined, host_sync;
};

/* A candidate against a reference. Speedups are ratios minus 1. */
struct result_pair {
    const char *candidate, *reference;
    double geomean, mean_of_ratios, ratio_of_means, n, groups, paper_max, geomean_all_blocks, uneven;
    struct result_interval ci95;
    enum timing timing; /* TIMING_COUNT: not said */
};

/* A pair that has no speedup although both have times. */
struct result_incomparable {
    const char *candidate, *reference, *reason;
    enum timing timing;
};

/* A copy against its original. */
struct result_aa {
    const char *contender;
    double geomean, mean_of_ratios, ratio_of_means, n, groups;
    struct result_interval ci95;
    enum timing timing;
    enum result_answer excludes_one; /* whether the interval does; none: there is no interval */
};

struct result_cell {
    const char *key, *label, *status, *reason, *cache, *overlap, *worst_pair;
    const char *rotation; /* record_rotation's word */
    const char *args;     /* problem_args: "lda=72", "" of a packed problem */
    struct result_group group;
    double m, n, k;
    double env; /* index into the result's; -1: no worker measured it */
    double groups, blocks, visits, passes, dropped_blocks, worst_half_width, floor_ns, busy_seconds, wall_seconds;
    struct result_timing null_graph;
    const cJSON *paper_pairs;  /* NULL: not by the paper's protocol */
    const cJSON *chain;        /* what chains were made of (measure/chain.h); NULL: another mode */
    const cJSON *verification; /* what deviations were held against; NULL: nothing */
    struct result_contender *contenders;
    struct result_pair *speedups, *equal_path;
    struct result_incomparable *incomparable;
    struct result_aa *aa;
    size_t n_contenders, n_speedups, n_equal_path, n_incomparable, n_aa;
    enum timing headline;     /* TIMING_COUNT: not said */
    enum cell_status outcome; /* of the status */
    bool converged, coarse, held;
};

/* ---- the summary ---- */

/* One pair over the shapes of a group. */
struct result_speedup_row {
    struct result_group group;
    const char *candidate, *reference;
    double n, mean, sd, geomean, median, wins, clear_wins, clear_losses, mean_of_max;
    double left_out, geomean_of_all; /* left_out.h: shapes without a speedup, and the mean with those as 1 */
    struct result_interval ci95;     /* of the mean */
    enum timing timing;
};

struct result_rate_row {
    struct result_group group;
    const char *contender;
    double n, left_out, median_tflops, max_tflops, median_percent_of_roofline; /* left_out: cells without a rate */
    enum result_role role;
};

struct result_aa_row {
    struct result_group group;
    const char *contender;
    double n, with_interval, excludes_one, false_alarm_rate, mean_log_ratio, sd_log_ratio;
    enum timing timing;
};

struct result_left_out {
    const char *contender, *status, *stage, *reason, *first_cell;
    double cells;
};

/* Whose product it was by what was seen of a candidate (model/borrowed.h). */
struct result_borrowed {
    const char *contender, *library, *seen; /* seen: a file or a kernel, in the first of the cells */
    double cells;
    bool declared; /* its name or what it describes says the library's */
};

struct result_unconverged {
    const char *cell, *pair;
    double half_width;
};

struct result_counts {
    double cells, ok, partial, skipped, failed, cells_with_slowdown, dropped_blocks, busy_seconds, wall_seconds;
};

struct result_convergence {
    double measured, converged, share, incomparable;
    struct result_unconverged *not_converged;
    size_t n_not_converged;
};

struct result_ratios {
    const cJSON *json; /* NULL: none */
    double n, median, min, max;
};

struct result_looks {
    const cJSON *json; /* NULL: nobody looked */
    double launches, unavailable, refuted;
    struct result_ratios ratio;
};

struct result_summary {
    const cJSON *json;
    struct result_counts counts;
    struct result_convergence convergence;
    struct result_looks activity;
    struct result_speedup_row *speedups, *equal_path;
    struct result_rate_row *rates;
    struct result_aa_row *aa;
    struct result_left_out *left_out;
    struct result_borrowed *borrowed;
    size_t n_speedups, n_equal_path, n_rates, n_aa, n_left_out, n_borrowed;
};

/* ---- the run ---- */

struct result_device {
    const cJSON *json; /* NULL: not said */
    const char *name, *driver, *kind, *uuid;
    double peak_flops, peak_flops_f32, peak_bytes_per_s;
};

/* A worker's start. */
struct result_env {
    const cJSON *json;
    struct result_device device;
};

/* Of the audit; cells: whose launches were watched. */
struct result_audit {
    const char *unavailable;
    double cells;
};

/* Of the journal's last line. */
struct result_end {
    const cJSON *json;            /* NULL: the run did not come to its end */
    const cJSON *between_devices; /* gpus.h reads it; NULL: nothing was measured on several */
};

struct result_run {
    const cJSON *json; /* with all that nobody here reads: config, build ... */
    const char *started, *plan_hash, *seed;
    struct result_end end;
    struct result_audit activity;
    const char **missing; /* keys of planned cells that are not there */
    double n_cells;
    size_t n_missing;
    bool complete;
};

/* Of several results that are one: where the cells are from, in their order. */
struct result_file {
    const char *path;
    double cells;
};

struct result {
    cJSON *json; /* owned */
    struct result_run run;
    struct result_summary summary;
    struct result_cell *cells;
    struct result_env *env;
    struct result_run *runs; /* of several results that are one: each one's own; else none */
    struct result_file *files;
    struct result **parts; /* owned: the several, which cells, env and runs belong to then */
    size_t n_cells, n_env, n_runs, n_files, n_parts;
    bool thin; /* it was read from a file, which leaves out what can be told from the rest */
};

/* Makes a result of its JSON, which is taken over, also on failure; `source` names it in errors. Checks every member
 * that a struct above has: times and sizes above 0, counts of 0 or more, speedups of -1 or more, intervals with their
 * lower end first, timings and roles by their names. Members that are absent or unknown pass, and so does null for a
 * figure: older results have fewer, newer ones more. With `thin` what a file leaves out is put back (thin.h).
 * EXIT_CODE_DATA with file, path, what was expected and what was found. */
int result_open(cJSON *json, const char *source, bool thin, struct result **out, struct error *err);
void result_free(struct result *r); /* NULL is allowed */

/* Writes out what does harm in its words (base/plain.h), names included. EXIT_CODE_INTERNAL out of memory. */
int result_make_plain(struct result *r, struct error *err);

/* As a record has them; anything but an object says nothing. */
void result_attributes_read(const cJSON *json, struct result_attributes *out);

/* Reads a result.json (plain or compressed by gzip). EXIT_CODE_DATA for anything that is not a result of this schema
 * version, or has a cell twice. */
int result_read(const char *path, struct result **out, struct error *err);
/* The same from text; `source` stands for the file's name. */
int result_parse(const char *source, const char *text, size_t length, struct result **out, struct error *err);
/* The result of a journal (result/make.h). */
int result_from_journal(const char *journal_path, struct result **out, struct error *err);

/* ---- what readers ask ---- */

bool result_same_group(const struct result_group *a, const struct result_group *b);
/* Whether no cell before this one is of its group. */
bool result_is_first_of_group(const struct result *r, size_t index);
/* "" for TIMING_COUNT and RESULT_ROLE_COUNT. */
const char *result_timing_name(enum timing timing);
const char *result_role_name(enum result_role role);
#define RESULT_LABEL_MAX (PROBLEM_ARGS_MAX + 80)
/* What a person is to know the cell by beside its sizes: its args and its label. `room` must hold
 * RESULT_LABEL_MAX bytes; lives as long as that and the cell. */
const char *result_cell_label(const struct result_cell *cell, char *room);
/* NULL when the cell has none of this name. */
const struct result_contender *result_contender(const struct result_cell *cell, const char *name);
/* In the cell's headline timing; one that was not taken where there is none. */
const struct result_timing *result_headline(const struct result_cell *cell, const struct result_contender *c);
/* The candidate over the reference in that timing; NULL when the cell has no such pair. */
const struct result_pair *result_speedup(const struct result_cell *cell, enum timing timing, const char *candidate,
                                         const char *reference);
/* Whether anybody in any cell was timed so. */
bool result_has_timing(const struct result *r, enum timing timing);
/* Of the env of that index; one of which nothing is said where there is none. */
const struct result_device *result_device(const struct result *r, double index);

#endif
