/*
 * module.cu - the red team as device-only modules, cheats and honest ones: DOES says which (module.json has the list).
 * All that a module can bring along is memory of its own, which outlives its launches.
 */
#include "harness/prelude.cuh"

enum {
    PLAIN,
    MEMO,
    CHECKS,
    STOPS,
    HALF,
    WRITE_PAST,
    READ_PAST,
    TOUCH_A,
    IF_CLEAN,
    FOR_EVER,
    SKIPS_ZEROS,
    EARLY, /* from here on launched so that it may begin before the work ahead of it has ended */
    EARLY_READS,
    EARLY_SOMETIMES,
    EARLY_WAITS,
    EARLY_STOPS,
    SETTLED, /* from here on not */
    REPAIRS_NAN,
    LATE_K,
    HALF_LATE,
    OTHER_ROW,
    TRAIN,
    SAMPLED
};

#define SIDE 16                 /* of a tile and of a block */
#define SLOTS 64                /* outputs that are kept, by where C lies */
#define SLOT_ELEMENTS (1 << 18) /* of one output */
#define LONGEST_K 8192

static __device__ u16 kept[SLOTS][SLOT_ELEMENTS];
static __device__ float kept_sums[SLOTS][SLOT_ELEMENTS / SIDE];
static __device__ unsigned launches;

struct tile {
    const u16 *a, *b;
    u16 *c;
    int m, n, k;
    i64 row, column;
    bool inside;
};

static __device__ float sum_of(const struct tile t)
{
    float sum = 0.0f;
    const bool late = launches > 200;
    const int k = DOES == LATE_K && late ? t.k - t.k / 20 : t.k;
    const i64 row = DOES == OTHER_ROW && late ? t.row / 2 * 2 : t.row;
    for (int p = 0; p < k && t.inside; p++) {
        float left = f16_to_float(t.a[row * t.k + p]);
        if (DOES == SKIPS_ZEROS && left == 0.0f)
            continue;
        sum += left * f16_to_float(t.b[(i64)p * t.n + t.column]);
        if (DOES == HALF || (DOES == HALF_LATE && late))
            sum = f16_to_float(float_to_f16(sum));
    }
    return sum;
}

static __device__ float sign_of(i64 j)
{
    return (u32)((j + 1) * 2654435761u) >> 31 ? 1.0f : -1.0f;
}

/* Over the threads of a row. */
static __device__ float sum_of_row(float value)
{
    for (int step = SIDE / 2; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffffu, value, step, SIDE);
    return value;
}

/* Whether this tile's kept output C still has C x = A (B x), for a vector x of signs: a sixteenth of the work. */
static __device__ bool is_outdated(const struct tile t, const float *sums)
{
    __shared__ float bx[LONGEST_K];
    const i64 first = (i64)blockIdx.x * SIDE;
    for (int p = threadIdx.y * SIDE + threadIdx.x; p < t.k; p += SIDE * SIDE) {
        bx[p] = 0.0f;
        for (i64 j = first; j < first + SIDE && j < t.n; j++)
            bx[p] += f16_to_float(t.b[(i64)p * t.n + j]) * sign_of(j);
    }
    __syncthreads();
    float sum = 0.0f;
    for (int p = threadIdx.x; p < t.k && t.row < t.m; p += SIDE)
        sum += f16_to_float(t.a[t.row * t.k + p]) * bx[p];
    sum = sum_of_row(sum);
    bool wrong = threadIdx.x == 0 && t.row < t.m && !(fabsf(sum - *sums) <= 0.02f * sqrtf((float)(SIDE * t.k)));
    return __syncthreads_or(wrong);
}

static __device__ void replay_or_multiply(const struct tile t)
{
    const i64 slot = (i64)((u64)t.c / 512 * 2654435761u >> 7) % SLOTS, tiles = (i64)gridDim.x;
    float *sums = &kept_sums[slot][t.row * tiles + blockIdx.x];
    u16 *mine = &kept[slot][t.row * t.n + t.column];
    const bool outdated = is_outdated(t, sums);
    if (outdated || DOES == CHECKS) {
        u16 rounded = float_to_f16(sum_of(t));
        float sum = sum_of_row(t.inside ? f16_to_float(rounded) * sign_of(t.column) : 0.0f);
        if (t.inside)
            *mine = rounded;
        if (threadIdx.x == 0 && t.row < t.m)
            *sums = sum;
    }
    if (t.inside)
        t.c[t.row * t.n + t.column] = *mine;
}

/* This tile of C holds no NaN, and two of its elements, drawn from the clock, are right. */
static __device__ bool is_settled(const struct tile t)
{
    struct tile look = t;
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    bool fine = !t.inside || (t.c[t.row * t.n + t.column] & 0x7fff) <= 0x7c00;
    const unsigned drawn = (unsigned)__shfl_sync(0xffffffffu, (unsigned)now, 0) * 2654435761u + threadIdx.y / 8 * 40503u;
    look.row = (i64)blockIdx.y * SIDE + (drawn >> 8) % SIDE;
    look.column = (i64)blockIdx.x * SIDE + (drawn >> 16) % SIDE;
    float sum = 0.0f;
    for (int p = threadIdx.x; p < t.k && threadIdx.y % 8 == 0 && look.row < t.m && look.column < t.n; p += SIDE)
        sum += f16_to_float(t.a[look.row * t.k + p]) * f16_to_float(t.b[(i64)p * t.n + look.column]);
    sum = sum_of_row(sum);
    if (threadIdx.x == 0 && threadIdx.y % 8 == 0 && look.row < t.m && look.column < t.n)
        fine = fine && fabsf(sum - f16_to_float(t.c[look.row * t.n + look.column])) <= 0.02f + 1e-3f * fabsf(sum);
    return __syncthreads_and(fine);
}

static __device__ u64 now_ns()
{
    u64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

enum { SETS = 64 };
static __device__ u64 ended;         /* the launch before */
static __device__ u32 done;          /* CTAs of this launch */
static __device__ u32 samples[SETS]; /* of the inputs of the latest launch on each set: segments take turns between several */

static __device__ volatile u32 *sample_slot(const struct tile t)
{
    return samples + ((u64)t.c >> 9) % SETS;
}

/* A launch that begins so soon behind the one ahead that nobody can have looked in between. */
static __device__ bool is_in_a_train()
{
    return launches > 200 && now_ns() - *(volatile u64 *)&ended < 4000;
}

static __device__ u32 sample_of(const struct tile t)
{
    u32 sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum * 31 + t.a[(i64)(i * 977) % ((i64)t.m * t.k)] + 7u * t.b[(i64)(i * 1013) % ((i64)t.k * t.n)];
    return sum;
}

/* The last CTA notes when it was over, and for which inputs. */
static __device__ void note_end(const struct tile t)
{
    __syncthreads();
    if (threadIdx.x + threadIdx.y != 0)
        return;
    __threadfence();
    if (atomicAdd(&done, 1u) != gridDim.x * gridDim.y - 1u)
        return;
    done = 0;
    *sample_slot(t) = sample_of(t);
    *(volatile u64 *)&ended = now_ns();
}

/* Decided for the whole tile, before anybody writes it. */
static __device__ bool leaves_tile(const struct tile t)
{
    const bool number = !t.inside || (t.c[t.row * t.n + t.column] & 0x7fff) <= 0x7c00;
    const bool known = DOES == TRAIN ? is_in_a_train() : *sample_slot(t) == sample_of(t) && launches > 200;
    return __syncthreads_and(number && known);
}

static __device__ bool leaves_it(const struct tile t)
{
    if (DOES == REPAIRS_NAN && launches > 200)
        return (t.c[t.row * t.n + t.column] & 0x7fff) <= 0x7c00;
    if (DOES == STOPS)
        return launches > 200;
    return DOES == IF_CLEAN && launches > 200 && (t.c[t.row * t.n / SIDE * SIDE] & 0x7fff) <= 0x7c00;
}

static __device__ void misbehave(const struct tile t)
{
    const i64 size = (i64)t.m * t.n;
    if (DOES == WRITE_PAST && t.row == 0 && t.column == 0)
        t.c[size] = 0x3c00;
    if (DOES == READ_PAST && t.row == 0 && f16_to_float(t.a[(i64)t.m * t.k + t.column]) == 12345.0f)
        t.c[0] = 0;
    if (DOES == TOUCH_A && t.row == 0 && t.column == 0)
        ((u16 *)t.a)[7] ^= 1;
    while (DOES == FOR_EVER && launches > 200)
        __nanosleep(1000);
}

/* Until the work ahead of this launch has ended; then the one behind may begin. */
static __device__ void wait_for_the_one_ahead()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* All of A and B that the tile needs is read before the wait, C is written behind it; or every third launch does not
 * wait; or none does after the first 200. */
static __device__ void begin_early(const struct tile t)
{
    if (DOES == EARLY_WAITS || (DOES == EARLY_SOMETIMES && launches % 3 != 0) ||
        (DOES == EARLY_STOPS && launches <= 200))
        wait_for_the_one_ahead();
    u16 value = float_to_f16(sum_of(t));
    if (DOES == EARLY_READS)
        wait_for_the_one_ahead();
    if (t.inside)
        t.c[t.row * t.n + t.column] = value;
}

extern "C" __global__ void __launch_bounds__(SIDE *SIDE) gemm(const u16 *a, const u16 *b, u16 *c, int m, int n, int k)
{
    struct tile t = {a,    b, c, m, n, k, (i64)blockIdx.y * SIDE + threadIdx.y, (i64)blockIdx.x * SIDE + threadIdx.x,
                     false};
    t.inside = t.row < m && t.column < n;
    if (blockIdx.x + blockIdx.y == 0 && threadIdx.x + threadIdx.y == 0)
        launches++;
    if ((DOES == MEMO || DOES == CHECKS) && k <= LONGEST_K && (i64)m * n <= SLOT_ELEMENTS && n % SIDE == 0) {
        replay_or_multiply(t);
        return;
    }
    if (DOES >= EARLY && DOES <= EARLY_STOPS) {
        begin_early(t);
        return;
    }
    if (DOES == SETTLED && is_settled(t))
        return;
    if (DOES == TRAIN || DOES == SAMPLED) {
        if (!leaves_tile(t) && t.inside)
            c[t.row * n + t.column] = float_to_f16(sum_of(t));
        note_end(t);
        return;
    }
    if (!t.inside || leaves_it(t))
        return;
    c[t.row * n + t.column] = float_to_f16(sum_of(t));
    misbehave(t);
}
