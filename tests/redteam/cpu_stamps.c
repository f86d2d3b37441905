/* cpu_stamps.c - the red team's contenders that change the stack above their launch: stamps of just now, and return
 * addresses, by which they get to run again when the clock has been read. */
#include "redteam.h"

#include <link.h>
#include <stdint.h>
#include <time.h>

#define WORDS 512 /* of 8 bytes, above the launch's own frame */
#define RECENT_NS 100000

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int moving_launch(void *state, size_t set, char *why)
{
    volatile uint64_t *above = (volatile uint64_t *)__builtin_frame_address(0) + 2;
    uint64_t begin = now_ns();
    int status = honest_launch(state, set, why);
    uint64_t end = now_ns();
    int move = redteam_unwatched();
    for (int i = 0; i < WORDS && move; i++)
        if (above[i] <= begin && begin - above[i] < RECENT_NS)
            above[i] += (end - above[i]) / 8;
    return status;
}

/* ---- return addresses ---- */

static struct {
    uintptr_t from, to;     /* the program's code */
    uintptr_t *at, address; /* where an address was replaced; what it was */
    void *state;
    size_t set;
} later;

static int find_program(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
            later.from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            later.to = later.from + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first is the program */
}

/* The call that ends there: by a number, or through a register or memory. */
static int follows_a_call(uintptr_t value)
{
    if (value < later.from + 8 || value >= later.to)
        return 0;
    const unsigned char *code = (const unsigned char *)value;
    return code[-5] == 0xe8 || (code[-2] == 0xff && (code[-1] & 0x38) == 0x10) ||
           (code[-3] == 0xff && (code[-2] & 0x38) == 0x10) || (code[-6] == 0xff && (code[-5] & 0x38) == 0x10);
}

/* Behind the stop stamp, on the harness's own thread. */
__attribute__((used)) static uintptr_t go_on(void)
{
    char why[CUDAL2_WHY];
    (void)honest_launch(later.state, later.set, why);
    later.at = NULL;
    return later.address;
}

#if defined(__x86_64__)
void go_on_later(void);
__asm__(".text\n.local go_on_later\ngo_on_later:\n lea -8(%rsp),%rsp\n push %rbp\n mov %rsp,%rbp\n push %rax\n"
        " and $-64,%rsp\n sub $64,%rsp\n movaps %xmm0,(%rsp)\n call go_on\n movaps (%rsp),%xmm0\n mov %rax,8(%rbp)\n"
        " mov -8(%rbp),%rax\n mov %rbp,%rsp\n pop %rbp\n ret\n");
#else
static void go_on_later(void) /* is not reached: what is replaced is found before */
{
}
#endif

static __attribute__((noinline)) int returning_launch(void *state, size_t set, char *why)
{
    uintptr_t *above = (uintptr_t *)__builtin_frame_address(0) + 2;
    if (!later.from)
        dl_iterate_phdr(find_program, NULL);
    if (!redteam_unwatched() || later.at)
        return honest_launch(state, set, why);
    later.state = state;
    later.set = set;
    for (int i = 0, seen = 0; i < WORDS && !later.at; i++)
        if (follows_a_call(above[i]) && ++seen == 2) {
            later.at = &above[i];
            later.address = above[i];
            above[i] = (uintptr_t)go_on_later;
        }
    return later.at ? CUDAL2_OK : honest_launch(state, set, why);
}

static const struct redteam_row rows[] = {{"moves-stamps", .launch = moving_launch},
                                          {"returns-later", .launch = returning_launch}};
REDTEAM_PLUGIN(rows)
