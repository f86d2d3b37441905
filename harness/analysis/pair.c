/*
 * pair.c - two contenders on the blocks they share: the log ratios, their interval and speedup, and whether their
 * rungs can be compared. Relies on stats/interval.h. Called by stop.c, results and compare/.
 */
#include "analysis/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/quantization.h"
#include "analysis/uneven.h"

void pair_free(struct pair *p)
{
    free(p->reference_ns);
    free(p->candidate_ns);
    free(p->log_ratio);
    free(p->group);
    *p = (struct pair){0};
}

static int allocate(struct pair *p, size_t capacity)
{
    p->reference_ns = malloc((capacity + 1) * sizeof *p->reference_ns);
    p->candidate_ns = malloc((capacity + 1) * sizeof *p->candidate_ns);
    p->log_ratio = malloc((capacity + 1) * sizeof *p->log_ratio);
    p->group = malloc((capacity + 1) * sizeof *p->group);
    if (p->reference_ns && p->candidate_ns && p->log_ratio && p->group)
        return 0;
    pair_free(p);
    return -1;
}

static void add(const struct cell_record *r, unsigned block, double reference, double candidate, struct pair *p)
{
    if (!(reference > 0) || !(candidate > 0))
        return;
    p->reference_ns[p->n] = reference;
    p->candidate_ns[p->n] = candidate;
    p->log_ratio[p->n] = log(reference / candidate);
    p->group[p->n++] = r->group_of && block < r->blocks ? r->group_of[block] : 0;
}

int pair_collect(const struct cell_record *r, const struct series *reference, const struct series *candidate,
                 enum pair_blocks which, struct pair *out)
{
    *out = (struct pair){0};
    if (allocate(out, reference->n < candidate->n ? reference->n : candidate->n))
        return -1;
    size_t i = 0;
    size_t j = 0;
    while (i < reference->n && j < candidate->n) {
        unsigned block = reference->block[i];
        if (block < candidate->block[j]) {
            i++;
        } else if (block > candidate->block[j]) {
            j++;
        } else {
            if (which == PAIR_ALL_BLOCKS || !record_block_dropped(r, block))
                add(r, block, reference->ns[i], candidate->ns[j], out);
            i++;
            j++;
        }
    }
    return 0;
}

static double mean_ratio(const struct pair *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += p->reference_ns[i] / p->candidate_ns[i];
    return sum / (double)p->n;
}

void pair_interval(const struct pair *p, struct interval *out)
{
    stats_interval(p->log_ratio, p->group, p->n, out);
    stats_widen(out, p->choosing);
}

/* NaN where it is not known. */
static double half_width_of(const struct pair *p, const struct interval *interval)
{
    double half_width = interval->valid ? fmax(interval->half_width, pair_quantization(p)) : (double)NAN;
    return isinf(half_width) ? (double)NAN : half_width;
}

void pair_speedup(const struct pair *p, struct speedup *out)
{
    struct interval interval;
    pair_interval(p, &interval);
    double half_width = half_width_of(p, &interval), estimate = interval.estimate;
    *out = (struct speedup){.n = p->n, .groups = (unsigned)interval.groups, .uneven = uneven_excess(p)};
    if (!isnan(out->uneven)) {
        double of_means;
        uneven_means(p, &estimate, &of_means);
        half_width = fmax(half_width, of_means);
    }
    out->log_mean = estimate;
    out->geomean = expm1(estimate);
    out->low = expm1(estimate - half_width);
    out->high = expm1(estimate + half_width);
    out->mean_of_ratios = mean_ratio(p) - 1;
    out->ratio_of_means = stats_mean(p->reference_ns, p->n) / stats_mean(p->candidate_ns, p->n) - 1;
}

bool rungs_are_comparable(const char *a, const char *b, enum timing timing)
{
    return !timing_is_segment(timing) || strcmp(a, b) == 0;
}

bool pair_is_comparable(const struct contender_record *a, const struct contender_record *b, enum timing timing)
{
    return rungs_are_comparable(a->rung, b->rung, timing);
}
