/*
 * preview.h - what a search would race, told before it races: `tune --dry-run`.
 */
#ifndef CUDAL2_TUNE_PREVIEW_H
#define CUDAL2_TUNE_PREVIEW_H

#include "tune/tune.h"

#define PREVIEW_KEYS 3 /* of each ranking that are named */

/* Of a prepared search (tune_prepare) on such a device. *text is owned by the caller. EXIT_CODE_UNAVAILABLE where no
 * candidate has anything to race. */
int preview_text(const struct tuner *t, const struct config *config, const struct device_info *device, char **text,
                 struct error *err);

#endif
