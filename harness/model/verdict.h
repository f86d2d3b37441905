/*
 * verdict.h - what became of a contender in a cell, of a kernel that was inspected, of a submission, and of a cell: the
 * words of `status` and `verdict` (docs/results.md, "Verdicts") and what follows from each.
 */
#ifndef CUDAL2_MODEL_VERDICT_H
#define CUDAL2_MODEL_VERDICT_H

#include <stdbool.h>

enum verdict {
    VERDICT_OK,
    VERDICT_UNAVAILABLE,
    VERDICT_UNSUPPORTED,
    VERDICT_INCOMPARABLE,
    VERDICT_COMPILE_ERROR,
    VERDICT_LOAD_ERROR,
    VERDICT_MISSING_SYMBOL,
    VERDICT_SETUP_ERROR,
    VERDICT_LAUNCH_ERROR,
    VERDICT_WRONG_RESULT,
    VERDICT_PRECISION_CLASS,
    VERDICT_IMPLAUSIBLE_SPEED,
    VERDICT_STREAM_ESCAPE,
    VERDICT_EARLY_WORK,
    VERDICT_LATE_WORK,
    VERDICT_RIVAL_DISTURBED,
    VERDICT_INPUT_MUTATED,
    VERDICT_OOB_WRITE,
    VERDICT_OOB_READ,
    VERDICT_DEVICE_STATE_CHANGED,
    VERDICT_LEAK,
    VERDICT_TAMPER_SUSPECTED,
    VERDICT_CRASH,
    VERDICT_EARLY_EXIT,
    VERDICT_KILLED,
    VERDICT_HANG,
    VERDICT_SKIPPED,
    VERDICT_UNKNOWN,
    VERDICT_LEFT_OUT,
    VERDICT_CUDA_ERROR,
    VERDICT_OUT_OF_MEMORY,
    VERDICT_INFRASTRUCTURE,
    /* Only of a kernel that is inspected and not run (contender/inspect.h). */
    VERDICT_WRONG_ENTRY,
    VERDICT_WRONG_ARGUMENTS,
    VERDICT_WRONG_ARCH,
    VERDICT_OVER_LIMIT,
    VERDICT_WRONG_LAUNCH,
    /* Only of a submission (serve/verdict.h). */
    VERDICT_INVALID,
    VERDICT_CANCELLED,
    VERDICT_FAILED,
    VERDICT_COUNT /* also: none of these, as a newer program may write it */
};

/* "ok", "unavailable", ...; "" for VERDICT_COUNT. */
const char *verdict_name(enum verdict verdict);
/* VERDICT_COUNT for a word that is none. */
enum verdict verdict_of(const char *name);

/* Whether it says that the contender answered wrongly or did something else than it was billed and timed for: a verdict
 * of verification or of an honesty check, which makes the run's exit code 3. */
bool verdict_is_refuted(enum verdict verdict);

/* partial: a contender failed, or was skipped by a fault. */
enum cell_status { CELL_OK, CELL_PARTIAL, CELL_SKIPPED, CELL_FAILED, CELL_STATUS_COUNT /* also: none of these */ };
extern const char *const cell_status_names[]; /* "ok", "partial", ...; NULL-terminated */
/* CELL_STATUS_COUNT for a word that is none. */
enum cell_status cell_status_of(const char *name);

#endif
