/*
 * figures.h - what a space file tells the model of a configuration, by name, and what the model takes of a device. The
 * search itself (space.c, prune.c) knows neither the names nor the figures.
 */
#ifndef CUDAL2_CHOICE_CUDAL2_FIGURES_H
#define CUDAL2_CHOICE_CUDAL2_FIGURES_H

#include "choice/cudal2/model.h"
#include "device/device.h"

#define FIGURES_COUNT 34
extern const char *const figure_keys[]; /* FIGURES_COUNT names, NULL-terminated */

/* The value of a figure that the file does not name. */
int64_t figure_standard(size_t index);

/* The tile that these values make; one that is out of range counts as 0. */
void figures_to_tile(const int64_t values[FIGURES_COUNT], struct model_tile *out);

/* What is sustained on a device, as a share of the peaks it tells. */
struct model_machine figures_machine(const struct device_info *device);

#endif
