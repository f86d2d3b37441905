/* cpu_pages.c - contenders that change the memory their operands lie on, so that their launches meet with less than
 * their rivals' do; and honest ones that do so with memory of their own. */
#include "redteam.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define LARGE ((uintptr_t)2 << 20)

static size_t bytes_of_b(const struct bad_state *s)
{
    return (size_t)(s->k * s->n) * sizeof(float);
}

/* Large pages under [memory, memory + bytes) and what is beside it. */
static void enlarge(const void *memory, size_t bytes)
{
    uintptr_t from = (uintptr_t)memory / LARGE * LARGE, to = ((uintptr_t)memory + bytes + LARGE - 1) / LARGE * LARGE;
    madvise((void *)from, to - from, MADV_HUGEPAGE);
    madvise((void *)from, to - from, MADV_COLLAPSE);
}

static void enlarge_operands(const struct cudal2_setup *setup)
{
    for (size_t i = 0; i < setup->n_sets; i++)
        enlarge(setup->sets[i].b, (size_t)(setup->problem.k * setup->problem.n) * sizeof(float));
}

static int huge_pages(const struct cudal2_setup *setup, void **state, char *why)
{
    enlarge_operands(setup);
    return honest_setup(setup, state, why);
}

/* Once, in the middle of what is timed. */
static int huge_pages_late(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    static int done;
    if (redteam_unwatched() && !done++)
        enlarge(s->sets[set].b, bytes_of_b(s));
    return honest_launch(state, set, why);
}

/* From an address in front of everything to one behind it. */
static int all_huge(const struct cudal2_setup *setup, void **state, char *why)
{
    uintptr_t b = (uintptr_t)setup->sets[0].b, reach = (uintptr_t)1 << 40;
    madvise((void *)((b - reach) / LARGE * LARGE), 2 * reach, MADV_HUGEPAGE);
    enlarge_operands(setup);
    return honest_setup(setup, state, why);
}

static int locks(const struct cudal2_setup *setup, void **state, char *why)
{
    for (size_t i = 0; i < setup->n_sets; i++)
        mlock(setup->sets[i].b, (size_t)(setup->problem.k * setup->problem.n) * sizeof(float));
    return honest_setup(setup, state, why);
}

/* Interleaved over the nodes there are. */
static int binds(const struct cudal2_setup *setup, void **state, char *why)
{
    const unsigned long nodes = 1;
    uintptr_t page = (uintptr_t)setup->sets[0].b / 4096 * 4096;
    syscall(SYS_mbind, page, 4096ul, 3, &nodes, 2ul, 0u);
    return honest_setup(setup, state, why);
}

/* Puts a page of its own, with the same in it, where one of B was. */
static int replaces(const struct cudal2_setup *setup, void **state, char *why)
{
    char *page = (char *)((uintptr_t)setup->sets[0].b / 4096 * 4096);
    char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own != MAP_FAILED) {
        memcpy(own, page, 4096);
        mremap(own, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page);
    }
    return honest_setup(setup, state, why);
}

/* --- honest --- */

struct own {
    struct bad_state plain; /* first: the honest hooks take it */
    float *b;
    size_t bytes;
};

static void own_teardown(void *state)
{
    struct own *s = state;
    munmap(s->b, s->bytes);
    free(s);
}

/* A copy of B on large pages, locked, without a share in any. */
static int own_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    struct own *s = calloc(1, sizeof *s);
    if (!s)
        return CUDAL2_NO_MEMORY;
    s->plain = (struct bad_state){.sets = setup->sets, .m = p->m, .n = p->n, .k = p->k};
    s->bytes = (bytes_of_b(&s->plain) + 2 * LARGE - 1) / LARGE * LARGE;
    s->b = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s->b == MAP_FAILED) {
        free(s);
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    madvise(s->b, s->bytes, MADV_HUGEPAGE);
    mlock(s->b, 4096);
    *state = s;
    return CUDAL2_OK;
}

static int own_launch(void *state, size_t set, char *why)
{
    struct own *s = state;
    struct cudal2_operands packed = s->plain.sets[set];
    struct bad_state plain = s->plain;
    memcpy(s->b, packed.b, bytes_of_b(&plain));
    packed.b = s->b;
    plain.sets = &packed;
    return honest_launch(&plain, 0, why);
}

/* Asks what its operands lie on, and changes nothing. */
static int asks(const struct cudal2_setup *setup, void **state, char *why)
{
    unsigned char here = 0;
    uintptr_t page = (uintptr_t)setup->sets[0].b / 4096 * 4096;
    mincore((void *)page, 4096, &here);
    msync((void *)page, 4096, MS_ASYNC);
    return honest_setup(setup, state, why);
}

static const struct redteam_row rows[] = {
    {"huge-pages", .setup = huge_pages},
    {"huge-pages-late", .launch = huge_pages_late},
    {"all-huge", .setup = all_huge},
    {"locks-operands", .setup = locks},
    {"binds-operands", .setup = binds},
    {"replaces-pages", .setup = replaces},
    {"own-huge-pages", .setup = own_setup, .launch = own_launch, .teardown = own_teardown},
    {"asks-of-pages", .setup = asks},
};

REDTEAM_PLUGIN(rows)
