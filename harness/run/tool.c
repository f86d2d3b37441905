/*
 * tool.c - a program as a child: fork, limits, execve, a wait with a deadline. Relies on base/clock.h. Called by
 * counters.c and serve/compiling.c.
 */
#include "run/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define POLL_US 5000
#define NOT_EXECUTED 127

static void limit(int what, rlim_t most)
{
    struct rlimit limits = {most, most};
    if (most > 0)
        setrlimit((__rlimit_resource_t)what, &limits);
}

static void limit_all(const struct tool *c)
{
    struct rlimit none = {0, 0};
    limit(RLIMIT_CPU, c->processor_seconds);
    limit(RLIMIT_AS, c->memory_bytes);
    limit(RLIMIT_FSIZE, c->file_bytes);
    setrlimit(RLIMIT_CORE, &none);
}

static void default_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool take_descriptors(const struct tool *c)
{
    int in = open("/dev/null", O_RDONLY);
    int out = open(c->out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int told = strcmp(c->told, c->out) == 0 ? out : open(c->told, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(told, STDERR_FILENO) >= 0;
}

/* Between fork and exec: async-signal-safe calls only. */
_Noreturn static void become(const struct tool *c, pid_t parent)
{
    union {
        const char *const *shown;
        char *const *wanted;
    } arguments = {.shown = c->arguments};
    setsid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(NOT_EXECUTED);
    default_signals();
    limit_all(c);
    if (!take_descriptors(c))
        _exit(NOT_EXECUTED);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    execve(c->program, arguments.wanted, c->environment ? c->environment : environ);
    _exit(NOT_EXECUTED);
}

static void kill_group(pid_t pid)
{
    kill(-pid, SIGKILL);
}

static enum tool_end kill_all(pid_t pid, int *status, enum tool_end why)
{
    kill_group(pid);
    kill(pid, SIGKILL); /* before its session began */
    waitpid(pid, status, 0);
    return why;
}

static enum tool_end wait_for(const struct tool *c, pid_t pid, int *status)
{
    uint64_t deadline = clock_now_ns() + (uint64_t)(c->seconds * 1e9);
    for (;;) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR))
            break;
        if (c->stop && *c->stop)
            return kill_all(pid, status, TOOL_STOPPED);
        if (clock_now_ns() > deadline)
            return kill_all(pid, status, TOOL_LATE);
        usleep(POLL_US);
    }
    kill_group(pid);
    return TOOL_ENDED;
}

enum tool_end tool_run(const struct tool *tool, int *status)
{
    pid_t parent = getpid(), pid = fork();
    *status = -1;
    if (pid == 0)
        become(tool, parent);
    return pid > 0 ? wait_for(tool, pid, status) : TOOL_FAILED;
}
