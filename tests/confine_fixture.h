/*
 * confine_fixture.h - what the tests of worker/confine share: each case runs in a child of its own, for there is no way
 * back from being confined. A body returns 0, the number of the check that failed, or NOT_HERE.
 */
#ifndef CUDAL2_TESTS_CONFINE_FIXTURE_H
#define CUDAL2_TESTS_CONFINE_FIXTURE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define NOT_HERE 77

/* ---- a child ---- */

/* What a case found, line number or 0; NOT_HERE when the system lacks the part. */
static inline int in_child(int (*body)(void))
{
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(body());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline void check(int (*body)(void))
{
    int got = in_child(body);
    if (got == NOT_HERE)
        skip();
    if (got != 0)
        fail_msg("the child's check number %d failed", got);
}

/* Confines this process to one part; false when it cannot be had here. */
static inline bool confined(const char *parts, enum confine_part part)
{
    struct confinement c;
    struct error err;
    if (confine_parse(parts, &c, &err))
        _exit(100);
    confine_process(&c);
    return c.in_force[part];
}

/* True when the call failed with this error. */
static inline bool refused(long result, int error_number)
{
    return result == -1 && errno == error_number;
}

#endif
