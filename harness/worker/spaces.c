/*
 * spaces.c - chooses, tries and enters namespaces and a user of a worker's own. Relies on unshare, clone and
 * capabilities. Called by settle.c and `doctor` while there is one thread and no device is open.
 *
 * The process tree with `processes`: the supervisor started A, which unshares and clones twice with A's own parent as
 * theirs, then ends. The first, I, is process 1 of the namespace, waits for ever and takes everybody with it when it is
 * killed. The second is the worker: process 1 itself would not die of the signals that contenders die of.
 */
#include "worker/spaces.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "worker/protocol.h"

#define PROGRAM_MAX 4096
#define TRIAL_SECONDS 20u
#define RIGHTS ((1u << CAP_DAC_OVERRIDE) | (1u << CAP_DAC_READ_SEARCH))
#define DRIVER "/proc/driver/nvidia"          /* a container shows its own instead of the machine's */
#define MPS_CONTROL "/tmp/nvidia-mps/control" /* serves one user at a time, by /dev/shm */

/* The parts in the order in which they are tried, and the letter of each. */
static const struct {
    enum confine_part part;
    char letter;
    const char *name;
} layers[] = {{CONFINE_SPACES, 'n', "namespaces"}, {CONFINE_PROCESSES, 'p', "processes"}, {CONFINE_USER, 'u', "user"}};
#define LAYERS (sizeof layers / sizeof layers[0])

/* How a trial ends. */
enum { TRIAL_GOOD, TRIAL_DENIED, TRIAL_UNREADABLE, TRIAL_USELESS };

/* What is entered, and whether that took a user namespace. */
struct entry {
    bool on[CONFINE_PARTS];
    bool borrowed;
    uid_t user;
};

/* ---- a user namespace, where rights are missing ---- */

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

static bool set_rights(uint32_t rights, uint32_t inherited)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct wanted[2] = {
        {.effective = rights, .permitted = rights, .inheritable = inherited}, {0}};
    return syscall(SYS_capset, &head, wanted) == 0;
}

/* What a new user namespace gives over itself is of no use to a GEMM. Executing a program as user 0 would give it back
 * without the first line. */
static bool drop_rights(void)
{
    return prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED) == 0 && set_rights(0, 0);
}

/* ---- a user of its own ---- */

bool spaces_is_user(uint32_t user)
{
    return (user >= SPACES_FIRST_USER && user <= INT32_MAX) ||
           (user >= SPACES_FIRST_SMALL_USER && user < SPACES_FIRST_SMALL_USER + SPACES_SMALL_USERS);
}

/* Numbers that this system knows: "first outside count" a line. */
static uid_t own_user(void)
{
    uid_t user = SPACES_FIRST_USER + (uint32_t)getpid();
    unsigned first, count;
    bool known = false;
    FILE *map = fopen("/proc/self/uid_map", "re");
    while (map && fscanf(map, "%u %*u %u", &first, &count) == 2)
        known = known || (user >= first && user - first < count);
    if (map)
        fclose(map);
    return known ? user : SPACES_FIRST_SMALL_USER + (uint32_t)getpid() % SPACES_SMALL_USERS;
}

/* Of root's rights one is kept: to files, which are the user's who started the run. It passes to the program that is
 * executed next. Without the first line access(2), which libraries ask before they open, would not know of it. */
static bool become(uid_t user)
{
    bool kept = prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) == 0 && setgroups(0, NULL) == 0 &&
                setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0 && set_rights(RIGHTS, RIGHTS) &&
                prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0) == 0 &&
                prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0) == 0;
    return kept && prctl(PR_SET_DUMPABLE, 1) == 0; /* /proc/self is its own again */
}

/* The temporary directory that was made for this worker. */
static void hand_over_temporary(uid_t user)
{
    const char *path = getenv("TMPDIR"), *name = path ? strrchr(path, '/') : NULL;
    if (name && strncmp(name + 1, CONFINE_TEMPORARY_NAME, strlen(CONFINE_TEMPORARY_NAME)) == 0)
        (void)!lchown(path, user, user); /* else it is not in force, and the record says so */
}

/* The cache of who started the run, also where its name is made of the user. */
static void keep_cache(void)
{
    char path[PROGRAM_MAX];
    struct error ignored;
    if (file_cache_directory(path, sizeof path, &ignored) == 0)
        setenv("CUDAL2_CACHE", path, 1);
}

/* ---- entered in two steps: before and after a process is in its namespace ---- */

static int wanted_spaces(const struct entry *e)
{
    return (e->on[CONFINE_SPACES] ? CLONE_NEWNET | CLONE_NEWIPC : 0) |
           (e->on[CONFINE_PROCESSES] ? CLONE_NEWPID | CLONE_NEWNS : 0);
}

/* Who may do so without a user namespace keeps the rights that it has. A user of its own is for those alone: in a user
 * namespace no right reaches a file. */
static bool enter_outer(struct entry *e)
{
    uid_t user = getuid();
    gid_t group = getgid();
    int spaces = wanted_spaces(e);
    e->borrowed = spaces && unshare(spaces) != 0;
    if (e->borrowed &&
        (errno != EPERM || e->on[CONFINE_USER] || unshare(CLONE_NEWUSER | spaces) != 0 || !map_ids(user, group)))
        return false;
    return !e->on[CONFINE_PROCESSES] || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Threads are listed in /proc by the numbers that they have there. CUDA names its shared memory by process numbers,
 * which are the same in every worker now. */
static bool mount_own(void)
{
    int driver = open_tree(AT_FDCWD, DRIVER, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    bool mounted = mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
    if (mounted && driver >= 0)
        mounted = move_mount(driver, "", AT_FDCWD, DRIVER, MOVE_MOUNT_F_EMPTY_PATH) == 0;
    if (driver >= 0)
        close(driver);
    return mounted && (access("/dev/shm", F_OK) != 0 ||
                       mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=1777") == 0);
}

static bool enter_inner(const struct entry *e)
{
    if (e->on[CONFINE_PROCESSES] && !mount_own())
        return false;
    return e->on[CONFINE_USER] ? become(e->user) : !e->borrowed || drop_rights();
}

/* Process 1: dies with the supervisor, and when it is told to. Nobody in its namespace can end or trace it. */
static _Noreturn void wait_for_ever(void)
{
    signal(SIGCHLD, SIG_IGN); /* whom it inherits it does not keep */
    prctl(PR_SET_DUMPABLE, 0);
    close_range(0, ~0u, 0);
    for (;;)
        pause();
}

/* ---- trials ---- */

/* What is there before anything is entered: under the new /dev/shm, say, it would not be. */
struct needs {
    char program[PROGRAM_MAX], cache[PROGRAM_MAX];
    const char **paths; /* owned; n of them */
    size_t n;
};

static void need(struct needs *needs, const char *path)
{
    if (path && path[0] && access(path, F_OK) == 0)
        needs->paths[needs->n++] = path;
}

/* The program, its directories and what the trial asks for. NULL out of memory. */
static struct needs *list_needs(char *const *reads)
{
    struct error ignored;
    size_t n = 0;
    while (reads && reads[n])
        n++;
    struct needs *needs = calloc(1, sizeof *needs);
    if (needs)
        needs->paths = calloc(n + 3, sizeof *needs->paths);
    if (!needs || !needs->paths) {
        free(needs);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        need(needs, reads[i]);
    if (readlink("/proc/self/exe", needs->program, sizeof needs->program - 1) > 0)
        need(needs, needs->program);
    if (file_cache_directory(needs->cache, sizeof needs->cache, &ignored) == 0)
        need(needs, needs->cache);
    need(needs, getenv("TMPDIR"));
    return needs;
}

static void free_needs(struct needs *needs)
{
    if (needs)
        free(needs->paths);
    free(needs);
}

static bool all_readable(const struct needs *needs)
{
    for (size_t i = 0; needs && i < needs->n; i++) {
        int fd = open(needs->paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO has nobody at its other end */
        bool readable = fd >= 0 && access(needs->paths[i], R_OK) == 0;
        if (fd >= 0)
            close(fd);
        if (!readable)
            return false;
    }
    return needs != NULL;
}

/* What must work inside. */
struct demands {
    const struct spaces_trial *trial;
    const struct needs *needs;
};

static int try_inside(const struct entry *e, const struct demands *t)
{
    signal(SIGALRM, SIG_DFL);
    alarm(TRIAL_SECONDS);
    if (!enter_inner(e))
        return TRIAL_DENIED;
    if (!all_readable(t->needs))
        return TRIAL_UNREADABLE;
    return t->trial->works && !t->trial->works(t->trial->context) ? TRIAL_USELESS : TRIAL_GOOD;
}

/* Ends with its parent; the parent may be out of sight. */
static pid_t fork_bound(void)
{
    pid_t pid = fork();
    if (pid == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        _exit(TRIAL_DENIED);
    return pid;
}

static int wait_status(pid_t pid)
{
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* In the process that tries: as the worker will be, behind a process 1. */
static int try_outside(struct entry *e, const struct demands *t)
{
    if (!enter_outer(e))
        return TRIAL_DENIED;
    if (!e->on[CONFINE_PROCESSES])
        return try_inside(e, t);
    pid_t first = fork_bound();
    if (first == 0)
        wait_for_ever();
    pid_t second = first > 0 ? fork_bound() : -1;
    if (second == 0)
        _exit(try_inside(e, t));
    int status = wait_status(second);
    if (first > 0)
        kill(first, SIGKILL);
    (void)wait_status(first);
    return WIFEXITED(status) ? WEXITSTATUS(status) : second > 0 ? TRIAL_USELESS : TRIAL_DENIED;
}

static int status_of_trial(const struct entry *e, const struct demands *t)
{
    struct entry tried = *e;
    pid_t pid = fork_bound();
    if (pid == 0)
        _exit(try_outside(&tried, t));
    int status = wait_status(pid);
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : TRIAL_USELESS;
}

static const char *reason_of(int status)
{
    static const char *const reasons[] = {
        [TRIAL_DENIED] = "the system does not allow it",
        [TRIAL_UNREADABLE] = "a file or directory that it needs cannot be read then",
        [TRIAL_USELESS] = "the device does not open then",
    };
    return status > TRIAL_GOOD && status <= TRIAL_USELESS ? reasons[status] : "a trial ended oddly";
}

/* Known without a trial; NULL: nothing is. */
static const char *reason_against(enum confine_part part)
{
    if (part == CONFINE_USER && geteuid() != 0)
        return "only root can give a worker another user";
    return part != CONFINE_SPACES && access(MPS_CONTROL, F_OK) == 0 ? "NVIDIA's MPS knows clients by user and process"
                                                                    : NULL;
}

static void choose_one(struct confinement *c, struct entry *e, size_t i, const struct demands *t)
{
    e->on[layers[i].part] = true;
    int status = status_of_trial(e, t);
    if (status == TRIAL_GOOD)
        return;
    e->on[layers[i].part] = false;
    snprintf(c->note[layers[i].part], CONFINE_NOTE, "%s: %s", layers[i].name, reason_of(status));
}

void spaces_choose(struct confinement *c, const struct spaces_trial *trial)
{
    struct entry all = {.user = own_user()}, chosen = all;
    struct needs *needs = list_needs(trial->reads);
    const struct demands demands = {trial, needs};
    bool any = false;
    for (size_t i = 0; i < LAYERS; i++) {
        enum confine_part part = layers[i].part;
        const char *against = c->wanted[part] ? reason_against(part) : NULL;
        if (against)
            snprintf(c->note[part], CONFINE_NOTE, "%s: %s", layers[i].name, against);
        all.on[part] = c->wanted[part] && !against;
        any = any || all.on[part];
    }
    /* All at once as a rule; one after another to find who is in the way. */
    if (any && status_of_trial(&all, &demands) == TRIAL_GOOD)
        chosen = all;
    else
        for (size_t i = 0; i < LAYERS; i++)
            if (all.on[layers[i].part])
                choose_one(c, &chosen, i, &demands);
    for (size_t i = 0; i < LAYERS; i++)
        c->in_force[layers[i].part] = chosen.on[layers[i].part];
    free_needs(needs);
}

/* ---- for good ---- */

/* A child of this process's parent, by the system call: the C library's fork has no such flag. Its idea of the thread's
 * number is wrong then, so that the child must execute a program, and call nothing but the system until then. */
static pid_t clone_beside(void)
{
    return (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_PARENT | SIGCHLD), 0, 0, 0, 0);
}

/* Killed when the supervisor dies; it may have done so before that was asked for. */
static void bind_to_supervisor(void)
{
    struct pollfd socket = {.fd = PROTOCOL_FD, .events = 0};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || (poll(&socket, 1, 0) > 0 && (socket.revents & (POLLHUP | POLLERR))))
        _exit(EXIT_CODE_UNAVAILABLE);
}

static _Noreturn void execute(const struct confinement *c, const struct entry *e, const char *program)
{
    char letters[LAYERS + 1] = "", *at = letters;
    for (size_t i = 0; i < LAYERS; i++)
        if (e->on[layers[i].part])
            *at++ = layers[i].letter;
    *at = '\0';
    char *arguments[] = {(char *)"cudal2-bench",
                         (char *)"worker",
                         (char *)"in",
                         letters,
                         (char *)(uintptr_t)c->note[CONFINE_SPACES],
                         (char *)(uintptr_t)c->note[CONFINE_PROCESSES],
                         (char *)(uintptr_t)c->note[CONFINE_USER],
                         NULL};
    if (enter_inner(e)) {
        bind_to_supervisor(); /* another user would have undone it */
        execv(program, arguments);
        execv("/proc/self/exe", arguments);
    }
    _exit(EXIT_CODE_UNAVAILABLE);
}

/* Until the process that made this one has told its number: what this one says on the same socket must come second. */
static void wait_until_told(const int told[2])
{
    char byte;
    close(told[1]);
    ssize_t got;
    while ((got = read(told[0], &byte, 1)) < 0 && errno == EINTR)
        continue;
    if (got != 1)
        _exit(EXIT_CODE_UNAVAILABLE); /* that process died */
    close(told[0]);
}

static _Noreturn void move(const struct confinement *c, const struct entry *e, const char *program, int fd)
{
    int told[2];
    if (pipe2(told, O_CLOEXEC) != 0)
        _exit(EXIT_CODE_UNAVAILABLE);
    pid_t first = clone_beside();
    if (first == 0) {
        bind_to_supervisor();
        wait_for_ever();
    }
    pid_t second = first > 0 ? clone_beside() : -1;
    if (second == 0) {
        wait_until_told(told);
        execute(c, e, program);
    }
    struct spaces_moved moved = {.kind = SPACES_MOVED, .pid = (int32_t)second};
    bool good = second > 0 && send(fd, &moved, sizeof moved, MSG_NOSIGNAL) == (ssize_t)sizeof moved &&
                write(told[1], "", 1) == 1;
    _exit(good ? 0 : EXIT_CODE_UNAVAILABLE);
}

void spaces_enter(const struct confinement *c, int fd)
{
    char program[PROGRAM_MAX] = "";
    struct entry e = {.user = own_user()};
    bool any = false;
    for (size_t i = 0; i < LAYERS; i++)
        any |= e.on[layers[i].part] = c->in_force[layers[i].part];
    if (!any)
        return;
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0 || !enter_outer(&e))
        _exit(EXIT_CODE_UNAVAILABLE); /* it did so a moment ago */
    if (e.on[CONFINE_USER]) {
        keep_cache();
        hand_over_temporary(e.user);
    }
    if (e.on[CONFINE_PROCESSES])
        move(c, &e, program, fd);
    execute(c, &e, program);
}

bool spaces_entered(struct confinement *c, char *const arguments[])
{
    size_t n = 0;
    while (arguments[n])
        n++;
    if (n != 1 + LAYERS || strlen(arguments[0]) > LAYERS)
        return false;
    for (size_t i = 0; i < LAYERS; i++) {
        c->in_force[layers[i].part] = strchr(arguments[0], layers[i].letter) != NULL;
        snprintf(c->note[layers[i].part], CONFINE_NOTE, "%s", arguments[1 + i]);
    }
    return true;
}
