/*
 * manifest_arguments.c - reads the arguments of a kernel from its manifest: operands, sizes, numbers, workspace,
 * structs; tensor maps by manifest_maps.c. Relies on manifest_read.h. Called by manifest.c.
 */
#include "contender/manifest_read.h"

#include <float.h>
#include <stdlib.h>

#define MAP_BYTES 128u
#define LARGEST_HALF 65504.0

static const char *const operands[] = {"a", "b", "c", NULL};
static const char *const plain_arguments[] = {"a", "b", "c", "m", "n", "k", "workspace", "null", NULL};

/* {"tensor_map": "a", "box": [64, 128], "swizzle": 128} */
static int read_tensor_map(struct json_at at, struct manifest_argument *a, struct error *err)
{
    a->kind = ARGUMENT_TENSOR_MAP;
    a->bytes = MAP_BYTES;
    return manifest_read_map(at, &a->map, err) != 0
               ? err->code
               : json_read_choice(json_member(at, "tensor_map"), operands, &a->which, err);
}

/* The kinds that an object with one key names. */
static const struct {
    const char *key;
    enum argument_kind kind;
    size_t bytes;
    double largest; /* of ARGUMENT_FLOAT */
} kinds[] = {{"int8", ARGUMENT_INTEGER, 1, 0},
             {"int16", ARGUMENT_INTEGER, 2, 0},
             {"int32", ARGUMENT_INTEGER, 4, 0},
             {"int64", ARGUMENT_INTEGER, 8, 0},
             {"float16", ARGUMENT_FLOAT, 2, LARGEST_HALF},
             {"float32", ARGUMENT_FLOAT, 4, (double)FLT_MAX},
             {"float64", ARGUMENT_FLOAT, 8, DBL_MAX},
             {"workspace", ARGUMENT_WORKSPACE, sizeof(void *), 0}};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

/* A number, "alpha" or "beta". */
static int read_float(struct json_at at, double largest, struct manifest_argument *a, struct error *err)
{
    static const char *const words[] = {"alpha", "beta", NULL};
    int code = cJSON_IsString(at.node) ? json_read_choice(at, words, &a->which, err)
                                       : json_read_number(at, -largest, largest, &a->number, err);
    if (code == 0 && cJSON_IsString(at.node))
        a->which += SCALE_ALPHA;
    return code;
}

/* {"int64": "N*K"}, {"float32": 1}, {"float32": "alpha"}, {"workspace": "M*N*4"} */
static int read_keyed(struct json_at at, size_t kind, struct manifest_argument *a, struct error *err)
{
    const char *const keys[] = {kinds[kind].key, NULL};
    struct json_at value = json_member(at, kinds[kind].key);
    a->kind = kinds[kind].kind;
    a->bytes = kinds[kind].bytes;
    if (json_only_keys(at, keys, err) != 0)
        return err->code;
    return a->kind == ARGUMENT_FLOAT ? read_float(value, kinds[kind].largest, a, err)
                                     : manifest_read_expr(value, &a->value, err);
}

static int read_argument(struct json_at at, struct manifest_argument *a, struct error *err);

static int read_field(struct json_at at, struct manifest_argument *field, struct error *err)
{
    if (json_member(at, "struct").node || json_member(at, "tensor_map").node)
        return json_fail(at, err, "a struct has no structs and no tensor maps here");
    return read_argument(at, field, err);
}

/* {"struct": ["a", {"int32": "M"}, {"int64": "K"}]}: a tensor of CuTe, say. */
static int read_struct(struct json_at at, struct manifest_argument *a, struct error *err)
{
    static const char *const keys[] = {"struct", NULL};
    struct json_at list = json_member(at, "struct");
    size_t aligned = 1;
    int count;
    a->kind = ARGUMENT_STRUCT;
    if (json_only_keys(at, keys, err) != 0 || json_read_array(list, 1, &count, err) != 0)
        return err->code;
    if (count > MANIFEST_MAX_FIELDS)
        return json_fail(list, err, "more than %d fields", MANIFEST_MAX_FIELDS);
    a->fields = calloc((size_t)count, sizeof *a->fields);
    if (!a->fields)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a struct");
    for (int i = 0; i < count; i++) {
        a->n_fields = (size_t)i + 1;
        if (read_field(json_element(list, i), &a->fields[i], err) != 0)
            return err->code;
        a->bytes = manifest_field_offset(a->bytes, &a->fields[i]) + a->fields[i].bytes;
        aligned = a->fields[i].bytes > aligned ? a->fields[i].bytes : aligned;
    }
    a->bytes = (a->bytes + aligned - 1) / aligned * aligned;
    return 0;
}

size_t manifest_field_offset(size_t after, const struct manifest_argument *field)
{
    size_t aligned = field->bytes > 0 ? field->bytes : 1;
    return (after + aligned - 1) / aligned * aligned;
}

static int read_object(struct json_at at, struct manifest_argument *a, struct error *err)
{
    if (json_member(at, "struct").node)
        return read_struct(at, a, err);
    for (size_t i = 0; i < N_KINDS; i++)
        if (json_member(at, kinds[i].key).node)
            return read_keyed(at, i, a, err);
    if (json_member(at, "tensor_map").node)
        return read_tensor_map(at, a, err);
    const char *found = at.node->child ? at.node->child->string : "nothing";
    return json_fail(at, err,
                     "expected tensor_map, struct, workspace, int8, int16, int32, int64, float16, float32 or float64, "
                     "found %.40s",
                     found);
}

static int read_argument(struct json_at at, struct manifest_argument *a, struct error *err)
{
    static const enum argument_kind of_word[] = {ARGUMENT_OPERAND, ARGUMENT_OPERAND, ARGUMENT_OPERAND,   ARGUMENT_SIZE,
                                                 ARGUMENT_SIZE,    ARGUMENT_SIZE,    ARGUMENT_WORKSPACE, ARGUMENT_NULL};
    int which;
    if (cJSON_IsObject(at.node))
        return read_object(at, a, err);
    if (json_read_choice(at, plain_arguments, &which, err) != 0)
        return err->code;
    a->kind = of_word[which];
    a->which = which % 3;
    a->bytes = a->kind == ARGUMENT_SIZE ? sizeof(int32_t) : sizeof(void *);
    return 0;
}

int manifest_read_arguments(struct json_at at, struct manifest *m, struct error *err)
{
    int count;
    if (json_read_array(at, 1, &count, err) != 0)
        return err->code;
    if (count > MANIFEST_MAX_ARGUMENTS)
        return json_fail(at, err, "more than %d arguments", MANIFEST_MAX_ARGUMENTS);
    for (int i = 0; i < count; i++) {
        m->n_arguments = (size_t)i + 1;
        if (read_argument(json_element(at, i), &m->arguments[i], err) != 0)
            return err->code;
    }
    return 0;
}
