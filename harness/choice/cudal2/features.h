/*
 * features.h - what the trees (choice/trees.h) are asked about a problem and a configuration: sizes, waves, bytes, the
 * tile's figures, and what the model says, all as ratios to the machine's figures, so that they are the same for every
 * GPU of one generation. scripts/train-ranker.py learns from these very numbers (tests/studies/rank_features.c).
 */
#ifndef CUDAL2_CHOICE_CUDAL2_FEATURES_H
#define CUDAL2_CHOICE_CUDAL2_FEATURES_H

#include "choice/cudal2/model.h"

#define FEATURES_COUNT 56
extern const char *const feature_names[]; /* FEATURES_COUNT of them, NULL-terminated */

struct feature_query {
    const struct model_machine *machine;
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    bool idle;  /* launches come after a gap */
    bool alone; /* back to back, and none begins before the one ahead has ended */
};

/* Fills out[FEATURES_COUNT], all finite. `seconds` is what model_seconds says, which must be finite. */
void features_of(const struct feature_query *query, const struct model_tile *tile, double seconds, float *out);

#endif
