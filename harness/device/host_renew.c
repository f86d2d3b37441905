/*
 * host_renew.c - new inputs behind the same pointers in the host's memory, in the moment before a launch is timed:
 * copies of stretches of a pool (FILL_POOL), from random offsets and with random signs, and then single values in every
 * row of A and column of B, all spread as fill.h says. A product of what was there before helps nobody with what is
 * there now, and what an element was before the launch can be told after it. Called by host_probe.c, and by
 * measure/timed.c for what its values are.
 */
#include "device/host_check.h"
#include "device/host_state.h"
#include "base/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Single values written last, in so many rows of A and columns of B at most. */
#define SCATTERED 1024
#define CACHE_LINE 64u

/* ---- the pool ---- */

/* In fp16, which ends at 65504: products of two large elements are up to 20 times FILL_LARGE_F16 squared. With the sum
 * of the others, five times as large as it would be, C is kept below half of that. */
#define LARGE_SHARE (1.0 / 64)
#define LARGEST_PRODUCT (20 * (double)(FILL_LARGE_F16 * FILL_LARGE_F16))
#define LARGEST_OTHERS 25.0
#define HALF_OF_FP16 32752.0

double host_large_share(const struct cudal2_problem *p)
{
    double largest = fabs(problem_alpha(p)) * (LARGEST_PRODUCT + LARGEST_OTHERS * sqrt((double)p->k));
    if (p->dtype == CUDAL2_F32 || (p->dtype == CUDAL2_F16 && !(largest < HALF_OF_FP16)))
        return 0;
    return LARGE_SHARE;
}

/* ---- what an element of A or B is ---- */

/* One matrix: its lines are the rows of A and the columns of B, each of k elements. */
struct source {
    const struct probe_renewal *r;
    const void *memory;
    struct matrix_extent extent;
    uint64_t key, places;      /* of the stretches, and of the single values */
    uint64_t spread;           /* the key of its exponents, the negative ones for B */
    uint64_t lines, every, at; /* of the lines at + n * every one value is single */
    bool across;               /* the elements of a line lie `lines` apart */
    bool is_b, is_spread;
};

static struct source source_of(const struct probe_renewal *r, bool is_b)
{
    uint64_t lines = (uint64_t)(is_b ? r->problem.n : r->problem.m), key = fill_key(r->seed + is_b);
    struct source s = {.r = r,
                       .memory = is_b ? r->operands->b : r->operands->a,
                       .extent = is_b ? problem_b(&r->problem, r->layout) : problem_a(&r->problem),
                       .key = key,
                       .places = fill_key(key),
                       .spread = fill_spread_key(r->seed),
                       .lines = lines,
                       .every = (lines + SCATTERED - 1) / SCATTERED,
                       .across = is_b && r->layout != CUDAL2_TN,
                       .is_b = is_b,
                       .is_spread = true};
    s.at = fill_bits(s.places, UINT64_MAX >> 1) % s.every;
    return s;
}

/* Of the matrix without gaps: what an element is does not depend on them. */
static uint64_t index_of(const struct source *s, uint64_t line, uint64_t place)
{
    return s->across ? place * s->lines + line : line * (uint64_t)s->r->problem.k + place;
}

/* The single value of a line: where it is. */
static uint64_t single_place(const struct source *s, uint64_t line)
{
    return fill_bits(s->places, 2 * line) % (uint64_t)s->r->problem.k;
}

/* The same, or k where a line has none. */
static uint64_t single_or_k(const struct source *s, uint64_t line)
{
    return line % s->every == s->at ? single_place(s, line) : (uint64_t)s->r->problem.k;
}

/* What is added to the bits of an element with index k to make it larger by the power of two of that index. No element
 * of the pool is so small or so large that this leaves its exponent. */
static uint32_t shift_at(const struct source *s, uint64_t k)
{
    static const int mantissa[] = {[CUDAL2_F16] = 10, [CUDAL2_BF16] = 7, [CUDAL2_F32] = 23};
    enum cudal2_dtype dtype = s->r->problem.dtype;
    int most = dtype == CUDAL2_F32 ? FILL_SPREAD_32 : FILL_SPREAD_16;
    if (!s->is_spread)
        return 0;
    int exponent = fill_exponent(s->spread, k, most);
    return (uint32_t)(s->is_b ? -exponent : exponent) << mantissa[dtype];
}

/* Elements of one line of storage: their sign, and a shift of each or of all. */
struct piece {
    uint64_t n;
    bool negative;
    const uint32_t *shifts; /* NULL: all have the next */
    uint32_t shift;
};

static void copy_32(uint32_t *to, const uint32_t *from, const struct piece *p)
{
    uint32_t sign = p->negative ? 0x80000000u : 0;
    for (uint64_t i = 0; i < p->n && p->shifts != NULL; i++)
        to[i] = (from[i] ^ sign) + p->shifts[i];
    for (uint64_t i = 0; i < p->n && p->shifts == NULL; i++)
        to[i] = (from[i] ^ sign) + p->shift;
}

static void copy_16(uint16_t *to, const uint16_t *from, const struct piece *p)
{
    uint32_t sign = p->negative ? 0x8000u : 0;
    for (uint64_t i = 0; i < p->n && p->shifts != NULL; i++)
        to[i] = (uint16_t)((from[i] ^ sign) + p->shifts[i]);
    for (uint64_t i = 0; i < p->n && p->shifts == NULL; i++)
        to[i] = (uint16_t)((from[i] ^ sign) + p->shift);
}

static void copy_piece(const struct source *s, void *to, const void *from, const struct piece *piece)
{
    if (dtype_bytes(s->r->problem.dtype) == 4)
        copy_32(to, from, piece);
    else
        copy_16(to, from, piece);
}

static const char *in_pool(const struct probe_renewal *r, uint64_t index)
{
    return (const char *)r->pool + index * dtype_bytes(r->problem.dtype);
}

static void put_single(const struct source *s, uint64_t line, void *to)
{
    uint64_t bits = fill_bits(s->places, 2 * line + 1);
    struct piece piece = {.n = 1, .negative = bits >> 63, .shift = shift_at(s, single_place(s, line))};
    copy_piece(s, to, in_pool(s->r, bits % HOST_POOL_ELEMENTS), &piece);
}

/* Elements from `index` on, all of one stretch; the sign is set here. */
static void put_stretch(const struct source *s, uint64_t index, struct piece *piece, void *to)
{
    uint64_t bits = fill_bits(s->key, index / FILL_STRETCH);
    piece->negative = bits >> 63;
    copy_piece(s, to, in_pool(s->r, fill_pool_place(bits, index)), piece);
}

bool host_renewed(const struct probe_renewal *r, const struct host_elements *which, float *values)
{
    struct source s = source_of(r, which->is_b);
    size_t bytes = dtype_bytes(r->problem.dtype);
    uint64_t line = which->line, single = single_or_k(&s, line);
    unsigned char element[sizeof(float)];
    bool there = true;
    for (uint64_t i = 0; i < which->n; i++) {
        uint64_t index = index_of(&s, line, which->place + i);
        struct piece piece = {.n = 1, .shift = shift_at(&s, which->place + i)};
        if (which->place + i == single)
            put_single(&s, line, element);
        else
            put_stretch(&s, index, &piece, element);
        values[i] = element_load(element, r->problem.dtype, 0);
        there &= memcmp(element, (const char *)s.memory + extent_place(&s.extent, index) * bytes, bytes) == 0;
    }
    return there;
}

/* ---- writing them ---- */

/* Contenders must not write A and B; the memory is the harness's own. */
static char *writable(const struct source *s, uint64_t index)
{
    return (char *)(uintptr_t)s->memory + extent_place(&s->extent, index) * dtype_bytes(s->r->problem.dtype);
}

/* Up to the end of a stretch and of a line of storage, which has one element of each k or is all of one. */
static struct piece piece_at(const struct source *s, uint64_t done, const uint32_t *shifts)
{
    uint64_t length = (uint64_t)s->extent.length, at = done % length, line = done / length;
    uint64_t in_stretch = FILL_STRETCH - done % FILL_STRETCH, in_line = length - at;
    return (struct piece){.n = in_line < in_stretch ? in_line : in_stretch,
                          .shifts = s->across ? NULL : shifts + at,
                          .shift = s->across ? shifts[line] : 0};
}

/* shifts[k]: of every index of this matrix. */
static void renew_matrix(const struct probe_renewal *r, bool is_b, uint32_t *shifts)
{
    struct source s = source_of(r, is_b);
    uint64_t k = (uint64_t)r->problem.k, elements = s.lines * k;
    for (uint64_t i = 0; i < k; i++)
        shifts[i] = shift_at(&s, i);
    for (uint64_t done = 0; done < elements;) {
        struct piece piece = piece_at(&s, done, shifts);
        put_stretch(&s, done, &piece, writable(&s, done));
        done += piece.n;
    }
}

static void scatter(const struct probe_renewal *r, bool is_b, bool is_spread)
{
    struct source s = source_of(r, is_b);
    s.is_spread = is_spread;
    for (uint64_t line = s.at; line < s.lines; line += s.every)
        put_single(&s, line, writable(&s, index_of(&s, line, single_place(&s, line))));
}

/* ---- C ---- */

/* Random bits one after the other. */
struct draw {
    uint64_t key, n;
};

static uint64_t next(struct draw *d)
{
    return fill_bits(d->key, d->n++);
}

static void put_float(void *c, enum cudal2_dtype dtype, uint64_t index, float value)
{
    element_store(c, dtype, (size_t)index, value);
}

/* A value of the size that a sum of k products has. */
static float likely(const struct probe_renewal *r, uint64_t bits)
{
    float large = r->problem.dtype == CUDAL2_BF16 ? FILL_LARGE_BF16 : FILL_LARGE_F16;
    float square = 1 + (large * large - 1) * (float)host_large_share(&r->problem); /* of an element */
    return element_load(r->pool, r->problem.dtype, bits % HOST_POOL_ELEMENTS) * sqrtf(square * (float)r->problem.k);
}

static void spoil_one(const struct probe_renewal *r, uint64_t place, uint64_t bits)
{
    const struct matrix_extent e = problem_c(&r->problem);
    void *c = r->operands->c;
    enum cudal2_dtype dtype = r->problem.dtype;
    uint64_t index = extent_place(&e, place), other = bits % (uint64_t)(r->problem.m * r->problem.n);
    if (r->spoil == SPOIL_SOME_NAN)
        memset((char *)c + index * dtype_bytes(dtype), PROBE_POISON, dtype_bytes(dtype));
    else if (r->spoil == SPOIL_SOME_LIKELY)
        put_float(c, dtype, index, likely(r, bits));
    else if (r->spoil == SPOIL_MOVED)
        put_float(c, dtype, index, element_load(c, dtype, extent_place(&e, other)));
    else
        put_float(c, dtype, index, element_load(c, dtype, (size_t)index) * (bits >> 63 ? 1.03f : 0.97f));
}

/* One element of every PROBE_SPRINKLE. */
static void spoil_some(const struct probe_renewal *r, struct draw *draw)
{
    uint64_t elements = (uint64_t)r->problem.m * (uint64_t)r->problem.n, key = next(draw);
    for (uint64_t first = 0; first < elements; first += PROBE_SPRINKLE)
        spoil_one(r, probe_place(key, first, elements), next(draw));
}

static void spoil_all_likely(const struct probe_renewal *r, struct draw *draw)
{
    const struct matrix_extent e = problem_c(&r->problem);
    uint64_t elements = (uint64_t)r->problem.m * (uint64_t)r->problem.n, at = next(draw);
    for (uint64_t i = 0; i < elements; i++)
        put_float(r->operands->c, r->problem.dtype, extent_place(&e, i), likely(r, at + i));
}

static void spoil_all(const struct probe_renewal *r, unsigned char byte)
{
    const struct matrix_extent e = problem_c(&r->problem);
    size_t bytes = dtype_bytes(r->problem.dtype);
    for (int64_t line = 0; line < e.lines; line++)
        memset((char *)r->operands->c + (size_t)(line * e.stride) * bytes, byte, (size_t)e.length * bytes);
}

static void spoil_output(const struct probe_renewal *r)
{
    struct draw draw = {fill_key(r->seed + 2), 0};
    if (r->spoil == SPOIL_NAN)
        spoil_all(r, PROBE_POISON);
    else if (r->spoil == SPOIL_ZERO)
        spoil_all(r, 0);
    else if (r->spoil == SPOIL_LIKELY)
        spoil_all_likely(r, &draw);
    else if (r->spoil != SPOIL_NONE)
        spoil_some(r, &draw);
}

enum probe_spoil host_spoil_of_input(enum probe_spoil spoil)
{
    if (spoil == SPOIL_NAN)
        return SPOIL_LIKELY;
    return spoil == SPOIL_SOME_NAN ? SPOIL_SOME_LIKELY : spoil;
}

void host_put_back(const struct cudal2_problem *p, const void *input, void *c)
{
    const struct matrix_extent e = problem_c(p);
    size_t width = dtype_bytes(p->dtype);
    for (int64_t line = 0; line < e.lines; line++) {
        size_t at = (size_t)(line * e.stride) * width;
        memcpy((char *)c + at, (const char *)input + at, (size_t)e.length * width);
    }
}

/* Known to nobody at compile time: a copy that brings bytes back to where they were is left out otherwise. */
static void *(*volatile const copy_bytes)(void *, const void *, size_t) = memcpy;

/* Every byte of C again, as it is. Whatever the kind was, this one loop has written all of C last: what the caches hold
 * of it, and in which core, does not depend on the kind. */
static void write_again(const struct probe_renewal *r)
{
    const struct matrix_extent e = problem_c(&r->problem);
    size_t width = dtype_bytes(r->problem.dtype), line_bytes = (size_t)e.length * width;
    unsigned char some[4096];
    for (int64_t line = 0; line < e.lines; line++) {
        unsigned char *c = (unsigned char *)r->operands->c + (size_t)(line * e.stride) * width;
        for (size_t at = 0, n; at < line_bytes; at += n) {
            n = line_bytes - at < sizeof some ? line_bytes - at : sizeof some;
            copy_bytes(some, c + at, n);
            copy_bytes(c + at, some, n);
        }
    }
}

static void spoil(const struct probe_renewal *r)
{
    if (r->input == NULL) {
        spoil_output(r);
        write_again(r);
        return;
    }
    struct probe_renewal kept = *r;
    struct cudal2_operands operands = *r->operands;
    operands.c = r->input;
    kept.operands = &operands;
    kept.spoil = host_spoil_of_input(r->spoil);
    spoil_output(&kept);
    host_put_back(&r->problem, r->input, r->operands->c);
}

/* ---- the caches ---- */

bool host_evict(const void *memory, size_t bytes)
{
#if defined(__x86_64__)
    size_t before = (uintptr_t)memory % CACHE_LINE;
    for (size_t at = 0; bytes > 0 && at < before + bytes; at += CACHE_LINE)
        __builtin_ia32_clflush((const char *)memory - before + at);
    __builtin_ia32_mfence();
    return true;
#else
    (void)memory;
    (void)bytes;
    return false;
#endif
}

static int make_cold(struct device *d, const struct probe_renewal *r, struct error *err)
{
    const struct cudal2_problem *p = &r->problem;
    const struct matrix_extent a = problem_a(p), b = problem_b(p, r->layout), c = problem_c(p);
    size_t bytes = dtype_bytes(p->dtype);
    bool gone = host_evict(r->operands->c, extent_elements(&c) * bytes);
    if (gone && !r->staged)
        gone = host_evict(r->operands->a, extent_elements(&a) * bytes) &&
               host_evict(r->operands->b, extent_elements(&b) * bytes);
    return gone ? 0 : d->ops->flush(d, err);
}

int host_renew(struct device *d, const struct probe_renewal *r, struct error *err)
{
    uint32_t *shifts = malloc((size_t)r->problem.k * sizeof *shifts);
    if (shifts == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for new inputs");
    spoil(r);
    renew_matrix(r, false, shifts);
    renew_matrix(r, true, shifts);
    free(shifts);
    int code = r->cold ? make_cold(d, r, err) : 0;
    scatter(r, false, true);
    scatter(r, true, true);
    host_state_restore_arithmetic(&d->host); /* what one contender leaves is no other's error */
    return code;
}

int host_disturb(struct device *d, const struct probe_renewal *r, size_t n, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct probe_renewal one = *r;
        one.operands = r->operands + i;
        one.seed = r->seed + 3 * i;
        spoil(&one);
        scatter(&one, false, false); /* what is beside them has exponents of its own */
        scatter(&one, true, false);
    }
    return d->ops->sync(d, err);
}
