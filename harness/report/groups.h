/*
 * groups.h - which lines of a dataset stand together in a table or figure, and the order of the baselines.
 */
#ifndef CUDAL2_REPORT_GROUPS_H
#define CUDAL2_REPORT_GROUPS_H

#include "report/dataset.h"

#define GROUP_MODES 2
extern const char *const group_modes[GROUP_MODES]; /* "offline", "server" */

/* A group is everything of a line's identity but mode and reference; any of its lines stands for it. */
bool group_is_first(const struct dataset *d, size_t index);
/* Whether any of its lines is of one of group_modes. */
bool group_has_modes(const struct dataset *d, const struct line *group);

/* The line of this group; NULL when there is none or it has no shapes. */
const struct line *group_line(const struct dataset *d, const struct line *group, const char *mode,
                              const char *reference);

/* Names of all references of the dataset, the paper's first and in its order; at most capacity. */
size_t group_references(const struct dataset *d, const char **out, size_t capacity);

/* Against the baseline that comes last in the paper's order: cuBLASLt-AutoTuning-max where it is there. NULL when the
 * group has none of the paper's baselines in this mode. */
const struct line *group_last(const struct dataset *d, const struct line *group, const char *mode);

/* "cublas-tn" is family "cublas" in layout "tn"; layout is "" where the name has none. Both point into buffers of
 * DATASET_NAME_MAX that the caller gives. */
void group_split_name(const char *reference, char *family, char *layout);

#endif
