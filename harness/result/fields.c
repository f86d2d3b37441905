/*
 * fields.c - the tables of fields.h: all keys of a result that the program reads, each once. Pure data. Used by read.c,
 * cell.c and run_info.c, which walk them.
 */
#include "result/fields.h"

/* A member of the struct's own, under its own name; of what it holds under `name`; and lists. */
#define FIELD(kind_, type, member)                                                                                     \
    {                                                                                                                  \
        .key = #member, .offset = offsetof(struct type, member), .kind = (kind_)                                       \
    }
#define FIELD_AS(kind_, type, member, name)                                                                            \
    {                                                                                                                  \
        .key = (name), .offset = offsetof(struct type, member), .kind = (kind_)                                        \
    }
#define NEEDED(kind_, type, member)                                                                                    \
    {                                                                                                                  \
        .key = #member, .offset = offsetof(struct type, member), .kind = (kind_), .needed = true                       \
    }
#define OBJECT(type, member, fields)                                                                                   \
    {                                                                                                                  \
        .key = #member, .offset = offsetof(struct type, member), .inner = (fields), .kind = IS_OBJECT                  \
    }
#define LIST(kind_, type, member, fields)                                                                              \
    {                                                                                                                  \
        .key = #member, .offset = offsetof(struct type, member), .count = offsetof(struct type, n_##member),           \
        .size = sizeof *((struct type *)0)->member, .inner = (fields), .kind = (kind_)                                 \
    }
#define LIST_AS(kind_, type, member, count_, name, fields)                                                             \
    {                                                                                                                  \
        .key = (name), .offset = offsetof(struct type, member), .count = offsetof(struct type, count_),                \
        .size = sizeof *((struct type *)0)->member, .inner = (fields), .kind = (kind_)                                 \
    }
#define NAMED(name)                                                                                                    \
    {                                                                                                                  \
        .key = (name), .kind = IS_NAMED                                                                                \
    }
#define GROUP(type)                                                                                                    \
    FIELD_AS(IS_TEXT, type, group.mode, "mode"), FIELD_AS(IS_TEXT, type, group.dtype, "dtype"),                        \
        FIELD_AS(IS_TEXT, type, group.accumulate, "accumulate")
#define SELF(type)                                                                                                     \
    {                                                                                                                  \
        .key = "", .offset = offsetof(struct type, json), .kind = IS_SELF                                              \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        .key = NULL                                                                                                    \
    }

/* ---- a cell ---- */

static const struct field timing[] = {FIELD(IS_COUNT, result_timing, n),
                                      FIELD(IS_TIME, result_timing, median_ns),
                                      FIELD(IS_TIME, result_timing, mean_ns),
                                      FIELD(IS_TIME, result_timing, p95_ns),
                                      FIELD(IS_TIME, result_timing, p99_ns),
                                      FIELD(IS_TIME, result_timing, median_low_ns),
                                      FIELD(IS_TIME, result_timing, median_high_ns),
                                      FIELD(IS_TIME, result_timing, min_ns),
                                      FIELD(IS_AMOUNT, result_timing, sd_ns),
                                      END};

/* An empty kernel may take less than the clock can tell. */
static const struct field empty_kernel[] = {FIELD(IS_COUNT, result_timing, n),
                                            FIELD(IS_SPAN, result_timing, median_ns),
                                            FIELD(IS_SPAN, result_timing, mean_ns),
                                            FIELD(IS_SPAN, result_timing, p95_ns),
                                            FIELD(IS_SPAN, result_timing, min_ns),
                                            FIELD(IS_SPAN, result_timing, sd_ns),
                                            END};

#define TIMING_AT(id, name)                                                                                            \
    {.key = (name), .offset = TIMING_##id * sizeof(struct result_timing), .inner = timing, .kind = IS_OBJECT},
static const struct field timings[] = {TIMING_LIST(TIMING_AT) END};

static const struct field activity[] = {SELF(result_activity), FIELD(IS_TEXT, result_activity, unavailable),
                                        FIELD(IS_AMOUNT, result_activity, ratio),
                                        FIELD(IS_AMOUNT, result_activity, overlap_ns), END};

static const struct field invariance[] = {SELF(result_invariance), FIELD(IS_ANSWER, result_invariance, batch_invariant),
                                          FIELD(IS_ANSWER, result_invariance, deterministic), END};

static const struct field energy[] = {SELF(result_energy),
                                      FIELD(IS_TEXT, result_energy, not_measured),
                                      FIELD(IS_AMOUNT, result_energy, joules),
                                      FIELD(IS_AMOUNT, result_energy, gflop_per_joule),
                                      FIELD(IS_AMOUNT, result_energy, launches),
                                      FIELD(IS_AMOUNT, result_energy, seconds),
                                      FIELD(IS_AMOUNT, result_energy, steps),
                                      FIELD(IS_AMOUNT, result_energy, busy),
                                      END};

const struct field result_attributes_fields[] = {SELF(result_attributes),
                                                 FIELD(IS_LOOSE_TEXT, result_attributes, kernel),
                                                 FIELD(IS_LOOSE_TEXT, result_attributes, parameters), END};

static const struct field tuning[] = {SELF(result_tuning),
                                      FIELD(IS_LOOSE_TEXT, result_tuning, variant),
                                      FIELD(IS_COUNT, result_tuning, raced),
                                      FIELD(IS_AMOUNT, result_tuning, seconds),
                                      FIELD(IS_AMOUNT, result_tuning, busy_seconds),
                                      END};

const struct field result_contender_fields[] = {
    SELF(result_contender),
    {.key = "", .offset = offsetof(struct result_contender, name), .kind = IS_OWN_KEY},
    FIELD(IS_TEXT, result_contender, status),
    FIELD(IS_TEXT, result_contender, stage),
    FIELD(IS_TEXT, result_contender, reason),
    FIELD(IS_TEXT, result_contender, family),
    FIELD(IS_TEXT, result_contender, layout),
    FIELD(IS_ROLE, result_contender, role),
    FIELD(IS_TEXT, result_contender, copy_of),
    FIELD(IS_TEXT, result_contender, rung),
    FIELD(IS_LOOSE_TEXT, result_contender, rung_reason),
    FIELD(IS_FLAG, result_contender, invalid),
    FIELD(IS_FLAG, result_contender, early),
    FIELD(IS_FLAG, result_contender, joined),
    FIELD(IS_LOOSE_TEXT, result_contender, join_reason),
    FIELD(IS_FLAG, result_contender, host_sync),
    OBJECT(result_contender, timings, timings),
    OBJECT(result_contender, equal_path, timings),
    FIELD(IS_AMOUNT, result_contender, tflops),
    FIELD(IS_AMOUNT, result_contender, percent_of_roofline),
    FIELD(IS_COUNT, result_contender, launches),
    OBJECT(result_contender, activity, activity),
    OBJECT(result_contender, invariance, invariance),
    OBJECT(result_contender, energy, energy),
    {.key = "attributes",
     .offset = offsetof(struct result_contender, attributes),
     .inner = result_attributes_fields,
     .kind = IS_LOOSE_OBJECT},
    OBJECT(result_contender, tuning, tuning),
    FIELD(IS_NODE, result_contender, verification),
    FIELD(IS_NODE, result_contender, deviation),
    END};

static const struct field pair[] = {FIELD(IS_TEXT, result_pair, candidate),
                                    FIELD(IS_TEXT, result_pair, reference),
                                    FIELD(IS_TIMING, result_pair, timing),
                                    FIELD(IS_SPEEDUP, result_pair, geomean),
                                    FIELD(IS_SPEEDUP, result_pair, mean_of_ratios),
                                    FIELD(IS_SPEEDUP, result_pair, ratio_of_means),
                                    FIELD(IS_SPEEDUP, result_pair, paper_max),
                                    FIELD(IS_SPEEDUP, result_pair, geomean_all_blocks),
                                    FIELD(IS_INTERVAL, result_pair, ci95),
                                    FIELD(IS_COUNT, result_pair, n),
                                    FIELD(IS_COUNT, result_pair, groups),
                                    FIELD(IS_SPEEDUP, result_pair, uneven),
                                    END};

static const struct field incomparable[] = {
    FIELD(IS_TEXT, result_incomparable, candidate), FIELD(IS_TEXT, result_incomparable, reference),
    FIELD(IS_TIMING, result_incomparable, timing), FIELD(IS_TEXT, result_incomparable, reason), END};

static const struct field aa[] = {FIELD(IS_TEXT, result_aa, contender),
                                  FIELD(IS_TIMING, result_aa, timing),
                                  FIELD(IS_SPEEDUP, result_aa, geomean),
                                  FIELD(IS_SPEEDUP, result_aa, mean_of_ratios),
                                  FIELD(IS_SPEEDUP, result_aa, ratio_of_means),
                                  FIELD(IS_INTERVAL, result_aa, ci95),
                                  FIELD(IS_COUNT, result_aa, n),
                                  FIELD(IS_COUNT, result_aa, groups),
                                  FIELD(IS_ANSWER, result_aa, excludes_one),
                                  END};

const struct field result_cell_fields[] = {
    NEEDED(IS_NAME, result_cell, key),
    NEEDED(IS_SIZE, result_cell, m),
    NEEDED(IS_SIZE, result_cell, n),
    NEEDED(IS_SIZE, result_cell, k),
    GROUP(result_cell),
    FIELD(IS_TEXT, result_cell, args),
    FIELD(IS_TEXT, result_cell, label),
    FIELD(IS_TEXT, result_cell, status),
    FIELD(IS_TEXT, result_cell, reason),
    FIELD(IS_TIMING, result_cell, headline),
    FIELD(IS_TEXT, result_cell, cache),
    FIELD(IS_TEXT, result_cell, rotation),
    FIELD(IS_TEXT, result_cell, overlap),
    FIELD(IS_TEXT, result_cell, worst_pair),
    FIELD(IS_INDEX, result_cell, env),
    FIELD(IS_COUNT, result_cell, groups),
    FIELD(IS_COUNT, result_cell, blocks),
    FIELD(IS_COUNT, result_cell, visits),
    FIELD(IS_COUNT, result_cell, passes),
    FIELD(IS_COUNT, result_cell, dropped_blocks),
    FIELD(IS_FLAG, result_cell, converged),
    FIELD(IS_FLAG, result_cell, coarse),
    FIELD(IS_FLAG, result_cell, held),
    FIELD(IS_AMOUNT, result_cell, floor_ns), /* of the largest problem 2^61 operations */
    FIELD(IS_AMOUNT, result_cell, worst_half_width),
    FIELD(IS_AMOUNT, result_cell, busy_seconds),
    FIELD(IS_AMOUNT, result_cell, wall_seconds),
    OBJECT(result_cell, null_graph, empty_kernel),
    LIST(IS_MAP, result_cell, contenders, result_contender_fields),
    LIST(IS_LIST, result_cell, speedups, pair),
    LIST(IS_LIST, result_cell, equal_path, pair),
    LIST(IS_LIST, result_cell, incomparable, incomparable),
    LIST(IS_LIST, result_cell, aa, aa),
    FIELD(IS_NODE, result_cell, paper_pairs),
    FIELD(IS_NODE, result_cell, chain),
    FIELD(IS_NODE, result_cell, verification),
    END};

/* ---- the summary ---- */

static const struct field speedup_row[] = {GROUP(result_speedup_row),
                                           FIELD(IS_TIMING, result_speedup_row, timing),
                                           FIELD(IS_TEXT, result_speedup_row, candidate),
                                           FIELD(IS_TEXT, result_speedup_row, reference),
                                           NEEDED(IS_COUNT, result_speedup_row, n),
                                           FIELD(IS_COUNT, result_speedup_row, wins),
                                           FIELD(IS_COUNT, result_speedup_row, clear_wins),
                                           FIELD(IS_COUNT, result_speedup_row, clear_losses),
                                           FIELD(IS_COUNT, result_speedup_row, left_out),
                                           FIELD(IS_SPEEDUP, result_speedup_row, geomean_of_all),
                                           FIELD(IS_SPEEDUP, result_speedup_row, mean),
                                           FIELD(IS_SPEEDUP, result_speedup_row, geomean),
                                           FIELD(IS_SPEEDUP, result_speedup_row, median),
                                           FIELD(IS_INTERVAL, result_speedup_row, ci95),
                                           FIELD(IS_AMOUNT, result_speedup_row, sd),
                                           FIELD(IS_AMOUNT, result_speedup_row, mean_of_max),
                                           END};

static const struct field rate_row[] = {GROUP(result_rate_row),
                                        FIELD(IS_TEXT, result_rate_row, contender),
                                        FIELD(IS_ROLE, result_rate_row, role),
                                        NEEDED(IS_COUNT, result_rate_row, n),
                                        FIELD(IS_COUNT, result_rate_row, left_out),
                                        FIELD(IS_AMOUNT, result_rate_row, median_tflops),
                                        FIELD(IS_AMOUNT, result_rate_row, max_tflops),
                                        FIELD(IS_AMOUNT, result_rate_row, median_percent_of_roofline),
                                        END};

static const struct field aa_row[] = {GROUP(result_aa_row),
                                      FIELD(IS_TIMING, result_aa_row, timing),
                                      FIELD(IS_TEXT, result_aa_row, contender),
                                      NEEDED(IS_COUNT, result_aa_row, n),
                                      FIELD(IS_COUNT, result_aa_row, with_interval),
                                      FIELD(IS_COUNT, result_aa_row, excludes_one),
                                      FIELD(IS_SHARE, result_aa_row, false_alarm_rate),
                                      FIELD(IS_FIGURE, result_aa_row, mean_log_ratio),
                                      FIELD(IS_AMOUNT, result_aa_row, sd_log_ratio),
                                      END};

static const struct field left_out[] = {FIELD(IS_TEXT, result_left_out, contender),
                                        FIELD(IS_TEXT, result_left_out, status),
                                        FIELD(IS_TEXT, result_left_out, stage),
                                        FIELD(IS_TEXT, result_left_out, reason),
                                        FIELD(IS_TEXT, result_left_out, first_cell),
                                        FIELD(IS_COUNT, result_left_out, cells),
                                        END};

static const struct field borrowed[] = {
    FIELD(IS_TEXT, result_borrowed, contender), FIELD(IS_TEXT, result_borrowed, library),
    FIELD(IS_TEXT, result_borrowed, seen),      FIELD(IS_COUNT, result_borrowed, cells),
    FIELD(IS_FLAG, result_borrowed, declared),  END};

static const struct field counts[] = {
    FIELD(IS_COUNT, result_counts, cells),          FIELD(IS_COUNT, result_counts, ok),
    FIELD(IS_COUNT, result_counts, partial),        FIELD(IS_COUNT, result_counts, skipped),
    FIELD(IS_COUNT, result_counts, failed),         FIELD(IS_COUNT, result_counts, cells_with_slowdown),
    FIELD(IS_COUNT, result_counts, dropped_blocks), FIELD(IS_AMOUNT, result_counts, busy_seconds),
    FIELD(IS_AMOUNT, result_counts, wall_seconds),  END};

static const struct field not_converged[] = {FIELD(IS_TEXT, result_unconverged, cell),
                                             FIELD(IS_TEXT, result_unconverged, pair),
                                             FIELD(IS_AMOUNT, result_unconverged, half_width), END};

static const struct field convergence[] = {FIELD(IS_COUNT, result_convergence, measured),
                                           FIELD(IS_COUNT, result_convergence, converged),
                                           FIELD(IS_COUNT, result_convergence, incomparable),
                                           FIELD(IS_SHARE, result_convergence, share),
                                           LIST(IS_LIST, result_convergence, not_converged, not_converged),
                                           END};

static const struct field ratios[] = {SELF(result_ratios),
                                      FIELD(IS_COUNT, result_ratios, n),
                                      FIELD(IS_AMOUNT, result_ratios, median),
                                      FIELD(IS_AMOUNT, result_ratios, min),
                                      FIELD(IS_AMOUNT, result_ratios, max),
                                      END};

static const struct field looks[] = {SELF(result_looks),
                                     FIELD(IS_COUNT, result_looks, launches),
                                     FIELD(IS_COUNT, result_looks, unavailable),
                                     FIELD(IS_COUNT, result_looks, refuted),
                                     OBJECT(result_looks, ratio, ratios),
                                     END};

const struct field result_summary_fields[] = {SELF(result_summary),
                                              OBJECT(result_summary, counts, counts),
                                              OBJECT(result_summary, convergence, convergence),
                                              LIST(IS_LIST, result_summary, speedups, speedup_row),
                                              LIST(IS_LIST, result_summary, equal_path, speedup_row),
                                              LIST(IS_LIST, result_summary, rates, rate_row),
                                              LIST(IS_LIST, result_summary, aa, aa_row),
                                              LIST(IS_LIST, result_summary, left_out, left_out),
                                              LIST(IS_LIST, result_summary, borrowed, borrowed),
                                              OBJECT(result_summary, activity, looks),
                                              END};

/* ---- the run ---- */

static const struct field audit[] = {FIELD(IS_TEXT, result_audit, unavailable), FIELD(IS_COUNT, result_audit, cells),
                                     END};

static const struct field end[] = {SELF(result_end), FIELD(IS_NODE, result_end, between_devices), END};

static const struct field run[] = {SELF(result_run),
                                   FIELD(IS_TEXT, result_run, started),
                                   FIELD(IS_TEXT, result_run, plan_hash),
                                   FIELD(IS_LOOSE_TEXT, result_run, seed),
                                   FIELD(IS_COUNT, result_run, n_cells),
                                   FIELD(IS_FLAG, result_run, complete),
                                   LIST(IS_TEXTS, result_run, missing, NULL),
                                   OBJECT(result_run, activity, audit),
                                   OBJECT(result_run, end, end),
                                   END};

static const struct field device[] = {SELF(result_device),
                                      FIELD(IS_TEXT, result_device, name),
                                      FIELD(IS_TEXT, result_device, driver),
                                      FIELD(IS_LOOSE_TEXT, result_device, kind),
                                      FIELD(IS_LOOSE_TEXT, result_device, uuid),
                                      FIELD(IS_AMOUNT, result_device, peak_flops),
                                      FIELD(IS_AMOUNT, result_device, peak_flops_f32),
                                      FIELD(IS_AMOUNT, result_device, peak_bytes_per_s),
                                      END};

static const struct field env[] = {SELF(result_env), OBJECT(result_env, device, device), END};

static const struct field file[] = {FIELD(IS_TEXT, result_file, path), FIELD(IS_COUNT, result_file, cells), END};

const struct field result_fields[] = {{.key = "cells",
                                       .offset = offsetof(struct result, cells),
                                       .count = offsetof(struct result, n_cells),
                                       .size = sizeof(struct result_cell),
                                       .inner = result_cell_fields,
                                       .kind = IS_LIST,
                                       .needed = true},
                                      {.key = "summary",
                                       .offset = offsetof(struct result, summary),
                                       .inner = result_summary_fields,
                                       .kind = IS_OBJECT,
                                       .needed = true},
                                      OBJECT(result, run, run),
                                      LIST(IS_LIST, result, env, env),
                                      LIST(IS_LIST, result, runs, run),
                                      LIST(IS_LIST, result, files, file),
                                      END};

const struct field result_cells_fields[] = {{.key = "cells",
                                             .offset = offsetof(struct result_cells, list),
                                             .count = offsetof(struct result_cells, n),
                                             .size = sizeof(struct result_cell),
                                             .inner = result_cell_fields,
                                             .kind = IS_LIST},
                                            END};

/* ---- what a run was asked for, and ran with ---- */

static const struct field build[] = {FIELD(IS_TEXT, result_build, commit), END};

static const struct field config[] = {SELF(result_config),
                                      FIELD(IS_TEXT, result_config, protocol),
                                      FIELD(IS_TEXT, result_config, dtype),
                                      FIELD(IS_TEXT, result_config, overlap),
                                      FIELD(IS_NODE, result_config, timing),
                                      FIELD(IS_ARRAY, result_config, modes),
                                      FIELD(IS_ARRAY, result_config, accumulate),
                                      FIELD(IS_ARRAY, result_config, layouts),
                                      FIELD(IS_TREE, result_config, server),
                                      FIELD(IS_TREE, result_config, offline),
                                      FIELD(IS_TREE, result_config, tune),
                                      FIELD(IS_NODE, result_config, join_rows),
                                      FIELD(IS_COUNT, result_config, workspace_bytes),
                                      LIST(IS_TEXTS, result_config, baselines, NULL),
                                      LIST(IS_TEXTS, result_config, candidates, NULL),
                                      END};

const struct field run_info_fields[] = {FIELD(IS_TEXT, run_info, started),    FIELD(IS_TEXT, run_info, plan_hash),
                                        FIELD(IS_LOOSE_TEXT, run_info, seed), FIELD(IS_TEXT, run_info, config_hash),
                                        FIELD(IS_TEXT, run_info, device),     OBJECT(run_info, build, build),
                                        OBJECT(run_info, config, config),     END};

static const struct field machine[] = {
    FIELD(IS_TEXT, result_machine, kind),     FIELD(IS_TEXT, result_machine, name),
    FIELD(IS_TEXT, result_machine, driver),   FIELD(IS_NODE, result_machine, power_limit_mw),
    FIELD(IS_COUNT, result_machine, threads), END};

/* Digests tell builds of plugins and kernels apart, and paths machines; neither says that a library is another one. */
static const struct field library[] = {SELF(result_library),
                                       {.key = "", .offset = offsetof(struct result_library, name), .kind = IS_OWN_KEY},
                                       FIELD(IS_NODE, result_library, plugin_digest),
                                       FIELD(IS_NODE, result_library, set),
                                       FIELD(IS_NODE, result_library, kernels),
                                       NAMED("plugin_name"),
                                       NAMED("path"),
                                       NAMED("blas_mapped"),
                                       LIST_AS(IS_OTHER_MEMBERS, result_library, versions, n_versions, "", NULL),
                                       END};

static const struct field table[] = {SELF(result_table),
                                     {.key = "", .offset = offsetof(struct result_table, name), .kind = IS_OWN_KEY},
                                     FIELD(IS_TEXT, result_table, commit),
                                     FIELD(IS_TEXT, result_table, hash),
                                     END};

static const struct field libraries[] = {LIST_AS(IS_MAP, result_libraries, tables, n_tables, "tuned", table),
                                         LIST_AS(IS_OTHER_OBJECTS, result_libraries, list, n, "", library), END};

const struct field env_info_fields[] = {OBJECT(env_info, device, machine), OBJECT(env_info, libraries, libraries),
                                        LIST(IS_MEMBERS, env_info, unavailable, NULL), END};
