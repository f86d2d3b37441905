/*
 * counters.h - hardware counters of one launch of a contender, counted by NVIDIA's ncu over this program's own `verify
 * --in-process --one-launch`. Nothing is timed and nothing fails by it: where there are no counters it says why.
 *
 * The process has a worker's clean environment, a session and a temporary directory of its own, no core dumps, a limit
 * on files and one on time. It has none of a worker's namespaces, users and filters of system calls: ncu enters the
 * program from outside, which these keep out.
 */
#ifndef CUDAL2_RUN_COUNTERS_H
#define CUDAL2_RUN_COUNTERS_H

#include "base/json.h"

#define COUNTERS_SECONDS 60.0
#define COUNTERS_NAME_MAX 160    /* bytes of a metric's name, its end included */
#define COUNTERS_METRICS 32      /* that may be asked for at once */
#define COUNTERS_LIST_MAX 4096   /* bytes of their names */
#define COUNTERS_CHOICE_MAX 1024 /* bytes of a contender's name and its variant's key */

/* What the paper tells its model of (memory throughput, compute utilization, warp occupancy, cache hit rates; it names
 * no metrics), as ncu's own sections count it, and the time of the launch. */
extern const char counters_default[];

struct counters_request {
    const char *kernel;                     /* as `verify` takes it: a manifest, a set's or plugin's name */
    const char *contender;                  /* "k-nn" or "k-nn=VARIANT" */
    const char *problem;                    /* "MxNxK" */
    const char *accumulate;                 /* "f32" */
    const char *device;                     /* "cuda:0"; what does not begin with "cuda" has no counters */
    const char *lock;                       /* of the GPU (devices.h), held meanwhile; NULL or "": none */
    const char *config, *plugins, *kernels; /* of `verify`; NULL: its own */
    const char *metrics;                    /* separated by commas; "": counters_default */
    const volatile int *stop;               /* non-zero ends it; NULL: nothing does */
    double seconds;                         /* at most */
};

/* {"tool":"ncu","version":"2025.3.0.0 (build 36273991)","metrics":{...},"kernels":[...],...} (ncu_csv.h), or
 * {"unavailable":"why"}, with tool and version where there is one. Owned by the caller; NULL out of memory. */
cJSON *counters_take(const struct counters_request *request);

/* Where ncu is: on PATH, in CUDA_HOME or CUDA_PATH, or where the toolkit and Nsight Compute put themselves. */
bool counters_find(char *out, size_t capacity);

/* Reads true, or an array of 1 to COUNTERS_METRICS names of metrics, as the list of a request ("" for true), owned by
 * the caller; NULL for false. EXIT_CODE_DATA with the JSON path. */
int counters_read(struct json_at at, char **out, struct error *err);
/* The same for names separated by commas. EXIT_CODE_USAGE. */
int counters_check(const char *list, struct error *err);

#endif
