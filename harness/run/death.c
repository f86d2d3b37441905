/*
 * death.c - turns a worker's end into a verdict: its own bad access, a signal from outside, a code. Relies on siginfo
 * of the wait. Called by slot.c.
 */
#include "run/death.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "worker/protocol.h"

/* Signals that a process's own code raises by what it does, in the stage that is there to find that out. */
static bool is_bad_access(int number)
{
    return number == SIGSEGV || number == SIGBUS;
}

/* Signals that the kernel, a limit or somebody else sends. */
static bool comes_from_outside(int number)
{
    static const int outside[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        if (number == outside[i])
            return true;
    return false;
}

static bool is_fence(const char *stage)
{
    return strcmp(stage, STAGE_FENCE) == 0;
}

static enum verdict verdict_of_signal(const struct death *death)
{
    int number = death->end->number;
    if (comes_from_outside(number))
        return VERDICT_KILLED;
    return is_fence(death->stage) && is_bad_access(number) ? VERDICT_OOB_READ : VERDICT_CRASH;
}

/* How a worker ends that found its process changed when it left a hook, and what that means. */
static const struct {
    int code;
    enum verdict verdict;
    const char *reason;
} found_changed[] = {
    {PROTOCOL_TAMPERED, VERDICT_TAMPER_SUSPECTED, "the worker's message socket was closed under it, or written to"},
    {PROTOCOL_LOCALE, VERDICT_DEVICE_STATE_CHANGED,
     "the process was left in a locale that writes numbers without a '.'"},
    {PROTOCOL_ARITHMETIC, VERDICT_DEVICE_STATE_CHANGED,
     "rounding or the treatment of denormal numbers was changed for the launching thread"},
    {PROTOCOL_DESCRIPTORS, VERDICT_LEAK, "more than 1024 descriptors were left open in the process"},
    {PROTOCOL_DISTURBED, VERDICT_RIVAL_DISTURBED,
     "a thread that it left behind went on computing in the turns of others"},
    {PROTOCOL_VARIABLES, VERDICT_DEVICE_STATE_CHANGED,
     "a variable that steers other libraries (OMP_, OPENBLAS_, NVIDIA_ ...) was changed"},
    {PROTOCOL_INPUTS, VERDICT_TAMPER_SUSPECTED,
     "the values that timed inputs are made of were changed in the harness's memory"},
    {PROTOCOL_THREADS, VERDICT_LEAK, "thousands of threads were left in the process"},
    {PROTOCOL_STACK, VERDICT_TAMPER_SUSPECTED,
     "the harness's stack was changed while a launch ran: an address or a number"},
    {PROTOCOL_FORGED, VERDICT_TAMPER_SUSPECTED,
     "something in the plugin's process answered in the harness's place, before its hook had come back"},
    {PROTOCOL_MALLOC, VERDICT_DEVICE_STATE_CHANGED, "malloc was made slower for everybody (mallopt)"},
};

static enum verdict verdict_of_code(const struct death *death, char reason[DEATH_REASON_MAX])
{
    for (size_t i = 0; i < sizeof found_changed / sizeof found_changed[0]; i++)
        if (death->end->number == found_changed[i].code) {
            snprintf(reason, DEATH_REASON_MAX, "%s", found_changed[i].reason);
            return found_changed[i].verdict;
        }
    return VERDICT_EARLY_EXIT;
}

enum verdict death_verdict(const struct death *death, char reason[DEATH_REASON_MAX])
{
    snprintf(reason, DEATH_REASON_MAX, "%s", death->end->text);
    if (!death->end->signalled)
        return verdict_of_code(death, reason);
    enum verdict verdict = verdict_of_signal(death);
    if (death->end->number == SIGKILL)
        snprintf(reason, DEATH_REASON_MAX, "%s: %s", death->end->text,
                 death->memory_ran_out ? "by the kernel, which was out of memory" : "by the system or by hand");
    return verdict;
}

enum verdict death_of_device(const char *stage, const char *text)
{
    return is_fence(stage) && strstr(text, "ILLEGAL_ADDRESS") ? VERDICT_OOB_READ : VERDICT_CUDA_ERROR;
}
