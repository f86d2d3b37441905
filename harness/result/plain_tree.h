/*
 * plain_tree.h - the names and words of a result's JSON tree, made harmless as base/plain.h has it. Private to result/.
 */
#ifndef CUDAL2_RESULT_PLAIN_TREE_H
#define CUDAL2_RESULT_PLAIN_TREE_H

#include <stdbool.h>

#include "base/json.h"

/* Whether all names and words of the node, of those after it and of what they hold are harmless. NULL has none. */
bool plain_tree_is(const cJSON *node);

/* Writes out what does harm in them; pointers to words that did are stale. False: out of memory, done in part. */
bool plain_tree_make(cJSON *node);

#endif
