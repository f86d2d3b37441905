/*
 * figures.h - the numbers behind the paper's figures as plain tables, one row a bar or a point, every row with all
 * that identifies it: what scripts/figures.sh draws, and what any other plotting program can read.
 */
#ifndef CUDAL2_REPORT_FIGURES_H
#define CUDAL2_REPORT_FIGURES_H

#include "report/dataset.h"
#include "report/table.h"

enum figure {
    FIGURE_1,              /* mean speedup and its 95% interval over each baseline */
    FIGURE_3,              /* each shape against the paper's last baseline (groups.h) */
    FIGURE_3_MEANS,        /* the same by bins of each size axis */
    FIGURE_4,              /* the parameters of the candidate's faster layout on each shape */
    FIGURE_4_CORRELATIONS, /* Pearson and Spearman of each panel */
    FIGURE_ABLATION,       /* candidates of one kernel that differ in BM, shape by shape (paper, section 5.2) */
    FIGURE_COUNT
};
extern const char *const figure_names[FIGURE_COUNT]; /* "figure1", "figure3", ...: of the files */

/* Fills a table that the caller has zeroed and frees; it has columns and no rows when the sources hold nothing of the
 * kind. result may be NULL (published files only). EXIT_CODE_INTERNAL out of memory. */
int figure_make(enum figure figure, const struct dataset *d, const struct result *result, struct table *s,
                struct error *err);

#endif
