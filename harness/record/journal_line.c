/*
 * journal_line.c - prints and parses one line with its CRC. Relies on base/digest.h. Called by journal.c and by the
 * fuzz target.
 */
#include "record/journal_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "record/journal.h"

#define HEAD "{\"crc\":\""
#define HEAD_LENGTH 8
#define CRC_LENGTH 8
#define CRC_TAIL "\",\"kind\":\""
#define BODY_AT (HEAD_LENGTH + CRC_LENGTH + 2) /* of "kind", where the checksum begins */
#define DATA_KEY "\",\"data\":"

int journal_line_print(struct text *out, const char *kind, const cJSON *data, struct error *err)
{
    struct text body = {0};
    char *printed = json_print(data, false);
    if (printed)
        text_add(&body, "\"kind\":\"%s" DATA_KEY, kind);
    if (printed)
        text_add_bytes(&body, printed, strlen(printed));
    text_add(&body, "}");
    free(printed);
    if (printed && !body.failed) {
        text_add(out, HEAD "%08" PRIx32 "\",", digest_crc32(body.bytes, body.length));
        text_add_bytes(out, body.bytes, body.length);
        text_add(out, "\n");
    }
    bool failed = !printed || body.failed || out->failed;
    size_t length = body.length;
    text_free(&body);
    if (failed)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a journal line");
    if (length + BODY_AT > JOURNAL_MAX_LINE)
        return error_set(err, EXIT_CODE_INTERNAL, "journal line of %zu bytes, the limit is %u", length,
                         JOURNAL_MAX_LINE);
    return 0;
}

static bool has_head(const char *line, size_t length)
{
    return length > BODY_AT && memcmp(line, HEAD, HEAD_LENGTH) == 0 &&
           strspn(line + HEAD_LENGTH, "0123456789abcdef") == CRC_LENGTH &&
           length > HEAD_LENGTH + CRC_LENGTH + strlen(CRC_TAIL) &&
           memcmp(line + HEAD_LENGTH + CRC_LENGTH, CRC_TAIL, strlen(CRC_TAIL)) == 0;
}

bool journal_line_is_kind(const char *line, size_t length, const char *kind)
{
    size_t at = HEAD_LENGTH + CRC_LENGTH + strlen(CRC_TAIL), n = strlen(kind);
    return has_head(line, length) && length > at + n && memcmp(line + at, kind, n) == 0 && line[at + n] == '"';
}

bool journal_line_is_merged(const char *line, size_t length)
{
    for (size_t i = 1; i + BODY_AT < length; i++)
        if (line[i] == '{' && has_head(line + i, length - i))
            return true;
    return false;
}

static bool crc_is_right(const char *line, size_t length)
{
    char expected[CRC_LENGTH + 1];
    snprintf(expected, sizeof expected, "%08" PRIx32, digest_crc32(line + BODY_AT, length - BODY_AT));
    return memcmp(line + HEAD_LENGTH, expected, CRC_LENGTH) == 0;
}

int journal_line_parse(const char *line, size_t length, const char *source, struct journal_line *out, struct error *err)
{
    static const char *const keys[] = {"crc", "kind", "data", NULL};
    if (!has_head(line, length))
        return error_set(err, EXIT_CODE_DATA, "%s: not a journal line", source);
    if (!crc_is_right(line, length))
        return error_set(err, EXIT_CODE_DATA, "%s: checksum does not match", source);
    if (json_parse_line(line, length, JOURNAL_MAX_LINE, source, &out->tree, err))
        return err->code;
    struct json_at root = json_root(out->tree, source);
    int code = json_only_keys(root, keys, err);
    if (code == 0)
        code = json_read_string(json_member(root, "kind"), &out->kind, err);
    out->data = json_root(json_member(root, "data").node, source);
    if (code == 0 && !cJSON_IsObject(out->data.node))
        code = json_fail(json_member(root, "data"), err, "expected an object");
    if (code != 0)
        cJSON_Delete(out->tree);
    return code;
}
