/* seccomp: system calls that a GEMM never makes fail with "operation not permitted". A list of what is denied and not
 * of what is allowed, because nobody but NVIDIA knows what its driver calls; a denied call returns an error and does
 * not kill, so that a library that merely asks goes on. */
#include "worker/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

/* LeakSanitizer stops its process from a child that traces it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define X32_CALLS 0x40000000u /* the other numbering of x86-64 */

enum condition {
    ALWAYS,
    IF_FIRST_IS,      /* denied when the first argument is `value` */
    UNLESS_FIRST_IS,  /* denied unless it is `value` or `other` */
    UNLESS_FIRST_HAS, /* denied unless it has the bits of `value` */
    UNLESS_OURSELVES, /* denied unless it is our process id, or `value` */
};

struct rule {
    uint32_t call;
    enum condition condition;
    uint32_t value, other;
};

static const struct rule rules[] = {
    /* another process: its memory, its life, its descriptors */
    {SYS_process_vm_readv, ALWAYS, 0, 0},
    {SYS_process_vm_writev, ALWAYS, 0, 0},
    {SYS_pidfd_send_signal, ALWAYS, 0, 0},
    {SYS_pidfd_getfd, ALWAYS, 0, 0},
    {SYS_kill, UNLESS_OURSELVES, UINT32_MAX, 0},
    {SYS_tgkill, UNLESS_OURSELVES, UINT32_MAX, 0},
    {SYS_rt_sigqueueinfo, UNLESS_OURSELVES, UINT32_MAX, 0},
    {SYS_rt_tgsigqueueinfo, UNLESS_OURSELVES, UINT32_MAX, 0},
    {SYS_tkill, ALWAYS, 0, 0},
    {SYS_prlimit64, UNLESS_OURSELVES, 0, 0},
    {SYS_prctl, IF_FIRST_IS, PR_SET_PDEATHSIG, 0}, /* a worker dies with its supervisor */
#if !SANITIZED
    {SYS_ptrace, ALWAYS, 0, 0},
    /* a new process, or another program in this one */
    {SYS_clone, UNLESS_FIRST_HAS, CLONE_THREAD, 0},
#ifdef SYS_fork
    {SYS_fork, ALWAYS, 0, 0},
    {SYS_vfork, ALWAYS, 0, 0},
#endif
#endif
    {SYS_execve, ALWAYS, 0, 0},
    {SYS_execveat, ALWAYS, 0, 0},
    /* the network; local sockets and the kernel's own stay */
    {SYS_socket, UNLESS_FIRST_IS, AF_UNIX, AF_NETLINK},
    {SYS_io_uring_setup, ALWAYS, 0, 0}, /* it opens sockets, and this filter does not see it */
    {SYS_io_uring_enter, ALWAYS, 0, 0},
    {SYS_io_uring_register, ALWAYS, 0, 0},
    /* file systems, namespaces, the machine */
    {SYS_mount, ALWAYS, 0, 0},
    {SYS_umount2, ALWAYS, 0, 0},
    {SYS_move_mount, ALWAYS, 0, 0},
    {SYS_open_tree, ALWAYS, 0, 0},
    {SYS_fsopen, ALWAYS, 0, 0},
    {SYS_pivot_root, ALWAYS, 0, 0},
    {SYS_chroot, ALWAYS, 0, 0},
    {SYS_open_by_handle_at, ALWAYS, 0, 0},
    {SYS_unshare, ALWAYS, 0, 0},
    {SYS_setns, ALWAYS, 0, 0},
    {SYS_quotactl, ALWAYS, 0, 0},
    {SYS_swapon, ALWAYS, 0, 0},
    {SYS_swapoff, ALWAYS, 0, 0},
    {SYS_acct, ALWAYS, 0, 0},
    {SYS_reboot, ALWAYS, 0, 0},
    {SYS_kexec_load, ALWAYS, 0, 0},
    {SYS_init_module, ALWAYS, 0, 0},
    {SYS_finit_module, ALWAYS, 0, 0},
    {SYS_delete_module, ALWAYS, 0, 0},
    {SYS_sethostname, ALWAYS, 0, 0},
    {SYS_setdomainname, ALWAYS, 0, 0},
    {SYS_settimeofday, ALWAYS, 0, 0},
    {SYS_clock_settime, ALWAYS, 0, 0},
    {SYS_adjtimex, ALWAYS, 0, 0},
    {SYS_clock_adjtime, ALWAYS, 0, 0},
    {SYS_syslog, ALWAYS, 0, 0},
    {SYS_vhangup, ALWAYS, 0, 0},
    {SYS_bpf, ALWAYS, 0, 0},
    {SYS_perf_event_open, ALWAYS, 0, 0},
    {SYS_fanotify_init, ALWAYS, 0, 0},
    {SYS_add_key, ALWAYS, 0, 0},
    {SYS_request_key, ALWAYS, 0, 0},
    {SYS_keyctl, ALWAYS, 0, 0},
    {SYS_personality, ALWAYS, 0, 0},
#if defined(__x86_64__)
    {SYS_iopl, ALWAYS, 0, 0},
    {SYS_ioperm, ALWAYS, 0, 0},
    {SYS_kexec_file_load, ALWAYS, 0, 0},
#endif
};

#define RULES (sizeof rules / sizeof rules[0])
#define LONGEST_RULE 6

struct program {
    struct sock_filter code[16 + LONGEST_RULE * RULES];
    unsigned short length;
};

static void add(struct program *p, unsigned what, uint32_t value, unsigned if_so, unsigned if_not)
{
    p->code[p->length++] = (struct sock_filter){(uint16_t)what, (uint8_t)if_so, (uint8_t)if_not, value};
}

static void add_load(struct program *p, size_t offset)
{
    add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void add_return(struct program *p, uint32_t verdict)
{
    add(p, BPF_RET | BPF_K, verdict, 0, 0);
}

static void add_deny(struct program *p, int error_number)
{
    add_return(p, SECCOMP_RET_ERRNO | (uint32_t)error_number);
}

/* The tests on the first argument's low word (both machines are little-endian): true skips the deny that follows. */
static void add_condition(struct program *p, const struct rule *rule)
{
    uint32_t first = rule->value, second = rule->other;
    if (rule->condition == UNLESS_OURSELVES) {
        first = (uint32_t)getpid();
        second = rule->value == UINT32_MAX ? first : rule->value;
    }
    add_load(p, offsetof(struct seccomp_data, args[0]));
    if (rule->condition == IF_FIRST_IS) {
        add(p, BPF_JMP | BPF_JEQ | BPF_K, first, 0, 1);
    } else if (rule->condition == UNLESS_FIRST_HAS) {
        add(p, BPF_JMP | BPF_JSET | BPF_K, first, 1, 0);
    } else {
        add(p, BPF_JMP | BPF_JEQ | BPF_K, first, 2, 0);
        add(p, BPF_JMP | BPF_JEQ | BPF_K, second, 1, 0);
    }
}

/* A call that is not denied unconditionally leaves by its own return: the accumulator no longer holds its number. */
static void add_rule(struct program *p, const struct rule *rule)
{
    unsigned short jump = p->length;
    add(p, BPF_JMP | BPF_JEQ | BPF_K, rule->call, 0, 0);
    if (rule->condition != ALWAYS)
        add_condition(p, rule);
    add_deny(p, EPERM);
    if (rule->condition != ALWAYS)
        add_return(p, SECCOMP_RET_ALLOW);
    p->code[jump].jf = (uint8_t)(p->length - jump - 1);
}

static void compose(struct program *p)
{
    p->length = 0;
    add_load(p, offsetof(struct seccomp_data, arch));
    add(p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    add_deny(p, EPERM); /* 32-bit calls have other numbers */
    add_load(p, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    add(p, BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
    add_deny(p, ENOSYS);
#endif
#if !SANITIZED
    /* Its flags lie in memory, out of the filter's sight; the C library then takes clone. */
    add(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
    add_deny(p, ENOSYS);
#endif
    for (size_t i = 0; i < RULES; i++)
        add_rule(p, &rules[i]);
    add_return(p, SECCOMP_RET_ALLOW);
}

/* Without SPEC_ALLOW older kernels turn off speculative stores for a filtered process, and with them some speed. */
static const unsigned long flag_sets[] = {
    SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
    SECCOMP_FILTER_FLAG_TSYNC,
};

int confine_calls(char note[128])
{
    struct program program;
    compose(&program);
    struct sock_fprog filter = {.len = program.length, .filter = program.code};
    long code = -1;
    for (size_t i = 0; code != 0 && i < sizeof flag_sets / sizeof flag_sets[0]; i++)
        code = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flag_sets[i], &filter);
    if (code > 0)
        snprintf(note, 128, "seccomp: thread %ld has a filter of its own", code);
    else if (code < 0)
        snprintf(note, 128, "seccomp: %s", strerror(errno));
    return code == 0 ? 0 : -1;
}

#else

int confine_calls(char note[128])
{
    snprintf(note, 128, "seccomp: not written for this architecture");
    return -1;
}

#endif
