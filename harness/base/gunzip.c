#include "base/gunzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"

/* ---- bits in, bytes out ---- */

struct stream {
    const unsigned char *in;
    size_t length, at; /* bytes of the input, and the next one */
    uint32_t bits;     /* read and not used yet, the first in the lowest place */
    unsigned n_bits;
    bool cut; /* the input ended too early */
    char *out;
    size_t used, capacity, max_bytes;
    const char *problem; /* what is wrong with the input; NULL while nothing is */
    bool no_memory;
};

static bool failed(const struct stream *s)
{
    return s->cut || s->problem || s->no_memory;
}

static bool complain(struct stream *s, const char *problem)
{
    if (!s->problem)
        s->problem = problem;
    return false;
}

static unsigned take_bits(struct stream *s, unsigned n)
{
    while (s->n_bits < n) {
        if (s->at == s->length) {
            s->cut = true;
            return 0;
        }
        s->bits |= (uint32_t)s->in[s->at++] << s->n_bits;
        s->n_bits += 8;
    }
    unsigned value = s->bits & ((1u << n) - 1);
    s->bits >>= n;
    s->n_bits -= n;
    return value;
}

static bool put_byte(struct stream *s, unsigned char byte)
{
    if (s->used >= s->max_bytes)
        return complain(s, "it unpacks to more than the limit");
    if (s->used + 1 >= s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 1 << 16;
        char *grown = realloc(s->out, capacity);
        if (!grown) {
            s->no_memory = true;
            return false;
        }
        s->out = grown;
        s->capacity = capacity;
    }
    s->out[s->used++] = (char)byte;
    return true;
}

/* ---- Huffman codes ---- */

#define CODE_BITS 15
#define LITERALS 288
#define DISTANCES 32

/* A canonical code: how many symbols each length has, and the symbols by length and then by value. */
struct code {
    uint16_t count[CODE_BITS + 1];
    uint16_t symbol[LITERALS];
};

/* False when the lengths promise more codes than there are. A code of one symbol may be incomplete (RFC 1951, 3.2.7).
 */
static bool make_code(struct code *code, const uint8_t *lengths, unsigned n)
{
    uint16_t next[CODE_BITS + 1];
    int left = 1;
    memset(code->count, 0, sizeof code->count);
    for (unsigned i = 0; i < n; i++)
        code->count[lengths[i]]++;
    code->count[0] = 0;
    next[0] = next[1] = 0;
    for (unsigned length = 1; length <= CODE_BITS; length++) {
        left = 2 * left - code->count[length];
        if (left < 0)
            return false;
        if (length < CODE_BITS)
            next[length + 1] = (uint16_t)(next[length] + code->count[length]);
    }
    for (unsigned i = 0; i < n; i++)
        if (lengths[i])
            code->symbol[next[lengths[i]]++] = (uint16_t)i;
    return true;
}

/* Bit by bit: the codes of one length are consecutive numbers, and begin after those of the length before, doubled. */
static unsigned take_symbol(struct stream *s, const struct code *code)
{
    unsigned value = 0;
    unsigned first = 0;
    unsigned index = 0;
    for (unsigned length = 1; length <= CODE_BITS; length++) {
        value |= take_bits(s, 1);
        unsigned count = code->count[length];
        if (s->cut)
            return 0;
        if (value < first + count)
            return code->symbol[index + value - first];
        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    complain(s, "it holds a code that is none");
    return 0;
}

/* ---- blocks ---- */

static bool copy_match(struct stream *s, unsigned symbol, const struct code *distances)
{
    static const uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                           31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                             33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                             1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    static const uint8_t distance_bits[] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                            6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
    if (symbol - 257 >= sizeof length_bits)
        return complain(s, "it holds a length that is none");
    unsigned length = length_base[symbol - 257] + take_bits(s, length_bits[symbol - 257]);
    unsigned code = take_symbol(s, distances);
    if (failed(s) || code >= sizeof distance_bits)
        return complain(s, "it holds a distance that is none");
    size_t distance = distance_base[code] + take_bits(s, distance_bits[code]);
    if (distance > s->used)
        return complain(s, "it refers to before its begin");
    while (length-- && put_byte(s, (unsigned char)s->out[s->used - distance]))
        ;
    return !failed(s);
}

static void read_compressed(struct stream *s, const struct code *literals, const struct code *distances)
{
    while (!failed(s)) {
        unsigned symbol = take_symbol(s, literals);
        if (failed(s) || symbol == 256)
            return;
        if (symbol < 256)
            put_byte(s, (unsigned char)symbol);
        else
            copy_match(s, symbol, distances);
    }
}

static void read_stored(struct stream *s)
{
    s->bits = s->n_bits = 0; /* whole bytes only: nothing of the next one was read */
    unsigned length = take_bits(s, 16);
    if (take_bits(s, 16) != (length ^ 0xffffu)) {
        complain(s, "a stored block contradicts itself");
        return;
    }
    while (length-- && !failed(s))
        put_byte(s, (unsigned char)take_bits(s, 8));
}

static void read_fixed(struct stream *s)
{
    uint8_t lengths[LITERALS];
    struct code literals;
    struct code distances;
    for (unsigned i = 0; i < LITERALS; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&literals, lengths, LITERALS);
    memset(lengths, 5, 30);
    make_code(&distances, lengths, 30);
    read_compressed(s, &literals, &distances);
}

/* The lengths of both codes, themselves Huffman coded, with runs. */
static bool read_lengths(struct stream *s, const struct code *code, uint8_t *lengths, unsigned n)
{
    for (unsigned i = 0; i < n;) {
        unsigned symbol = take_symbol(s, code);
        unsigned run = symbol == 16 ? 3 + take_bits(s, 2) : symbol == 17 ? 3 + take_bits(s, 3) : 11;
        if (failed(s))
            return false;
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 18)
            run += take_bits(s, 7);
        if ((symbol == 16 && i == 0) || run > n - i)
            return complain(s, "its code lengths do not fit");
        memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, run);
        i += run;
    }
    return !failed(s);
}

static void read_dynamic(struct stream *s)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    struct code literals;
    struct code distances;
    unsigned n_literals = 257 + take_bits(s, 5);
    unsigned n_distances = 1 + take_bits(s, 5);
    unsigned n_lengths = 4 + take_bits(s, 4);
    for (unsigned i = 0; i < n_lengths; i++)
        lengths[order[i]] = (uint8_t)take_bits(s, 3);
    if (n_literals > 286 || n_distances > 30 || !make_code(&literals, lengths, 19)) {
        complain(s, "its codes do not fit");
        return;
    }
    memset(lengths, 0, sizeof lengths);
    if (!read_lengths(s, &literals, lengths, n_literals + n_distances))
        return;
    if (!make_code(&literals, lengths, n_literals) || !make_code(&distances, lengths + n_literals, n_distances)) {
        complain(s, "its codes do not fit");
        return;
    }
    read_compressed(s, &literals, &distances);
}

static void inflate(struct stream *s)
{
    static void (*const readers[])(struct stream *) = {read_stored, read_fixed, read_dynamic};
    bool last = false;
    while (!last && !failed(s)) {
        last = take_bits(s, 1);
        unsigned type = take_bits(s, 2);
        if (type == 3)
            complain(s, "it holds a block of no known type");
        else if (!failed(s))
            readers[type](s);
    }
    s->bits = s->n_bits = 0;
}

/* ---- members of a file ---- */

enum { HEAD_CRC = 2, HEAD_EXTRA = 4, HEAD_NAME = 8, HEAD_COMMENT = 16 };

static void skip(struct stream *s, size_t n)
{
    if (n > s->length - s->at)
        s->cut = true;
    else
        s->at += n;
}

static void skip_text(struct stream *s)
{
    const unsigned char *end = memchr(s->in + s->at, 0, s->length - s->at);
    if (end)
        s->at = (size_t)(end + 1 - s->in);
    else
        s->cut = true;
}

static void read_head(struct stream *s)
{
    if (!gunzip_is(s->in + s->at, s->length - s->at)) {
        complain(s, "what follows its first part is no gzip");
        return;
    }
    if (s->length - s->at < 10) {
        s->cut = true;
        return;
    }
    unsigned flags = s->in[s->at + 3];
    s->at += 10;
    if (flags & HEAD_EXTRA)
        skip(s, take_bits(s, 16));
    if (!s->cut && flags & HEAD_NAME)
        skip_text(s);
    if (!s->cut && flags & HEAD_COMMENT)
        skip_text(s);
    if (!s->cut && flags & HEAD_CRC)
        skip(s, 2);
}

static uint32_t take_u32(struct stream *s)
{
    uint32_t low = take_bits(s, 16);
    return low | (uint32_t)take_bits(s, 16) << 16;
}

static void read_member(struct stream *s)
{
    size_t begin = s->used;
    if (failed(s))
        return;
    read_head(s);
    if (!failed(s))
        inflate(s);
    if (failed(s))
        return;
    uint32_t crc = take_u32(s);
    uint32_t length = take_u32(s);
    if (failed(s))
        return;
    if (length != (uint32_t)(s->used - begin) || crc != digest_crc32(s->out + begin, s->used - begin))
        complain(s, "its checksum is wrong");
}

bool gunzip_is(const void *bytes, size_t length)
{
    return length > 2 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

int gunzip(const struct gunzip_input *input, char **out, size_t *length, struct error *err)
{
    struct stream s = {.in = input->bytes, .length = input->length, .max_bytes = input->max_bytes};
    s.capacity = 1 << 16;
    s.out = malloc(s.capacity);
    s.no_memory = !s.out;
    do
        read_member(&s);
    while (!failed(&s) && s.at < s.length);
    if (!failed(&s)) {
        s.out[s.used] = '\0'; /* put_byte leaves room for it */
        *out = s.out;
        *length = s.used;
        return 0;
    }
    free(s.out);
    if (s.no_memory)
        return error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory to unpack it", input->source);
    return error_set(err, EXIT_CODE_DATA, "%s: cannot be unpacked: %s", input->source,
                     s.cut ? "the gzip file is cut short" : s.problem);
}

int gunzip_read_file(const char *path, size_t max_bytes, char **bytes, size_t *length, struct error *err)
{
    if (file_read(path, max_bytes, bytes, length, err))
        return err->code;
    if (!gunzip_is(*bytes, *length))
        return 0;
    char *packed = *bytes;
    const struct gunzip_input input = {path, packed, *length, max_bytes};
    *bytes = NULL;
    int code = gunzip(&input, bytes, length, err);
    free(packed);
    return code;
}
