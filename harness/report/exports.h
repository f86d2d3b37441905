/*
 * exports.h - results in the forms that other programs read. Each form has a file of its own (export_*.c).
 *
 * A speedup leaves here as the ratio t_reference / t_candidate (1.25: a quarter faster), not as a ratio minus 1:
 * programs that watch a value over time divide by the one before, and 0 or a change of sign would mislead them.
 */
#ifndef CUDAL2_REPORT_EXPORTS_H
#define CUDAL2_REPORT_EXPORTS_H

#include "base/text.h"
#include "result/result.h"

#include <stdbool.h>

struct export_request {
    const struct result *result; /* of all sources */
    const char *const *paths;    /* the sources as given, n of them: forms with rounds look for their journals */
    size_t n;
    int timing; /* an enum timing; -1: each cell's headline */
};

/* Bencher Metric Format, for `bencher run --adapter json`: a benchmark for each cell and contender with the measures
 * `latency` (ns) and `tflops`, and for each cell and candidate the measures `speedup-over-REFERENCE` with bounds. */
int export_bencher(const struct export_request *request, struct text *out, struct error *err);

/* What Google Benchmark writes with --benchmark_format=json, for its compare.py: a benchmark for each cell and
 * contender, a repetition for each round where every source has its journal, else one with the median. The processor's
 * time is not measured: cpu_time repeats real_time. */
int export_google(const struct export_request *request, struct text *out, struct error *err);

/* nvbench's JSON 1.0.0, for nvbench_compare.py: mean and relative deviation of the rounds; a result that is thin lacks
 * the latter, a journal has it. */
int export_nvbench(const struct export_request *request, struct text *out, struct error *err);

/* github-action-benchmark: times for the tool customSmallerIsBetter, TFLOP/s and speedups for customBiggerIsBetter. */
int export_github_smaller(const struct export_request *request, struct text *out, struct error *err);
int export_github_bigger(const struct export_request *request, struct text *out, struct error *err);

/* Prometheus text format 0.0.4, for the node exporter's textfile collector: gauges in base units, no timestamps. */
int export_prometheus(const struct export_request *request, struct text *out, struct error *err);

/* CSV with a line for each round of each contender. EXIT_CODE_DATA where a source has no journal. */
int export_medians(const struct export_request *request, struct text *out, struct error *err);

/* CSV with a row for each cell, contender and timing; who failed has one with its status and no numbers. What a thin
 * result lacks (p99, the median's interval) is empty. */
int export_shapes(const struct export_request *request, struct text *out, struct error *err);

/* CSV with a row for each cell, whole candidate, baseline and timing: the speedup as a ratio, with its interval. Of a
 * result only the headline's are there; a journal has those of every timing. */
int export_pairs(const struct export_request *request, struct text *out, struct error *err);

/* ---- what they share ---- */

/* A row's first columns, EXPORT_CELL_HEAD; a word and the comma behind it; a comma and a number, empty where it is
 * none. */
#define EXPORT_CELL_HEAD "mode,dtype,accumulate,m,n,k,label,"
void export_add_cell(struct text *out, const struct result_cell *cell);
void export_add_word(struct text *out, const char *word);
void export_add_number(struct text *out, double value);

/* A contender's time in one cell. A/A copies do not count. */
struct export_time {
    const struct result_cell *cell;
    const struct result_contender *contender;
    const struct result_timing *statistics; /* of the timing */
    const char *name, *timing;
    double median_ns, tflops; /* tflops over this timing; NaN when not known */
};

/* A whole candidate (no layout suffix) against one baseline in one cell; ratios, bounds NaN when not known. */
struct export_speedup {
    const struct result_cell *cell;
    const char *candidate, *reference, *timing;
    double ratio, low, high;
};

struct export_visitor {
    void (*time)(void *context, const struct export_time *time);          /* NULL: not wanted */
    void (*speedup)(void *context, const struct export_speedup *speedup); /* NULL: not wanted */
};
/* Whether there is anything to export. */
bool export_has_times(const struct export_request *request);

void export_walk(const struct export_request *request, const struct export_visitor *visitor, void *context);

/* The text of a tree (taken over), which may be NULL; EXIT_CODE_INTERNAL out of memory. */
int export_print(cJSON *tree, struct text *out, struct error *err);

#endif
