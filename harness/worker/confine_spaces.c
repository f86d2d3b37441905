/*
 * confine_spaces.c - namespaces of a worker's own: no network interface, no System V or POSIX message of others, and
 * where it takes a user namespace to get them, no right over anything outside. No process namespace: its first process
 * ignores the signals that contenders die of. Tried in a child first, for there is no way back. Called by worker.c and
 * `doctor` before a device is open, while there is one thread.
 */
#include "worker/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_SPACES (CLONE_NEWNET | CLONE_NEWIPC)
/* How a trial ends. */
enum { TRIAL_GOOD, TRIAL_DENIED, TRIAL_USELESS };

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return written;
}

/* The same user and group as outside, so that files are whose they were. */
static bool map_ids(uid_t user, gid_t group)
{
    char line[64];
    snprintf(line, sizeof line, "%u %u 1", (unsigned)user, (unsigned)user);
    if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", line))
        return false;
    snprintf(line, sizeof line, "%u %u 1", (unsigned)group, (unsigned)group);
    return write_file("/proc/self/gid_map", line);
}

/* What a new user namespace gives over itself is of no use to a GEMM. */
static bool drop_rights(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}, {0}};
    return syscall(SYS_capset, &head, none) == 0;
}

/* Who may do so without a user namespace keeps the rights that it has: files of others that root may read. */
static bool enter(void)
{
    uid_t user = getuid();
    gid_t group = getgid();
    if (unshare(OWN_SPACES) == 0)
        return true;
    return errno == EPERM && unshare(CLONE_NEWUSER | OWN_SPACES) == 0 && map_ids(user, group) && drop_rights();
}

static int trial(bool (*works)(void *context), void *context)
{
    if (!enter())
        return TRIAL_DENIED;
    return works && !works(context) ? TRIAL_USELESS : TRIAL_GOOD;
}

static const char *reason_of(int status)
{
    if (!WIFEXITED(status))
        return "namespaces: a trial process died in them";
    if (WEXITSTATUS(status) == TRIAL_USELESS)
        return "namespaces: the device does not open in them";
    return WEXITSTATUS(status) == TRIAL_DENIED ? "namespaces: the system does not allow them" : NULL;
}

static const char *fault_of_trial(bool (*works)(void *context), void *context)
{
    int status = 0;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(TRIAL_USELESS);
        _exit(trial(works, context));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return "namespaces: no process could try them";
    return reason_of(status);
}

void confine_spaces(struct confinement *c, bool (*works)(void *context), void *context)
{
    if (!c->wanted[CONFINE_SPACES])
        return;
    const char *fault = fault_of_trial(works, context);
    c->in_force[CONFINE_SPACES] = fault == NULL && enter();
    if (!c->in_force[CONFINE_SPACES])
        snprintf(c->note[CONFINE_SPACES], CONFINE_NOTE, "%s", fault ? fault : "namespaces: allowed once and not again");
}
