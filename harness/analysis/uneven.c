/*
 * uneven.c - the excess of a candidate's mean over its median, against its rival's, and the ratio of means that is
 * taken instead of the trimmed one. Relies on stats/interval.h. Called by pair.c.
 */
#include "analysis/uneven.h"

#include <math.h>

/* Of |mean| of n values whose sum and sum of squares these are. */
static double half_width_of(double sum, double squares, double n)
{
    double variance = (squares - sum * sum / n) / (n - 1);
    return n < 2 ? INFINITY : stats_t95(n - 1) * sqrt(fmax(variance, 0) / n);
}

/* P(X >= least) of n tosses of a coin that falls so with probability `share`. */
static double chance_of(unsigned least, unsigned n, double share)
{
    double sum = 0;
    for (unsigned i = least; i <= n; i++)
        sum += exp(stats_log_choose(n, i) + i * log(share) + (n - i) * log1p(-share));
    return sum;
}

/* A group of several blocks begins with a fresh set-up, whose first launch may be slow by itself. */
static bool is_first(const struct pair *p, size_t i)
{
    bool begins = i == 0 || p->group[i] != p->group[i - 1];
    return begins && i + 1 < p->n && p->group[i + 1] == p->group[i];
}

double uneven_excess(const struct pair *p)
{
    double c = stats_median(p->candidate_ns, p->n), r = stats_median(p->reference_ns, p->n);
    double sum = 0, squares = 0, n = 0;
    unsigned slow[2] = {0, 0}; /* the candidate's, and the reference's */
    if (!(c > 0) || !(r > 0))
        return NAN;
    for (size_t i = 0; i < p->n; i++) {
        double of_c = p->candidate_ns[i] / c, of_r = p->reference_ns[i] / r;
        if (is_first(p, i))
            continue;
        n++;
        sum += of_c - of_r;
        squares += (of_c - of_r) * (of_c - of_r);
        slow[0] += of_c > UNEVEN_SLOW && of_r <= UNEVEN_SLOW;
        slow[1] += of_r > UNEVEN_SLOW && of_c <= UNEVEN_SLOW;
    }
    double excess = sum / fmax(n, 1);
    bool sure = excess > UNEVEN_LEAST && excess - half_width_of(sum, squares, n) > UNEVEN_LOW &&
                chance_of(slow[0], slow[0] + slow[1], fmax(0.5, c / (c + r))) < UNEVEN_CHANCE;
    return sure ? excess : (double)NAN;
}

void uneven_means(const struct pair *p, double *log_ratio, double *half_width)
{
    double c = stats_mean(p->candidate_ns, p->n), r = stats_mean(p->reference_ns, p->n), sum = 0, squares = 0;
    for (size_t i = 0; i < p->n; i++) {
        double apart = p->reference_ns[i] / r - p->candidate_ns[i] / c; /* to first order, of the ratio's logarithm */
        sum += apart;
        squares += apart * apart;
    }
    *log_ratio = log(r / c);
    *half_width = half_width_of(sum, squares, (double)p->n);
}
