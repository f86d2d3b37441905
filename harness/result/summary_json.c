/*
 * summary_json.c - a summary as the JSON that a result has. Relies on tree.c. Called by make.c and merge.c.
 */
#include "result/summary.h"

#include <math.h>

#include "base/tree.h"

static void put_group(struct tree *t, const struct result_group *group)
{
    tree_put_text(t, "mode", group->mode);
    tree_put_text(t, "dtype", group->dtype);
    tree_put_text(t, "accumulate", group->accumulate);
}

static cJSON *interval(const struct result_interval *ci)
{
    const double ends[2] = {ci->low, ci->high};
    return isnan(ci->low) ? cJSON_CreateNull() : cJSON_CreateDoubleArray(ends, 2);
}

static cJSON *speedup_row(const void *of)
{
    const struct result_speedup_row *row = of;
    struct tree t = tree_begin();
    put_group(&t, &row->group);
    tree_put_text(&t, "timing", result_timing_name(row->timing));
    tree_put_text(&t, "candidate", row->candidate);
    tree_put_text(&t, "reference", row->reference);
    tree_put_number(&t, "n", row->n);
    tree_put_number(&t, "mean", row->mean);
    tree_put(&t, "ci95", interval(&row->ci95));
    tree_put_number(&t, "sd", row->sd);
    tree_put_number(&t, "geomean", row->geomean);
    tree_put_number(&t, "median", row->median);
    tree_put_number(&t, "wins", row->wins);
    tree_put_number(&t, "clear_wins", row->clear_wins);
    tree_put_number(&t, "clear_losses", row->clear_losses);
    tree_put_number(&t, "mean_of_max", row->mean_of_max);
    if (row->left_out > 0) {
        tree_put_number(&t, "left_out", row->left_out);
        tree_put_number(&t, "geomean_of_all", row->geomean_of_all);
    }
    return tree_finish(&t);
}

static cJSON *rate_row(const void *of)
{
    const struct result_rate_row *row = of;
    struct tree t = tree_begin();
    put_group(&t, &row->group);
    tree_put_text(&t, "contender", row->contender);
    tree_put_text(&t, "role", result_role_name(row->role));
    tree_put_number(&t, "n", row->n);
    if (row->left_out > 0)
        tree_put_number(&t, "left_out", row->left_out);
    tree_put_number(&t, "median_tflops", row->median_tflops);
    tree_put_number(&t, "max_tflops", row->max_tflops);
    tree_put_number(&t, "median_percent_of_roofline", row->median_percent_of_roofline);
    return tree_finish(&t);
}

static cJSON *aa_row(const void *of)
{
    const struct result_aa_row *row = of;
    struct tree t = tree_begin();
    put_group(&t, &row->group);
    tree_put_text(&t, "timing", result_timing_name(row->timing));
    tree_put_text(&t, "contender", row->contender);
    tree_put_number(&t, "n", row->n);
    tree_put_number(&t, "with_interval", row->with_interval);
    tree_put_number(&t, "excludes_one", row->excludes_one);
    tree_put_number(&t, "false_alarm_rate", row->false_alarm_rate);
    tree_put_number(&t, "mean_log_ratio", row->mean_log_ratio);
    tree_put_number(&t, "sd_log_ratio", row->sd_log_ratio);
    return tree_finish(&t);
}

static cJSON *left_out_row(const void *of)
{
    const struct result_left_out *row = of;
    struct tree t = tree_begin();
    tree_put_text(&t, "contender", row->contender);
    tree_put_text(&t, "status", row->status);
    tree_put_text(&t, "stage", row->stage);
    tree_put_text(&t, "reason", row->reason);
    tree_put_number(&t, "cells", row->cells);
    tree_put_text(&t, "first_cell", row->first_cell);
    return tree_finish(&t);
}

static cJSON *borrowed_row(const void *of)
{
    const struct result_borrowed *row = of;
    struct tree t = tree_begin();
    tree_put_text(&t, "contender", row->contender);
    tree_put_text(&t, "library", row->library);
    tree_put_text(&t, "seen", row->seen);
    tree_put_number(&t, "cells", row->cells);
    tree_put(&t, "declared", cJSON_CreateBool(row->declared));
    return tree_finish(&t);
}

static cJSON *unconverged_row(const void *of)
{
    const struct result_unconverged *row = of;
    struct tree t = tree_begin();
    tree_put_text(&t, "cell", row->cell);
    tree_put_number(&t, "half_width", row->half_width);
    tree_put_text(&t, "pair", row->pair);
    return tree_finish(&t);
}

/* n rows of `size` bytes each. */
static cJSON *list(const void *rows, size_t n, size_t size, cJSON *(*row)(const void *of))
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n && array; i++)
        if (!tree_append(array, row((const char *)rows + i * size)))
            array = NULL;
    return array;
}

static cJSON *counts(const struct result_counts *c)
{
    struct tree t = tree_begin();
    tree_put_number(&t, "cells", c->cells);
    tree_put_number(&t, "ok", c->ok);
    tree_put_number(&t, "partial", c->partial);
    tree_put_number(&t, "skipped", c->skipped);
    tree_put_number(&t, "failed", c->failed);
    tree_put_number(&t, "cells_with_slowdown", c->cells_with_slowdown);
    tree_put_number(&t, "dropped_blocks", c->dropped_blocks);
    tree_put_number(&t, "busy_seconds", c->busy_seconds);
    tree_put_number(&t, "wall_seconds", c->wall_seconds);
    return tree_finish(&t);
}

static cJSON *convergence(const struct result_convergence *c)
{
    struct tree t = tree_begin();
    tree_put_number(&t, "measured", c->measured);
    tree_put_number(&t, "converged", c->converged);
    tree_put_number(&t, "share", c->share);
    tree_put_count(&t, "incomparable", c->incomparable);
    tree_put(&t, "not_converged",
             list(c->not_converged, c->n_not_converged, sizeof *c->not_converged, unconverged_row));
    return tree_finish(&t);
}

static cJSON *looks(const struct result_looks *l)
{
    struct tree t = tree_begin();
    tree_put_number(&t, "launches", l->launches);
    tree_put_count(&t, "unavailable", l->unavailable);
    tree_put_number(&t, "refuted", l->refuted);
    if (l->ratio.n > 0) {
        struct tree ratio = tree_begin();
        tree_put_number(&ratio, "n", l->ratio.n);
        tree_put_number(&ratio, "median", l->ratio.median);
        tree_put_number(&ratio, "min", l->ratio.min);
        tree_put_number(&ratio, "max", l->ratio.max);
        tree_put(&t, "ratio", tree_finish(&ratio));
    }
    return tree_finish(&t);
}

cJSON *summary_to_json(const struct result_summary *s)
{
    struct tree t = tree_begin();
    tree_put(&t, "counts", counts(&s->counts));
    tree_put(&t, "convergence", convergence(&s->convergence));
    tree_put(&t, "speedups", list(s->speedups, s->n_speedups, sizeof *s->speedups, speedup_row));
    tree_put(&t, "equal_path", list(s->equal_path, s->n_equal_path, sizeof *s->equal_path, speedup_row));
    tree_put(&t, "rates", list(s->rates, s->n_rates, sizeof *s->rates, rate_row));
    tree_put(&t, "aa", list(s->aa, s->n_aa, sizeof *s->aa, aa_row));
    tree_put(&t, "left_out", list(s->left_out, s->n_left_out, sizeof *s->left_out, left_out_row));
    if (s->n_borrowed > 0)
        tree_put(&t, "borrowed", list(s->borrowed, s->n_borrowed, sizeof *s->borrowed, borrowed_row));
    if (s->activity.launches + s->activity.unavailable > 0)
        tree_put(&t, "activity", looks(&s->activity));
    return tree_finish(&t);
}
