/*
 * sanitize.c - runs the program under compute-sanitizer with a time limit and reads what it found. Relies on fork and
 * the tool in PATH. Called by cmd_verify.c.
 */
#include "cli/sanitize.h"

#include "base/clock.h"
#include "base/file.h"
#include "worker/confine.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const sanitize_outcome_names[] = {"clean", "errors", "timeout", "missing", "failed", NULL};

#define ARGUMENTS_MAX 160
#define LOG_BYTES ((size_t)64 << 20)
#define POLL_NS 20000000u

bool sanitize_find(char *out, size_t capacity)
{
    const char *home = getenv("CUDA_HOME"), *path = getenv("PATH");
    const char *homes[] = {home != NULL && home[0] != '\0' ? home : NULL, "/usr/local/cuda"};
    for (const char *at = path; at != NULL && *at != '\0';) {
        int length = (int)strcspn(at, ":");
        int made = snprintf(out, capacity, "%.*s/compute-sanitizer", length, at);
        if (length > 0 && made > 0 && (size_t)made < capacity && access(out, X_OK) == 0)
            return true;
        at += length;
        at += *at == ':';
    }
    for (size_t i = 0; i < 2; i++) {
        int made = homes[i] == NULL ? -1 : snprintf(out, capacity, "%s/bin/compute-sanitizer", homes[i]);
        if (made > 0 && (size_t)made < capacity && access(out, X_OK) == 0)
            return true;
    }
    return false;
}

/* The child's side: nothing of it may reach our stdout. */
_Noreturn static void become(const char *sanitizer, const struct sanitize_request *request, const char *log,
                             const char *program)
{
    const char *list[ARGUMENTS_MAX + 8] = {sanitizer, "--tool",     request->tool, "--target-processes",
                                           "all",     "--log-file", log,           program};
    union {
        const char **shown;
        char **wanted;
    } arguments = {.shown = list};
    size_t n = 8;
    for (size_t i = 0; request->arguments[i] != NULL && i + 9 < sizeof list / sizeof list[0]; i++)
        list[n++] = request->arguments[i];
    list[n] = NULL;
    setpgid(0, 0);
    setenv(CONFINE_VARIABLE, "off", 1); /* the tool comes into the worker by variables, files and sockets of its own */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(sanitizer, arguments.wanted);
    _exit(127);
}

/* True when the child ended by itself in time; else its whole group is killed. */
static bool wait_for(pid_t child, double seconds, int *status)
{
    uint64_t deadline = clock_now_ns() + (uint64_t)(seconds * 1e9);
    for (;;) {
        pid_t got = waitpid(child, status, WNOHANG);
        if (got == child)
            return true;
        if ((got < 0 && errno != EINTR) || clock_now_ns() > deadline)
            break;
        clock_wait_until(clock_now_ns() + POLL_NS);
    }
    kill(-child, SIGKILL);
    waitpid(child, status, 0);
    return false;
}

/* "========= Invalid __global__ write of size 2 bytes": what is in front is cut off. */
static void copy_finding(const char *line, char *text, size_t capacity)
{
    line += strspn(line, "= ");
    snprintf(text, capacity, "%.*s", (int)strcspn(line, "\n"), line);
}

static bool is_finding(const char *line)
{
    static const char *const starts[] = {"Invalid", "Error:", "Warning:", "Program hit", "Misaligned", "Out-of-range"};
    const char *text = line + strspn(line, "= ");
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(line, "=========", 9) == 0 && strncmp(text, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

long sanitize_read_log(const char *log, char *text, size_t capacity)
{
    long errors = -1, count = 0;
    text[0] = '\0';
    for (const char *line = log; *line != '\0';) {
        const char *summary = strstr(line, "SUMMARY: ");
        const char *end = line + strcspn(line, "\n");
        if (text[0] == '\0' && is_finding(line))
            copy_finding(line, text, capacity);
        if (summary != NULL && summary < end && sscanf(summary, "SUMMARY: %ld", &count) == 1)
            errors = (errors < 0 ? 0 : errors) + count; /* of every process that the tool followed */
        line = *end == '\n' ? end + 1 : end;
    }
    return errors;
}

static void judge(const char *log_path, bool in_time, int status, struct sanitize_result *out)
{
    char *log = NULL;
    size_t length = 0;
    struct error ignored;
    out->errors = -1;
    if (file_read(log_path, LOG_BYTES, &log, &length, &ignored) == 0)
        out->errors = sanitize_read_log(log, out->text, sizeof out->text);
    free(log);
    if (out->errors > 0)
        out->outcome = SANITIZE_ERRORS;
    else if (!in_time)
        out->outcome = SANITIZE_TIMEOUT;
    else
        out->outcome = out->errors == 0 && WIFEXITED(status) ? SANITIZE_CLEAN : SANITIZE_FAILED;
    if (out->outcome == SANITIZE_TIMEOUT)
        snprintf(out->text, sizeof out->text, "ended after the time it was given");
    else if (out->outcome == SANITIZE_FAILED)
        snprintf(out->text, sizeof out->text, "no summary; %s %d", WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

int sanitize_run(const struct sanitize_request *request, struct sanitize_result *out, struct error *err)
{
    char sanitizer[PATH_MAX], log[PATH_MAX], program[PATH_MAX];
    int status = 0;
    *out = (struct sanitize_result){.outcome = SANITIZE_MISSING, .errors = -1};
    if (!sanitize_find(sanitizer, sizeof sanitizer)) {
        snprintf(out->text, sizeof out->text,
                 "compute-sanitizer is neither on PATH nor in CUDA_HOME/bin; it comes with the CUDA toolkit");
        return 0;
    }
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return error_set(err, EXIT_CODE_INTERNAL, "/proc/self/exe: %s", strerror(errno));
    program[length] = '\0';
    snprintf(log, sizeof log, "%.4000s/%s.log", request->directory, request->tool);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "no process for %s: %s", request->tool, strerror(errno));
    if (child == 0)
        become(sanitizer, request, log, program);
    bool in_time = wait_for(child, request->seconds, &status);
    judge(log, in_time, status, out);
    unlink(log);
    return 0;
}
