/* run/death: which signals and codes, in which stage, say what of the contender that was running. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "record/record.h"
#include "run/death.h"

static const char *const stages[] = {"load",  "compile", "setup",    "tune", "verify",
                                     "fence", "measure", "teardown", "quit", "activity"};
#define STAGES (sizeof stages / sizeof stages[0])

static const char *verdict_on(bool signalled, int number, const char *stage, char *reason)
{
    struct process_end end = {.signalled = signalled, .number = number, .text = "it ended"};
    const struct death death = {.end = &end, .stage = stage};
    return verdict_name(death_verdict(&death, reason));
}

/* Every signal in every stage: what it is elsewhere, and in stage fence. */
static void test_signals(void **state)
{
    static const struct {
        int number;
        const char *elsewhere, *in_fence;
    } table[] = {
        {SIGSEGV, "crash", "oob_read"}, {SIGBUS, "crash", "oob_read"}, {SIGABRT, "crash", "crash"},
        {SIGFPE, "crash", "crash"},     {SIGILL, "crash", "crash"},    {SIGTRAP, "crash", "crash"},
        {SIGSYS, "crash", "crash"},     {SIGPIPE, "crash", "crash"},   {SIGXFSZ, "crash", "crash"},
        {SIGKILL, "killed", "killed"},  {SIGTERM, "killed", "killed"}, {SIGINT, "killed", "killed"},
        {SIGHUP, "killed", "killed"},   {SIGQUIT, "killed", "killed"}, {SIGXCPU, "killed", "killed"},
        {SIGALRM, "killed", "killed"},  {SIGUSR1, "killed", "killed"}, {SIGUSR2, "killed", "killed"},
    };
    char reason[DEATH_REASON_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        for (size_t s = 0; s < STAGES; s++) {
            bool fence = strcmp(stages[s], "fence") == 0;
            const char *verdict = verdict_on(true, table[i].number, stages[s], reason);
            assert_string_equal(verdict, fence ? table[i].in_fence : table[i].elsewhere);
            assert_int_equal(verdict_is_refuted(verdict_of(verdict)), strcmp(verdict, "oob_read") == 0);
            assert_non_null(strstr(reason, "it ended"));
        }
}

static void test_codes(void **state)
{
    static const char *const changed[] = {
        "tamper_suspected", "device_state_changed", "device_state_changed", "leak", "device_state_changed",
        "rival_disturbed",  "device_state_changed", "tamper_suspected",     "leak", "tamper_suspected"};
    char reason[DEATH_REASON_MAX];
    (void)state;
    for (size_t s = 0; s < STAGES; s++)
        for (int code = 0; code < 256; code++) {
            bool found = (code >= 86 && code <= 95) || code == 97;
            const char *expected = !found ? "early_exit" : code == 97 ? "tamper_suspected" : changed[code - 86];
            assert_string_equal(verdict_on(false, code, stages[s], reason), expected);
        }
}

static void test_the_kernel_out_of_memory(void **state)
{
    struct process_end end = {.signalled = true, .number = SIGKILL, .text = "killed by signal 9 (Killed)"};
    struct death death = {.end = &end, .stage = "fence", .memory_ran_out = true};
    char reason[DEATH_REASON_MAX];
    (void)state;
    assert_int_equal(death_verdict(&death, reason), VERDICT_KILLED);
    assert_non_null(strstr(reason, "out of memory"));
    death.memory_ran_out = false;
    assert_int_equal(death_verdict(&death, reason), VERDICT_KILLED);
    assert_null(strstr(reason, "out of memory"));
}

static void test_lost_devices(void **state)
{
    (void)state;
    assert_int_equal(death_of_device("fence", "a beside an unmapped page: CUDA_ERROR_ILLEGAL_ADDRESS"),
                     VERDICT_OOB_READ);
    assert_int_equal(death_of_device("measure", "CUDA_ERROR_ILLEGAL_ADDRESS"), VERDICT_CUDA_ERROR);
    assert_int_equal(death_of_device("fence", "CUDA_ERROR_LAUNCH_TIMEOUT"), VERDICT_CUDA_ERROR);
    assert_int_equal(death_of_device("fence", "CUDA_ERROR_ECC_UNCORRECTABLE"), VERDICT_CUDA_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_the_kernel_out_of_memory),
        cmocka_unit_test(test_lost_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
