/*
 * manifest.h - the JSON beside a kernel's .cu or binary: parameters and their legal values, constraints, launch
 * geometry, arguments (kernels/kernel.schema.json; docs/kernels.md). Reading and arithmetic only: nothing here compiles
 * or touches a device.
 */
#ifndef CUDAL2_CONTENDER_MANIFEST_H
#define CUDAL2_CONTENDER_MANIFEST_H

#include "abi/contender.h"
#include "base/digest.h"
#include "base/json.h"
#include "contender/expr.h"
#include "device/cuda.h"
#include "device/device.h"

#define MANIFEST_NAME_MAX 48
#define MANIFEST_ENTRY_MAX 512 /* of C++ with many template arguments */
#define MANIFEST_MAX_BYTES (1u << 20)
#define MANIFEST_MAX_PARAMETERS 32
#define MANIFEST_MAX_VALUES 64
#define MANIFEST_MAX_RULES 32
#define MANIFEST_MAX_NAMED 16 /* defines, and as many terms */
#define MANIFEST_MAX_ARGUMENTS 24
#define MANIFEST_MAX_FIELDS 16
#define MANIFEST_FIXED_NAMES 12 /* M N K SM_COUNT L2_BYTES DTYPE ACC_F32 LAYOUT_TN LDA LDB LDC ARCH */
#define MANIFEST_FIRST_STRIDE 8 /* of them: LDA */
#define MANIFEST_MAX_NAMES (MANIFEST_FIXED_NAMES + MANIFEST_MAX_PARAMETERS + 2 * MANIFEST_MAX_NAMED)

struct manifest_parameter {
    char name[EXPR_NAME_MAX];
    size_t n_values;
    int64_t values[MANIFEST_MAX_VALUES];
    int64_t fallback; /* the default */
    bool launch;      /* of the launch alone, in expressions: no -D, so that its values share their code */
};

struct manifest_rule {
    struct expr *rule;
    char *why;
};

/* A name for an expression. A define is computed from parameters and earlier defines, and is a -D of its own; a term is
 * of the launch: it may use everything, earlier terms included, and everything but defines and constraints may use it.
 */
struct manifest_named {
    char name[EXPR_NAME_MAX];
    struct expr *value;
};

enum argument_kind {
    ARGUMENT_OPERAND,    /* pointer to a, b or c */
    ARGUMENT_SIZE,       /* int32 m, n or k */
    ARGUMENT_WORKSPACE,  /* pointer, `value` bytes behind its start */
    ARGUMENT_NULL,       /* a pointer to nothing */
    ARGUMENT_INTEGER,    /* of `bytes` bytes, of an expression */
    ARGUMENT_FLOAT,      /* of `bytes` bytes: `number`, or the problem's alpha or beta */
    ARGUMENT_TENSOR_MAP, /* tensor map of a, b or c */
    ARGUMENT_STRUCT      /* some of the others but maps, by value, as C lays them out */
};

/* What an ARGUMENT_FLOAT is. */
enum argument_scale { SCALE_NUMBER, SCALE_ALPHA, SCALE_BETA };

/* Where a map's expressions stand, dimension 0 (the innermost) first. */
enum map_expr {
    MAP_DIMS = 0,
    MAP_STRIDES = MAP_DIMS + CUDA_TENSOR_RANK, /* dimension 0 has none */
    MAP_BOX = MAP_STRIDES + CUDA_TENSOR_RANK,
    MAP_ELEMENT_STRIDES = MAP_BOX + CUDA_TENSOR_RANK,     /* NULL: 1 */
    MAP_SWIZZLE = MAP_ELEMENT_STRIDES + CUDA_TENSOR_RANK, /* NULL: 0, none */
    MAP_FETCH,                                            /* NULL: MANIFEST_FETCH */
    MAP_EXPRS
};

/* A tensor map of an operand. */
struct manifest_map {
    bool whole; /* no dims: the matrix as it lies, columns and rows */
    size_t rank;
    struct expr *e[MAP_EXPRS]; /* NULL where the manifest says nothing */
    bool nan;                  /* elements out of bounds read as NaN */
};

struct manifest_argument {
    double number; /* ARGUMENT_FLOAT */
    enum argument_kind kind;
    int which;                        /* 0, 1, 2 of a b c or m n k; ARGUMENT_FLOAT: enum argument_scale */
    struct expr *value;               /* ARGUMENT_INTEGER; ARGUMENT_WORKSPACE, where NULL is 0 */
    struct manifest_map *map;         /* ARGUMENT_TENSOR_MAP: owned */
    size_t bytes;                     /* that the kernel takes it in */
    struct manifest_argument *fields; /* ARGUMENT_STRUCT: n_fields of them, owned */
    size_t n_fields;
};

#define MANIFEST_FETCH 256
#define MANIFEST_STRUCT_BYTES (8 * MANIFEST_MAX_FIELDS) /* at most */

/* Where a field lies that stands behind `after` bytes of its struct. */
size_t manifest_field_offset(size_t after, const struct manifest_argument *field);

struct manifest {
    char name[MANIFEST_NAME_MAX];
    char entry[MANIFEST_ENTRY_MAX];
    char *source_path;
    int arch_min, arch_max; /* 0: no limit */
    uint32_t dtypes, accumulates, layouts;
    uint32_t flags; /* CUDAL2_STRIDES, CUDAL2_SCALES, by what the arguments hand over (manifest_names.c) */
    size_t n_parameters, n_defines, n_terms, n_constraints, n_problem_constraints, n_arguments;
    struct manifest_parameter parameters[MANIFEST_MAX_PARAMETERS];
    struct manifest_named defines[MANIFEST_MAX_NAMED], terms[MANIFEST_MAX_NAMED];
    struct manifest_rule constraints[MANIFEST_MAX_RULES];
    struct manifest_rule problem_constraints[MANIFEST_MAX_RULES];
    struct manifest_argument arguments[MANIFEST_MAX_ARGUMENTS];
    struct expr *grid[3], *block[3], *cluster[3];
    struct expr *shared_bytes, *workspace_bytes, *memset_bytes;
    struct expr *early;    /* not 0: the launch may begin before the kernel ahead of it has ended */
    bool is_binary;        /* the source is compiled already (compile/binary.h) */
    char hash[DIGEST_HEX]; /* of the manifest's text */
};

/* EXIT_CODE_DATA with file and JSON path. *out is owned by the caller. */
int manifest_load(const char *path, struct manifest **out, struct error *err);
/* The same from text (fuzzing); `path` is where it would be, for errors and for the source beside it. */
int manifest_parse(const char *path, const char *text, size_t length, struct manifest **out, struct error *err);
void manifest_free(struct manifest *m);

/* What a kernel is asked to do, and where. */
struct manifest_conditions {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    int cc, sm_count;
    int64_t l2_bytes;
    bool alone; /* no launch begins before the one ahead has ended: early or not is the same launch */
};

/* On this device. */
struct manifest_conditions manifest_conditions_on(const struct device_info *device,
                                                  const struct cudal2_problem *problem, enum cudal2_layout layout);

/* The names that every expression and every `when` of a set may use; returns MANIFEST_FIXED_NAMES. */
size_t manifest_fixed_names(const struct manifest_conditions *conditions, struct expr_variable *out);

/* The fixed names, the parameters with these values, the defines; no terms. EXIT_CODE_DATA when a define cannot be
 * computed. */
int manifest_names(const struct manifest *m, const struct manifest_conditions *conditions, const int64_t *values,
                   struct expr_variable *out, size_t *count, struct error *err);

/* A launch worked out for one problem. */
struct manifest_plan {
    unsigned grid[3], block[3], cluster[3];
    unsigned shared_bytes;
    uint64_t workspace_bytes, memset_bytes;
    bool early;
    struct expr_variable names[MANIFEST_MAX_NAMES];
    size_t n_names;
};

/* CUDAL2_OK; CUDAL2_UNSUPPORTED with the constraint's own reason in why[CUDAL2_WHY] when the kernel is not for this
 * problem, layout, dtype or GPU; CUDAL2_LIBRARY_ERROR when the manifest's arithmetic fails or gives an impossible
 * launch. */
int manifest_plan(const struct manifest *m, const struct manifest_conditions *conditions, const int64_t *values,
                  struct manifest_plan *out, char *why);

/* Whether two plans of the kernel, made for one problem, launch it alike: geometry, memory, what it is given. */
bool manifest_same_launch(const struct manifest *m, const struct manifest_plan *a, const struct manifest_plan *b);

/* The tensor map of an argument on one problem, of the operand at `memory`. CUDAL2_OK; CUDAL2_UNSUPPORTED where another
 * problem may do, and CUDAL2_LIBRARY_ERROR, with the argument, the member and what was expected in why[CUDAL2_WHY]. */
int manifest_map_request(const struct manifest *m, size_t argument, const struct manifest_conditions *conditions,
                         const struct manifest_plan *plan, struct cuda_tensor_request *out, char *why);

/* The same of all of its maps, without a device. */
int manifest_check_maps(const struct manifest *m, const struct manifest_conditions *conditions,
                        const struct manifest_plan *plan, char *why);

/* The part of manifest_plan that no problem's size decides: abilities and constraints. CUDAL2_UNSUPPORTED names the
 * rule that is broken, before anything is compiled. */
int manifest_check(const struct manifest *m, const struct manifest_conditions *conditions, const int64_t *values,
                   char *why);

/* Which parameter has this name, `length` characters of it; -1 when none has. */
int manifest_find_parameter(const struct manifest *m, const char *name, size_t length);

/* Whether the manifest lists this value for the parameter. */
bool manifest_value_listed(const struct manifest_parameter *p, int64_t value);

/* Parameter values: the defaults; from a JSON object (absent ones keep the default; EXIT_CODE_DATA for unknown names
 * and values that are not listed). */
void manifest_defaults(const struct manifest *m, int64_t *values);
int manifest_read_values(const struct manifest *m, struct json_at at, int64_t *values, struct error *err);

/* "tiny:BM=16,BN=32,...". -1 when it does not fit. */
int manifest_key(const struct manifest *m, const int64_t *values, char *out, size_t capacity);
/* The other way: false when the key is not this kernel's, names a parameter it lacks or one twice, or has a value that
 * is not listed. A parameter that it leaves out keeps its default, so that tuning tables outlive a new parameter. */
bool manifest_parse_key(const struct manifest *m, const char *key, int64_t *values);

#endif
