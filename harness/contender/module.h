/*
 * module.h - kernel sets: device-only candidates. A set (kernels/sets/<name>.json) lists kernels with parameters and
 * the problems each is meant for; the harness compiles, loads and launches them itself, so no host code of a
 * candidate ever runs. docs/kernels.md tells the authors' side.
 *
 * A set gives the contenders "<set>-nn" and "<set>-tn". Its variants for a problem are the entries whose `when`
 * is true and whose constraints hold, in file order; the variant key is "kernel:BM=64,BN=32,..." with every parameter
 * in the manifest's order. Setup also takes a key that is not in the set's list, as long as the kernel is in the set
 * and the values are legal (a tuner's search); without a key it takes the first entry that fits.
 *
 * A kernel that does not compile fails setup with a reason that starts with "compile_error: file.cu(12): ...";
 * one that does not load, with "load_error: ...".
 */
#ifndef CUDAL2_CONTENDER_MODULE_H
#define CUDAL2_CONTENDER_MODULE_H

#include "compile/compile.h"
#include "contender/contender.h"
#include "contender/manifest.h"

struct module_set;

/* `name_or_path`: a set (<kernel_directory>/sets/<name>.json), a kernel (<kernel_directory>/<name>.json, a set of
 * its default parameters), or the path of either file (it has a '/' or ends in ".json"). kernel_directory NULL: the
 * default of compile/kernels.h. Reads and checks every manifest; compiles nothing yet. The device must outlive the set.
 * EXIT_CODE_DATA names file and JSON path. */
int module_set_open(const char *name_or_path, const char *kernel_directory, struct device *device,
                    struct module_set **out, struct error *err);
/* Whether the kernel directory has a set of this name. */
bool module_set_installed(const char *name, const char *kernel_directory);
/* Unloads the set's modules. No contender of it may be used afterwards. */
void module_set_close(struct module_set *set);

/* A kernel by the key of its variant; whoever made the list owns the texts. */
struct precompile_key {
    const char *family, *key;
    enum cudal2_layout layout;
    enum cudal2_accumulate accumulate;
};

/* Which compiled kernels a run may ask for. */
struct precompile_request {
    enum cudal2_dtype dtype;
    uint32_t accumulates, layouts; /* bits */
    unsigned threads;
    unsigned turn;                     /* of processes that fill one cache: each begins elsewhere, none does all */
    bool keys_only;                    /* leave out the set's own entries */
    const struct precompile_key *keys; /* further kernels; those of other families are passed over */
    size_t n_keys;
    const struct compile_watch *watch; /* NULL: nobody is told */
};

/* Compiles every entry of the set for these types and layouts, and what the keys name, into the cache on disk, in
 * parallel, so that races do not wait for one compiler after the other. What does not compile is left for setup to
 * tell. Loads nothing and needs no GPU. Returns how many kernels are in the cache now. */
size_t module_set_precompile(const struct module_set *set, const struct precompile_request *request);

/* Tells the sink what module_set_precompile would compile, in that order, and compiles nothing. */
void module_set_list(const struct module_set *set, const struct precompile_request *request,
                     const struct compile_sink *sink);

/* How long a list of kernels may take. Both are seconds from the call; what is in the cache takes none of them, and is
 * ready even where both are over. */
struct module_patience {
    double begin; /* from here on nothing begins to compile */
    double wait;  /* here the call ends, unless the list's first kernel compiles still: that is waited for */
};

/* The same for the keys alone, in their order and within a patience. ready[i] says whether the machine code of keys[i]
 * is in the cache. What is still being compiled then goes on behind the caller's back, until module_set_settle; a later
 * call waits for it as for its own. */
void module_set_compile_keys(const struct module_set *set, const struct precompile_request *request,
                             const struct module_patience *patience, bool *ready);

/* Waits for what module_set_compile_keys left to compile. */
void module_set_settle(const struct module_set *set);

/* "cudal2": the family name of its contenders. Valid until close. */
const char *module_set_name(const struct module_set *set);

/* The set whose contender this is; NULL where it is of no kernel set. */
const struct module_set *module_set_of(const struct contender *c);

/* Fills *out as the set's contender of one layout (role candidate); `available` is false with a reason when the
 * device cannot run it or no kernel of the set knows the layout. *out points into the set. */
void module_set_contender(const struct module_set *set, enum cudal2_layout layout, struct contender *out);

/* The manifest of a kernel of the set; NULL when it has none of this name. Valid until close. */
const struct manifest *module_set_manifest(const struct module_set *set, const char *kernel);
/* A variant's key as the manifests write it, each parameter named. False when no kernel of the set knows it. */
bool module_set_key(const struct module_set *set, const char *key, struct cudal2_variant *out);
/* The same with the launch's parameters at their defaults: what two keys of the same machine code have in common. */
bool module_set_code(const struct module_set *set, const char *key, struct cudal2_variant *out);

#define MODULE_MAX_SIBLINGS 16

/* The keys that differ from `key` in one parameter of the launch alone, then those that differ in two which the
 * manifest lists one behind the other: the same machine code, launched otherwise `on` this problem (of values that say
 * the same of it, the first). In the manifest's order, at most `capacity` and MODULE_MAX_SIBLINGS; returns how many.
 * None where the key itself cannot be launched. */
size_t module_set_siblings(const struct module_set *set, const char *key, const struct manifest_conditions *on,
                           struct cudal2_variant *out, size_t capacity);
/* Where the set looks for kernels. */
const char *module_set_directory(const struct module_set *set);

/* Compiles one configuration, given by its key, into the cache on disk; out->log is what the compiler said. Needs no
 * GPU: of the set's device only info is read. CUDAL2_BAD_VARIANT, or CUDAL2_LIBRARY_ERROR with "compile_error: ..." in
 * why. Free the result in every case. */
struct module_compile_request {
    const char *key;
    struct cudal2_problem type; /* dtype and accumulate; the sizes do not matter */
    enum cudal2_layout layout;
};
int module_set_compile(const struct module_set *set, const struct module_compile_request *request,
                       struct compile_result *out, char *why);

/* Writes a JSON object {"set":"<hash of the set file>","kernels":{"tiny":"<hash of source, includes and manifest>"},
 * "nvrtc":"13.0"} into out. 0, or -1 when it does not fit. */
int module_set_versions(const struct module_set *set, char *out, size_t capacity);

#endif
