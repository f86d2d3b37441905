/*
 * json_print.c - the printer of json.h. cJSON's own would do but for numbers: it calls two doubles equal that differ in
 * the last bit, so that a value read back need not be the value written. Called by everything that writes JSON:
 * record/, result/, report/ and the commands.
 */
#include "base/json.h"
#include "base/plain.h"
#include "base/plain_locale.h"
#include "base/text.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_number(struct text *out, double value)
{
    char digits[32];
    if (fabs(value) <= 0x1p53 && value == floor(value)) {
        text_add(out, "%" PRId64, (int64_t)value);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) { /* 17 digits always give the double back */
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (precision == 17 || strtod(digits, NULL) == value)
            break;
    }
    text_add(out, "%s", digits);
    if (!strpbrk(digits, ".e")) /* would read as an integer that a double cannot be trusted with */
        text_add(out, ".0");
}

/* What does harm to a terminal or a reader is legal in JSON, and need not be seen there. */
static void add_escaped(struct text *out, uint32_t c)
{
    static const char letters[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};
    if (c < sizeof letters && letters[c])
        text_add(out, "\\%c", letters[c]);
    else if (c <= 0xffff)
        text_add(out, "\\u%04x", (unsigned)c);
    else
        text_add(out, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)), (unsigned)(0xdc00 | (c & 0x3ff)));
}

static void add_string(struct text *out, const char *string)
{
    const char *plain = string; /* what needs no escape is copied in one go */
    const char *end = string + strlen(string);
    text_add_bytes(out, "\"", 1);
    while (string < end) {
        size_t left = (size_t)(end - string), length = plain_length(string, left);
        if (length > 0 && *string != '"' && *string != '\\') {
            string += length;
            continue;
        }
        text_add_bytes(out, plain, (size_t)(string - plain));
        uint32_t code = utf8_code(string, left, &length);
        if (length > 0)
            add_escaped(out, code);
        else
            text_add(out, UTF8_REPLACEMENT);
        string += length > 0 ? length : 1;
        plain = string;
    }
    text_add_bytes(out, plain, (size_t)(string - plain));
    text_add_bytes(out, "\"", 1);
}

static bool is_container(const cJSON *node)
{
    return cJSON_IsArray(node) || cJSON_IsObject(node);
}

/* Arrays of plain values stay on one line: one value a line would make a result unreadable. */
static bool stays_on_line(const cJSON *node)
{
    if (!cJSON_IsArray(node))
        return !node->child;
    for (const cJSON *c = node->child; c; c = c->next) {
        if (is_container(c))
            return false;
    }
    return true;
}

static void add_line(struct text *out, int indent)
{
    text_add(out, "\n%*s", 2 * indent, "");
}

/* indent < 0: everything on one line, without spaces. */
static void add_node(struct text *out, const cJSON *node, int indent);

static void add_container(struct text *out, const cJSON *node, int indent)
{
    bool object = cJSON_IsObject(node);
    bool lines = indent >= 0 && !stays_on_line(node);
    text_add_bytes(out, object ? "{" : "[", 1);
    for (const cJSON *c = node->child; c; c = c->next) {
        if (lines)
            add_line(out, indent + 1);
        if (object) {
            add_string(out, c->string);
            text_add(out, indent >= 0 ? ": " : ":");
        }
        add_node(out, c, indent < 0 ? -1 : indent + 1);
        if (c->next)
            text_add(out, indent >= 0 && !lines ? ", " : ",");
    }
    if (lines)
        add_line(out, indent);
    text_add_bytes(out, object ? "}" : "]", 1);
}

static void add_node(struct text *out, const cJSON *node, int indent)
{
    if (is_container(node))
        add_container(out, node, indent);
    else if (cJSON_IsString(node))
        add_string(out, node->valuestring);
    else if (cJSON_IsNumber(node) && isfinite(node->valuedouble))
        add_number(out, node->valuedouble);
    else if (cJSON_IsBool(node))
        text_add(out, cJSON_IsTrue(node) ? "true" : "false");
    else if (cJSON_IsRaw(node))
        text_add(out, "%s", node->valuestring);
    else
        text_add(out, "null");
}

/* A comma in a number would be read as the end of it. */
static void add_plainly(struct text *out, const cJSON *node, int indent)
{
    locale_t before = plain_locale_enter();
    add_node(out, node, indent);
    plain_locale_leave(before);
}

void json_add(struct text *out, const cJSON *node)
{
    if (node) {
        add_plainly(out, node, 0);
        text_add(out, "\n");
    } else {
        out->failed = true;
    }
}

char *json_print(const cJSON *node, bool formatted)
{
    struct text out = {0};
    add_plainly(&out, node, formatted ? 0 : -1);
    if (out.failed)
        text_free(&out);
    return out.bytes;
}
