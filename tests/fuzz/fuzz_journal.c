/*
 * fuzz_journal.c - libFuzzer entry: a file of arbitrary bytes is read as a journal, and once more with every line's
 * checksum put right, so that what lies behind the checksum is reached too. A result made of it prints and is JSON.
 * Seeds are in corpus/journal.
 */
#include "base/digest.h"
#include "base/text.h"
#include "result/journal.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

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

static void read_as_journal(const void *bytes, size_t size)
{
    char path[64];
    struct error err = {0};
    cJSON *result = NULL;
    bool torn;
    int fd = memfd_create("journal", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int code = journal_read(path, NULL, NULL, &torn, &err);
    require(code == 0 || code == EXIT_CODE_DATA);
    if (result_from_journal(path, &result, &err) == 0) {
        require(code == 0);
        check_result(result);
        cJSON_Delete(result);
    }
    close(fd);
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
    read_as_journal(data, size);
    read_with_right_sums((const char *)data, size);
    return 0;
}
