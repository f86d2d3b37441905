/*
 * fuzz_gzip_read.c - bytes are unpacked as gzip; those behind a first byte of '+' as a deflate stream in a member of
 * its own, since no check of the input's own would let random bytes past the header.
 */
#include "fuzz.h"

#include "base/gzip_read.h"

#define MAX_BYTES 65536u

static void unpack(const void *bytes, size_t size)
{
    struct error err = {0};
    char *out = NULL;
    size_t length = 0;
    const struct gzip_input input = {"fuzz", bytes, size, MAX_BYTES};
    int code = gzip_read(&input, &out, &length, &err);
    if (code) {
        require_refusal(code, &err);
        return;
    }
    require(length <= MAX_BYTES && out[length] == '\0');
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    if (size == 0 || data[0] != '+') {
        unpack(data, size);
        return 0;
    }
    uint8_t *member = malloc(sizeof head + size);
    require(member != NULL);
    memcpy(member, head, sizeof head);
    memcpy(member + sizeof head, data + 1, size - 1);
    unpack(member, sizeof head + size - 1);
    free(member);
    return 0;
}
