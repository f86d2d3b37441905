/*
 * verdict.c - the table of verdicts: whose fault, and what is told of it. Called by outcome.c, counted.c and gym.c.
 */
#include "serve/verdict.h"

#include <stdio.h>
#include <string.h>

#include "base/tree.h"

struct verdict_info {
    bool earned;
    bool reasoned; /* the reason is told */
    bool cheat;
    const char *text; /* NULL: no text beside the word */
};

static const struct verdict_info table[VERDICT_COUNT] = {
    [VERDICT_WRONG_RESULT] = {.earned = true}, /* its text: wrong_result() */
    [VERDICT_INVALID] = {true, true, false, "the submission cannot be launched"},
    [VERDICT_COMPILE_ERROR] = {true, true, false, "the source does not compile"},
    [VERDICT_WRONG_ENTRY] = {true, true, false, "the compiled kernel is not what the manifest says"},
    [VERDICT_WRONG_ARGUMENTS] = {true, true, false, "the kernel's arguments are not those of the manifest"},
    [VERDICT_WRONG_ARCH] = {true, true, false, "the binary is for another architecture"},
    [VERDICT_OVER_LIMIT] = {true, true, false, "the kernel is over a limit of the device"},
    [VERDICT_WRONG_LAUNCH] = {true, true, false, "the manifest gives a launch that is not possible"},
    [VERDICT_LOAD_ERROR] = {true, true, false, "the module cannot be loaded"},
    [VERDICT_MISSING_SYMBOL] = {true, true, false, "the module lacks a symbol"},
    [VERDICT_SETUP_ERROR] = {true, true, false, "setup failed"},
    [VERDICT_LAUNCH_ERROR] = {true, true, false, "a launch failed"},
    [VERDICT_UNSUPPORTED] = {true, true, false, "the candidate does not do this problem"},
    [VERDICT_PRECISION_CLASS] = {true, false, false, "it accumulates in 16 bits although float was asked for"},
    [VERDICT_IMPLAUSIBLE_SPEED] = {true, false, true,
                                   "faster than all of the work can be done: some launches do not do all of it"},
    [VERDICT_STREAM_ESCAPE] = {true, false, true, "it worked on another stream than the one it was given"},
    [VERDICT_EARLY_WORK] = {true, false, true, "it worked before it was launched"},
    [VERDICT_LATE_WORK] = {true, false, true, "its output changed after the launch had ended"},
    [VERDICT_RIVAL_DISTURBED] = {true, false, true, "it computed in the turns of others"},
    [VERDICT_INPUT_MUTATED] = {true, false, true, "it changed an input matrix"},
    [VERDICT_OOB_WRITE] = {true, false, false, "it wrote outside its matrices"},
    [VERDICT_OOB_READ] = {true, false, false, "it read outside its matrices"},
    [VERDICT_DEVICE_STATE_CHANGED] = {true, false, true, "it changed state that is not its own"},
    [VERDICT_LEAK] = {true, false, false, "it holds more and more memory"},
    [VERDICT_TAMPER_SUSPECTED] = {true, false, true, "it changed something that is not its own"},
    [VERDICT_CRASH] = {true, true, false, "it crashed"},
    [VERDICT_EARLY_EXIT] = {true, false, true, "it ended the process"},
    [VERDICT_HANG] = {true, true, false, "it did not end in time"},
    [VERDICT_LEFT_OUT] = {true, false, false, "it cost several workers and is not tried any more"},
    [VERDICT_CUDA_ERROR] = {true, true, false, "it left the device in an error"},
    [VERDICT_UNAVAILABLE] = {false, true, false, "not available on this server"},
    [VERDICT_INCOMPARABLE] = {false, true, false, "it cannot be timed in a way that compares"},
    [VERDICT_OUT_OF_MEMORY] = {false, true, false, "the device had not enough memory"},
    [VERDICT_SKIPPED] = {false, true, false, "the problem was not begun"},
    [VERDICT_KILLED] = {false, true, false, "the worker was killed from outside"},
    [VERDICT_CANCELLED] = {false, false, false, "the client took it back"},
    [VERDICT_FAILED] = {false, true, false, "the server could not measure; submit it again"},
};

/* Of a verdict that the table lacks: nothing is said and nothing is earned. */
static const struct verdict_info *info_of(enum verdict verdict)
{
    static const struct verdict_info none;
    return verdict < VERDICT_COUNT ? &table[verdict] : &none;
}

enum verdict verdict_of_outcome(const cJSON *outcome)
{
    enum verdict verdict = verdict_of(tree_text(outcome, "verdict"));
    return verdict < VERDICT_COUNT ? verdict : VERDICT_FAILED;
}

bool verdict_is_earned(enum verdict verdict)
{
    return info_of(verdict)->earned;
}

bool verdict_is_cheat(enum verdict verdict, const char *stage)
{
    if (verdict == VERDICT_WRONG_RESULT)
        return strcmp(stage, "verify") != 0;
    return info_of(verdict)->cheat;
}

/* While a kernel is verified, wrong elements help to mend it. What is wrong only while it is timed is no mistake. */
static void wrong_result(const char *stage, const char *reason, char out[VERDICT_TEXT])
{
    if (strcmp(stage, "verify") == 0)
        snprintf(out, VERDICT_TEXT, "wrong_result: %s", reason);
    else
        snprintf(out, VERDICT_TEXT, "wrong_result: outputs are right when it is verified and wrong when it is timed");
}

void verdict_text(enum verdict verdict, const char *stage, const char *reason, char out[VERDICT_TEXT])
{
    const struct verdict_info *info = info_of(verdict);
    const char *word = verdict_name(verdict);
    if (verdict == VERDICT_WRONG_RESULT)
        wrong_result(stage, reason, out);
    else if (!info->text)
        snprintf(out, VERDICT_TEXT, "%s", word);
    else if (info->reasoned && reason[0])
        snprintf(out, VERDICT_TEXT, "%s: %s: %s", word, info->text, reason);
    else
        snprintf(out, VERDICT_TEXT, "%s: %s", word, info->text);
}

void verdict_hide(char *text, const char *directory)
{
    size_t length = strlen(directory);
    for (char *at = text; length > 0 && (at = strstr(at, directory)) != NULL;) {
        size_t cut = length + (at[length] == '/');
        memmove(at, at + cut, strlen(at + cut) + 1);
    }
}
