/*
 * cuda_tensor.c - tensor maps: what the hardware takes of a request, and the driver's call (cuda.h has the contract).
 * Relies on driver.h. Called by contender/manifest_maps.c and module.c.
 */
#include "device/cuda_device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ALIGNMENT 16 /* bytes, of a stride and of the box's rows */
#define MOST_BOX 256
#define MOST_ELEMENT_STRIDE 8
#define MOST_DIM ((int64_t)1 << 32)
#define STRIDE_END ((int64_t)1 << 40) /* bytes */

/* ---- what it takes ---- */

static bool refuse(struct cuda_tensor_fault *fault, const char *member, size_t index, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool refuse(struct cuda_tensor_fault *fault, const char *member, size_t index, const char *format, ...)
{
    va_list args;
    snprintf(fault->where, sizeof fault->where, "%s[%zu]", member, index);
    va_start(args, format);
    vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    return false;
}

/* As refuse(), of a member that is one number. */
static bool refuse_single(struct cuda_tensor_fault *fault, const char *member, const char *does, int64_t found)
{
    snprintf(fault->where, sizeof fault->where, "%s", member);
    snprintf(fault->text, sizeof fault->text, "a tensor map %s bytes, not %lld", does, (long long)found);
    fault->of_problem = true;
    return false;
}

static bool known(int64_t value)
{
    return value != CUDA_TENSOR_UNKNOWN;
}

static bool within(int64_t value, int64_t most)
{
    return !known(value) || (value >= 1 && value <= most);
}

/* -1: none of them. */
static int place_of(int64_t value, const int64_t bytes[4])
{
    for (int i = 0; i < 4; i++)
        if (bytes[i] == value)
            return i;
    return -1;
}

static int promotion_of(int64_t fetch)
{
    static const int64_t bytes[4] = {
        [CU_TENSOR_L2_NONE] = 0, [CU_TENSOR_L2_64] = 64, [CU_TENSOR_L2_128] = 128, [CU_TENSOR_L2_256] = 256};
    return place_of(fetch, bytes);
}

static int swizzle_of(int64_t swizzle)
{
    static const int64_t bytes[4] = {
        [CU_TENSOR_PLAIN] = 0, [CU_TENSOR_SWIZZLE_32] = 32, [CU_TENSOR_SWIZZLE_64] = 64, [CU_TENSOR_SWIZZLE_128] = 128};
    return place_of(swizzle, bytes);
}

static bool check_dimension(const struct cuda_tensor_request *r, size_t i, struct cuda_tensor_fault *fault)
{
    if (!within(r->dims[i], MOST_DIM)) {
        fault->of_problem = true;
        return refuse(fault, "dims", i, "%lld elements: expected 1 to 2^32", (long long)r->dims[i]);
    }
    if (!within(r->box[i], MOST_BOX))
        return refuse(fault, "box", i, "%lld elements: expected 1 to %d", (long long)r->box[i], MOST_BOX);
    if (!within(r->element_strides[i], MOST_ELEMENT_STRIDE))
        return refuse(fault, "element_strides", i, "%lld: expected 1 to %d", (long long)r->element_strides[i],
                      MOST_ELEMENT_STRIDE);
    return true;
}

/* That of dimension i, which a manifest lists from dimension 1 on. */
static bool check_stride(const struct cuda_tensor_request *r, size_t i, struct cuda_tensor_fault *fault)
{
    const int64_t bytes = (int64_t)dtype_bytes(r->dtype), stride = r->strides[i];
    if (!known(stride))
        return true;
    fault->of_problem = true;
    if (stride < 0 || stride >= STRIDE_END / bytes)
        return refuse(fault, "strides", i - 1, "%lld elements: expected 0 to below 2^40 bytes", (long long)stride);
    const long long found = (long long)stride * bytes;
    return found % ALIGNMENT == 0 ||
           refuse(fault, "strides", i - 1, "%lld elements are %lld bytes: expected a multiple of %d bytes",
                  (long long)stride, found, ALIGNMENT);
}

/* A row of the box, in bytes. */
static bool check_row(const struct cuda_tensor_request *r, struct cuda_tensor_fault *fault)
{
    int64_t bytes = r->box[0] * (int64_t)dtype_bytes(r->dtype);
    fault->of_problem = false;
    if (bytes % ALIGNMENT != 0)
        return refuse(fault, "box", 0, "%lld elements are %lld bytes: expected a multiple of %d bytes",
                      (long long)r->box[0], (long long)bytes, ALIGNMENT);
    if (known(r->swizzle) && r->swizzle > 0 && bytes > r->swizzle)
        return refuse(fault, "box", 0,
                      "%lld elements are %lld bytes: expected at most the %lld that are swizzled as one",
                      (long long)r->box[0], (long long)bytes, (long long)r->swizzle);
    return true;
}

bool cuda_tensor_check(const struct cuda_tensor_request *r, struct cuda_tensor_fault *fault)
{
    *fault = (struct cuda_tensor_fault){0};
    for (size_t i = 0; i < r->rank; i++)
        if (!check_dimension(r, i, fault) || (i > 0 && !check_stride(r, i, fault)))
            return false;
    if (known(r->fetch) && promotion_of(r->fetch) < 0)
        return refuse_single(fault, "fetch", "fetches 0, 64, 128 or 256", r->fetch);
    if (known(r->swizzle) && swizzle_of(r->swizzle) < 0)
        return refuse_single(fault, "swizzle", "swizzles 0, 32, 64 or 128", r->swizzle);
    return !known(r->box[0]) || check_row(r, fault);
}

/* ---- the driver's call ---- */

/* The sizes of a box or a tensor, outermost first: "300 x 64". */
static const char *sizes(const int64_t *of, size_t rank, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = rank; i-- > 0 && used < capacity;)
        used += (size_t)snprintf(out + used, capacity - used, "%lld%s", (long long)of[i], i > 0 ? " x " : "");
    return out;
}

static int encode(const struct driver *cu, const struct cuda_tensor_request *r, struct cuda_tensor_map *out,
                  struct error *err)
{
    static const int types[] = {CU_TENSOR_F16, CU_TENSOR_BF16, CU_TENSOR_F32};
    uint64_t dims[CUDA_TENSOR_RANK] = {0}, strides[CUDA_TENSOR_RANK] = {0};
    uint32_t box[CUDA_TENSOR_RANK] = {0}, element_strides[CUDA_TENSOR_RANK] = {0};
    char tensor[80], boxed[40];
    for (size_t i = 0; i < r->rank; i++) {
        dims[i] = (uint64_t)r->dims[i];
        box[i] = (uint32_t)r->box[i];
        element_strides[i] = (uint32_t)r->element_strides[i];
        if (i > 0)
            strides[i - 1] = (uint64_t)r->strides[i] * dtype_bytes(r->dtype);
    }
    cu_result result = cu->tensor_map(out->opaque, types[r->dtype], (uint32_t)r->rank, (void *)(uintptr_t)r->memory,
                                      dims, strides, box, element_strides, 0, swizzle_of(r->swizzle),
                                      promotion_of(r->fetch), r->nan ? CU_TENSOR_FILL_NAN : CU_TENSOR_FILL_ZERO);
    return driver_check(cu, result, err, "cuTensorMapEncodeTiled(%s, box %s, swizzle %lld)",
                        sizes(r->dims, r->rank, tensor, sizeof tensor), sizes(r->box, r->rank, boxed, sizeof boxed),
                        (long long)r->swizzle);
}

int cuda_tensor_map_encode(struct device *d, const struct cuda_tensor_request *r, struct cuda_tensor_map *out,
                           struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    struct cuda_tensor_fault fault;
    if (!c)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "no tensor map: \"%s\" is not a CUDA device", d->info.kind);
    if (!cuda_tensor_check(r, &fault))
        return error_set(err, EXIT_CODE_DATA, "%s: %s", fault.where, fault.text);
    return encode(&c->driver, r, out, err);
}
