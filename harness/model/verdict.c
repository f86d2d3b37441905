/*
 * verdict.c - the table of verdicts: the word of each, and which of them refute. Pure. Called by record/, result/ and
 * everything that reads a result.
 */
#include "model/verdict.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    bool refuted;
} verdicts[VERDICT_COUNT] = {
    [VERDICT_OK] = {"ok", false},
    [VERDICT_UNAVAILABLE] = {"unavailable", false},
    [VERDICT_UNSUPPORTED] = {"unsupported", false},
    [VERDICT_INCOMPARABLE] = {"incomparable", false},
    [VERDICT_COMPILE_ERROR] = {"compile_error", false},
    [VERDICT_LOAD_ERROR] = {"load_error", false},
    [VERDICT_MISSING_SYMBOL] = {"missing_symbol", false},
    [VERDICT_SETUP_ERROR] = {"setup_error", false},
    [VERDICT_LAUNCH_ERROR] = {"launch_error", false},
    [VERDICT_WRONG_RESULT] = {"wrong_result", true},
    [VERDICT_PRECISION_CLASS] = {"precision_class", true},
    [VERDICT_IMPLAUSIBLE_SPEED] = {"implausible_speed", true},
    [VERDICT_STREAM_ESCAPE] = {"stream_escape", true},
    [VERDICT_EARLY_WORK] = {"early_work", true},
    [VERDICT_LATE_WORK] = {"late_work", true},
    [VERDICT_RIVAL_DISTURBED] = {"rival_disturbed", true},
    [VERDICT_INPUT_MUTATED] = {"input_mutated", true},
    [VERDICT_OOB_WRITE] = {"oob_write", true},
    [VERDICT_OOB_READ] = {"oob_read", true},
    [VERDICT_DEVICE_STATE_CHANGED] = {"device_state_changed", true},
    [VERDICT_LEAK] = {"leak", true},
    [VERDICT_TAMPER_SUSPECTED] = {"tamper_suspected", true},
    [VERDICT_CRASH] = {"crash", false},
    [VERDICT_EARLY_EXIT] = {"early_exit", false},
    [VERDICT_KILLED] = {"killed", false},
    [VERDICT_HANG] = {"hang", false},
    [VERDICT_SKIPPED] = {"skipped", false},
    [VERDICT_UNKNOWN] = {"unknown", false},
    [VERDICT_LEFT_OUT] = {"left_out", false},
    [VERDICT_CUDA_ERROR] = {"cuda_error", false},
    [VERDICT_OUT_OF_MEMORY] = {"out_of_memory", false},
    [VERDICT_INFRASTRUCTURE] = {"infrastructure", false},
    [VERDICT_WRONG_ENTRY] = {"wrong_entry", false},
    [VERDICT_WRONG_ARGUMENTS] = {"wrong_arguments", false},
    [VERDICT_WRONG_ARCH] = {"wrong_arch", false},
    [VERDICT_OVER_LIMIT] = {"over_limit", false},
    [VERDICT_WRONG_LAUNCH] = {"wrong_launch", false},
    [VERDICT_INVALID] = {"invalid", false},
    [VERDICT_CANCELLED] = {"cancelled", false},
    [VERDICT_FAILED] = {"failed", false},
};

const char *const cell_status_names[] = {"ok", "partial", "skipped", "failed", NULL};

const char *verdict_name(enum verdict verdict)
{
    return verdict < VERDICT_COUNT ? verdicts[verdict].name : "";
}

enum verdict verdict_of(const char *name)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (strcmp(verdicts[v].name, name) == 0)
            return (enum verdict)v;
    return VERDICT_COUNT;
}

bool verdict_is_refuted(enum verdict verdict)
{
    return verdict < VERDICT_COUNT && verdicts[verdict].refuted;
}

enum cell_status cell_status_of(const char *name)
{
    for (int s = 0; s < CELL_STATUS_COUNT; s++)
        if (strcmp(cell_status_names[s], name) == 0)
            return (enum cell_status)s;
    return CELL_STATUS_COUNT;
}
