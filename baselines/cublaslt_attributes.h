/*
 * cublaslt_attributes.h - what an algorithm of cuBLASLt consists of: its id, and what can be chosen.
 */
#ifndef CUDAL2_BASELINES_CUBLASLT_ATTRIBUTES_H
#define CUDAL2_BASELINES_CUBLASLT_ATTRIBUTES_H

#include <cublasLt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lt_attribute {
    LT_TILE,
    LT_STAGES,
    LT_SPLIT_K,
    LT_REDUCTION,
    LT_SWIZZLE,
    LT_CUSTOM,
    LT_INNER_SHAPE,
    LT_CLUSTER_SHAPE,
    LT_CHOICES, /* what stands above can be chosen */
    LT_ID = LT_CHOICES,
    LT_ATTRIBUTES
};

/* By its name in records. */
const char *lt_attribute_name(enum lt_attribute which);

/* Attributes of 2 and 4 bytes alike; false when the library does not know it. */
bool lt_read_attribute(const cublasLtMatmulAlgo_t *a, enum lt_attribute which, uint32_t *out);
bool lt_write_attribute(cublasLtMatmulAlgo_t *a, enum lt_attribute which, uint32_t value);

#endif
