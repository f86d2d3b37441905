/*
 * trees.h - boosted regression trees that ship as data (scripts/train-ranker.py makes them): what is to be added to
 * log(time) of a model's prediction. A text file:
 *
 *   cudal2-bench/trees 1
 *   cc 90                        the compute capability it was learned on; any of the same major serves
 *   features N                   then N lines: name, least and greatest value that training saw
 *   trees T                      then T trees: how many nodes, a line for each of them, a line of leaves
 *
 * A node is "feature threshold left right": left where the feature is at most the threshold. A child that is negative
 * is leaf ~child; others come after their parent. Numbers are as strtof reads them; leaves are in TREES_UNIT.
 */
#ifndef CUDAL2_CHOICE_TREES_H
#define CUDAL2_CHOICE_TREES_H

#include "base/error.h"

#include <stddef.h>

#define TREES_UNIT 1e-4
#define TREES_MAX_BYTES (1u << 20)
#define TREES_MAX 1024
#define TREES_MAX_NODES 4096 /* of one tree */
#define TREES_MAX_FEATURES 128

struct trees;

/* `names`, NULL-terminated, are the features that there are, in the order in which trees_value takes them.
 * EXIT_CODE_DATA for what is no such file, or asks for a feature that there is not. */
int trees_parse(const char *path, const char *text, const char *const *names, struct trees **out, struct error *err);
int trees_load(const char *path, const char *const *names, struct trees **out, struct error *err);
void trees_free(struct trees *t);

/* Of the GPU that they were learned on. */
int trees_cc(const struct trees *t);

/* For each of `n` rows of `stride` features the sum of the leaves that they lead to. Where features lie outside of what
 * training saw the sum is halved for each of them: there the model is the better guess. */
void trees_values(const struct trees *t, const float *features, size_t stride, size_t n, double *out);

#endif
