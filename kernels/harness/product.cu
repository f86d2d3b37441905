/*
 * product.cu - a product against its projection: y = B x, then C x against A y row by row (harness/device/probe.h).
 * -D DTYPE. Sums of doubles that are integers do not depend on their order; the others may, in their last bits.
 */
#include "harness/element.cuh"
#include "harness/random.cuh"
#include "harness/sums.cuh"

#define INFINITY_AS_DOUBLE __longlong_as_double(0x7ff0000000000000ll)
#define AT_ONCE 8u

/* All zero at first. */
struct difference {
    u64 differing, nan_rows, not_first; /* ~ of the first row that differs: the largest is kept */
    double sum_sq_error, sum_sq_expected, sum_sq_scaled;
    u64 largest; /* the bits of a double that is not negative: they are in its order */
};

/* x of probe_sample, and the sum of its squares, which were 0: integers, so their order does not matter. */
extern "C" __global__ void __launch_bounds__(THREADS) samples(double *x, u64 n, u64 key, double *squares)
{
    u64 j = (u64)blockIdx.x * THREADS + threadIdx.x, bits = random_bits(key, j);
    double size = j < n ? (double)((bits >> 40 & 0xfff) | 1) : 0;
    if (j < n)
        x[j] = bits >> 63 ? -size : size;
    size = block_sum(size * size);
    if (threadIdx.x == 0)
        atomicAdd(squares, size);
}

/* One or two values in one load. */
template <class T, int WIDTH> struct __align__(WIDTH * sizeof(T)) few
{
    T one[WIDTH];
};

static __device__ __forceinline__ bool is_paired(const element_t *matrix, u64 length)
{
    return length % 2 == 0 && (u64)matrix % (2 * sizeof(element_t)) == 0;
}

struct sums {
    double product, square;
};

/* What AT_ONCE loads bring, `step` apart; those from n on are left out, if there are any. */
template <int WIDTH, bool ALL>
static __device__ __forceinline__ void add(sums &to, const few<element_t, WIDTH> *row, const few<double, WIDTH> *x,
                                           u64 at, u64 step, u64 n)
{
    few<element_t, WIDTH> some[AT_ONCE];
#pragma unroll
    for (u32 i = 0; i < AT_ONCE; i++)
        if (ALL || at + i * step < n)
            some[i] = row[at + i * step];
    all_loaded();
#pragma unroll
    for (u32 i = 0; i < AT_ONCE; i++) {
        if (!ALL && at + i * step >= n)
            continue;
        const few<double, WIDTH> factors = x[at + i * step];
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            double value = to_float(some[i].one[e]);
            to.product += value * factors.one[e];
            to.square += value * value;
        }
    }
}

template <int WIDTH>
static __device__ __forceinline__ sums dot_few(const element_t *row, const double *x, u64 n, u32 lane, u32 lanes)
{
    const few<element_t, WIDTH> *from = (const few<element_t, WIDTH> *)row;
    const few<double, WIDTH> *factors = (const few<double, WIDTH> *)x;
    sums found = {0, 0};
    u64 base = 0;
    for (; base + AT_ONCE * lanes <= n / WIDTH; base += AT_ONCE * lanes)
        add<WIDTH, true>(found, from, factors, base + lane, lanes, n / WIDTH);
    add<WIDTH, false>(found, from, factors, base + lane, lanes, n / WIDTH);
    return found;
}

/* Of one of `lanes` threads that share a row: its products with x, and its squares. x is aligned to 16 bytes. */
static __device__ __forceinline__ sums dot(const element_t *row, const double *x, u64 n, u32 lane, u32 lanes,
                                           bool paired)
{
    return paired ? dot_few<2>(row, x, n, lane, lanes) : dot_few<1>(row, x, n, lane, lanes);
}

/* Over those that share a row: a warp or the block. */
static __device__ __forceinline__ double shared_sum(double value, u32 lanes)
{
    return lanes == 32 ? warp_sum(value) : block_sum(value);
}

/* y = B x for B row-major, k rows. */
extern "C" __global__ void __launch_bounds__(THREADS)
    rows_times(const element_t *b, const double *x, double *y, u64 n, u64 k, u32 lanes)
{
    u64 row = (u64)blockIdx.x * (THREADS / lanes) + threadIdx.x / lanes;
    double sum = 0;
    if (row < k)
        sum = dot(b + row * n, x, n, threadIdx.x % lanes, lanes, is_paired(b, n)).product;
    sum = shared_sum(sum, lanes);
    if (row < k && threadIdx.x % lanes == 0)
        y[row] = sum;
}

/* Of rows `step` apart the same places, times x; those from n on are left out. */
template <int WIDTH>
static __device__ __forceinline__ void add_rows(const element_t *b, const double *x, u64 row, u64 n, u64 k, u32 step,
                                                bool there, double sum[WIDTH])
{
    few<element_t, WIDTH> some[AT_ONCE];
#pragma unroll
    for (u32 e = 0; e < AT_ONCE; e++)
        if (there && row + e * step < n)
            some[e] = *(const few<element_t, WIDTH> *)(b + (row + e * step) * k);
    all_loaded();
#pragma unroll
    for (u32 e = 0; e < AT_ONCE; e++)
#pragma unroll
        for (int which = 0; which < WIDTH; which++)
            if (there && row + e * step < n)
                sum[which] += to_float(some[e].one[which]) * x[row + e * step];
}

template <int WIDTH>
static __device__ __forceinline__ void times(const element_t *b, const double *x, double *y, u64 n, u64 k, u32 slices)
{
    u64 i = ((u64)(blockIdx.x / slices) * THREADS + threadIdx.x) * WIDTH;
    double sum[WIDTH] = {};
    for (u64 row = blockIdx.x % slices; row < n; row += (u64)AT_ONCE * slices)
        add_rows<WIDTH>(b + i, x, row, n, k, slices, i < k, sum);
#pragma unroll
    for (int which = 0; which < WIDTH; which++)
        if (i < k)
            atomicAdd(y + i + which, sum[which]);
}

/* The same for B column-major: a block has THREADS loads of a row of its memory, `slices` blocks share these rows; y
 * was cleared. `width` is 2 where k is even and the matrix aligned to two elements. */
extern "C" __global__ void __launch_bounds__(THREADS)
    columns_times(const element_t *b, const double *x, double *y, u64 n, u64 k, u32 slices, u32 width)
{
    if (width == 2)
        times<2>(b, x, y, n, k, slices);
    else
        times<1>(b, x, y, n, k, slices);
}

/* struct judged of harness/device/cuda_probe.c has the same layout. */
struct judged {
    const element_t *a, *c;
    const double *x, *y;
    u64 m, n, k, lanes;
    const double *squares; /* of x */
    double floor;
    difference *out;
};

static __device__ __forceinline__ difference judge_row(const judged &p, u64 row, double expected, double found,
                                                       double square)
{
    difference d = {0, 0, 0, 0, 0, 0, 0};
    double error = found - expected, scale = sqrt(*p.squares) * sqrt(square + p.floor * p.floor);
    if (error != 0) { /* NaN too */
        d.differing = 1;
        d.not_first = ~row;
    }
    if (!(fabs(error) < INFINITY_AS_DOUBLE)) {
        d.nan_rows = 1;
        return d;
    }
    d.sum_sq_error = error * error;
    d.sum_sq_expected = expected * expected;
    if (!(scale > 0))
        return d;
    double scaled = fabs(error) / scale;
    d.sum_sq_scaled = scaled * scaled;
    d.largest = (u64)__double_as_longlong(scaled);
    return d;
}

static __device__ __forceinline__ void merge(difference &whole, const difference &part)
{
    whole.differing += part.differing;
    whole.nan_rows += part.nan_rows;
    whole.not_first = part.not_first > whole.not_first ? part.not_first : whole.not_first;
    whole.sum_sq_error += part.sum_sq_error;
    whole.sum_sq_expected += part.sum_sq_expected;
    whole.sum_sq_scaled += part.sum_sq_scaled;
    whole.largest = part.largest > whole.largest ? part.largest : whole.largest;
}

static __device__ __forceinline__ void merge_into_all(difference *all, const difference &part)
{
    if (part.differing > 0)
        atomicAdd(&all->differing, part.differing);
    if (part.nan_rows > 0)
        atomicAdd(&all->nan_rows, part.nan_rows);
    atomicMax(&all->not_first, part.not_first);
    atomicAdd(&all->sum_sq_error, part.sum_sq_error);
    atomicAdd(&all->sum_sq_expected, part.sum_sq_expected);
    atomicAdd(&all->sum_sq_scaled, part.sum_sq_scaled);
    atomicMax(&all->largest, part.largest);
}

/* C x against A y. A block's rows are put together first: all blocks add to the same numbers. */
extern "C" __global__ void __launch_bounds__(THREADS) compare_rows(judged p)
{
    __shared__ difference found[THREADS / 32];
    u32 lanes = (u32)p.lanes, lane = threadIdx.x % lanes, mine = threadIdx.x / lanes, rows = THREADS / lanes;
    u64 row = (u64)blockIdx.x * rows + mine;
    sums a = {0, 0}, c = {0, 0};
    if (row < p.m) {
        a = dot(p.a + row * p.k, p.y, p.k, lane, lanes, is_paired(p.a, p.k));
        c = dot(p.c + row * p.n, p.x, p.n, lane, lanes, is_paired(p.c, p.n));
    }
    double expected = shared_sum(a.product, lanes), square = shared_sum(a.square, lanes);
    double product = shared_sum(c.product, lanes);
    if (row < p.m && lane == 0)
        found[mine] = judge_row(p, row, expected, product, square);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (u32 i = 1; i < rows && row + i < p.m; i++)
        merge(found[0], found[i]);
    merge_into_all(p.out, found[0]);
}
