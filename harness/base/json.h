/*
 * json.h - strict JSON on top of cJSON: size and depth caps, no duplicate keys, no trailing junk, no numbers that
 * lose value, and typed access whose errors name file and JSON path ("configs/x.json: $.grid.m[3]: ...").
 */
#ifndef CUDAL2_BASE_JSON_H
#define CUDAL2_BASE_JSON_H

#include "base/error.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_MAX_DEPTH 32

/* Parses exactly `length` bytes. Refuses: more than max_bytes, depth > JSON_MAX_DEPTH, duplicate or case-clashing
 * keys, anything after the value, numbers that JSON forbids (01, 1e400, NaN). `source` names it in errors.
 * *out is owned by the caller (cJSON_Delete). EXIT_CODE_DATA on bad text. */
int json_parse(const char *text, size_t length, size_t max_bytes, const char *source, cJSON **out, struct error *err);

/* The same for one line of a file. `source` names the line too ("x.jsonl: line 4"), so an error of syntax adds the
 * column alone. */
int json_parse_line(const char *text, size_t length, size_t max_bytes, const char *source, cJSON **out,
                    struct error *err);

/* Reads and parses a regular file of at most max_bytes. EXIT_CODE_DATA if unreadable, empty, too large or bad. */
int json_read_file(const char *path, size_t max_bytes, cJSON **out, struct error *err);

/* Text of a tree, owned by the caller (free). Numbers are written with as few digits as give the same double back.
 * formatted: indented by two, arrays of plain values on one line. NaN and infinities, a programming error
 * (json_number() below turns them into null), are written as null. NULL when out of memory. */
char *json_print(const cJSON *node, bool formatted);

/* The same, formatted, as a line or lines behind what `out` has; failed also when there is no node. */
void json_add(struct text *out, const cJSON *node);

/* A node, and where it stands. Passed by value. */
struct json_at {
    const cJSON *node;
    const char *source;
    char path[192];
};

struct json_at json_root(const cJSON *node, const char *source);
/* Member or element; .node is NULL when absent. Key comparison is case-sensitive. */
struct json_at json_member(struct json_at at, const char *key);
struct json_at json_element(struct json_at at, int index);
/* Walks an array in linear time (json_element is linear for each call): `*node` starts NULL and `*index` is ignored
 * then; false at the end. */
bool json_each(struct json_at array, const cJSON **node, int *index, struct json_at *element);

/* Fails with "source: path: unknown key "x" (did you mean y?)", or "(expected a, b, c)" where none is near, unless
 * every key of the object is in keys[] (NULL-terminated). Also fails when `at` is not an object. */
int json_only_keys(struct json_at at, const char *const keys[], struct error *err);

/* The next member behind *key (NULL: from the first) that is not in keys[]: *key is it, and *err says so as above; 0
 * and NULL when there is none left. `at` is an object. */
int json_unknown_key(struct json_at at, const char *const keys[], const cJSON **key, struct error *err);

/* What such a file is: `schema` of this name, `schema_version` this one, then json_only_keys. In this order, so that
 * another file of ours is told as that and not by the first of its keys. */
int json_read_head(struct json_at root, const char *schema, int version, const char *const keys[], struct error *err);

/* Typed readers of one node; absent nodes are errors ("... is missing"). Ranges are inclusive. */
int json_read_int(struct json_at at, int64_t low, int64_t high, int64_t *out, struct error *err);
int json_read_number(struct json_at at, double low, double high, double *out, struct error *err);
int json_read_bool(struct json_at at, bool *out, struct error *err);
/* Points into the tree; non-empty. */
int json_read_string(struct json_at at, const char **out, struct error *err);
/* Index of the string in names[] (NULL-terminated); the error lists what was expected. */
int json_read_choice(struct json_at at, const char *const names[], int *out, struct error *err);
/* Number of elements; fails when not an array or fewer than minimum. */
int json_read_array(struct json_at at, int minimum, int *count, struct error *err);

/* Fails at this place: EXIT_CODE_DATA, "source: path: <message>". */
int json_fail(struct json_at at, struct error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The one form of a typed reader's complaint: "source: path: expected <what>, found <this>", or "is missing". */
int json_expected(struct json_at at, struct error *err, const char *what);

/* Writers: a number node, or null for NaN and infinities; a 64-bit unsigned as a decimal string (seeds). */
cJSON *json_number(double value);
void json_put_number(cJSON *object, const char *key, double value);
void json_put_u64(cJSON *object, const char *key, uint64_t value);
/* Reads a u64 written by json_put_u64, or a non-negative integer below 2^53. */
int json_read_u64(struct json_at at, uint64_t *out, struct error *err);

#endif
