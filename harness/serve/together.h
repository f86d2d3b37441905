/*
 * together.h - kernels with parameters that are measured in the same cells: what each is called there, and which of
 * their outcomes stand. Called by evaluate.c.
 */
#ifndef CUDAL2_SERVE_TOGETHER_H
#define CUDAL2_SERVE_TOGETHER_H

#include "serve/evaluate.h"

/* The candidate's family in its run: its own name where it is a named one. */
void together_family(const struct evaluation *e, char out[CONFIG_LABEL_MAX]);

/* Gives each its place, and writes the kernel sets of those behind the first under names of their own. */
int together_prepare(struct evaluation *list, size_t n, struct error *err);

/* Deletes the outcomes that do not stand, and gives the journal to the jobs of those that do: all that are ok, if none
 * of the others was launched. They say with how many they were measured. */
void together_keep(const struct evaluation *list, size_t n, const char *journal, cJSON *outcomes[]);

#endif
