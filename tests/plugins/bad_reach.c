/* bad_reach.c - its setup reaches out of its process: at the supervisor, the journal ($CUDAL2_REACH), the network and
 * new processes. What it gets hold of is the reason of its setup error; with nothing in reach it is honest. */
#include "bad.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int opens_for_writing(const char *path)
{
    int fd = path ? open(path, O_WRONLY | O_APPEND) : -1;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int opens_memory_of_parent(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    return opens_for_writing(path);
}

/* LeakSanitizer needs to fork: a worker built with it may. */
#if defined(__SANITIZE_ADDRESS__)
static int leaves_a_child(void)
{
    return 0;
}
#else
static int leaves_a_child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return pid > 0;
}
#endif

static int opens_a_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int reaching_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct {
        const char *what;
        int got;
    } reached[] = {
        {"supervisor", kill(getppid(), 0) == 0},
        {"memory", opens_memory_of_parent()},
        {"journal", opens_for_writing(getenv("CUDAL2_REACH"))},
        {"child", leaves_a_child()},
        {"network", opens_a_socket()},
        {"survival", prctl(PR_SET_PDEATHSIG, 0) == 0},
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
