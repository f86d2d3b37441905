/*
 * run_info.h - what a run was asked for and what it ran with, as structs: the journal's lines `run` and `env`, read and
 * checked once, for compare/, which sets one run's beside another's. Relies on base/json.h. Called by compare/ and
 * report/.
 *
 * As in result.h: a text is "" and a number NaN where there is none; a node is NULL. All of it points into the JSON
 * that it was read from, which must outlive it.
 */
#ifndef CUDAL2_RESULT_RUN_INFO_H
#define CUDAL2_RESULT_RUN_INFO_H

#include "base/json.h"

/* Of an object whose members are not ours to name. */
struct result_member {
    const char *name;
    const cJSON *json;
};

struct result_build {
    const char *commit;
};

/* What of a configuration moves a reference or changes what a time means. Nodes are told as they stand. */
struct result_config {
    const cJSON *json; /* NULL: the run has none */
    const char *protocol, *dtype, *overlap;
    const cJSON *timing; /* a name, or a list of names */
    const cJSON *modes, *accumulate, *layouts, *server, *offline, *tune;
    const cJSON *join_rows; /* NULL in files of before there was the key: false */
    const char **baselines, **candidates;
    size_t n_baselines, n_candidates;
    double workspace_bytes;
};

/* The journal's `run`. */
struct run_info {
    const char *started, *plan_hash, *seed, *config_hash, *device; /* device: as it was asked for */
    struct result_build build;
    struct result_config config;
};

struct result_machine {
    const char *kind, *name, *driver;
    const cJSON *power_limit_mw; /* null: the device does not say */
    double threads;
};

/* A plugin or kernel set, as its worker loaded it. */
struct result_library {
    const char *name;
    const cJSON *json;
    const cJSON *plugin_digest, *set, *kernels; /* what tells its code apart; plugins have no kernels */
    struct result_member *versions;             /* all else that it says of itself, its path and name apart */
    size_t n_versions;
};

/* A tuning table that was asked. */
struct result_table {
    const char *name, *commit, *hash; /* commit: that searched it */
    const cJSON *json;
};

struct result_libraries {
    struct result_library *list;
    struct result_table *tables;
    size_t n, n_tables;
};

/* The journal's `env`: a worker's start. */
struct env_info {
    struct result_machine device;
    struct result_libraries libraries;
    struct result_member *unavailable; /* what could not be loaded; the reason is a string */
    size_t n_unavailable;
};

/* All members absent: what a struct is before it is read, and needs no free. */
void run_info_clear(struct run_info *out);
void env_info_clear(struct env_info *out);
/* EXIT_CODE_DATA with file, path, what was expected and what was found. After errors *out is clear. */
int run_info_read(struct json_at at, struct run_info *out, struct error *err);
int env_info_read(struct json_at at, struct env_info *out, struct error *err);
/* A struct that is zero everywhere is allowed. */
void run_info_free(struct run_info *info);
void env_info_free(struct env_info *info);

/* Each NULL when there is none of this name. */
const struct result_library *env_info_library(const struct env_info *env, const char *name);
const struct result_table *env_info_table(const struct env_info *env, const char *name);
const cJSON *result_member_find(const struct result_member *list, size_t n, const char *name);

#endif
