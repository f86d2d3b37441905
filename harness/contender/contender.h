/*
 * contender.h - what the harness races: a contender of a plugin or of a device-only kernel set, behind one face.
 */
#ifndef CUDAL2_CONTENDER_CONTENDER_H
#define CUDAL2_CONTENDER_CONTENDER_H

#include "abi/contender.h"
#include "base/error.h"
#include "device/device.h"
#include "model/verdict.h"

#define CONTENDER_NAME_MAX 64

enum contender_role { ROLE_BASELINE = 0, ROLE_CANDIDATE = 1 };

struct contender;

#define CONTENDER_WATCHED 3 /* A, B, C */

struct mapped;

/* Of 0 bytes: none. */
struct contender_range {
    const void *from;
    uint64_t bytes;
};

/* The hooks of abi/contender.h with the contender itself as first argument (a module has no code of its own). */
struct contender_ops {
    /* NULL: the contender has no variants. */
    int (*list_variants)(const struct contender *c, const struct cudal2_setup *setup, struct cudal2_variant *out,
                         size_t capacity, char *why);
    int (*setup)(const struct contender *c, const struct cudal2_setup *setup, void **state, char *why);
    int (*launch)(const struct contender *c, void *state, size_t set, char *why);
    void (*teardown)(const struct contender *c, void *state);
    int (*describe)(const struct contender *c, void *state, char *out, size_t capacity);
    /* Around a launch that is timed: its process is awake in between (plugin_process.h). NULL: it has none. */
    void (*wake)(const struct contender *c);
    /* False: its thread was not where it waits when nothing is asked (plugin_place.h). */
    bool (*rest)(const struct contender *c);
    /* Whole pages of device_ops.alloc_apart are its process's too from now on, and no other contender's. What they hold
     * stays where `keep`. False: no memory. NULL: it has no process of its own. */
    bool (*lend)(const struct contender *c, const void *from, const void *to, bool keep);
    /* While it is awake: until it is asked for anything it keeps this memory in its processor's caches. NULL as the
     * two. */
    void (*watch)(const struct contender *c, const struct contender_range ranges[CONTENDER_WATCHED]);
    /* What its process has mapped (mapped.h). NULL: it has none of its own, and what is mapped may be anybody's. */
    void (*mapped)(const struct contender *c, struct mapped *out);
    bool device_only; /* nothing of its author's runs on the host: kernels that the harness launches */
};

struct contender {
    char name[CONTENDER_NAME_MAX];   /* "cublas-nn" */
    char family[CONTENDER_NAME_MAX]; /* "cublas": name without the layout suffix */
    const char *asked;               /* the name in the request that brought it; borrowed from there */
    enum contender_role role;
    bool has_layout_suffix;     /* false for torch.matmul: it belongs to no -max */
    struct cudal2_contender is; /* declared abilities; its hooks are unused here */
    const struct contender_ops *ops;
    const void *origin; /* the plugin's contender, or the kernel set and layout */
    bool available;
    bool old_abi;            /* a plugin of ABI 1: its hooks are handed that ABI's setup */
    char reason[CUDAL2_WHY]; /* why not available */
    enum verdict verdict;    /* of a plugin that was the end of an earlier worker while loading; else ok */
};

/* Whether `c` runs on this kind of device at all; else one line in `why` (CUDAL2_WHY bytes). */
bool contender_runs_on(const struct contender *c, const struct device_info *device, char *why);

/* Whether `c` can do this problem on this device; else one line in `why` (CUDAL2_WHY bytes). */
bool contender_supports(const struct contender *c, const struct device_info *device,
                        const struct cudal2_problem *problem, char *why);

/* Everything that may be raced, in a fixed order: the config's baselines first, then candidates. */
struct registry;

/* A plugin that is not to be loaded (again): the name it was announced under, what it did and how that went. */
struct plugin_refusal {
    const char *name;
    enum verdict verdict;
    const char *reason;
};

struct plugin_processes;

struct registry_request {
    const char *const *baselines;  /* family names; NULL-terminated */
    const char *const *candidates; /* kernel-set names, paths to .so or manifest .json; NULL-terminated */
    uint32_t layouts;              /* CUDAL2_BIT(CUDAL2_NN) | ... */
    const char *plugin_directory;  /* NULL: <executable>/plugins */
    const char *kernel_directory;  /* NULL: $CUDAL2_KERNELS, <executable>/../kernels, <executable>/kernels */
    /* Told before code of a plugin runs that no cell asked for (constructors, probe, versions), with the name of its
     * file, and with "" when it is over. NULL: nobody is told. */
    void (*loading)(void *context, const char *plugin);
    void *loading_context;
    const struct plugin_refusal *refused;
    size_t n_refused;
    struct plugin_processes *processes; /* that plugins run in; NULL: in this one */
};

/* Loads what the request names. A plugin or kernel set that is missing or refused does not fail the call: its family
 * appears as an unavailable contender with the reason. Plugins are opened RTLD_NOW | RTLD_LOCAL and stay open. The
 * request's `loading` is used until registry_close. */
int registry_open(const struct registry_request *request, struct device *device, struct registry **out,
                  struct error *err);
/* module_set_precompile for every kernel set. Returns the sum. */
struct precompile_request;
size_t registry_precompile(const struct registry *r, const struct precompile_request *request);
/* module_set_list for every kernel set. */
struct compile_sink;
void registry_list_kernels(const struct registry *r, const struct precompile_request *request,
                           const struct compile_sink *sink);
/* Names of the kernel sets, which are the families of their contenders, whatever their roles: at most `capacity`;
 * returns how many. Valid until registry_close. */
size_t registry_sets(const struct registry *r, const char **names, size_t capacity);
void registry_close(struct registry *r);
size_t registry_count(const struct registry *r);
const struct contender *registry_at(const struct registry *r, size_t index);
/* JSON object text {plugin: versions object, ...} of every loaded plugin and then kernel set (sources' hashes); owned
 * by the caller. */
char *registry_versions(const struct registry *r);

#endif
