/* cpu_state.c - the red team's contenders that leave the process otherwise than they found it, and honest ones that put
 * back what they change or keep what nobody misses. */
#include "redteam.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

static void take_signal(int signal_number)
{
    (void)signal_number;
    _exit(0);
}

static void handle(void)
{
    const struct sigaction action = {.sa_handler = take_signal};
    sigaction(SIGSEGV, &action, NULL);
}

/* So that a handler of its own can run on this thread, in others' turns. */
static void unblock_signals(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static void hoard(void)
{
    for (int i = 0; i < 2000; i++)
        if (open("/dev/null", O_RDONLY) < 0)
            return;
}

static void steer(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

static void fill_memory(void)
{
    mallopt(M_PERTURB, 0x5a);
}

/* Every threaded product of OpenBLAS asks for its table of jobs. */
static void map_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32768);
}

static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 24);
}

static void do_not_wait(void)
{
    fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
}

#if defined(__x86_64__)
static void flush_denormals(void)
{
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
}

static void round_x87(void)
{
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    word = (unsigned short)(word & ~0x300u);
    __asm__ volatile("fldcw %0" : : "m"(word));
}
#else
static void flush_denormals(void)
{
}
#define round_x87 flush_denormals
#endif

static void handle_and_restore(void)
{
    struct sigaction before;
    const struct sigaction action = {.sa_handler = take_signal};
    sigaction(SIGILL, &action, &before);
    sigaction(SIGILL, &before, NULL);
}

static void keep_descriptors(void)
{
    static int kept;
    for (; kept < 40; kept++)
        if (open("/dev/null", O_RDONLY) < 0)
            return;
}

static void set_other_variable(void)
{
    setenv("CUDA_MODULE_LOADING", "LAZY", 0);
}

static const struct {
    const char *name;
    void (*change)(void);
    int in_launch;
} changes[] = {
    {"handles", handle, 0},
    {"unblocks-signals", unblock_signals, 0},
    {"unblocks-later", unblock_signals, 1},
    {"hoards", hoard, 0},
    {"hoards-later", hoard, 1},
    {"steers", steer, 0},
    {"fills-memory", fill_memory, 0},
    {"maps-memory", map_memory, 0},
    {"keeps-memory", keep_memory, 0},
    {"does-not-wait", do_not_wait, 0},
    {"flushes-later", flush_denormals, 1},
    {"rounds-x87", round_x87, 1},
    {"handles-briefly", handle_and_restore, 1},
    {"keeps-some", keep_descriptors, 0},
    {"sets-variable", set_other_variable, 0},
};

static void change(int in_launch)
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        if (strcmp(changes[i].name, REDTEAM) == 0 && changes[i].in_launch == in_launch)
            changes[i].change();
}

/* Compiled with -ffast-math, a library treats denormal numbers as zero from the moment it is loaded. */
#if defined(__x86_64__)
__attribute__((constructor)) static void when_loaded(void)
{
    if (strcmp(REDTEAM, "fast-math") == 0)
        flush_denormals();
}
#endif

static int changing_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    int status = honest_setup(setup, state, why);
    change(0);
    return status;
}

static int changing_launch(void *state, size_t set, char *why)
{
    if (redteam_unwatched())
        change(1);
    return honest_launch(state, set, why);
}

static const struct redteam_row rows[] = {{REDTEAM, .setup = changing_setup, .launch = changing_launch}};
REDTEAM_PLUGIN(rows)
