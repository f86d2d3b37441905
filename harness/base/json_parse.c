/*
 * json_parse.c - text to a tree, with what our files may not have refused: size, encoding, numbers, repeated keys.
 * Relies on cJSON, json_scan.c and json_keys.c. Called by whoever reads JSON.
 */
#include "base/json.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/plain_locale.h"

#include <stdlib.h>
#include <string.h>

/* A file of nothing but its line end is empty to who looks at it. */
static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0' || !strchr(" \t\r\n", text[i]))
            return false;
    return true;
}

static int refuse_long(size_t length, size_t max_bytes, const char *source, struct error *err)
{
    if (length <= max_bytes)
        return 0;
    return error_set(err, EXIT_CODE_DATA, "%s: %zu bytes, the limit is %zu", source, length, max_bytes);
}

#define UTF8_MARK "\xef\xbb\xbf" /* what some editors write in front of a text; it means nothing there */

static bool is_utf16(const char *text, size_t length)
{
    return length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

/* *root is NULL with 0 when memory is out: the scan is stricter than cJSON, so that no other cause is left. */
static int scan_and_build(const char *text, size_t length, struct json_origin origin, cJSON **root, struct error *err)
{
    locale_t before = plain_locale_enter();
    int code = json_scan(text, length, origin, err);
    *root = code ? NULL : cJSON_ParseWithLength(text, length);
    plain_locale_leave(before);
    return code;
}

static int parse(const char *text, size_t length, struct json_origin origin, cJSON **out, struct error *err)
{
    const char *source = origin.source;
    size_t mark = length >= strlen(UTF8_MARK) && memcmp(text, UTF8_MARK, strlen(UTF8_MARK)) == 0 ? 3 : 0;
    cJSON *root;
    text += mark;
    length -= mark;
    if (is_utf16(text, length))
        return error_set(err, EXIT_CODE_DATA, "%s: the text is UTF-16: save it as UTF-8", source);
    if (is_blank(text, length))
        return error_set(err, EXIT_CODE_DATA, "%s: empty", source);
    if (scan_and_build(text, length, origin, &root, err))
        return err->code;
    if (!root)
        return error_set(err, EXIT_CODE_INTERNAL, "%s: no memory to parse %zu bytes", source, length);
    if (json_check_keys(root, source, err)) {
        cJSON_Delete(root);
        return err->code;
    }
    *out = root;
    return 0;
}

int json_parse(const char *text, size_t length, size_t max_bytes, const char *source, cJSON **out, struct error *err)
{
    if (refuse_long(length, max_bytes, source, err))
        return err->code;
    return parse(text, length, (struct json_origin){source, false}, out, err);
}

int json_parse_line(const char *text, size_t length, size_t max_bytes, const char *source, cJSON **out,
                    struct error *err)
{
    if (refuse_long(length, max_bytes, source, err))
        return err->code;
    return parse(text, length, (struct json_origin){source, true}, out, err);
}

int json_read_file(const char *path, size_t max_bytes, cJSON **out, struct error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    if (file_read(path, max_bytes, &bytes, &length, err))
        return err->code;
    int code = json_parse(bytes, length, max_bytes, path, out, err);
    free(bytes);
    return code;
}
