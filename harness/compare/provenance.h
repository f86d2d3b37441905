/*
 * provenance.h - what makes two runs incomparable: whatever can move the reference or change what a time means.
 */
#ifndef CUDAL2_COMPARE_PROVENANCE_H
#define CUDAL2_COMPARE_PROVENANCE_H

#include "compare/side.h"

#define PROVENANCE_MAX 24
#define PROVENANCE_TEXT 288

/* Lines of the form `driver: "570.86" in BASE, "580.65" in NEW` and `tuning table h200-f32: of 827c91a in BASE, of
 * fa1a4a6 in NEW`. A list or settings too long for a line are told by their size, texts and what is of one size by
 * where they differ (base/text_diff.h). */
struct provenance {
    const char *names[2]; /* of the sides */
    char line[PROVENANCE_MAX][PROVENANCE_TEXT];
    size_t n; /* of all differences; those beyond PROVENANCE_MAX are counted and not kept */
};

/* Device, driver, power limit, library versions, protocol, modes, headline timing of each mode, accumulate types,
 * dtype, layouts, baselines, workspace, cache, gaps and tuning. What is meant to differ between two commits does not
 * count: build, candidates with their code and what their plugins call their versions, seeds, stop rule, paths, grid
 * (its cells come out MISSING). */
void provenance_compare(const struct side *base, const struct side *fresh, struct provenance *out);

/* For a run that measures some cells of `fresh` again: the same device and headline timings, and the very same plugins
 * and libraries, candidates included. */
void provenance_compare_again(const struct side *fresh, const struct side *again, struct provenance *out);

/* The same before anything is measured: the environments alone. */
void provenance_compare_loaded(const struct env_info *fresh, const struct env_info *again, struct provenance *out);

/* Names, joined by ", ", of the plugins and kernel sets that both sides loaded and whose code differs. That is what a
 * comparison is for, and no reason against it. */
void provenance_changed_code(const struct side *base, const struct side *fresh, char *out, size_t capacity);

/* All lines that fit, joined by "; ", for an error; the others are counted. */
void provenance_join(const struct provenance *differences, char *out, size_t capacity);

#endif
