/*
 * mismatch.h - says in words what differs between the config a journal was started with and the one it is to go on
 * with.
 */
#ifndef CUDAL2_RUN_MISMATCH_H
#define CUDAL2_RUN_MISMATCH_H

#include "base/json.h"

#include <stddef.h>

/* Writes "stop.max_blocks was 48, is 64; modes (--mode) was ["offline"], is ["server"]; and 2 more": keys of the config
 * in full, with the option that overrides one, and long values cut to where they differ. "" when the two are alike. */
void mismatch_describe(const cJSON *then, const cJSON *now, char *out, size_t capacity);

#endif
