/*
 * host_process.c - reads and restores what the kernel and libc keep for the whole process: signal handlers and masks,
 * limits, descriptors, steering variables. Relies on /proc and libc. Called by host_state.c.
 */
#include "device/host_process.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/sanitized.h"

/* Below glibc's threshold for a mapping of its own, 128 KiB at least; and above what its caches keep for each thread.
 */
#define MAPPED_BYTES 122880
#define MAPPED_MOST 64 /* where as much is free at once, nobody is given a mapping either */
#define FILLED_BYTES 4096
#define FILLED_TRIES 4

#define SIGNAL_BYTES sizeof(uint64_t) /* of a set: the kernel has 64 signals */

#ifndef SA_RESTORER /* the kernel's, in no header of libc */
#define SA_RESTORER 0x04000000
#endif

extern char **environ;

static const struct {
    __rlimit_resource_t id;
    const char *name;
} limits[HOST_LIMITS] = {
    {RLIMIT_AS, "address space"},      {RLIMIT_CPU, "processor time"},
    {RLIMIT_NOFILE, "descriptors"},    {RLIMIT_DATA, "data"},
    {RLIMIT_STACK, "stack"},           {RLIMIT_FSIZE, "file size"},
    {RLIMIT_MEMLOCK, "locked memory"},
};

/* Read by libraries when they are loaded or make a handle. CUDA_MODULE_LOADING is not among them: libtorch sets it. */
static const char *const steering[] = {"OMP_",  "GOMP_",   "KMP_",   "MKL_", "OPENBLAS_", "GOTO_",
                                       "BLIS_", "NVIDIA_", "CUBLAS", "LD_",  NULL};

static bool steers(const char *entry)
{
    for (size_t i = 0; steering[i]; i++)
        if (strncmp(entry, steering[i], strlen(steering[i])) == 0)
            return true;
    return false;
}

/* Of all of them, whatever their order. */
static uint32_t digest_steering(void)
{
    uint32_t sum = 0;
    for (size_t i = 0; environ && environ[i]; i++)
        if (steers(environ[i]))
            sum += digest_crc32(environ[i], strlen(environ[i]));
    return sum;
}

static int first_free(void)
{
    int fd = eventfd(0, EFD_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd;
}

/* Asks for blocks until one is a mapping, which has room up to the end of its last page, or the heap has grown. */
static bool malloc_maps(void)
{
    void *blocks[MAPPED_MOST], *end = sbrk(0);
    bool maps = false;
    size_t n = 0;
    while (n < MAPPED_MOST && !maps && sbrk(0) == end) {
        blocks[n] = malloc(MAPPED_BYTES);
        maps = blocks[n] && malloc_usable_size(blocks[n]) >= MAPPED_BYTES + 1024;
        n++;
    }
    while (n > 0)
        free(blocks[--n]);
    return maps;
}

/* Whether a block that is freed and asked for again has another byte in its middle. Unknown, and so false, where it is
 * another block. */
static bool byte_is_lost(unsigned char byte)
{
    volatile unsigned char *first = malloc(FILLED_BYTES);
    uintptr_t at = (uintptr_t)first;
    if (first)
        first[FILLED_BYTES / 2] = byte;
    free((void *)at);
    volatile unsigned char *again = malloc(FILLED_BYTES);
    bool lost = again && (uintptr_t)again == at && again[FILLED_BYTES / 2] != byte;
    free((void *)(uintptr_t)again);
    return lost;
}

/* It may fill with one of the two. */
static bool malloc_fills(void)
{
    bool fills = false;
    for (int i = 0; i < FILLED_TRIES; i++)
        fills = fills || byte_is_lost(0x11) || byte_is_lost(0x22);
    return fills;
}

/* ---- signals ---- */

void host_process_block_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t mask;
    sigfillset(&mask); /* without libc's own two, SIGCANCEL and SIGSETXID */
    for (size_t i = 0; SANITIZED && i < sizeof faults / sizeof *faults; i++)
        sigdelset(&mask, faults[i]);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void host_process_read_kept(struct host_process *out)
{
    memset(out, 0, sizeof *out);
    sigemptyset(&out->blocked);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &out->blocked);
    for (int i = 1; i < HOST_SIGNALS; i++)
        (void)sigaction(i, NULL, &out->handlers[i]);
    for (int i = 0; i < HOST_LIMITS; i++)
        (void)getrlimit(limits[i].id, &out->limits[i]);
    for (int i = 0; i < HOST_STREAMS; i++)
        out->flags[i] = fcntl(i, F_GETFL);
}

void host_process_read(struct host_process *out)
{
    host_process_read_kept(out);
    out->first_free = first_free();
    out->steering = digest_steering();
    out->maps = malloc_maps();
    out->fills = malloc_fills();
}

/* libc adds SA_RESTORER to what it sets; of the default nothing else matters. */
static bool same_handler(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_handler == b->sa_handler &&
           (a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN || ((a->sa_flags ^ b->sa_flags) & ~SA_RESTORER) == 0);
}

static bool same_limit(const struct rlimit *a, const struct rlimit *b)
{
    return a->rlim_cur == b->rlim_cur && a->rlim_max == b->rlim_max;
}

static bool same_mask(const sigset_t *a, const sigset_t *b)
{
    return memcmp(a, b, SIGNAL_BYTES) == 0;
}

void host_process_changes(const struct host_process *was, const struct host_process *now, char what[128])
{
    if (!same_mask(&was->blocked, &now->blocked))
        snprintf(what, 128, "the signals that the launching thread blocks were changed");
    for (int i = 1; i < HOST_SIGNALS; i++)
        if (!same_handler(&was->handlers[i], &now->handlers[i]))
            snprintf(what, 128, "the handler of signal %d (%.40s) was changed", i, strsignal(i));
    for (int i = 0; i < HOST_LIMITS; i++)
        if (!same_limit(&was->limits[i], &now->limits[i]))
            snprintf(what, 128, "the process's limit on %s was changed", limits[i].name);
    for (int i = 0; i < HOST_STREAMS; i++)
        if (was->flags[i] != now->flags[i])
            snprintf(what, 128, "descriptor %d, which the supervisor shares, was closed or its flags were changed", i);
}

bool host_process_hoards(const struct host_process *was)
{
    int free_now = first_free();
    return free_now < 0 || free_now > was->first_free + HOST_MANY_DESCRIPTORS;
}

bool host_process_steered(const struct host_process *was)
{
    return digest_steering() != was->steering;
}

bool host_process_slows_malloc(const struct host_process *was)
{
    return (!was->maps && malloc_maps()) || (!was->fills && malloc_fills());
}

/* One that was closed leads nowhere from then on: another file would take its place. What cannot be put back, how it
 * was opened above all, is what is expected from now on: it was told once, and whoever comes next has not done it. */
static void restore_stream(int fd, int *flags)
{
    if (fcntl(fd, F_GETFL) < 0) {
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (nowhere >= 0 && nowhere != fd) {
            (void)dup2(nowhere, fd);
            close(nowhere);
        }
    }
    (void)fcntl(fd, F_SETFL, *flags);
    *flags = fcntl(fd, F_GETFL);
}

void host_process_restore(struct host_process *was)
{
    struct host_process now;
    host_process_read_kept(&now);
    if (!same_mask(&was->blocked, &now.blocked))
        (void)pthread_sigmask(SIG_SETMASK, &was->blocked, NULL);
    for (int i = 1; i < HOST_SIGNALS; i++)
        if (!same_handler(&was->handlers[i], &now.handlers[i]))
            (void)sigaction(i, &was->handlers[i], NULL);
    for (int i = 0; i < HOST_LIMITS; i++)
        if (!same_limit(&was->limits[i], &now.limits[i]))
            (void)setrlimit(limits[i].id, &was->limits[i]);
    for (int i = 0; i < HOST_STREAMS; i++)
        if (was->flags[i] >= 0 && was->flags[i] != now.flags[i])
            restore_stream(i, &was->flags[i]);
}

bool host_process_reblock(const struct host_process *was)
{
    sigset_t now;
    sigemptyset(&now);
    return pthread_sigmask(SIG_SETMASK, &was->blocked, &now) != 0 || same_mask(&was->blocked, &now);
}
