/*
 * cublaslt_algorithms.h - cuBLASLt's algorithms for one problem: asking for them, and writing one as text.
 */
#ifndef CUDAL2_BASELINES_CUBLASLT_ALGORITHMS_H
#define CUDAL2_BASELINES_CUBLASLT_ALGORITHMS_H

#include "cublaslt_matmul.h"

#define LT_REQUESTED 100 /* paper, Listing 8 */
#define LT_LIMITS 4
#define LT_MAX_ALGORITHMS (LT_REQUESTED * LT_LIMITS)

struct lt_algorithm {
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace_bytes; /* it needs */
    float waves;
};

/* The heuristic's answers for at most workspace_bytes of workspace, best first; returns how many (0 is not an error:
 * the library knows none), or a negative enum cudal2_status. out holds LT_REQUESTED. */
int lt_heuristic(const struct lt_matmul *m, size_t workspace_bytes, struct lt_algorithm *out, char *why);

/* The union of the heuristic's answers over several workspace limits (all of workspace_bytes, 32 MiB, 4 MiB, none),
 * without repetition, the unlimited answers first. out holds LT_MAX_ALGORITHMS. Returns as lt_heuristic. */
int lt_all_algorithms(const struct lt_matmul *m, size_t workspace_bytes, struct lt_algorithm *out, char *why);

/* An algorithm as text ("<128 hex digits>:<workspace bytes>") and back. The text belongs to one library version and
 * GPU: parsing asks cublasLtMatmulAlgoCheck, and fails with CUDAL2_BAD_VARIANT when the library refuses or when more
 * than workspace_bytes would be needed. */
void lt_key(const struct lt_algorithm *algorithm, struct cudal2_variant *out);
int lt_parse_key(const struct lt_matmul *m, const char *key, size_t workspace_bytes, struct lt_algorithm *out,
                 char *why);

/* The members of a JSON object that name the algorithm's attributes (those of value 0 are left out), the workspace it
 * needs and its waves, without braces. Returns the length written, or -1 when an attribute cannot be read or the text
 * does not fit. */
int lt_describe(const struct lt_algorithm *algorithm, char *out, size_t capacity);

#endif
