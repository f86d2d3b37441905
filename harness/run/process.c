/*
 * process.c - forks and executes a worker with a clean environment, session and descriptors, kills its group and reaps
 * it within a bound. Relies on base/relay.h, close_range and worker/confine.h. Called by slot.c.
 */
#include "run/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sanitized.h"
#include "base/waited.h"
#include "run/worker_directory.h"
#include "worker/confine.h"
#include "worker/protocol.h"

/* ---- environment ---- */

/* What a worker needs of ours. Everything else could change what is measured without being in the record; LD_PRELOAD
 * above all, which interposes timers. A trailing '*' matches a prefix. */
static const char *const kept[] = {
    "LD_LIBRARY_PATH",
    "HOME",
    "PATH",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_CACHE_PATH",
    "NVIDIA_VISIBLE_DEVICES", /* not all of NVIDIA_*: NVIDIA_TF32_OVERRIDE changes results */
    "NVIDIA_DRIVER_CAPABILITIES",
    "CUDAL2_*",
    "GCOV_*",
    "ASAN_OPTIONS",
    "LSAN_OPTIONS",
    "UBSAN_OPTIONS",
    "TSAN_OPTIONS",
#if SANITIZED
    "LD_PRELOAD", /* a sanitizer's runtime may have to come first */
#endif
    NULL};

static bool name_matches(const char *pattern, const char *entry)
{
    size_t length = strlen(pattern);
    if (pattern[length - 1] == '*')
        return strncmp(entry, pattern, length - 1) == 0;
    return strncmp(entry, pattern, length) == 0 && entry[length] == '=';
}

/* Given their values by us. */
static const char *const ours[] = {"OMP_NUM_THREADS",
                                   "OPENBLAS_NUM_THREADS",
                                   "OMP_WAIT_POLICY",
                                   "OPENBLAS_THREAD_TIMEOUT",
                                   "CUDA_DEVICE_ORDER",
                                   "LC_ALL",
                                   NULL};

static bool is_in(const char *const patterns[], const char *entry)
{
    for (size_t i = 0; patterns[i]; i++)
        if (name_matches(patterns[i], entry))
            return true;
    return false;
}

/* A tool that follows the program into its workers tells its part in them by variables of its own. */
static bool keeps_all(char *const from[])
{
    for (size_t i = 0; from[i]; i++)
        if (strcmp(from[i], CONFINE_VARIABLE "=off") == 0)
            return true;
    return false;
}

#define ADDED (sizeof ours / sizeof ours[0] - 1)

/* Set before exec because a late setenv is ignored. Passive waiting and a short OpenBLAS timeout keep idle thread pools
 * from spinning beside the contender that is being timed; PCI order makes CUDA and NVML number GPUs alike. */
static bool environment_add(char **environment, size_t count, int threads)
{
    int made = asprintf(&environment[count], "OMP_NUM_THREADS=%d", threads);
    made = made < 0 ? made : asprintf(&environment[count + 1], "OPENBLAS_NUM_THREADS=%d", threads);
    if (made < 0)
        return false;
    environment[count + 2] = strdup("OMP_WAIT_POLICY=passive");
    environment[count + 3] = strdup("OPENBLAS_THREAD_TIMEOUT=4");
    environment[count + 4] = strdup("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    environment[count + 5] = strdup("LC_ALL=C.UTF-8");
    for (size_t i = 2; i < ADDED; i++)
        if (!environment[count + i])
            return false;
    return true;
}

bool process_environment_point(char **environment, const char *directory)
{
    size_t at = 0;
    char *entry = NULL;
    if (!directory)
        return true;
    if (asprintf(&entry, "TMPDIR=%s", directory) < 0)
        return false;
    while (environment[at] && !name_matches("TMPDIR", environment[at]))
        at++;
    free(environment[at]);
    environment[at] = entry; /* process_environment leaves room for one more */
    return true;
}

char **process_environment(char *const from[], int threads)
{
    size_t total = 0, count = 0;
    bool all = keeps_all(from);
    while (from[total])
        total++;
    char **environment = calloc(total + ADDED + 2, sizeof *environment);
    if (!environment)
        return NULL;
    for (size_t i = 0; i < total; i++) {
        if (!(all ? !is_in(ours, from[i]) : is_in(kept, from[i])))
            continue;
        environment[count] = strdup(from[i]);
        if (!environment[count++])
            goto failed;
    }
    if (environment_add(environment, count, threads))
        return environment;
failed:
    process_environment_free(environment);
    return NULL;
}

void process_environment_free(char **environment)
{
    for (size_t i = 0; environment && environment[i]; i++)
        free(environment[i]);
    free(environment);
}

static int usable_cpus(const cpu_set_t *given)
{
    cpu_set_t set;
    if (given)
        return CPU_COUNT(given);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* ---- start ---- */

struct launch {
    const char *program;
    char **arguments;
    char **environment;
    int socket, lock_fd, page_fd, null_fd, listener, said;
    pid_t parent;
    const cpu_set_t *cores;
};

/* Puts `fd` at place `to` without close-on-exec; dup2 onto itself would keep the flag. */
static bool place(int fd, int to)
{
    return fd == to ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, to) == to;
}

/* In the child, between fork and exec: async-signal-safe calls only. The descriptors were moved above the places they
 * go to, so no dup2 closes one that is still needed. */
static void child_exec(const struct launch *l)
{
    sigset_t none;
    sigemptyset(&none);
    if (l->cores)
        sched_setaffinity(0, sizeof *l->cores, l->cores);
    setsid(); /* a process group of its own, and no terminal whose input it could fake */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != l->parent)
        _exit(127); /* the parent died before the request took effect */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!place(l->null_fd, STDIN_FILENO) || !place(l->null_fd, STDOUT_FILENO) || !place(l->socket, PROTOCOL_FD) ||
        !place(l->said, STDERR_FILENO) || !place(l->page_fd, STAGE_PAGE_FD) || !place(l->listener, CONFINE_LISTENER_FD))
        _exit(127);
    if (l->lock_fd < 0 || !place(l->lock_fd, PROCESS_LOCK_FD))
        close(PROCESS_LOCK_FD);
    if (close_range(CONFINE_LISTENER_FD + 1, ~0u, 0) != 0)
        _exit(127);
    execve(l->program, l->arguments, l->environment);
    _exit(127);
}

/* A copy of fd above the low numbers the child arranges; closed on exec. */
static int raise_fd(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 16);
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Everything that the child is given. The parent's ends are in `out`. */
static int open_ends(struct launch *l, struct process *out, int lock_fd, int page_fd, struct error *err)
{
    int pair[2] = {-1, -1}, told[2] = {-1, -1}, null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int code = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
    code = code ? code : socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, told);
    out->fd = pair[0];
    out->listener.socket = told[0] < 0 ? 0 : told[0];
    l->lock_fd = raise_fd(lock_fd);
    l->null_fd = raise_fd(null_fd);
    l->page_fd = raise_fd(page_fd);
    l->socket = raise_fd(pair[1]);
    l->listener = raise_fd(told[1]);
    l->said = relay_open(&out->said, STDERR_FILENO, "worker: ");
    bool all = !code && l->null_fd >= 0 && l->page_fd >= 0 && l->socket >= 0 && l->listener >= 0 && l->said >= 0 &&
               fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0;
    code = all ? 0 : error_set(err, EXIT_CODE_UNAVAILABLE, "starting a worker: %s", strerror(errno));
    close_fd(null_fd);
    close_fd(pair[1]);
    close_fd(told[1]);
    return code;
}

static void close_ends(struct launch *l)
{
    close_fd(l->lock_fd);
    close_fd(l->null_fd);
    close_fd(l->page_fd);
    close_fd(l->socket);
    close_fd(l->listener);
    close_fd(l->said);
}

/* Libraries of a worker open some dozens. A soft limit is ours to raise; one that is hard is told as what it is. */
#define FILES_NEEDED 64
#define FILES_WANTED 1024

static int check_files(struct error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= FILES_NEEDED)
        return 0;
    rlim_t had = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < FILES_WANTED ? limit.rlim_max : FILES_WANTED;
    if (limit.rlim_cur >= FILES_NEEDED && setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return 0;
    return error_set(err, EXIT_CODE_UNAVAILABLE,
                     "starting a worker: %llu open files are allowed, it needs %d (ulimit -n)", (unsigned long long)had,
                     FILES_NEEDED);
}

/* One array, owned; its strings are the request's. */
static char **arguments_of(const struct process_request *request)
{
    size_t n = 0;
    while (request->arguments && request->arguments[n])
        n++;
    char **list = calloc(n + 3, sizeof *list);
    if (!list)
        return NULL;
    list[0] = (char *)(uintptr_t) "cudal2-bench";
    list[1] = (char *)(uintptr_t) "worker";
    for (size_t i = 0; i < n; i++)
        list[2 + i] = (char *)(uintptr_t)request->arguments[i];
    return list;
}

int process_spawn(const struct process_request *request, struct process *out, struct error *err)
{
    int code = 0, page_fd = -1;
    const struct process none = {.fd = -1};
    struct launch l = {.program = request->program,
                       .socket = -1,
                       .lock_fd = -1,
                       .page_fd = -1,
                       .null_fd = -1,
                       .listener = -1,
                       .said = -1,
                       .parent = getpid(),
                       .cores = request->cores};
    *out = none;
    if (check_files(err))
        return err->code;
    l.environment = process_environment(environ, usable_cpus(request->cores));
    l.arguments = arguments_of(request);
    out->directory = worker_directory_make();
    if (!l.environment || !l.arguments || !process_environment_point(l.environment, out->directory.path)) {
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory");
        goto out;
    }
    code = stage_page_create(&out->page, &page_fd, err);
    if (code)
        goto out;
    code = open_ends(&l, out, request->lock_fd, page_fd, err);
    if (code)
        goto out;
    out->pid = fork();
    if (out->pid == 0)
        child_exec(&l);
    if (out->pid < 0)
        code = error_set(err, EXIT_CODE_UNAVAILABLE, "starting a worker: fork: %s", strerror(errno));
    out->group = out->pid;
out:
    process_environment_free(l.environment);
    free(l.arguments);
    close_fd(page_fd);
    close_ends(&l);
    if (code)
        process_forget(out);
    return code;
}

/* ---- end ---- */

/* Until the child has made its group there is only itself to kill. */
void process_kill(const struct process *p)
{
    if (p->pid > 0 && (p->group <= 0 || kill(-p->group, SIGKILL) != 0))
        kill(p->pid, SIGKILL);
}

void process_follow(struct process *p)
{
    listener_take(&p->listener);
    if (p->listener.moved <= 0 || p->pid == p->listener.moved)
        return;
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) /* it ends as soon as it has told */
        continue;
    p->pid = p->listener.moved;
}

/* What the worker may have started, and process 1 of its namespace with whatever left the group: they outlive it. The
 * latter is our child too. Not waited for without end: one that the kernel does not let go is not ours to wait for. */
static void end_group(const struct process *p, uint64_t deadline)
{
    if (p->group <= 0 || kill(-p->group, SIGKILL) != 0)
        return;
    for (pid_t got = 0; got >= 0 && clock_now_ns() < deadline;) {
        got = waitpid(-p->group, NULL, WNOHANG);
        if (got == 0)
            usleep(500);
    }
}

void process_describe_end(int status, struct process_end *end)
{
    end->signalled = WIFSIGNALED(status);
    end->number = end->signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    if (end->signalled)
        snprintf(end->text, sizeof end->text, "killed by signal %d (%s)", end->number, strsignal(end->number));
    else
        snprintf(end->text, sizeof end->text, "exited with code %d", end->number);
}

bool process_reap(struct process *p, double seconds, struct process_end *end)
{
    *end = (struct process_end){.text = "does not end"};
    uint64_t deadline = clock_now_ns() + (uint64_t)(seconds * 1e9);
    int status = 0;
    pid_t got;
    process_follow(p);
    while ((got = waitpid(p->pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        if (clock_now_ns() > deadline)
            break;
        relay_pass(&p->said); /* who has to wait for us there does not end */
        usleep(2000);
    }
    if (got == 0) {
        process_kill(p);
        return false;
    }
    end_group(p, deadline);
    if (got > 0)
        process_describe_end(status, end);
    process_forget(p);
    return true;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Told before its end, which is none if it said that it has moved. */
bool process_ended(struct process *p)
{
    pid_t asked = p->pid;
    bool ended = has_ended(asked);
    if (ended)
        process_follow(p);
    return ended && (p->pid == asked || has_ended(p->pid));
}

#define KERNEL_FLAG_EXITING 0x4u /* PF_EXITING, field 9 of /proc/<pid>/stat */

bool process_ending(struct process *p)
{
    char path[64], line[1024] = "";
    unsigned flags = 0;
    process_follow(p);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)p->pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return true;
    const char *got = fgets(line, sizeof line, f);
    fclose(f);
    const char *after_name = got ? strrchr(line, ')') : NULL; /* the name may hold anything */
    bool known = after_name && sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1;
    return process_ended(p) || !known || (flags & KERNEL_FLAG_EXITING);
}

void process_forget(struct process *p)
{
    close_fd(p->fd);
    stage_page_unmap(p->page);
    listener_close(&p->listener);
    relay_close(&p->said);
    worker_directory_remove(&p->directory);
    *p = (struct process){.fd = -1};
}

unsigned long long process_resident_bytes(const struct process *p)
{
    char path[64];
    unsigned long long pages = 0, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)p->pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%llu %llu", &pages, &resident) != 2)
        resident = 0;
    fclose(f);
    return resident * (unsigned long long)sysconf(_SC_PAGESIZE);
}

unsigned long long process_peak_bytes(const struct process *p)
{
    char path[64], line[256];
    unsigned long long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)p->pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "VmHWM: %llu", &kib) != 1)
        continue;
    if (f)
        fclose(f);
    return kib * 1024;
}

unsigned long long process_waited_ns(const struct process *p)
{
    char path[64];
    unsigned long long sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)p->pid);
    DIR *tasks = opendir(path);
    for (const struct dirent *d; tasks && (d = readdir(tasks));)
        if (d->d_name[0] != '.')
            sum += waited_ns(p->pid, (pid_t)atoi(d->d_name));
    if (tasks)
        closedir(tasks);
    return sum;
}
