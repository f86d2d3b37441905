/*
 * choices.h - which parameters the candidate ran with on each shape (paper, section 6), read from the attributes that
 * results record for it.
 */
#ifndef CUDAL2_REPORT_CHOICES_H
#define CUDAL2_REPORT_CHOICES_H

#include "result/result.h"

#include <stdbool.h>

enum choice_parameter { CHOICE_BM, CHOICE_BN, CHOICE_BK, CHOICE_STAGES, CHOICE_SWIZZLE, CHOICE_PARAMETERS };
extern const char *const choice_names[CHOICE_PARAMETERS]; /* "BM", "BN", "BK", "stages", "swizzle stride" */

/* The faster layout (by headline median) of one candidate in one cell. Texts point into the result. */
struct choice {
    const char *mode, *dtype, *accumulate, *candidate, *kernel;
    double m, n, k;
    double value[CHOICE_PARAMETERS]; /* NaN where the kernel has no such parameter */
};

struct choices {
    struct choice *items;
    size_t n;
};

/* Candidates without recorded parameters are left out. EXIT_CODE_INTERNAL out of memory. */
int choices_of(const struct result *result, struct choices *out, struct error *err);
void choices_free(struct choices *c);

double choice_log2_mnk(const struct choice *c);

/* The six panels of Fig. 4. x and y of a panel for a choice; NaN where it has no point. Sizes are log2. */
struct choice_panel {
    const char *name;
    double (*x)(const struct choice *c);
    double (*y)(const struct choice *c);
};
#define CHOICE_PANELS 6
extern const struct choice_panel choice_panels[CHOICE_PANELS];

/* Choices of one mode, number format and candidate belong together; any of them stands for the group. */
bool choice_is_first_of_group(const struct choices *all, size_t index);
bool choice_same_group(const struct choice *a, const struct choice *b);

/* The points of one panel in one group: y over x, only where both are known. */
struct choice_points {
    size_t n;
    double *x, *y;
};
/* Makes room for as many points as there are choices. -1 out of memory. */
int choice_points_make(const struct choices *all, struct choice_points *out);
void choice_points_free(struct choice_points *points);
void choice_fill_points(const struct choices *all, const struct choice *group, const struct choice_panel *panel,
                        struct choice_points *out);
/* stats_pearson or stats_spearman of the points; NaN below three (two always lie on a line). */
double choice_correlation(double (*of)(const double *, const double *, size_t), const struct choice_points *points);

#endif
