/*
 * confine_named.c - the system calls that are told to the supervisor: no library that multiplies makes them, and each
 * is a step of an attack on the clocks, the supervisor or the filter itself. The allow-list behind this denies them
 * too: here they get a name. Hand-made, because libseccomp has no rule for a range of addresses and none for "all but
 * this process". Called by confine_calls.c.
 */
#include "worker/confine_calls.h"
#include "worker/stage_page.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEWER_CALLS 450u /* not known when the list was written: a library has another way when they are not there */
#define LOW(n) (offsetof(struct seccomp_data, args) + 8 * (n)) /* both machines are little-endian */
#define HIGH(n) (LOW(n) + 4)

enum condition {
    ALWAYS,
    IF_IS,            /* the argument is `value` */
    IF_HAS,           /* F_SETFL with the bits of `value` */
    SETS_HANDLER,     /* the first argument is `value`, the second not NULL */
    UNLESS_OURSELVES, /* the first argument is another process than this one */
};

struct named {
    uint32_t call;
    enum condition condition;
    unsigned argument;
    uint32_t value;
};

static const struct named named[] = {
    {SYS_seccomp, ALWAYS, 0, 0},
    {SYS_rt_sigaction, IF_IS, 0, 32}, /* libc's own signals, which threads of libraries take: SIGCANCEL, SIGSETXID */
    {SYS_rt_sigaction, IF_IS, 0, 33},
    {SYS_rt_sigaction, SETS_HANDLER, 0, SIGTRAP}, /* stepping through the harness, from a launch on */
    {SYS_prctl, IF_IS, 0, PR_SET_SECCOMP},
    {SYS_prctl, IF_IS, 0, PR_SET_TSC},
    {SYS_prctl, IF_IS, 0, PR_SET_MM},
    {SYS_prctl, IF_IS, 0, 59}, /* PR_SET_SYSCALL_USER_DISPATCH */
    {SYS_fcntl, IF_IS, 1, F_SETOWN},
    {SYS_fcntl, IF_IS, 1, F_SETOWN_EX},
    {SYS_fcntl, IF_IS, 1, F_SETSIG},
    {SYS_fcntl, IF_IS, 1, F_SETLEASE},
    {SYS_fcntl, IF_IS, 1, F_NOTIFY},
    {SYS_fcntl, IF_HAS, 2, O_ASYNC},
    {SYS_ioctl, IF_IS, 1, 0x5412}, /* TIOCSTI: input for a terminal */
    {SYS_ioctl, IF_IS, 1, 0x5452}, /* FIOASYNC */
    {SYS_ioctl, IF_IS, 1, 0x8901}, /* FIOSETOWN */
    {SYS_ioctl, IF_IS, 1, 0x8902}, /* SIOCSPGRP */
    {SYS_ftruncate, IF_IS, 0, STAGE_PAGE_FD},
    {SYS_fallocate, IF_IS, 0, STAGE_PAGE_FD},
    {SYS_process_vm_writev, ALWAYS, 0, 0},
    {SYS_pidfd_send_signal, ALWAYS, 0, 0},
    {SYS_pidfd_getfd, ALWAYS, 0, 0},
    {SYS_tgkill, UNLESS_OURSELVES, 0, 0},
    {SYS_rt_sigqueueinfo, UNLESS_OURSELVES, 0, 0},
    {SYS_rt_tgsigqueueinfo, UNLESS_OURSELVES, 0, 0},
#if !SANITIZED
    {SYS_kill, UNLESS_OURSELVES, 0, 0},
    {SYS_ptrace, ALWAYS, 0, 0},
#endif
#if defined(__x86_64__)
    {SYS_arch_prctl, IF_IS, 0, 0x1012}, /* ARCH_SET_CPUID */
    {SYS_arch_prctl, IF_IS, 0, 0x2003}, /* ARCH_MAP_VDSO_64 */
#endif
};

static void add(struct confine_program *p, unsigned what, uint32_t value, unsigned if_so, unsigned if_not)
{
    p->code[p->length++] = (struct sock_filter){(uint16_t)what, (uint8_t)if_so, (uint8_t)if_not, value};
}

static void load(struct confine_program *p, size_t offset)
{
    add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void add_named(struct confine_program *p, const struct named *n, uint32_t verdict)
{
    unsigned short jump = p->length;
    add(p, BPF_JMP | BPF_JEQ | BPF_K, n->call, 0, 0);
    if (n->condition == IF_HAS) {
        load(p, LOW(1));
        add(p, BPF_JMP | BPF_JEQ | BPF_K, F_SETFL, 0, 3);
        load(p, LOW(n->argument));
        add(p, BPF_JMP | BPF_JSET | BPF_K, n->value, 0, 1);
    } else if (n->condition == IF_IS) {
        load(p, LOW(n->argument));
        add(p, BPF_JMP | BPF_JEQ | BPF_K, n->value, 0, 1);
    } else if (n->condition == SETS_HANDLER) {
        load(p, LOW(n->argument));
        add(p, BPF_JMP | BPF_JEQ | BPF_K, n->value, 0, 5);
        load(p, LOW(1));
        add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
        load(p, HIGH(1));
        add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    } else if (n->condition == UNLESS_OURSELVES) {
        load(p, LOW(n->argument));
        add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0);
    }
    add(p, BPF_RET | BPF_K, verdict, 0, 0);
    p->code[jump].jf = (uint8_t)(p->length - jump - 1);
    load(p, offsetof(struct seccomp_data, nr));
}

/* ---- addresses ---- */

/* Calls on the addresses from one argument on, as many as another says. */
struct placing {
    uint32_t call;
    unsigned address, length, flags; /* arguments */
    uint32_t if_has;                 /* of the flags; 0: always */
};

/* They change what lies there; mmap and mremap replace what lies elsewhere only where they are told to. */
static const struct placing changing[] = {{SYS_mprotect, 0, 1, 0, 0},
                                          {SYS_munmap, 0, 1, 0, 0},
                                          {SYS_mmap, 0, 1, 3, MAP_FIXED},
                                          {SYS_mremap, 0, 1, 0, 0},
                                          {SYS_mremap, 4, 2, 3, MREMAP_FIXED}};
/* They say what kind of pages it lies on. */
static const struct placing advising[] = {{SYS_madvise, 0, 1, 0, 0},
                                          {SYS_mbind, 0, 1, 0, 0},
                                          {SYS_mlock, 0, 1, 0, 0},
                                          {SYS_mlock2, 0, 1, 0, 0},
                                          {SYS_munlock, 0, 1, 0, 0}};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* address + length as two words in M[0] (low) and A (high). A sum past the end of the addresses is no valid call. */
static void add_end(struct confine_program *p, const struct placing *c)
{
    load(p, LOW(c->length));
    add(p, BPF_MISC | BPF_TAX, 0, 0, 0);
    load(p, LOW(c->address));
    add(p, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
    add(p, BPF_ST, 0, 0, 0);
    add(p, BPF_JMP | BPF_JGE | BPF_X, 0, 2, 0); /* no carry */
    add(p, BPF_LD | BPF_IMM, 1, 0, 0);
    add(p, BPF_JMP | BPF_JA, 1, 0, 0);
    add(p, BPF_LD | BPF_IMM, 0, 0, 0);
    add(p, BPF_MISC | BPF_TAX, 0, 0, 0);
    load(p, HIGH(c->length));
    add(p, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
    add(p, BPF_MISC | BPF_TAX, 0, 0, 0);
    load(p, HIGH(c->address));
    add(p, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
}

/* ---- memory that nobody changes ---- */

/* Denied where address < to and address + length > from. */
static void add_overlap(struct confine_program *p, const struct placing *c, const struct confine_range *r,
                        uint32_t verdict)
{
    load(p, HIGH(c->address));
    add(p, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(r->to >> 32), 23, 0); /* past the verdict */
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(r->to >> 32), 0, 2);
    load(p, LOW(c->address));
    add(p, BPF_JMP | BPF_JGE | BPF_K, (uint32_t)r->to, 20, 0);
    add_end(p, c);
    add(p, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(r->from >> 32), 3, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(r->from >> 32), 0, 3);
    add(p, BPF_LD | BPF_MEM, 0, 0, 0);
    add(p, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)r->from, 0, 1);
    add(p, BPF_RET | BPF_K, verdict, 0, 0);
}

/* Past all the ranges, which is too far for a condition. */
static unsigned short add_way_past(struct confine_program *p)
{
    add(p, BPF_JMP | BPF_JA, 0, 0, 0);
    return (unsigned short)(p->length - 1);
}

static void add_ranges(struct confine_program *p, const struct placing *c, const struct confine_ranges *ranges,
                       uint32_t verdict)
{
    add(p, BPF_JMP | BPF_JEQ | BPF_K, c->call, 1, 0);
    unsigned short other = add_way_past(p), unasked = other;
    if (c->if_has) {
        load(p, LOW(c->flags));
        add(p, BPF_JMP | BPF_JSET | BPF_K, c->if_has, 1, 0);
        unasked = add_way_past(p);
    }
    for (size_t i = 0; i < ranges->n; i++)
        add_overlap(p, c, &ranges->list[i], verdict);
    p->code[other].k = (uint32_t)(p->length - other - 1);
    p->code[unasked].k = (uint32_t)(p->length - unasked - 1);
    load(p, offsetof(struct seccomp_data, nr));
}

/* ---- the harness's matrices ---- */

/* All of it is given back: nobody's matrix is in there then. */
static void add_given_back(struct confine_program *p, const struct host_span *o)
{
    const uint64_t length = o->to - o->from;
    const struct {
        size_t at;
        uint32_t value;
    } wanted[] = {{LOW(0), (uint32_t)o->from},
                  {HIGH(0), (uint32_t)(o->from >> 32)},
                  {LOW(1), (uint32_t)length},
                  {HIGH(1), (uint32_t)(length >> 32)},
                  {LOW(2), MADV_DONTNEED}};
    const size_t n = sizeof wanted / sizeof wanted[0];
    for (size_t i = 0; i < n; i++) {
        load(p, wanted[i].at);
        add(p, BPF_JMP | BPF_JEQ | BPF_K, wanted[i].value, 0, (unsigned)(2 * (n - i) - 1));
    }
    add(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Denied where address < to and address + length > from. */
static void add_placing(struct confine_program *p, const struct placing *c, const struct host_span *o, uint32_t verdict)
{
    unsigned short call = p->length;
    add(p, BPF_JMP | BPF_JEQ | BPF_K, c->call, 0, 0);
    if (c->call == SYS_madvise)
        add_given_back(p, o);
    if (c->if_has) {
        load(p, LOW(c->flags));
        add(p, BPF_JMP | BPF_JSET | BPF_K, c->if_has, 0, 22); /* past the verdict */
    }
    load(p, HIGH(c->address));
    add(p, BPF_JMP | BPF_JGE | BPF_K, (uint32_t)(o->to >> 32), 20, 0);
    add_end(p, c);
    add(p, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(o->from >> 32), 3, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(o->from >> 32), 0, 3);
    add(p, BPF_LD | BPF_MEM, 0, 0, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    add(p, BPF_RET | BPF_K, verdict, 0, 0);
    p->code[call].jf = (uint8_t)(p->length - call - 1);
    load(p, offsetof(struct seccomp_data, nr));
}

void confine_name(struct confine_program *p, const struct confine_ranges *ranges, bool listened)
{
    const uint32_t denied = SECCOMP_RET_ERRNO | EPERM, verdict = listened ? SECCOMP_RET_USER_NOTIF : denied;
    p->length = 0;
    load(p, offsetof(struct seccomp_data, arch));
    /* Other architectures' calls have other numbers: the list behind denies them all. */
    unsigned short other = p->length;
    add(p, BPF_JMP | BPF_JEQ | BPF_K, CONFINE_ARCHITECTURE, 1, 0);
    add(p, BPF_JMP | BPF_JA, 0, 0, 0);
    load(p, offsetof(struct seccomp_data, nr));
    add(p, BPF_JMP | BPF_JGE | BPF_K, NEWER_CALLS, 0, 1);
    add(p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0); /* x32's among them */
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        add_named(p, &named[i], verdict);
    for (size_t i = 0; i < COUNT(changing) && ranges->n > 0; i++)
        add_ranges(p, &changing[i], ranges, verdict);
    for (size_t i = 0; i < COUNT(changing) && ranges->operands.to > 0; i++)
        add_placing(p, &changing[i], &ranges->operands, verdict);
    for (size_t i = 0; i < COUNT(advising) && ranges->operands.to > 0; i++)
        add_placing(p, &advising[i], &ranges->operands, verdict);
    p->code[other + 1].k = (uint32_t)(p->length - other - 2);
}
