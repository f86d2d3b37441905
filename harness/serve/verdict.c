/*
 * verdict.c - the table of verdicts: whose fault, and what is told of it. Called by outcome.c, counted.c and gym.c.
 */
#include "serve/verdict.h"

#include <stdio.h>
#include <string.h>

struct verdict_info {
    const char *verdict;
    bool earned;
    bool reasoned; /* the reason is told */
    const char *text;
};

static const struct verdict_info table[] = {
    {"invalid", true, true, "the submission cannot be launched"},
    {"compile_error", true, true, "the source does not compile"},
    {"wrong_entry", true, true, "the compiled kernel is not what the manifest says"},
    {"wrong_arguments", true, true, "the kernel's arguments are not those of the manifest"},
    {"wrong_arch", true, true, "the binary is for another architecture"},
    {"over_limit", true, true, "the kernel is over a limit of the device"},
    {"wrong_launch", true, true, "the manifest gives a launch that is not possible"},
    {"load_error", true, true, "the module cannot be loaded"},
    {"missing_symbol", true, true, "the module lacks a symbol"},
    {"setup_error", true, true, "setup failed"},
    {"launch_error", true, true, "a launch failed"},
    {"unsupported", true, true, "the candidate does not do this problem"},
    {"precision_class", true, false, "it accumulates in 16 bits although float was asked for"},
    {"implausible_speed", true, false, "faster than all of the work can be done: some launches do not do all of it"},
    {"stream_escape", true, false, "it worked on another stream than the one it was given"},
    {"early_work", true, false, "it worked before it was launched"},
    {"late_work", true, false, "its output changed after the launch had ended"},
    {"rival_disturbed", true, false, "it computed in the turns of others"},
    {"input_mutated", true, false, "it changed an input matrix"},
    {"oob_write", true, false, "it wrote outside its matrices"},
    {"oob_read", true, false, "it read outside its matrices"},
    {"device_state_changed", true, false, "it changed state that is not its own"},
    {"leak", true, false, "it holds more and more memory"},
    {"tamper_suspected", true, false, "it changed something that is not its own"},
    {"crash", true, true, "it crashed"},
    {"early_exit", true, false, "it ended the process"},
    {"hang", true, true, "it did not end in time"},
    {"left_out", true, false, "it cost several workers and is not tried any more"},
    {"cuda_error", true, true, "it left the device in an error"},
    {"unavailable", false, true, "not available on this server"},
    {"incomparable", false, true, "it cannot be timed in a way that compares"},
    {"out_of_memory", false, true, "the device had not enough memory"},
    {"skipped", false, true, "the problem was not begun"},
    {"killed", false, true, "the worker was killed from outside"},
    {"cancelled", false, false, "the client took it back"},
    {"failed", false, true, "the server could not measure; submit it again"},
};

static const struct verdict_info *find(const char *verdict)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].verdict, verdict) == 0)
            return &table[i];
    return NULL;
}

bool verdict_is_earned(const char *verdict)
{
    const struct verdict_info *info = find(verdict);
    return strcmp(verdict, "wrong_result") == 0 || (info && info->earned);
}

bool verdict_is_cheat(const char *verdict, const char *stage)
{
    static const char *const cheats[] = {"implausible_speed", "stream_escape",        "late_work",
                                         "early_work",        "rival_disturbed",      "input_mutated",
                                         "early_exit",        "device_state_changed", "tamper_suspected"};
    bool wrong = strcmp(verdict, "wrong_result") == 0 && strcmp(stage, "verify") != 0;
    for (size_t i = 0; i < sizeof cheats / sizeof cheats[0]; i++)
        wrong |= strcmp(verdict, cheats[i]) == 0;
    return wrong;
}

/* While a kernel is verified, wrong elements help to mend it. What is wrong only while it is timed is no mistake. */
static void wrong_result(const char *stage, const char *reason, char out[VERDICT_TEXT])
{
    if (strcmp(stage, "verify") == 0)
        snprintf(out, VERDICT_TEXT, "wrong_result: %s", reason);
    else
        snprintf(out, VERDICT_TEXT, "wrong_result: outputs are right when it is verified and wrong when it is timed");
}

void verdict_text(const char *verdict, const char *stage, const char *reason, char out[VERDICT_TEXT])
{
    const struct verdict_info *info = find(verdict);
    if (strcmp(verdict, "wrong_result") == 0)
        wrong_result(stage, reason, out);
    else if (!info)
        snprintf(out, VERDICT_TEXT, "%s", verdict);
    else if (info->reasoned && reason[0])
        snprintf(out, VERDICT_TEXT, "%s: %s: %s", verdict, info->text, reason);
    else
        snprintf(out, VERDICT_TEXT, "%s: %s", verdict, info->text);
}

void verdict_hide(char *text, const char *directory)
{
    size_t length = strlen(directory);
    for (char *at = text; length > 0 && (at = strstr(at, directory)) != NULL;) {
        size_t cut = length + (at[length] == '/');
        memmove(at, at + cut, strlen(at + cut) + 1);
    }
}
