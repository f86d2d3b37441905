/*
 * gzip_read.c - unpacks gzip members by zlib into memory, with a cap on the size. Which files are compressed their
 * first bytes say. Called by the readers of journals, results and published CSV files.
 */
#include "base/gzip_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/file.h"

#define FIRST_ROOM 65536u
#define GZIP_ONLY (16 + MAX_WBITS) /* no zlib streams, no raw ones */

struct output {
    char *bytes;
    size_t used, capacity, most; /* capacity leaves one byte for the NUL */
};

bool gzip_is(const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    return length >= 2 && b[0] == 0x1f && b[1] == 0x8b;
}

static const char *grow(struct output *out)
{
    size_t wanted = 2 * out->capacity;
    if (out->capacity == out->most)
        return "it unpacks to more than the limit";
    if (wanted > out->most)
        wanted = out->most;
    char *grown = realloc(out->bytes, wanted + 1);
    if (grown == NULL)
        return "";
    out->bytes = grown;
    out->capacity = wanted;
    return NULL;
}

/* A full buffer may hold exactly all of it: one byte beside it tells whether more would come. */
static int inflate_some(z_stream *z, struct output *out)
{
    Bytef spare = 0;
    bool full = out->used == out->capacity;
    size_t room = full ? 1 : out->capacity - out->used;
    z->next_out = full ? &spare : (Bytef *)out->bytes + out->used;
    z->avail_out = room > UINT_MAX ? UINT_MAX : (uInt)room;
    uInt before = z->avail_out;
    int status = inflate(z, Z_NO_FLUSH);
    if (full && z->avail_out == 0)
        return Z_BUF_ERROR;
    out->used += before - z->avail_out;
    return status;
}

/* NULL when all of the input has been unpacked, "" out of memory, else what is wrong with it. */
static const char *unpack(z_stream *z, struct output *out)
{
    for (;;) {
        const char *problem = out->used == out->capacity && out->capacity < out->most ? grow(out) : NULL;
        if (problem != NULL)
            return problem;
        int status = inflate_some(z, out);
        if (status == Z_STREAM_END && z->avail_in == 0)
            return NULL;
        if (status == Z_STREAM_END) /* another member */
            status = inflateReset(z);
        else if (status == Z_BUF_ERROR && out->used == out->capacity && z->avail_out == 0)
            return "it unpacks to more than the limit";
        else if (status == Z_BUF_ERROR || (status == Z_OK && z->avail_in == 0 && z->avail_out > 0))
            return "the gzip file is cut short";
        if (status == Z_MEM_ERROR)
            return "";
        if (status != Z_OK)
            return z->msg != NULL ? z->msg : "it is damaged";
    }
}

int gzip_read(const struct gzip_input *input, char **bytes, size_t *length, struct error *err)
{
    z_stream z = {.next_in = input->bytes, .avail_in = (uInt)input->length};
    size_t room = input->max_bytes < FIRST_ROOM ? input->max_bytes : FIRST_ROOM;
    struct output out = {.bytes = malloc(room + 1), .capacity = room, .most = input->max_bytes};
    const char *problem = input->length > UINT_MAX ? "it is larger than 4 GiB" : NULL;
    *bytes = NULL;
    bool ready = out.bytes != NULL && inflateInit2(&z, GZIP_ONLY) == Z_OK;
    if (problem == NULL)
        problem = ready ? unpack(&z, &out) : "";
    int code = 0;
    if (problem == NULL) {
        out.bytes[out.used] = '\0';
        *bytes = out.bytes;
        *length = out.used;
    } else if (problem[0] == '\0') {
        code = error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory to unpack it", input->source);
    } else {
        code = error_set(err, EXIT_CODE_DATA, "%s: cannot be unpacked: %s", input->source, problem);
    }
    if (ready)
        inflateEnd(&z);
    if (code != 0)
        free(out.bytes);
    return code;
}

int gzip_read_file(const char *path, size_t max_bytes, char **bytes, size_t *length, struct error *err)
{
    if (file_read(path, max_bytes, bytes, length, err))
        return err->code;
    if (!gzip_is(*bytes, *length))
        return 0;
    char *packed = *bytes;
    const struct gzip_input input = {path, packed, *length, max_bytes};
    *bytes = NULL;
    int code = gzip_read(&input, bytes, length, err);
    free(packed);
    return code;
}
