/*
 * fatbin.c - walks the parts of a fat binary, as nvcc 11 to 13 write it, and takes the best for a GPU. Every size is
 * checked against what is left before it is used. Relies on unpack.h. Called by binary.c.
 */
#include "compile/fatbin.h"

#include "compile/unpack.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0xba55ed50u
#define HEADER 16u
#define PART_HEADER 64u
#define KIND_PTX 1u
#define KIND_CUBIN 2u
#define FLAG_ALONE 0x100000u
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u

struct part {
    const unsigned char *bytes;
    size_t length;   /* in the file, padding included */
    size_t packed;   /* of these, what is packed; 0: it is not */
    size_t unpacked; /* how long it is then */
    unsigned kind;
    int cc;
    bool alone; /* sm_90a, not sm_90 */
    uint64_t flags;
};

static uint64_t number(const unsigned char *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = size; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static int cut_off(struct error *err)
{
    return error_set(err, EXIT_CODE_DATA, "the fat binary is cut off or damaged");
}

static int read_part(const unsigned char *at, size_t left, struct part *out, size_t *taken, struct error *err)
{
    uint64_t header = left < PART_HEADER ? 0 : number(at + 4, 4), size = left < PART_HEADER ? 0 : number(at + 8, 8);
    if (header < PART_HEADER || header > left || size > left - header)
        return cut_off(err);
    *out = (struct part){.bytes = at + header,
                         .length = (size_t)size,
                         .packed = (size_t)number(at + 16, 4),
                         .unpacked = (size_t)number(at + 56, 8),
                         .kind = (unsigned)number(at, 2),
                         .cc = (int)number(at + 28, 4),
                         .flags = number(at + 40, 8)};
    out->alone = out->flags & FLAG_ALONE;
    *taken = (size_t)(header + size);
    return out->packed <= out->length ? 0 : cut_off(err);
}

/* Larger is better; 0: the GPU does not take it. */
static int rank_of(const struct part *p, int cc)
{
    bool code = p->kind == KIND_CUBIN;
    if (p->cc < 10 || p->cc > 999 || p->cc > cc || (!code && p->kind != KIND_PTX))
        return 0;
    if (p->alone ? p->cc != cc : code && p->cc / 10 != cc / 10)
        return 0;
    return (code ? 10000 : 0) + 2 * p->cc + p->alone;
}

static void name_part(const struct part *p, char *list, size_t capacity)
{
    size_t used = strlen(list);
    if (p->kind == KIND_PTX || p->kind == KIND_CUBIN)
        snprintf(list + used, capacity - used, "%s%s_%d%s", used ? ", " : "",
                 p->kind == KIND_PTX ? "PTX of compute" : "sm", p->cc, p->alone ? "a" : "");
}

static int take(const struct part *p, struct fatbin_part *out, struct error *err)
{
    bool packed = p->flags & (FLAG_LZ4 | FLAG_ZSTD);
    size_t length = packed ? p->unpacked : p->length;
    if (length == 0 || length > FATBIN_MOST_BYTES)
        return cut_off(err);
    out->ptx = p->kind == KIND_PTX;
    out->bytes = calloc(1, length + 1);
    if (!out->bytes)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu bytes of a fat binary", length);
    out->length = length;
    if (!packed) {
        memcpy(out->bytes, p->bytes, length);
        return 0;
    }
    const struct packed from = {p->bytes, p->packed ? p->packed : p->length,
                                p->flags & FLAG_ZSTD ? PACKING_ZSTD : PACKING_LZ4};
    if (unpack(&from, out->bytes, length, err) == 0)
        return 0;
    free(out->bytes);
    *out = (struct fatbin_part){0};
    return err->code;
}

int fatbin_choose(const void *bytes, size_t length, int cc, struct fatbin_part *out, struct error *err)
{
    const unsigned char *at = bytes;
    struct part best = {0};
    char list[200] = "";
    int rank = 0;
    *out = (struct fatbin_part){0};
    if (length < HEADER || number(at, 4) != MAGIC)
        return error_set(err, EXIT_CODE_DATA, "this is no fat binary (nvcc -fatbin writes one)");
    uint64_t begin = number(at + 6, 2), size = number(at + 8, 8);
    if (begin < HEADER || begin > length || size > length - begin)
        return cut_off(err);
    for (size_t taken = 0, where = (size_t)begin; where < begin + size; where += taken) {
        struct part p;
        if (read_part(at + where, (size_t)(begin + size) - where, &p, &taken, err))
            return err->code;
        name_part(&p, list, sizeof list);
        int own = rank_of(&p, cc);
        best = own > rank ? p : best;
        rank = own > rank ? own : rank;
    }
    if (rank == 0)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "it has no code for sm_%d: %s", cc,
                         list[0] ? list : "none at all");
    return take(&best, out, err);
}
