/*
 * groups.c - sorts a dataset's lines into groups of one mode, dtype and accumulate type, baselines in the paper's
 * order. Pure. Called by tables, figures and page.
 */
#include "report/groups.h"

#include <stdio.h>
#include <string.h>

const char *const group_modes[GROUP_MODES] = {"offline", "server"};

/* Rows in the paper's order, then what the paper does not have. */
static const char *const known_references[] = {"torch.matmul",
                                               "cublas-nn",
                                               "cublas-tn",
                                               "cublas-max",
                                               "cublaslt-heuristic-nn",
                                               "cublaslt-heuristic-tn",
                                               "cublaslt-heuristic-max",
                                               "cublaslt-autotuning-nn",
                                               "cublaslt-autotuning-tn",
                                               "cublaslt-autotuning-max"};
#define N_KNOWN (sizeof known_references / sizeof *known_references)

static bool same_group(const struct line *a, const struct line *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
           strcmp(a->accumulate, b->accumulate) == 0 && strcmp(a->timing, b->timing) == 0 &&
           strcmp(a->candidate, b->candidate) == 0;
}

bool group_is_first(const struct dataset *d, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_group(&d->lines[i], &d->lines[index]))
            return false;
    return true;
}

const struct line *group_line(const struct dataset *d, const struct line *group, const char *mode,
                              const char *reference)
{
    struct line like = *group;
    snprintf(like.mode, sizeof like.mode, "%s", mode);
    snprintf(like.reference, sizeof like.reference, "%s", reference);
    const struct line *line = dataset_find(d, &like);
    return line && line->n > 0 ? line : NULL;
}

bool group_has_modes(const struct dataset *d, const struct line *group)
{
    for (size_t i = 0; i < d->n; i++)
        for (size_t m = 0; m < GROUP_MODES; m++)
            if (same_group(&d->lines[i], group) && strcmp(d->lines[i].mode, group_modes[m]) == 0)
                return true;
    return false;
}

size_t group_references(const struct dataset *d, const char **out, size_t capacity)
{
    size_t n = 0;
    for (size_t i = 0; i < N_KNOWN && n < capacity; i++)
        for (size_t l = 0; l < d->n; l++)
            if (strcmp(d->lines[l].reference, known_references[i]) == 0) {
                out[n++] = known_references[i];
                break;
            }
    for (size_t l = 0; l < d->n && n < capacity; l++) {
        bool listed = false;
        for (size_t i = 0; i < n; i++)
            listed |= strcmp(out[i], d->lines[l].reference) == 0;
        if (!listed)
            out[n++] = d->lines[l].reference;
    }
    return n;
}

const struct line *group_last(const struct dataset *d, const struct line *group, const char *mode)
{
    for (size_t i = N_KNOWN; i-- > 0;) {
        const struct line *line = group_line(d, group, mode, known_references[i]);
        if (line)
            return line;
    }
    return NULL;
}

void group_split_name(const char *reference, char *family, char *layout)
{
    static const char *const layouts[] = {"nn", "tn", "max"};
    const char *dash = strrchr(reference, '-');
    snprintf(family, DATASET_NAME_MAX, "%s", reference);
    layout[0] = '\0';
    for (size_t i = 0; dash && i < sizeof layouts / sizeof *layouts; i++)
        if (strcmp(dash + 1, layouts[i]) == 0) {
            family[dash - reference] = '\0';
            snprintf(layout, DATASET_NAME_MAX, "%s", layouts[i]);
        }
}
