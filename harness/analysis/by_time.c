/*
 * by_time.c - sums of times, classes of time and percentiles of launches over many shapes: the numbers of Tables 5
 * and 6. Relies on nothing. Called by report/time_tables.c and the screen.
 */
#include "analysis/by_time.h"

#include <math.h>

const struct time_class time_classes[TIME_CLASSES] = {
    {"under 5 us", 0, 5e3},        {"5 to 10 us", 5e3, 10e3},   {"10 to 30 us", 10e3, 30e3},
    {"30 to 100 us", 30e3, 100e3}, {"0.1 to 1 ms", 100e3, 1e6}, {"over 1 ms", 1e6, INFINITY},
};

size_t time_class_of(double ns)
{
    for (size_t i = 0; i < TIME_CLASSES && ns > 0; i++)
        if (ns < time_classes[i].to_ns)
            return i;
    return TIME_CLASSES;
}

/* What is summed; floors with the times of the shapes that have one. */
struct sums {
    double logs, reference, candidate;
    double floor, floor_reference, floor_candidate;
};

static void add(struct sums *sums, const struct timed_lead *lead)
{
    double candidate = lead->reference_ns / (1 + lead->lead);
    sums->logs += log1p(lead->lead);
    sums->reference += lead->reference_ns;
    sums->candidate += candidate;
    if (!(lead->floor_ns > 0))
        return;
    sums->floor += lead->floor_ns;
    sums->floor_reference += lead->reference_ns;
    sums->floor_candidate += candidate;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

void by_time_of(const struct timed_lead *leads, size_t n, size_t class, struct by_time *out)
{
    struct sums sums = {0};
    *out = (struct by_time){0};
    for (size_t i = 0; i < n; i++) {
        size_t of = time_class_of(leads[i].reference_ns);
        if (of == TIME_CLASSES || (class != TIME_CLASSES && of != class) || !(leads[i].lead > -1))
            continue;
        add(&sums, &leads[i]);
        out->n++;
        out->wins += leads[i].lead > 0;
    }
    out->geomean = expm1(ratio(sums.logs, (double)out->n));
    out->weighted = ratio(sums.reference, sums.candidate) - 1;
    out->candidate_floor = sums.floor > 0 ? ratio(sums.floor, sums.floor_candidate) : (double)NAN;
    out->reference_floor = sums.floor > 0 ? ratio(sums.floor, sums.floor_reference) : (double)NAN;
}

/* A geometric mean of ratios. */
struct mean {
    double logs;
    size_t n;
};

static void add_ratio(struct mean *mean, double over, double under)
{
    if (!(over > 0) || !(under > 0))
        return;
    mean->logs += log(over / under);
    mean->n++;
}

static double value_of(const struct mean *mean)
{
    return mean->n > 0 ? expm1(mean->logs / (double)mean->n) : (double)NAN;
}

/* Counts that are not known count for nothing. */
static void count_launches(const struct launch_pair *pairs, size_t n, struct launch_tails *out)
{
    for (size_t i = 0; i < n; i++) {
        double launches = pairs[i].candidate.n;
        if (!(launches > 0))
            continue;
        out->fewest = out->launches > 0 ? fmin(out->fewest, launches) : launches;
        out->launches += launches;
    }
}

void launch_tails_of(const struct launch_pair *pairs, size_t n, struct launch_tails *out)
{
    struct mean p50 = {0}, p95 = {0}, p99 = {0}, ours = {0}, theirs = {0};
    for (size_t i = 0; i < n; i++) {
        const struct launch_times *r = &pairs[i].reference, *c = &pairs[i].candidate;
        add_ratio(&p50, r->p50_ns, c->p50_ns);
        add_ratio(&p95, r->p95_ns, c->p95_ns);
        add_ratio(&p99, r->p99_ns, c->p99_ns);
        add_ratio(&ours, c->p99_ns, c->p50_ns);
        add_ratio(&theirs, r->p99_ns, r->p50_ns);
    }
    *out = (struct launch_tails){.n = p50.n,
                                 .lead_p50 = value_of(&p50),
                                 .lead_p95 = value_of(&p95),
                                 .lead_p99 = value_of(&p99),
                                 .candidate_tail = value_of(&ours),
                                 .reference_tail = value_of(&theirs)};
    count_launches(pairs, n, out);
}
