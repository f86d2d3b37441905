/*
 * tuned.h - tuning tables (kernels/tuned/<gpu>-<accumulate>.json): which variant of a contender was the fastest for a
 * problem on one GPU, found by `cudal2-bench tune`. Reading, looking up, naming; docs/kernels.md has the format.
 *
 * A table serves one device model, dtype, accumulate type and mode; other models of the same compute capability and
 * number of multiprocessors for problems that theirs lack, and bf16 where that has none, f16's. A problem that it
 * lacks is served by its nearest neighbours: the distance is |log2| of the ratio of each of M, N and K, added up, plus
 * TUNED_OTHER_LAYOUT for an entry of the other layout.
 */
#ifndef CUDAL2_CONTENDER_TUNED_H
#define CUDAL2_CONTENDER_TUNED_H

#include "abi/contender.h"
#include "base/digest.h"
#include "base/json.h"
#include "model/problem.h"
#include "device/device.h"

#define TUNED_SCHEMA "cudal2-bench/tuned"
#define TUNED_SCHEMA_VERSION 1
#define TUNED_MAX_BYTES (16u << 20)
#define TUNED_MAX_VARIANTS 4096 /* different ones in a table */
#define TUNED_NAME_MAX 192
#define TUNED_OTHER_LAYOUT 2.0

struct tuned_entry {
    int64_t m, n, k;
    int family; /* index into families */
    enum cudal2_layout layout;
    int variant;   /* index into variants */
    int runner_up; /* -1: none */
    double time_ns, low_ns, high_ns;
    double runner_up_ns; /* NaN: none */
    char reference[64];  /* the fastest baseline of the final; "": none */
    double reference_ns; /* NaN: none */
    char commit[64];     /* that measured it; "": the table's */
};

struct tuned_table {
    char name[TUNED_NAME_MAX]; /* file name without directory and .json */
    char hash[DIGEST_HEX];     /* of the file */
    char device[128], driver[64], commit[64];
    int cc, sm_count; /* of the device; 0: not said */
    enum cudal2_dtype dtype;
    enum cudal2_accumulate accumulate;
    enum mode mode;
    enum timing timing; /* of the times, and the cache state that they were measured in */
    enum cache_state cache;
    size_t n_families, n_variants, n_entries;
    char (*families)[64]; /* owned, as the rest */
    struct cudal2_variant *variants;
    struct tuned_entry *entries;
};

/* EXIT_CODE_DATA with file and JSON path: not a table, a problem twice for one contender, an index out of range, times
 * that are not positive or an interval that does not hold its time. *out is owned by the caller. */
int tuned_load(const char *path, struct tuned_table **out, struct error *err);
void tuned_free(struct tuned_table *t);

/* Whether the table was made on this model, or on one of the same compute capability and number of multiprocessors
 * (H100 and H200), which kernels do not tell apart but by memory; else EXIT_CODE_DATA with both names and the way out.
 */
bool tuned_is_of_class(const struct tuned_table *t, const struct device_info *device);
int tuned_check_device(const struct tuned_table *t, const struct device_info *device, struct error *err);

/* What is asked of a table. */
struct tuned_query {
    const char *family;
    enum cudal2_layout layout;
    struct cudal2_problem problem;
};

struct tuned_match {
    const struct tuned_entry *entry;
    double distance; /* 0: this very problem and layout */
};

/* The entries of the query's family nearest first, at most `capacity` of them; equal distances in the table's order. 0
 * when the table is for another dtype or accumulate type. */
size_t tuned_nearest(const struct tuned_table *t, const struct tuned_query *query, struct tuned_match *out,
                     size_t capacity);

/* The entry of this very problem and layout; NULL when there is none. */
const struct tuned_entry *tuned_exact(const struct tuned_table *t, const struct tuned_query *query);

/* Whether the table has an entry of the query's family and types, whatever the problem's size. */
bool tuned_knows(const struct tuned_table *t, const struct tuned_query *query);

/* The keys of an entry that are worth racing for its very problem: the winner's, and the runner-up's when that was
 * within TUNED_CLOSE. Returns how many; the texts are the table's. */
#define TUNED_CLOSE 1.02
size_t tuned_keys(const struct tuned_table *t, const struct tuned_entry *e, const char *keys[2]);

/* ---- the tables of a run ---- */

#define TUNED_MAX_TABLES 16

struct tuned_request {
    const char *const *files; /* NULL-terminated; NULL or empty: look in `directory` */
    const char *directory;    /* kernel directory: its tuned/ is looked into */
    bool none;                /* no table at all */
    bool force;               /* also tables of another device model */
    const struct device_info *device;
    enum cudal2_dtype dtype;
    uint32_t accumulates, modes; /* bits */
};

struct tuned_tables {
    size_t n;
    struct tuned_table *tables[TUNED_MAX_TABLES];
};

/* A digest of all that the tables depend on, but for what is in their files. */
void tuned_request_digest(const struct tuned_request *request, char hex[DIGEST_HEX]);

/* Loads the files named, or those of the directory that bear this device's name and, for each mode and type, one of
 * another device of its class (tuned_check_device); none there is no error, a bad one or one of another device is.
 * Close in every case. */
int tuned_tables_open(const struct tuned_request *request, struct tuned_tables *out, struct error *err);
void tuned_tables_close(struct tuned_tables *t);

/* The table to ask for a problem in a mode: one that has this very problem, of that mode if there is one, else of the
 * other; then one with neighbours, likewise, the larger of equal ones. NULL when there is none with entries of this
 * family. */
const struct tuned_table *tuned_tables_find(const struct tuned_tables *t, const struct tuned_query *query,
                                            enum mode mode);

/* {"nvidia-h200-f16":{"hash":...,"device":...,"commit":...}}, owned by the caller; NULL when there is no table. */
cJSON *tuned_tables_versions(const struct tuned_tables *t);

/* "nvidia-h200-f16", "nvidia-h200-bf16-f32-server": device model, dtype when it is not f16, accumulate type, mode when
 * it is not offline. */
void tuned_name(const struct device_info *device, const struct cudal2_problem *problem, enum mode mode,
                char out[TUNED_NAME_MAX]);

/* "64x128x4096/nn", for messages and records; out holds 80 bytes. */
void tuned_entry_key(const struct tuned_entry *e, char out[80]);

#endif
