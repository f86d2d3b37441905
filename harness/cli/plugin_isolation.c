/*
 * plugin_isolation.c - a child process that plugins may take with them, and another one without the plugin that did.
 * What they write to stdout or stderr comes as harmless lines. Relies on fork and base/relay.h. Called by cmd_list.c,
 * which loads plugins outside of a worker.
 */
#include "cli/plugin_isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/relay.h"

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

/* What the child told of plugins that it loads. One that is being loaded can write there too, so that a name is no
 * proof. */
struct told {
    char latest[CONTENDER_NAME_MAX],
        before[CONTENDER_NAME_MAX]; /* "" where none was being loaded; and the name ahead */
};

static void take_name(struct told *told, const char *name)
{
    if (told->latest[0])
        snprintf(told->before, sizeof told->before, "%s", told->latest);
    snprintf(told->latest, sizeof told->latest, "%.*s", CONTENDER_NAME_MAX - 1, name);
}

/* False at the end of the stream. */
static bool take_names(int fd, struct told *told)
{
    char bytes[4096];
    ssize_t n = read(fd, bytes, sizeof bytes - 1);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    bytes[n] = '\0';
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(bytes + at) + 1)
        take_name(told, bytes + at);
    return true;
}

/* From the child: names of plugins, what is to be printed, and what libraries say. */
struct ends {
    int names;
    struct relay printed, said;
};

/* Follows the child to its end, which comes by force when a plugin takes too long; true when it had to. */
static bool follow(const struct plugin_isolation *trial, struct ends *from, pid_t pid, struct told *told)
{
    uint64_t deadline = 0;
    for (bool open = true; open;) {
        struct pollfd wait[] = {{.fd = from->names, .events = POLLIN},
                                {.fd = relay_wait_fd(&from->printed), .events = POLLIN},
                                {.fd = relay_wait_fd(&from->said), .events = POLLIN}};
        (void)poll(wait, 3, 100);
        relay_pass(&from->printed);
        relay_pass(&from->said);
        if (wait[0].revents) {
            open = take_names(from->names, told);
            deadline = told->latest[0] ? clock_now_ns() + (uint64_t)(trial->seconds * 1e9) : 0;
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

static bool is_refused(const struct plugin_isolation *trial, const char *plugin)
{
    for (size_t i = 0; i < trial->n_refused; i++)
        if (strcmp(trial->names[i], plugin) == 0)
            return true;
    return false;
}

/* Whose end it was. A name that was refused was not loaded: another plugin gave it, and may have given all of them.
 * Then the one ahead of it is refused, and of the others nothing is held. */
static int blame(struct plugin_isolation *trial, const struct told *told, int status, bool late, struct error *err)
{
    const char *plugin = told->latest;
    if (++trial->children > ISOLATION_MAX_REFUSED)
        return error_set(err, EXIT_CODE_UNAVAILABLE,
                         "a plugin ends the listing again and again and names others, the last time %s: list them one "
                         "at a time",
                         plugin);
    if (is_refused(trial, plugin)) {
        trial->n_refused = 0;
        plugin = told->before;
    }
    refuse(trial, plugin, status, late);
    return 0;
}

static void close_all(const int fds[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* `theirs`: where names go, what is printed, and what is said. stdout is nowhere: plugins write there. */
static void become_child(struct plugin_isolation *trial, const int theirs[3], pid_t parent)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    trial->pipe = theirs[0];
    trial->printed = theirs[1];
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(theirs[2], STDERR_FILENO) < 0)
        _exit(EXIT_CODE_UNAVAILABLE);
}

static int open_ends(struct ends *from, int theirs[3], struct error *err)
{
    int names[2] = {-1, -1};
    bool all = pipe2(names, O_CLOEXEC) == 0;
    from->names = names[0];
    theirs[0] = names[1];
    theirs[1] = relay_open(&from->printed, STDOUT_FILENO, "");
    theirs[2] = relay_open(&from->said, STDERR_FILENO, "");
    return all && theirs[1] >= 0 && theirs[2] >= 0 ? 0
                                                   : error_set(err, EXIT_CODE_UNAVAILABLE, "pipe: %s", strerror(errno));
}

/* In the parent, with the child's ends closed: its end, and whether that was by force. */
static bool await(const struct plugin_isolation *trial, struct ends *from, pid_t pid, struct told *told, int *status)
{
    bool late = follow(trial, from, pid, told);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        continue;
    return late;
}

/* One child; *again when it fell to a plugin. */
static int try_once(struct plugin_isolation *trial, bool *child, bool *again, struct error *err)
{
    struct ends from = {.names = -1};
    int theirs[3] = {-1, -1, -1}, status = 0;
    struct told told = {0};
    pid_t parent = getpid(), pid = -1;
    *again = *child = false;
    int code = open_ends(&from, theirs, err);
    if (!code && (pid = fork()) < 0)
        code = error_set(err, EXIT_CODE_UNAVAILABLE, "fork: %s", strerror(errno));
    *child = pid == 0;
    if (pid == 0) {
        become_child(trial, theirs, parent);
        return 0;
    }
    close_all(theirs, 3);
    bool late = pid > 0 && await(trial, &from, pid, &told, &status);
    close_all(&from.names, 1);
    relay_close(&from.printed);
    relay_close(&from.said);
    if (code)
        return code;
    *again = told.latest[0] != '\0';
    if (*again && (code = blame(trial, &told, status, late, err)) != 0)
        *again = false;
    if (*again || code)
        return code;
    if (WIFSIGNALED(status))
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
