/* cpu_process.c - the red team's contenders that attack the process, its clock or its messages. */
#include "redteam.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES 3 /* the worker's end of the socket to the supervisor */

static int leave(void *state, size_t set, char *why)
{
    if (redteam_unwatched())
        exit(0);
    return honest_launch(state, set, why);
}

static int give_up(void *state, size_t set, char *why)
{
    if (redteam_unwatched())
        abort();
    return honest_launch(state, set, why);
}

static int segfault(void *state, size_t set, char *why)
{
    static volatile int *nowhere;
    if (redteam_unwatched())
        *nowhere = 1;
    return honest_launch(state, set, why);
}

static int spin(void *state, size_t set, char *why)
{
    for (volatile int forever = redteam_unwatched(); forever;)
        ;
    return honest_launch(state, set, why);
}

static int stop_process(void *state, size_t set, char *why)
{
    if (redteam_unwatched())
        raise(SIGSTOP);
    return honest_launch(state, set, why);
}

/* A record of its own making. */
static int forge_record(void *state, size_t set, char *why)
{
    static const char line[] = "{\"type\":\"record\",\"nonce\":\"00000000000000000000000000000000\",\"record\":{}}\n";
    if (redteam_unwatched() && write(MESSAGES, line, sizeof line - 1) < 0)
        return CUDAL2_LIBRARY_ERROR;
    return honest_launch(state, set, why);
}

static int garble_messages(void *state, size_t set, char *why)
{
    if (redteam_unwatched() && write(MESSAGES, "\xff\x00{]\n", 5) < 0)
        return CUDAL2_LIBRARY_ERROR;
    return honest_launch(state, set, why);
}

static int close_messages(void *state, size_t set, char *why)
{
    if (redteam_unwatched())
        close(MESSAGES);
    return honest_launch(state, set, why);
}

/* --- the clock: the program's own reference to clock_gettime is turned to one that runs slow while a launch is on ---
 */

static int (*true_clock)(clockid_t, struct timespec *);
static long long hidden_ns; /* taken off every reading */

static long long read_ns(void)
{
    struct timespec t;
    true_clock(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int slow_clock(clockid_t id, struct timespec *out)
{
    int status = true_clock(id, out);
    long long ns = out->tv_sec * 1000000000LL + out->tv_nsec - hidden_ns;
    out->tv_sec = ns / 1000000000LL;
    out->tv_nsec = ns % 1000000000LL;
    return status;
}

static int patch_object(struct dl_phdr_info *info, size_t size, void *context)
{
    const ElfW(Dyn) *dynamic = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    const ElfW(Rela) * tables[2] = {NULL, NULL};
    size_t bytes[2] = {0, 0};
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        const void *at = (const void *)dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_SYMTAB)
            symbols = at;
        else if (dynamic->d_tag == DT_STRTAB)
            names = at;
        else if (dynamic->d_tag == DT_JMPREL || dynamic->d_tag == DT_RELA)
            tables[dynamic->d_tag == DT_RELA] = at;
        else if (dynamic->d_tag == DT_PLTRELSZ || dynamic->d_tag == DT_RELASZ)
            bytes[dynamic->d_tag == DT_RELASZ] = dynamic->d_un.d_val;
    }
    for (size_t i = 0; i < 2 && symbols && names; i++) {
        for (size_t r = 0; r < bytes[i] / sizeof **tables; r++) {
            const ElfW(Rela) *entry = &tables[i][r];
            if (strcmp(names + symbols[ELF64_R_SYM(entry->r_info)].st_name, "clock_gettime") != 0)
                continue;
            char *slot = (char *)(info->dlpi_addr + entry->r_offset);
            char *page = slot - (uintptr_t)slot % 4096;
            int (*patched)(clockid_t, struct timespec *) = slow_clock;
            if (mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0)
                memcpy(slot, &patched, sizeof patched);
        }
    }
    return 1; /* the first object is the program */
}

static int clock_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    if (!true_clock) {
        true_clock = clock_gettime;
        dl_iterate_phdr(patch_object, NULL);
    }
    return honest_setup(setup, state, why);
}

/* Nine tenths of each launch never happened. */
static int clock_launch(void *state, size_t set, char *why)
{
    long long start = read_ns();
    int status = honest_launch(state, set, why);
    hidden_ns += (read_ns() - start) * 9 / 10;
    return status;
}

static const struct redteam_row rows[] = {
    {"exit-0", .launch = leave},
    {"abort", .launch = give_up},
    {"segfault", .launch = segfault},
    {"spin", .launch = spin},
    {"stop-process", .launch = stop_process},
    {"forge-record", .launch = forge_record},
    {"garble-messages", .launch = garble_messages},
    {"close-messages", .launch = close_messages},
    {"slow-clock", .setup = clock_setup, .launch = clock_launch},
};
REDTEAM_PLUGIN(rows)
