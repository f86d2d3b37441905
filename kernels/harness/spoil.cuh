/*
 * spoil.cuh - what C is made to hold before what is timed (probe.cu, disturb; kinds: enum probe_spoil of
 * harness/device/probe.h). Whatever the kind, all of C is read and written by the same threads with the same work, so
 * that neither caches nor time tell which it was. Relies on random.cuh, and on bits_t, to_bits and float_of of who
 * includes it. The host's test_spoil_kernel compiles it as C.
 */
#ifndef CUDAL2_HARNESS_SPOIL_CUH
#define CUDAL2_HARNESS_SPOIL_CUH

#define STRETCH 256u
/* As many elements as 16 bytes hold. A stretch is a multiple of it. */
#define PIECE (16 / sizeof(bits_t))

enum { SPOIL_NONE, SPOIL_NAN, SPOIL_SOME_NAN, SPOIL_LIKELY, SPOIL_SOME_LIKELY, SPOIL_NUDGED, SPOIL_MOVED, SPOIL_ZERO };

/* The element of the stretch from `first` on that is drawn. */
static __device__ u64 place_of(u64 key, u64 first, u64 elements, u64 stretch)
{
    u64 left = elements - first;
    return first + random_bits(key, first) % (left < stretch ? left : stretch);
}

/* The same of STRETCH, a power of two: a division only for the last one, which may be shorter. */
static __device__ u64 place_in(u64 key, u64 first, u64 elements)
{
    u64 left = elements - first;
    return left < STRETCH ? place_of(key, first, elements, STRETCH) : first + (random_bits(key, first) & (STRETCH - 1));
}

/* Of one C. Masks, of which none but `all` have bits in common, say what an element becomes. */
struct spoil {
    u64 elements, key;
    float size;                              /* of an element */
    u32 same, likely, nudged, moved, is_nan; /* none: zero */
    u32 all;                                 /* every element, not one of each stretch */
};

union piece {
    bits_t one[PIECE];
    uint4 all;
};

/* All bits or none. The compiler is not to know: it would make a loop for each kind, without the work that this kind
 * does not need, and the time would tell the kind. */
static __device__ u32 mask_if(bool is)
{
    u32 mask = is ? ~0u : 0;
#ifdef __CUDACC__
    asm volatile("" : "+r"(mask));
#endif
    return mask;
}

static __device__ struct spoil spoil_of(u64 elements, u64 key, float size, int kind)
{
    struct spoil s = {elements, key, size, 0, 0, 0, 0, 0, 0};
    s.same = mask_if(kind == SPOIL_NONE);
    s.likely = mask_if(kind == SPOIL_LIKELY || kind == SPOIL_SOME_LIKELY);
    s.nudged = mask_if(kind == SPOIL_NUDGED);
    s.moved = mask_if(kind == SPOIL_MOVED);
    s.is_nan = mask_if(kind == SPOIL_NAN || kind == SPOIL_SOME_NAN);
    s.all = mask_if(kind == SPOIL_NAN || kind == SPOIL_LIKELY || kind == SPOIL_ZERO);
    return s;
}

/* What an element becomes that is spoiled. `other` lies elsewhere in C. */
static __device__ __forceinline__ u32 spoiled(const struct spoil *s, bits_t was, bits_t other, u64 bits)
{
    u32 likely = to_bits(normal_of(bits) * s->size);
    u32 nudged = to_bits(float_of(was) * (bits >> 63 ? 1.03f : 0.97f));
    return (was & s->same) | (likely & s->likely) | (nudged & s->nudged) | (other & s->moved) | s->is_nan;
}

/* The n elements from `at` on, all of one stretch. */
static __device__ __forceinline__ void spoil_piece(const struct spoil *s, const bits_t *c, u64 at, bits_t *one, u32 n)
{
    u64 stretch = at / STRETCH, place = place_in(s->key, stretch * STRETCH, s->elements);
    u64 drawn = random_bits(s->key, ~stretch), all = (u64)s->all << 32 | s->all;
    bits_t other = 0;
    if (place - at < n)
        other = c[drawn % s->elements];
#ifdef __CUDACC__
#pragma unroll
#endif
    for (u32 e = 0; e < n; e++) {
        u64 own = random_bits(s->key, ~(at + e));
        u32 changes = s->all | (at + e == place ? ~0u : 0);
        u32 value = spoiled(s, one[e], other, (own & all) | (drawn & ~all));
        one[e] = (bits_t)((value & changes) | (one[e] & ~changes));
    }
}

/* What thread `first` of `threads` does: no other writes its elements. `from` and `to` are the same memory on a GPU, so
 * `other` is what was there or, should it be one that is moved too, what that becomes. */
static __device__ __forceinline__ void spoil_share(const struct spoil *s, const bits_t *from, bits_t *to, u64 first,
                                                   u64 threads)
{
    u64 pieces = ((u64)from & 15) == 0 ? s->elements / PIECE : 0;
    for (u64 i = first; i < pieces; i += threads) {
        union piece now;
        now.all = ((const uint4 *)from)[i];
        spoil_piece(s, from, i * PIECE, now.one, PIECE);
        ((uint4 *)to)[i] = now.all;
    }
    for (u64 i = pieces * PIECE + first; i < s->elements; i += threads) {
        bits_t now = from[i];
        spoil_piece(s, from, i, &now, 1);
        to[i] = now;
    }
}

/* One element of each `stretch` alone, so that the rest of C stays in the caches as it is; of the kinds that change
 * some. */
static __device__ __forceinline__ void spoil_few(const struct spoil *s, bits_t *c, u64 stretch, u64 first, u64 threads)
{
    for (u64 i = first; i * stretch < s->elements; i += threads) {
        u64 at = place_of(s->key, i * stretch, s->elements, stretch), bits = random_bits(s->key, ~i);
        bits_t other = c[bits % s->elements];
        c[at] = (bits_t)spoiled(s, c[at], other, bits);
    }
}

#endif
