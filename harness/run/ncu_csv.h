/*
 * ncu_csv.h - the table that `ncu --csv --page raw` prints: a row for each kernel of a launch, a column for each
 * metric. Pure. Called by counters.c.
 */
#ifndef CUDAL2_RUN_NCU_CSV_H
#define CUDAL2_RUN_NCU_CSV_H

#include "base/error.h"
#include "base/json.h"

#define NCU_COLUMNS 4096                    /* of a table: ncu puts some 300 of its own ahead of those asked for */
#define NCU_KERNELS 4096                    /* rows that are read */
#define NCU_KERNELS_SHOWN 8                 /* that are named */
#define NCU_NAME_MAX 160                    /* of a kernel; a longer one is cut */
#define NCU_WEIGHT "gpu__time_duration.sum" /* what averages over several kernels are weighted by */

/* Metrics of all kernels together, which are one launch of the contender:
 *
 *   {"metrics":{"dram__bytes.sum":{"value":202406144,"unit":"byte","kernels":"sum"}},"missing":["..."],
 *    "kernels":[{"kernel":"gemm","grid":"(32, 8, 1)","block":"(128, 1, 1)"}],"launched":1}
 *
 * Of the metrics in `wanted`, names separated by commas ("": all that are in the table). "kernels" of a metric only
 * where there are several, see ncu_combination; "missing": columns without a number, and wanted ones without a column.
 * EXIT_CODE_DATA, in one line, where there is no table or it has no row; *out is owned by the caller, NULL then. */
int ncu_csv_read(const char *text, const char *wanted, cJSON **out, struct error *err);

/* Whether a list of names, separated by commas, has this one. */
bool ncu_lists(const char *list, const char *name);

/* How a metric of several kernels becomes one of the launch, by its name: "sum" (.sum), "min" (.min), "max" (.max, and
 * what is a property of a launch, launch__*), or else "mean", weighted by the kernels' times. */
const char *ncu_combination(const char *metric);

/* What a tool said instead of a table: the first line that begins with ==ERROR==, without that, else the last line that
 * is not empty. "" for nothing. */
void ncu_complaint(const char *text, char *out, size_t capacity);

/* Whether a name may be asked for: letters, digits, '_', '.' and ':', with "__" in it. */
bool ncu_is_metric(const char *name, size_t length);

#endif
