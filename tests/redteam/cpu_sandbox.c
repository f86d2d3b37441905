/* cpu_sandbox.c - the red team's contenders that ask the system for a part of the harness: a filter of their own for
 * system calls, the clock's code, the processor's time stamps, signals to the supervisor. */
#include "redteam.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SET_OWNER 0x8901 /* FIOSETOWN */
#define STAGE_PAGE 5     /* the descriptor of the page shared with the supervisor */

/* A filter that traps clock_gettime: with a handler for the trap and a changed vDSO, every clock is the contender's. */
static struct sock_filter trap_clock[] = {
    {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
    {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_clock_gettime},
    {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP},
    {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
};
static struct sock_fprog filter = {sizeof trap_clock / sizeof *trap_clock, trap_clock};

static void own_filter(void)
{
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
}

static void old_filter(void)
{
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void patch_clock_page(void)
{
    mprotect((void *)getauxval(AT_SYSINFO_EHDR), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void replace_clock_page(void)
{
    mmap((void *)getauxval(AT_SYSINFO_EHDR), 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void patch_libc(void)
{
    char *code = (char *)(uintptr_t)clock_gettime;
    mprotect(code - (uintptr_t)code % 4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void no_time_stamps(void)
{
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
}

static void dispatch_calls(void)
{
    static char selector;
    prctl(59, 1, 0UL, 0UL, &selector); /* PR_SET_SYSCALL_USER_DISPATCH */
}

/* The next byte in the pipe is a SIGKILL, or a SIGSTOP, for the supervisor. */
static void own_for(int signal_number)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    if (fcntl(ends[0], F_SETOWN, getppid()) == 0 && fcntl(ends[0], F_SETSIG, signal_number) == 0 &&
        fcntl(ends[0], F_SETFL, O_ASYNC) == 0 && write(ends[1], "x", 1) != 1)
        return;
    close(ends[0]);
    close(ends[1]);
}

static void owner_kill(void)
{
    own_for(SIGKILL);
}

static void owner_stop(void)
{
    own_for(SIGSTOP);
}

static void owner_ioctl(void)
{
    int ends[2], owner = getppid(), on = 1;
    if (pipe(ends) != 0)
        return;
    if (ioctl(ends[0], SET_OWNER, &owner) == 0 && ioctl(ends[0], FIOASYNC, &on) == 0 && write(ends[1], "x", 1) != 1)
        return;
    close(ends[0]);
    close(ends[1]);
}

static void signal_supervisor(void)
{
    kill(getppid(), SIGSTOP);
}

static void queue_signal(void)
{
    union sigval value = {0};
    sigqueue(getppid(), SIGUSR1, value);
}

/* The supervisor reads that page after each turn: past the end of its file there is nothing to read. */
static void cut_page(void)
{
    if (ftruncate(STAGE_PAGE, 0) != 0)
        return;
    sleep(1);
}

static const struct {
    const char *name;
    void (*attack)(void);
} attacks[] = {
    {"own-filter", own_filter},
    {"old-filter", old_filter},
    {"patch-vdso", patch_clock_page},
    {"replace-vdso", replace_clock_page},
    {"patch-libc", patch_libc},
    {"no-time-stamps", no_time_stamps},
    {"dispatch-calls", dispatch_calls},
    {"owner-kill", owner_kill},
    {"owner-stop", owner_stop},
    {"owner-ioctl", owner_ioctl},
    {"signal-stop", signal_supervisor},
    {"queue-signal", queue_signal},
    {"cut-page", cut_page},

};

static int attacking_launch(void *state, size_t set, char *why)
{
    if (redteam_unwatched())
        for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++)
            if (strcmp(attacks[i].name, REDTEAM) == 0)
                attacks[i].attack();
    return honest_launch(state, set, why);
}

static const struct redteam_row rows[] = {{REDTEAM, .launch = attacking_launch}};
REDTEAM_PLUGIN(rows)
