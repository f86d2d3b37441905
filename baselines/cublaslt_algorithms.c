/*
 * cublaslt_algorithms.c - lists cuBLASLt's algorithms for a problem under four workspace limits without repetition,
 * and writes and reads each as a variant's key. Relies on nvidia.h. Called by cublaslt.c's hooks.
 */
#include "cublaslt_algorithms.h"
#include "cublaslt_attributes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERAND_ALIGNMENT 256u /* abi/contender.h promises it */
#define WORDS (sizeof(cublasLtMatmulAlgo_t) / sizeof(uint64_t))
#define HEX_PER_WORD 16

static cublasStatus_t set_preference(cublasLtMatmulPreference_t p, size_t workspace_bytes)
{
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    uint64_t limit = workspace_bytes;
    uint32_t alignment = OPERAND_ALIGNMENT;
    cublasStatus_t status =
        cublasLtMatmulPreferenceSetAttribute(p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
    for (size_t i = 0; i < 4 && status == CUBLAS_STATUS_SUCCESS; i++)
        status = cublasLtMatmulPreferenceSetAttribute(p, alignments[i], &alignment, sizeof alignment);
    return status;
}

static int keep_good(const cublasLtMatmulHeuristicResult_t *results, int n, struct lt_algorithm *out)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (results[i].state != CUBLAS_STATUS_SUCCESS)
            continue;
        out[kept].algorithm = results[i].algo;
        out[kept].workspace_bytes = results[i].workspaceSize;
        out[kept].waves = results[i].wavesCount;
        kept++;
    }
    return kept;
}

int lt_heuristic(const struct lt_matmul *m, size_t workspace_bytes, struct lt_algorithm *out, char *why)
{
    cublasLtMatmulHeuristicResult_t results[LT_REQUESTED];
    cublasLtMatmulPreference_t preference;
    int returned = 0;
    cublasStatus_t status = cublasLtMatmulPreferenceCreate(&preference);
    if (status != CUBLAS_STATUS_SUCCESS)
        return -lt_failed(why, "cublasLtMatmulPreferenceCreate", status);
    const char *call = "cublasLtMatmulPreferenceSetAttribute";
    status = set_preference(preference, workspace_bytes);
    if (status == CUBLAS_STATUS_SUCCESS) {
        call = "cublasLtMatmulAlgoGetHeuristic";
        status = cublasLtMatmulAlgoGetHeuristic(m->handle, m->operation, m->a, m->b, m->c, m->c, preference,
                                                LT_REQUESTED, results, &returned);
    }
    (void)cublasLtMatmulPreferenceDestroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED)
        return 0;
    if (status != CUBLAS_STATUS_SUCCESS)
        return -lt_failed(why, call, status);
    return keep_good(results, returned, out);
}

static bool is_known(const struct lt_algorithm *list, int n, const struct lt_algorithm *a)
{
    for (int i = 0; i < n; i++)
        if (memcmp(&list[i].algorithm, &a->algorithm, sizeof a->algorithm) == 0)
            return true;
    return false;
}

int lt_all_algorithms(const struct lt_matmul *m, size_t workspace_bytes, struct lt_algorithm *out, char *why)
{
    const size_t limits[LT_LIMITS] = {workspace_bytes, (size_t)32 << 20, (size_t)4 << 20, 0};
    struct lt_algorithm found[LT_REQUESTED];
    int n = 0;
    for (int i = 0; i < LT_LIMITS; i++) {
        if (i > 0 && limits[i] >= workspace_bytes)
            continue; /* the first limit covers it */
        int returned = lt_heuristic(m, limits[i], found, why);
        if (returned < 0)
            return returned;
        for (int j = 0; j < returned; j++)
            if (!is_known(out, n, &found[j]))
                out[n++] = found[j];
    }
    return n;
}

void lt_key(const struct lt_algorithm *algorithm, struct cudal2_variant *out)
{
    size_t length = 0;
    for (size_t i = 0; i < WORDS; i++, length += HEX_PER_WORD)
        snprintf(out->key + length, sizeof out->key - length, "%016" PRIx64, algorithm->algorithm.data[i]);
    snprintf(out->key + length, sizeof out->key - length, ":%zu", algorithm->workspace_bytes);
}

/* Exactly HEX_PER_WORD lower-case digits a word, then ':'. */
static bool parse_words(const char *key, cublasLtMatmulAlgo_t *out)
{
    if (strspn(key, "0123456789abcdef") != WORDS * HEX_PER_WORD || key[WORDS * HEX_PER_WORD] != ':')
        return false;
    for (size_t i = 0; i < WORDS; i++) {
        char digits[HEX_PER_WORD + 1] = {0};
        memcpy(digits, key + i * HEX_PER_WORD, HEX_PER_WORD);
        out->data[i] = strtoull(digits, NULL, 16);
    }
    return true;
}

int lt_parse_key(const struct lt_matmul *m, const char *key, size_t workspace_bytes, struct lt_algorithm *out,
                 char *why)
{
    cublasLtMatmulHeuristicResult_t result;
    memset(&result, 0, sizeof result);
    if (!parse_words(key, &out->algorithm)) {
        snprintf(why, CUDAL2_WHY, "\"%.40s...\" is not a cuBLASLt algorithm", key);
        return CUDAL2_BAD_VARIANT;
    }
    cublasStatus_t status =
        cublasLtMatmulAlgoCheck(m->handle, m->operation, m->a, m->b, m->c, m->c, &out->algorithm, &result);
    if (status != CUBLAS_STATUS_SUCCESS) {
        lt_failed(why, "cublasLtMatmulAlgoCheck", status);
        return CUDAL2_BAD_VARIANT;
    }
    out->workspace_bytes = result.workspaceSize;
    out->waves = result.wavesCount;
    if (out->workspace_bytes > workspace_bytes) {
        snprintf(why, CUDAL2_WHY, "needs %zu bytes of workspace, %zu are given", out->workspace_bytes, workspace_bytes);
        return CUDAL2_BAD_VARIANT;
    }
    return CUDAL2_OK;
}

/* Adds one member, left out where the value is 0. False when it cannot be read or does not fit. */
static bool describe_one(const cublasLtMatmulAlgo_t *a, enum lt_attribute which, char *out, size_t capacity,
                         size_t *length)
{
    uint32_t value = 0;
    if (!lt_read_attribute(a, which, &value))
        return false;
    if (value == 0)
        return true;
    *length +=
        (size_t)snprintf(out + *length, capacity - *length, "\"%s\":%" PRIu32 ",", lt_attribute_name(which), value);
    return *length < capacity;
}

int lt_describe(const struct lt_algorithm *algorithm, char *out, size_t capacity)
{
    const cublasLtMatmulAlgo_t *a = &algorithm->algorithm;
    size_t length = 0;
    bool all = describe_one(a, LT_ID, out, capacity, &length);
    for (int i = 0; i < LT_CHOICES && all; i++)
        all = describe_one(a, (enum lt_attribute)i, out, capacity, &length);
    if (!all)
        return -1;
    length += (size_t)snprintf(out + length, capacity - length, "\"workspace_bytes\":%zu,\"waves\":%.4g",
                               algorithm->workspace_bytes, (double)algorithm->waves);
    return length < capacity ? (int)length : -1;
}
