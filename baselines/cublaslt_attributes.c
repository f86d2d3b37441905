/*
 * cublaslt_attributes.c - the table of an algorithm's attributes: their names and sizes. Relies on cuBLASLt. Called by
 * cublaslt_algorithms.c, which writes them down, and by cublaslt_enumerate.c, which varies them.
 */
#include "cublaslt_attributes.h"

static const struct {
    const char *name;
    cublasLtMatmulAlgoConfigAttributes_t which;
    size_t size;
} attributes[LT_ATTRIBUTES] = {
    [LT_TILE] = {"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4},
    [LT_STAGES] = {"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
    [LT_SPLIT_K] = {"split_k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
    [LT_REDUCTION] = {"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
    [LT_SWIZZLE] = {"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},
    [LT_CUSTOM] = {"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
    [LT_INNER_SHAPE] = {"inner_shape", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2},
    [LT_CLUSTER_SHAPE] = {"cluster_shape", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
    [LT_ID] = {"id", CUBLASLT_ALGO_CONFIG_ID, 4},
};

const char *lt_attribute_name(enum lt_attribute which)
{
    return attributes[which].name;
}

bool lt_read_attribute(const cublasLtMatmulAlgo_t *a, enum lt_attribute which, uint32_t *out)
{
    uint32_t wide = 0;
    uint16_t narrow = 0;
    size_t written = 0, size = attributes[which].size;
    void *to = size == sizeof narrow ? (void *)&narrow : (void *)&wide;
    if (cublasLtMatmulAlgoConfigGetAttribute(a, attributes[which].which, to, size, &written) != CUBLAS_STATUS_SUCCESS)
        return false;
    *out = size == sizeof narrow ? narrow : wide;
    return written == size;
}

bool lt_write_attribute(cublasLtMatmulAlgo_t *a, enum lt_attribute which, uint32_t value)
{
    uint16_t narrow = (uint16_t)value;
    size_t size = attributes[which].size;
    const void *from = size == sizeof narrow ? (const void *)&narrow : (const void *)&value;
    return cublasLtMatmulAlgoConfigSetAttribute(a, attributes[which].which, from, size) == CUBLAS_STATUS_SUCCESS;
}
