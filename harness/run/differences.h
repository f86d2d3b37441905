/*
 * differences.h - what two GPUs of a run do not have alike of what decides their speed.
 */
#ifndef CUDAL2_RUN_DIFFERENCES_H
#define CUDAL2_RUN_DIFFERENCES_H

#include "base/json.h"

#include <stdbool.h>

#define DIFFERENCES_MAX 512

/* By the environments of their workers: "power limit 500 W (700 W), ...", the first one's in brackets. False: alike. */
bool differences_of(const cJSON *first, const cJSON *other, char out[DIFFERENCES_MAX]);

#endif
