/*
 * read.c - from JSON to the structs of result.h: walks the tables of fields.c over a result, checks each member and
 * stores it. The one reader of results, for files and for what is made of a journal. Called by report/ and compare/.
 */
#include "result/result.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "result/fields.h"
#include "result/plain_tree.h"
#include "result/thin.h"

/* What no clock, counter or ratio of ours comes near. A time below a picosecond would be one of nothing. */
#define COUNT_MAX 9007199254740992
#define TIME_MAX 1e15
#define AMOUNT_MAX 1e21
#define FIGURE_MAX 1e300 /* the end of an interval of a few blocks that hardly agree */
static const struct {
    double low, high;
} ranges[] = {[IS_TIME] = {1e-3, TIME_MAX}, [IS_SPAN] = {0, TIME_MAX}, [IS_AMOUNT] = {0, AMOUNT_MAX},
              [IS_SHARE] = {0, 1},          [IS_SPEEDUP] = {-1, 1e15}, [IS_FIGURE] = {-FIGURE_MAX, FIGURE_MAX}};

/* Where a field is, of the struct that begins at `into`. */
static void *place_of(const struct field *f, void *into)
{
    return (char *)into + f->offset;
}

static void store_pointer(const struct field *f, void *into, const void *pointer)
{
    memcpy(place_of(f, into), &pointer, sizeof pointer);
}

static const void *pointer_at(const struct field *f, const void *into)
{
    const void *pointer;
    memcpy(&pointer, (const char *)into + f->offset, sizeof pointer);
    return pointer;
}

static size_t count_at(const struct field *f, const void *into)
{
    size_t n;
    memcpy(&n, (const char *)into + f->count, sizeof n);
    return n;
}

/* ---- what is not there ---- */

/* The struct is zero everywhere: what is left to do is what zero is not. */
static void clear_field(const struct field *f, void *into)
{
    switch (f->kind) {
    case IS_TEXT:
    case IS_NAME:
    case IS_LOOSE_TEXT:
    case IS_OWN_KEY:
        store_pointer(f, into, "");
        break;
    case IS_TIMING:
        *(enum timing *)place_of(f, into) = TIMING_COUNT;
        break;
    case IS_ROLE:
        *(enum result_role *)place_of(f, into) = RESULT_ROLE_COUNT;
        break;
    case IS_INTERVAL:
        *(struct result_interval *)place_of(f, into) = (struct result_interval){NAN, NAN};
        break;
    case IS_OBJECT:
    case IS_LOOSE_OBJECT:
        result_clear(f->inner, place_of(f, into));
        break;
    case IS_COUNT:
    case IS_SIZE:
    case IS_INDEX:
    case IS_TIME:
    case IS_SPAN:
    case IS_AMOUNT:
    case IS_SHARE:
    case IS_SPEEDUP:
    case IS_FIGURE:
        *(double *)place_of(f, into) = NAN;
        break;
    default:
        break;
    }
}

void result_clear(const struct field *fields, void *into)
{
    for (const struct field *f = fields; f->key; f++)
        clear_field(f, into);
}

/* ---- values ---- */

static int read_text(struct json_at at, const struct field *f, void *into, struct error *err)
{
    if (!cJSON_IsString(at.node))
        return f->kind == IS_LOOSE_TEXT ? 0 : json_expected(at, err, "a string");
    store_pointer(f, into, at.node->valuestring);
    return 0;
}

static int read_name(struct json_at at, const struct field *f, void *into, struct error *err)
{
    const char *text;
    if (json_read_string(at, &text, err))
        return err->code;
    store_pointer(f, into, text);
    return 0;
}

/* An empty one is none, as if it were not there. */
static int read_choice(struct json_at at, const char *const names[], int *out, struct error *err)
{
    bool empty = cJSON_IsString(at.node) && at.node->valuestring[0] == '\0';
    return empty ? 0 : json_read_choice(at, names, out, err);
}

static int read_timing(struct json_at at, enum timing *out, struct error *err)
{
    int index = TIMING_COUNT;
    int code = read_choice(at, timing_names, &index, err);
    *out = (enum timing)index;
    return code;
}

static int read_role(struct json_at at, enum result_role *out, struct error *err)
{
    int index = RESULT_ROLE_COUNT;
    int code = read_choice(at, result_role_names, &index, err);
    *out = (enum result_role)index;
    return code;
}

static int read_answer(struct json_at at, enum result_answer *out, struct error *err)
{
    bool flag = false;
    int code = json_read_bool(at, &flag, err);
    *out = flag ? ANSWER_YES : ANSWER_NO;
    return code;
}

static int read_whole(struct json_at at, int64_t least, double *out, struct error *err)
{
    int64_t whole = 0;
    int code = json_read_int(at, least, least < 0 ? INT32_MAX : COUNT_MAX, &whole, err);
    *out = (double)whole;
    return code;
}

static int read_figure(struct json_at at, enum field_kind kind, double *out, struct error *err)
{
    return cJSON_IsNull(at.node) ? 0 : json_read_number(at, ranges[kind].low, ranges[kind].high, out, err);
}

static int read_interval(struct json_at at, struct result_interval *out, struct error *err)
{
    const cJSON *low = cJSON_IsArray(at.node) ? at.node->child : NULL;
    const cJSON *high = low ? low->next : NULL;
    struct result_interval ends = {NAN, NAN};
    if (cJSON_IsNull(at.node))
        return 0;
    if (!high || high->next)
        return json_expected(at, err, "two numbers, the lower end and the upper one");
    if (read_figure(json_element(at, 0), IS_FIGURE, &ends.low, err) ||
        read_figure(json_element(at, 1), IS_FIGURE, &ends.high, err))
        return err->code;
    if (ends.low > ends.high)
        return json_fail(at, err, "expected the lower end first, found [%.15g, %.15g]", ends.low, ends.high);
    if (!isnan(ends.low) && !isnan(ends.high))
        *out = ends;
    return 0;
}

/* ---- what holds others ---- */

/* Room for as many elements as the list has; it is the struct's from here on. */
static char *make_list(struct json_at at, const struct field *f, size_t size, void *into, struct error *err)
{
    size_t n = (size_t)cJSON_GetArraySize(at.node);
    char *list = calloc(n + 1, size);
    if (!list) {
        error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", at.source);
        return NULL;
    }
    store_pointer(f, into, list);
    memcpy((char *)into + f->count, &n, sizeof n);
    return list;
}

static int read_list(struct json_at at, const struct field *f, void *into, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index;
    if (json_read_array(at, 0, &index, err))
        return err->code;
    char *list = make_list(at, f, f->size, into, err);
    int code = list ? 0 : err->code;
    for (; code == 0 && json_each(at, &node, &index, &element); list += f->size) {
        result_clear(f->inner, list);
        code = result_read_struct(element, f->inner, list, err);
    }
    return code;
}

static bool is_named(const struct field *fields, const char *key)
{
    for (const struct field *f = fields; f->key; f++)
        if (f->key[0] && strcmp(f->key, key) == 0)
            return true;
    return false;
}

/* Objects by name: all, or those that no field in `fields` names. */
static int read_map(struct json_at at, const struct field *fields, const struct field *f, void *into, struct error *err)
{
    size_t n = 0;
    if (!cJSON_IsObject(at.node))
        return json_expected(at, err, "an object");
    char *list = make_list(at, f, f->size, into, err);
    int code = list ? 0 : err->code;
    for (const cJSON *item = at.node->child; item && code == 0; item = item->next) {
        if (fields && is_named(fields, item->string))
            continue;
        struct json_at element = json_member(at, item->string);
        result_clear(f->inner, list);
        code = result_read_struct(element, f->inner, list, err);
        list += f->size;
        n++;
    }
    if (code == 0)
        memcpy((char *)into + f->count, &n, sizeof n);
    return code;
}

static int read_texts(struct json_at at, const struct field *f, void *into, struct error *err)
{
    const struct field text = {.kind = IS_TEXT};
    const cJSON *node = NULL;
    struct json_at element;
    int index;
    if (json_read_array(at, 0, &index, err))
        return err->code;
    char *list = make_list(at, f, sizeof(const char *), into, err);
    int code = list ? 0 : err->code;
    for (; code == 0 && json_each(at, &node, &index, &element); list += sizeof(const char *))
        code = read_text(element, &text, list, err);
    return code;
}

/* Members of an object, of any kind: all, or those that no field in `fields` names. */
static int read_members(struct json_at at, const struct field *fields, const struct field *f, void *into,
                        struct error *err)
{
    size_t n = 0;
    if (!cJSON_IsObject(at.node))
        return json_expected(at, err, "an object");
    struct result_member *list = (struct result_member *)(void *)make_list(at, f, sizeof *list, into, err);
    if (!list)
        return err->code;
    for (const cJSON *item = at.node->child; item; item = item->next)
        if (!fields || !is_named(fields, item->string))
            list[n++] = (struct result_member){item->string, item};
    memcpy((char *)into + f->count, &n, sizeof n);
    return 0;
}

static int read_node(struct json_at at, const struct field *f, void *into, struct error *err)
{
    if (f->kind == IS_TREE && !cJSON_IsObject(at.node))
        return json_expected(at, err, "an object");
    if (f->kind == IS_ARRAY && !cJSON_IsArray(at.node))
        return json_expected(at, err, "an array");
    store_pointer(f, into, at.node);
    return 0;
}

static int read_value(struct json_at at, const struct field *f, void *into, struct error *err)
{
    void *place = place_of(f, into);
    switch (f->kind) {
    case IS_TEXT:
    case IS_LOOSE_TEXT:
        return read_text(at, f, into, err);
    case IS_NAME:
        return read_name(at, f, into, err);
    case IS_TIMING:
        return read_timing(at, place, err);
    case IS_ROLE:
        return read_role(at, place, err);
    case IS_FLAG:
        return json_read_bool(at, place, err);
    case IS_ANSWER:
        return read_answer(at, place, err);
    case IS_COUNT:
        return read_whole(at, 0, place, err);
    case IS_SIZE:
        return read_whole(at, 1, place, err);
    case IS_INDEX:
        return read_whole(at, -1, place, err);
    case IS_INTERVAL:
        return read_interval(at, place, err);
    case IS_OBJECT:
        return cJSON_IsNull(at.node) && !f->needed ? 0 : result_read_struct(at, f->inner, place, err);
    case IS_LOOSE_OBJECT:
        return cJSON_IsObject(at.node) ? result_read_struct(at, f->inner, place, err) : 0;
    case IS_LIST:
        return read_list(at, f, into, err);
    case IS_MAP:
        return read_map(at, NULL, f, into, err);
    case IS_MEMBERS:
        return read_members(at, NULL, f, into, err);
    case IS_TEXTS:
        return read_texts(at, f, into, err);
    case IS_NODE:
    case IS_TREE:
    case IS_ARRAY:
        return read_node(at, f, into, err);
    default:
        return read_figure(at, f->kind, place, err);
    }
}

/* `fields`: of the whole struct. A path is made only where there is something to look at: a large result has a million
 * members. */
static int read_field(struct json_at object, const struct field *fields, const struct field *f, void *into,
                      struct error *err)
{
    if (f->kind == IS_SELF)
        store_pointer(f, into, object.node);
    else if (f->kind == IS_OWN_KEY)
        store_pointer(f, into, object.node->string);
    else if (f->kind == IS_OTHER_OBJECTS)
        return read_map(object, fields, f, into, err);
    else if (f->kind == IS_OTHER_MEMBERS)
        return read_members(object, fields, f, into, err);
    else if (f->kind == IS_NAMED)
        return 0;
    else if (f->needed || tree_member(object.node, f->key))
        return read_value(json_member(object, f->key), f, into, err);
    return 0;
}

int result_read_struct(struct json_at at, const struct field *fields, void *into, struct error *err)
{
    int code = cJSON_IsObject(at.node) ? 0 : json_expected(at, err, "an object");
    for (const struct field *f = fields; f->key && code == 0; f++)
        code = read_field(at, fields, f, into, err);
    return code;
}

static bool is_list(enum field_kind kind)
{
    return kind >= IS_LIST && kind <= IS_OTHER_MEMBERS;
}

void result_free_lists(const struct field *fields, void *into)
{
    for (const struct field *f = fields; f->key; f++) {
        if (f->kind == IS_OBJECT)
            result_free_lists(f->inner, place_of(f, into));
        if (!is_list(f->kind) || !pointer_at(f, into))
            continue;
        char *elements = (char *)(uintptr_t)pointer_at(f, into);
        for (size_t i = 0; f->inner && i < count_at(f, into); i++)
            result_free_lists(f->inner, elements + i * f->size);
        free(elements);
        store_pointer(f, into, NULL);
    }
}

/* ---- a result ---- */

static int finish_cell(struct result_cell *cell, bool thin, struct error *err)
{
    cell->outcome = cell_status_of(cell->status);
    for (size_t i = 0; i < cell->n_contenders; i++)
        cell->contenders[i].verdict = verdict_of(cell->contenders[i].status);
    if (thin && !thin_widen(cell))
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a cell of the result");
    return 0;
}

static int fill(struct result *r, const char *source, struct error *err)
{
    result_clear(result_fields, r);
    int code = result_read_struct(json_root(r->json, source), result_fields, r, err);
    for (size_t i = 0; i < r->n_cells && code == 0; i++)
        code = finish_cell(&r->cells[i], r->thin, err);
    return code;
}

int result_open(cJSON *json, const char *source, bool thin, struct result **out, struct error *err)
{
    struct result *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r) {
        cJSON_Delete(json);
        return error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", source);
    }
    r->json = json;
    r->thin = thin;
    int code = fill(r, source, err);
    if (code)
        result_free(r);
    else
        *out = r;
    return code;
}

/* Cells, starts and runs of several are copies of theirs, and hold nothing of their own. */
static void free_parts(struct result *r)
{
    for (size_t i = 0; i < r->n_parts; i++)
        result_free(r->parts[i]);
    r->n_cells = r->n_env = r->n_runs = 0;
    free((void *)r->parts);
}

void result_free(struct result *r)
{
    if (!r)
        return;
    if (r->parts)
        free_parts(r);
    result_free_lists(result_fields, r);
    cJSON_Delete(r->json);
    free(r);
}

int result_read_cells(const cJSON *array, const char *source, struct result_cells *out, struct error *err)
{
    *out = (struct result_cells){NULL, 0};
    int code = read_list(json_root(array, source), result_cells_fields, out, err);
    for (size_t i = 0; i < out->n && code == 0; i++)
        code = finish_cell(&out->list[i], false, err);
    return code;
}

void result_free_cells(struct result_cells *cells)
{
    result_free_lists(result_cells_fields, cells);
    *cells = (struct result_cells){NULL, 0};
}

void result_free_summary(struct result_summary *s)
{
    result_free_lists(result_summary_fields, s);
}

int result_make_plain(struct result *r, struct error *err)
{
    if (plain_tree_is(r->json))
        return 0;
    result_free_lists(result_fields, r);
    struct result again = {.json = r->json, .thin = r->thin};
    *r = again;
    if (!plain_tree_make(r->json))
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the result");
    return fill(r, "the result", err);
}
