/*
 * module_set.h - a kernel set from inside: shared by the module*.c files only.
 */
#ifndef CUDAL2_CONTENDER_MODULE_SET_H
#define CUDAL2_CONTENDER_MODULE_SET_H

#include "compile/compile.h"
#include "contender/manifest.h"
#include "contender/module.h"
#include "device/cuda.h"

#define SET_MAX_KERNELS 32
#define SET_MAX_ENTRIES 512

struct set_entry {
    size_t kernel;     /* index into kernels */
    struct expr *when; /* NULL: always */
    int64_t values[MANIFEST_MAX_PARAMETERS];
};

/* What one compiled kernel is made of; a module serves every problem that asks for the same. */
struct module_identity {
    size_t kernel;
    int dtype, accumulate, layout;
    int64_t values[MANIFEST_MAX_PARAMETERS];
};

struct loaded_module {
    struct loaded_module *next;
    struct module_identity identity;
    struct cuda_module *module;
    struct cuda_function function;
    unsigned shared_bytes;  /* the most dynamic shared memory the function has been allowed */
    int spill_bytes;        /* stores and loads, from ptxas */
    char instructions[128]; /* that multiply (compile/instructions.h) */
    char cubin_hash[DIGEST_HEX];
    const char *cubin_from; /* "ahead", "cached", "compiled" or, of a kernel that comes compiled, "given" */
};

/* The reason of a kernel module on another device. */
#define MODULE_NEEDS_CUDA "kernel modules need a CUDA device"

/* One layout of a set, the origin of its contender. */
struct set_face {
    struct module_set *set;
    enum cudal2_layout layout;
    char name[CONTENDER_NAME_MAX];
};

struct module_set {
    char name[MANIFEST_NAME_MAX];
    char kernel_directory[1024];
    char hash[DIGEST_HEX]; /* of the set file, or of the one manifest */
    bool single;           /* one manifest and no set file */
    struct device *device;
    size_t n_kernels, n_entries;
    struct manifest *kernels[SET_MAX_KERNELS];
    char source_hashes[SET_MAX_KERNELS][DIGEST_HEX]; /* source, includes and manifest */
    struct set_entry *entries;
    struct set_face faces[2];
    struct loaded_module *loaded;
    struct compile_crews *crews; /* module_crew.c; owned */
};

/* Those that compile for the set behind their callers' backs: none yet. NULL: no memory. */
struct compile_crews *compile_crews_new(void);
/* Waits for them. NULL is none. */
void compile_crews_free(struct compile_crews *crews);

/* The kernel that the key names, of the request's dtype; false where there is none, or none for this device. */
bool set_job_of(const struct module_set *set, const struct precompile_key *key,
                const struct precompile_request *request, struct module_identity *out);
/* The place of that kernel among `*n` of them, where it is put if it is not there: jobs[] has room for it. */
size_t set_add_job(const struct module_set *set, struct module_identity *jobs, size_t *n,
                   const struct module_identity *job);
/* Values of the names of a kernel for any problem: sizes are no part of the code. */
int set_names_of(const struct module_set *set, const struct module_identity *job, struct expr_variable *names,
                 size_t *n, struct error *err);

/* The kernel that knows the variant's key, and the values it stands for, into *out; dtype, accumulate type and layout
 * are the caller's. CUDAL2_BAD_VARIANT with the key in why[CUDAL2_WHY] when none does. */
int set_find_key(const struct module_set *set, const char *key, struct module_identity *out, char *why);
/* The compiled and loaded kernel, from this process's list or made now (compile/ has the disk cache). Failure: 0 is not
 * returned and why starts with "compile_error: " or "load_error: ". */
int set_load(struct module_set *set, const struct module_identity *identity, const struct manifest_plan *plan,
             struct loaded_module **out, char *why);
/* What set_compile asks of the compiler. `defines` has MANIFEST_MAX_NAMES places, and is as valid as the result. */
struct compile_request set_compile_request(const struct module_set *set, const struct module_identity *identity,
                                           const struct expr_scope *names, struct compile_define *defines);
/* The compiler's part of set_load, without the device: may be called from several threads. `names` are the values of
 * the kernel's names. Free the result in every case. */
int set_compile(const struct module_set *set, const struct module_identity *identity, const struct expr_scope *names,
                struct compile_result *out, char *why);
/* The same for an identity alone: sizes never become part of the code, so any problem stands for all. */
int set_compile_identity(const struct module_set *set, const struct module_identity *identity,
                         struct compile_result *out, char *why);
/* Whether two identities of one set compile to the same kernel. */
bool set_same_identity(const struct module_set *set, const struct module_identity *a, const struct module_identity *b);
void set_unload_all(struct module_set *set);

/* The hooks of a set's contenders (module.c). */
extern const struct contender_ops module_ops;

#endif
