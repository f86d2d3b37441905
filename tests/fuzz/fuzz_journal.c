/*
 * fuzz_journal.c - bytes are read as a journal, and those behind a first byte of '+' with every line's checksum put
 * right, so that what lies behind the checksum is reached too. A result made of it prints and is JSON. Its first line
 * is also read as that of a shard.
 */
#include "fuzz.h"

#include "base/digest.h"
#include "base/text.h"
#include "record/journal.h"
#include "result/make.h"
#include "run/shard_record.h"

#include <inttypes.h>

/* Printing costs more than all else together: every so many results, by their content. */
#define CHECKED 8

static void check_result(const cJSON *result)
{
    struct error err = {0};
    cJSON *back = NULL;
    char *text = result_print(result);
    require(text != NULL);
    require(json_parse(text, strlen(text), RESULT_FILE_MAX_BYTES, "result", &back, &err) == 0);
    cJSON_Delete(back);
    free(text);
}

static int visit_run(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct shard_head head;
    bool is_shard;
    (void)context;
    (void)kind;
    if (shard_record_read(data, &is_shard, &head, err)) {
        require_refusal(err->code, err);
        return err->code;
    }
    require(!is_shard || head.shard.index < head.shard.count);
    require(!is_shard || (size_t)cJSON_GetArraySize(head.places) == head.n_cells);
    return 0;
}

static void read_as_shard(const struct journal_text *text)
{
    const struct journal_filter run = {"run", visit_run, NULL};
    struct error ignored = {0};
    (void)journal_parse_kind(text, &run, &ignored);
}

static void read_as_journal(const char *bytes, size_t size)
{
    const struct journal_text text = {"fuzz", bytes, size};
    read_as_shard(&text);
    struct error err = {0};
    cJSON *result = NULL;
    int code = result_json_from_text(&text, &result, &err);
    if (code) {
        require_refusal(code, &err);
        return;
    }
    if (digest_crc32(bytes, size) % CHECKED == 0)
        check_result(result);
    cJSON_Delete(result);
}

/* Each line becomes {"crc":"<right>",<line>. */
static void read_with_right_sums(const char *bytes, size_t size)
{
    struct text text = {0};
    while (size > 0) {
        const char *newline = memchr(bytes, '\n', size);
        size_t length = newline ? (size_t)(newline - bytes) : size;
        text_add(&text, "{\"crc\":\"%08" PRIx32 "\",", digest_crc32(bytes, length));
        text_add_bytes(&text, bytes, length);
        text_add(&text, "\n");
        bytes += newline ? length + 1 : length;
        size -= newline ? length + 1 : length;
    }
    if (!text.failed && text.length > 0)
        read_as_journal(text.bytes, text.length);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    if (size > 0 && bytes[0] == '+')
        read_with_right_sums(bytes + 1, size - 1);
    else
        read_as_journal(bytes, size);
    return 0;
}
