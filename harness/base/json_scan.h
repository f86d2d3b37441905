/*
 * json_scan.h - the strict half of json.h: RFC 8259 syntax and what cJSON lets through, checked on the text
 * (json_scan.c) and on the parsed tree (json_keys.c). Used by json.c and json_parse.c.
 */
#ifndef CUDAL2_BASE_JSON_SCAN_H
#define CUDAL2_BASE_JSON_SCAN_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Where a text comes from: a file by name, or one line of it by name and line ("x.jsonl: line 4"). */
struct json_origin {
    const char *source;
    bool is_line;
};

/* Checks that text[0..length) is one JSON value and nothing else: depth, number grammar and range, UTF-8, escapes.
 * EXIT_CODE_DATA with "source: line n, column n: what is wrong", of a line "source, column n: what is wrong". */
int json_scan(const char *text, size_t length, struct json_origin origin, struct error *err);

/* Refuses objects with two keys that are equal, or differ only in case (cJSON's lookups would confuse them).
 * EXIT_CODE_DATA with "source: path: ...". */
int json_check_keys(const cJSON *root, const char *source, struct error *err);

/* Text of a file, made safe to show: control characters become '?', at most 60 bytes, cut between characters. Returns
 * `out`, which holds JSON_SHOWN_MAX bytes. */
#define JSON_SHOWN_MAX 64
const char *json_shown(const char *text, char *out);

#endif
