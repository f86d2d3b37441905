/*
 * plugin_isolation.c - a child process that plugins may take with them, and another one without the plugin that did.
 * Relies on fork. Called by cmd_list.c, which loads plugins outside of a worker.
 */
#include "cli/plugin_isolation.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* ---- in the child ---- */

/* Names come NUL-terminated; "" means that no plugin is being loaded. */
static void tell(void *context, const char *plugin)
{
    const struct plugin_isolation *trial = context;
    ssize_t sent = write(trial->pipe, plugin, strlen(plugin) + 1);
    (void)sent; /* a parent that is gone misses nothing */
}

void isolation_watch(const struct plugin_isolation *trial, struct registry_request *request)
{
    request->loading = tell;
    request->loading_context = (void *)(uintptr_t)trial;
    request->refused = trial->refused;
    request->n_refused = trial->n_refused;
}

/* ---- in the parent ---- */

/* Keeps the last name that came; false at the end of the stream. */
static bool take_names(int fd, char latest[CONTENDER_NAME_MAX])
{
    char bytes[4096];
    ssize_t n = read(fd, bytes, sizeof bytes - 1);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    bytes[n] = '\0';
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(bytes + at) + 1)
        snprintf(latest, CONTENDER_NAME_MAX, "%.*s", CONTENDER_NAME_MAX - 1, bytes + at);
    return true;
}

/* Follows the child to its end, which comes by force when a plugin takes too long; true when it had to. */
static bool follow(const struct plugin_isolation *trial, int fd, pid_t pid, char latest[CONTENDER_NAME_MAX])
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    uint64_t deadline = 0;
    for (bool open = true; open;) {
        int ready = poll(&wait, 1, 100);
        if (ready > 0) {
            open = take_names(fd, latest);
            deadline = latest[0] ? clock_now_ns() + (uint64_t)(trial->seconds * 1e9) : 0;
        } else if (deadline && clock_now_ns() > deadline) {
            kill(pid, SIGKILL);
            return true;
        }
    }
    return false;
}

static void refuse(struct plugin_isolation *trial, const char *plugin, int status, bool late)
{
    size_t i = trial->n_refused++;
    snprintf(trial->names[i], sizeof trial->names[i], "%s", plugin);
    trial->refused[i] = (struct plugin_refusal){.name = trial->names[i], .reason = trial->reasons[i]};
    struct process_end end;
    process_describe_end(status, &end);
    const struct death death = {.end = &end, .stage = "load"};
    trial->refused[i].verdict = late ? VERDICT_HANG : death_verdict(&death, trial->reasons[i]);
    if (late)
        snprintf(trial->reasons[i], sizeof trial->reasons[i], "not over within %.0f s", trial->seconds);
}

static void become_child(struct plugin_isolation *trial, const int ends[2], pid_t parent)
{
    close(ends[0]);
    trial->pipe = ends[1];
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(EXIT_CODE_UNAVAILABLE);
}

/* One child; *again when it fell to a plugin. */
static int try_once(struct plugin_isolation *trial, bool *child, bool *again, struct error *err)
{
    int ends[2], status = 0;
    char latest[CONTENDER_NAME_MAX] = "";
    pid_t parent = getpid();
    *again = false;
    if (pipe(ends) != 0)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    *child = pid == 0;
    if (pid == 0) {
        become_child(trial, ends, parent);
        return 0;
    }
    close(ends[1]);
    bool late = pid > 0 && follow(trial, ends[0], pid, latest);
    close(ends[0]);
    if (pid < 0)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "fork: %s", strerror(errno));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    *again = latest[0] && trial->n_refused < ISOLATION_MAX_REFUSED;
    if (*again)
        refuse(trial, latest, status, late);
    else if (WIFSIGNALED(status))
        return error_set(err, EXIT_CODE_UNAVAILABLE, "ended by signal %d (%s) while no plugin was loading",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status);
}

int isolation_fork(struct plugin_isolation *trial, bool *child, struct error *err)
{
    int code = 0;
    for (bool again = true; again;) {
        code = try_once(trial, child, &again, err);
        if (*child)
            return 0;
    }
    return code;
}
