/* bad_reach.c - its setup reaches out of its process: at the journal and the directory beside it ($CUDAL2_REACH), at
 * the supervisor's scheduling, the network, the machine and new processes. What it gets hold of is the reason of its
 * setup error; with nothing in reach it is honest. */
#include "bad.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *journal(void)
{
    const char *path = getenv("CUDAL2_REACH");
    return path ? path : "/nowhere";
}

static int closed(int fd)
{
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int opens_journal(void)
{
    return closed(open(journal(), O_WRONLY | O_APPEND));
}

static int opens_memory_of_parent(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    return closed(open(path, O_WRONLY));
}

/* The way round a page's protection. */
static int opens_its_own_memory(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/mem", (int)getpid());
    return closed(open(path, O_RDWR)) || closed(open("/proc/self/mem", O_RDWR));
}

/* LeakSanitizer needs to fork: a worker built with it may. */
static int leaves_a_child(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return pid > 0;
#else
    return 0;
#endif
}

static int opens_a_socket(void)
{
    return closed(socket(AF_INET, SOCK_STREAM, 0)) || closed(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int survives(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    return prctl(PR_SET_PDEATHSIG, 0) == 0;
#else
    return 0;
#endif
}

static int changes_files(void)
{
    static const struct timeval times[2];
    const char *path = journal();
    int fd = open(path, O_RDONLY);
    int got = chmod(path, 0600) == 0 || chown(path, getuid(), getgid()) == 0 || utimes(path, times) == 0 ||
              setxattr(path, "user.x", "x", 1, 0) == 0 || fchmod(fd, 0600) == 0;
    closed(fd);
    return got;
}

static int schedules_others(void)
{
    cpu_set_t set;
    const struct sched_param none = {0};
    return (sched_getaffinity(getppid(), sizeof set, &set) == 0 &&
            sched_setaffinity(getppid(), sizeof set, &set) == 0) ||
           setpriority(PRIO_PROCESS, (id_t)getppid(), 0) == 0 ||
           sched_setscheduler(getppid(), SCHED_BATCH, &none) == 0 || syscall(SYS_ioprio_set, 1, getppid(), 0x4004) == 0;
}

static int schedules_itself(void)
{
    cpu_set_t set;
    const struct sched_param none = {0};
    return sched_setscheduler(0, SCHED_BATCH, &none) == 0 || nice(1) == 0 ||
           (sched_getaffinity(0, sizeof set, &set) == 0 && sched_setaffinity(0, sizeof set, &set) == 0);
}

static int limits_itself(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static int reaches_the_kernel(void)
{
    return closed((int)syscall(SYS_userfaultfd, 0)) || closed(open("/dev/kmsg", O_WRONLY)) ||
           closed(open("/dev/kmsg", O_RDONLY)) || klogctl(10, NULL, 0) >= 0;
}

static int moves(void)
{
    return chdir("/") == 0;
}

static int reaching_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct {
        const char *what;
        int got;
    } reached[] = {
        {"memory", opens_memory_of_parent()}, {"itself", opens_its_own_memory()}, {"journal", opens_journal()},
        {"child", leaves_a_child()},          {"network", opens_a_socket()},      {"survival", survives()},
        {"files", changes_files()},           {"scheduling", schedules_others()}, {"class", schedules_itself()},
        {"limits", limits_itself()},          {"kernel", reaches_the_kernel()},   {"directory", moves()},
    };
    why[0] = '\0';
    for (size_t i = 0; i < sizeof reached / sizeof reached[0]; i++)
        if (reached[i].got)
            snprintf(why + strlen(why), CUDAL2_WHY - strlen(why), " %s", reached[i].what);
    return why[0] ? -1 : honest_setup(setup, state, why);
}

BAD_CONTENDER("bad-reach-nn", reaching_setup, honest_launch);
BAD_ENTRY("bad-reach")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
