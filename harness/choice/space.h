/*
 * space.h - the configurations that a search may choose from (kernels/spaces/<family>.json): for each kernel, products
 * of parameter values, and expressions that tell the model what a configuration is made of.
 *
 * A combination that breaks a rule of its kernel's manifest is refused here, before anything is compiled, and counted
 * under that rule. "largest" names one parameter of which only the largest legal value is kept: of configurations that
 * differ only in the number of stages, the one with most. A grid with "largest": null keeps all.
 * "common" has the values that every grid of a kernel takes where it names none of its own.
 */
#ifndef CUDAL2_CHOICE_SPACE_H
#define CUDAL2_CHOICE_SPACE_H

#include "choice/cudal2/figures.h"
#include "contender/module.h"

#define SPACE_SCHEMA "cudal2-bench/kernel-space"
#define SPACE_SCHEMA_VERSION 1
#define SPACE_MAX_BYTES (1u << 20)
#define SPACE_MAX_KERNELS 16
#define SPACE_MAX_CONFIGURATIONS 16384
#define SPACE_MAX_REFUSALS 64

/* For whom the space is worked out: everything but the problem's sizes. */
struct space_conditions {
    enum cudal2_dtype dtype;
    enum cudal2_accumulate accumulate;
    enum cudal2_layout layout;
    const struct device_info *device;
};

struct configuration {
    size_t kernel; /* index into the space's */
    int64_t values[MANIFEST_MAX_PARAMETERS];
    struct model_tile tile;
    bool rejected; /* by the compiler, or because it does not compile: pruning passes it over */
};

/* Combinations that broke one rule, with the rule's own words. */
struct space_refusal {
    char why[CUDAL2_WHY];
    size_t count;
};

struct space {
    char name[MANIFEST_NAME_MAX];
    size_t n_kernels, n_configurations, n_refusals;
    const struct manifest *kernels[SPACE_MAX_KERNELS]; /* of the set */
    struct configuration *configurations;              /* owned; legal ones only, in the file's order */
    struct space_refusal refusals[SPACE_MAX_REFUSALS];
    struct manifest_conditions conditions;                  /* of no problem */
    struct expr *figures[SPACE_MAX_KERNELS][FIGURES_COUNT]; /* owned; NULL: absent */
};

/* Path of the space file of a kernel set; false when there is none. */
bool space_path(const struct module_set *set, char *out, size_t capacity);

/* Reads and expands. EXIT_CODE_DATA with file and JSON path: unknown kernels, parameters, values that the manifest
 * does not list, expressions that do not compute. Free in every case. */
int space_open(const struct module_set *set, const char *path, const struct space_conditions *conditions,
               struct space *out, struct error *err);
void space_free(struct space *s);

/* What a key says, also of a configuration that no grid has: a table's, an earlier space's. false when no kernel of the
 * space knows it, or it breaks a rule. */
bool space_read_key(const struct space *s, const char *key, struct configuration *out);

/* The variant key of a configuration, as module.h has it. -1 when it does not fit. */
int space_key(const struct space *s, const struct configuration *c, char *out, size_t capacity);

#endif
