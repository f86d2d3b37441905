/*
 * confine_calls.c - seccomp: a worker may make the system calls of this list and no other; the rest fail with
 * "operation not permitted". libseccomp composes the filter, which is then led by what is to be named (confine_named.c)
 * and put in force for every thread. A denied call returns an error and does not kill, so that a library that merely
 * asks goes on. Called by confine.c.
 */
#include "worker/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/confine_calls.h"

#define WORD 0xffffffffu /* the kernel takes many arguments as 32 bits, whatever is above them */
#define ASYNC 020000u    /* O_ASYNC: signals to whoever owns the descriptor */

/* ---- allowed whatever their arguments ---- */

static const int always[] = {
    /* memory; a range that is not to be touched is confine_named.c's */
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(mincore),
    SCMP_SYS(msync),
    SCMP_SYS(mlock),
    SCMP_SYS(mlock2),
    SCMP_SYS(munlock),
    SCMP_SYS(membarrier),
    SCMP_SYS(mbind), /* of its own pages: NUMA placement */
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(memfd_create),
    /* threads */
    SCMP_SYS(futex),
    SCMP_SYS(futex_waitv),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(sched_getattr),
    SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(getpriority),
    SCMP_SYS(getcpu),
    /* signals to itself, and its timers, which the checks compare (host_state.h) */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(pause),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(getitimer),
    SCMP_SYS(timer_settime),
    SCMP_SYS(timer_gettime),
    SCMP_SYS(timer_getoverrun),
    SCMP_SYS(timer_delete),
    /* time */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    /* files: Landlock says which */
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(creat),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev),
    SCMP_SYS(lseek),
    SCMP_SYS(stat),
    SCMP_SYS(fstat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),
    SCMP_SYS(truncate),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(readahead),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(sendfile),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(eventfd),
    SCMP_SYS(eventfd2),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    /* who and where it is */
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(getpgid),
    SCMP_SYS(getsid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(getgroups),
    SCMP_SYS(capget),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(wait4), /* there are no children */
    SCMP_SYS(waitid),
#if SANITIZED
    /* LeakSanitizer stops its process from a child that traces it, and lists its threads by the older call. */
    SCMP_SYS(getdents),
    SCMP_SYS(ptrace),
    SCMP_SYS(clone),
    SCMP_SYS(clone3),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(prctl),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(kill),
    SCMP_SYS(personality),
#endif
};

/* The same, in a process that is never stopped: timers go off meanwhile, and the kernel lets a restartable sequence
 * decide where a thread goes on. */
static const int unstopped[] = {SCMP_SYS(alarm), SCMP_SYS(setitimer), SCMP_SYS(timer_create), SCMP_SYS(rseq)};

/* ---- allowed with some arguments ---- */

struct sometimes {
    int call;
    unsigned argument;
    uint64_t mask, value; /* allowed where (argument & mask) == value */
};

/* What pthread_create asks of clone, of glibc and of musl: a thread, and nothing that is not shared. */
#define THREAD                                                                                                         \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |                 \
     CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

#if defined(__x86_64__)
#define XCOMP_FIRST 0x1021 /* ARCH_GET_XCOMP_SUPP, _PERM and ARCH_REQ_XCOMP_PERM: leave to use AMX */
#endif

static const struct sometimes sometimes[] = {
#if !SANITIZED
    {SCMP_SYS(clone), 0, WORD, THREAD},
    {SCMP_SYS(clone), 0, WORD, THREAD | CLONE_DETACHED},
    {SCMP_SYS(prctl), 0, WORD, PR_SET_NAME},
    {SCMP_SYS(prctl), 0, WORD, PR_GET_NAME},
    {SCMP_SYS(prctl), 0, WORD, PR_GET_DUMPABLE},
    {SCMP_SYS(prctl), 0, WORD, PR_GET_PDEATHSIG},
    {SCMP_SYS(prctl), 0, WORD, PR_GET_NO_NEW_PRIVS},
    {SCMP_SYS(prctl), 0, WORD, PR_GET_SECCOMP},
    {SCMP_SYS(prctl), 0, WORD, PR_GET_TIMERSLACK},
    {SCMP_SYS(prctl), 0, WORD, PR_GET_THP_DISABLE},
    {SCMP_SYS(prctl), 0, WORD, PR_CAPBSET_READ},
    {SCMP_SYS(prctl), 0, WORD, 0x53564d41}, /* PR_SET_VMA: names of mappings */
    {SCMP_SYS(prctl), 0, WORD, 51},         /* PR_SVE_GET_VL */
#if defined(__x86_64__)
    {SCMP_SYS(arch_prctl), 0, WORD, XCOMP_FIRST},
    {SCMP_SYS(arch_prctl), 0, WORD, XCOMP_FIRST + 1},
    {SCMP_SYS(arch_prctl), 0, WORD, XCOMP_FIRST + 2},
#endif
#endif
    /* What a library tells of its own memory and files. Not: that pages go to the disk, or a file's out of memory,
     * which would be those that rivals' code is in. */
    {SCMP_SYS(madvise), 2, ~3ull & 0xffffffff, 0}, /* MADV_NORMAL to MADV_WILLNEED */
    {SCMP_SYS(madvise), 2, WORD, MADV_DONTNEED},
    {SCMP_SYS(madvise), 2, WORD, MADV_FREE},
    {SCMP_SYS(madvise), 2, WORD, MADV_DONTFORK},
    {SCMP_SYS(madvise), 2, WORD, MADV_DOFORK},
    {SCMP_SYS(madvise), 2, WORD, MADV_HUGEPAGE},
    {SCMP_SYS(madvise), 2, WORD, MADV_NOHUGEPAGE},
    {SCMP_SYS(madvise), 2, WORD, MADV_DONTDUMP},
    {SCMP_SYS(madvise), 2, WORD, MADV_DODUMP},
    {SCMP_SYS(madvise), 2, WORD, 22},                /* MADV_POPULATE_READ */
    {SCMP_SYS(madvise), 2, WORD, 23},                /* MADV_POPULATE_WRITE */
    {SCMP_SYS(madvise), 2, WORD, 25},                /* MADV_COLLAPSE */
    {SCMP_SYS(madvise), 2, ~1ull & 0xffffffff, 102}, /* MADV_GUARD_INSTALL, MADV_GUARD_REMOVE: stacks */
    {SCMP_SYS(fadvise64), 3, ~3ull & 0xffffffff, 0}, /* POSIX_FADV_NORMAL to POSIX_FADV_WILLNEED */
    {SCMP_SYS(fadvise64), 3, WORD, POSIX_FADV_NOREUSE},
    {SCMP_SYS(fcntl), 1, WORD, F_DUPFD},
    {SCMP_SYS(fcntl), 1, WORD, F_DUPFD_CLOEXEC},
    {SCMP_SYS(fcntl), 1, WORD, F_GETFD},
    {SCMP_SYS(fcntl), 1, WORD, F_SETFD},
    {SCMP_SYS(fcntl), 1, WORD, F_GETFL},
    {SCMP_SYS(fcntl), 1, WORD, F_GETLK},
    {SCMP_SYS(fcntl), 1, WORD, F_SETLK},
    {SCMP_SYS(fcntl), 1, WORD, F_SETLKW},
    {SCMP_SYS(fcntl), 1, WORD, F_OFD_GETLK},
    {SCMP_SYS(fcntl), 1, WORD, F_OFD_SETLK},
    {SCMP_SYS(fcntl), 1, WORD, F_OFD_SETLKW},
    {SCMP_SYS(fcntl), 1, WORD, F_GETPIPE_SZ},
    {SCMP_SYS(fcntl), 1, WORD, F_ADD_SEALS},
    {SCMP_SYS(fcntl), 1, WORD, F_GET_SEALS},
    {SCMP_SYS(ioctl), 1, 0xff00, 0x4600},   /* NVIDIA's resource manager; frame buffers, which cannot be opened */
    {SCMP_SYS(ioctl), 1, 0xffffff00, 0},    /* NVIDIA's unified memory */
    {SCMP_SYS(ioctl), 1, WORD, 0x30000001}, /* its start */
    {SCMP_SYS(ioctl), 1, WORD, 0x30000002}, /* and end */
    {SCMP_SYS(ioctl), 1, WORD, 0x5401},     /* TCGETS: isatty */
    {SCMP_SYS(ioctl), 1, WORD, 0x5411},     /* SIOCOUTQ, what the supervisor has not read */
    {SCMP_SYS(ioctl), 1, WORD, 0x5413},     /* TIOCGWINSZ */
    {SCMP_SYS(ioctl), 1, WORD, 0x541b},     /* FIONREAD */
    {SCMP_SYS(ioctl), 1, WORD, 0x5450},     /* FIONCLEX */
    {SCMP_SYS(ioctl), 1, WORD, 0x5451},     /* FIOCLEX */
    {SCMP_SYS(sendto), 0, WORD, PROTOCOL_FD},
    {SCMP_SYS(sendmsg), 0, WORD, CONFINE_LISTENER_FD}, /* closed before the first plugin is loaded */
};

/* ---- composed ---- */

/* A call that this machine's architecture does not have is passed over by libseccomp. */
static int add_sometimes(scmp_filter_ctx filter)
{
    int code = 0;
    for (size_t i = 0; i < sizeof sometimes / sizeof sometimes[0] && code == 0; i++) {
        const struct sometimes *s = &sometimes[i];
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, s->call, 1,
                                SCMP_CMP(s->argument, SCMP_CMP_MASKED_EQ, s->mask, s->value));
    }
    return code;
}

/* Its own flags, without the one that sends signals; itself only; no limit but to read it. */
static int add_pairs(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp self = SCMP_A0(SCMP_CMP_MASKED_EQ, WORD, (uint32_t)getpid());
    const struct scmp_arg_cmp caller = SCMP_A0(SCMP_CMP_MASKED_EQ, WORD, 0);
    const struct scmp_arg_cmp reads = SCMP_A2(SCMP_CMP_EQ, 0, 0);
    int code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2, SCMP_A1(SCMP_CMP_MASKED_EQ, WORD, F_SETFL),
                                SCMP_A2(SCMP_CMP_MASKED_EQ, ASYNC, 0));
    code = code ? code : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, self, reads);
    code = code ? code : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, caller, reads);
    static const int signals[] = {
        SCMP_SYS(tgkill),
        SCMP_SYS(rt_sigqueueinfo),
        SCMP_SYS(rt_tgsigqueueinfo),
#if !SANITIZED
        SCMP_SYS(kill)
#endif
    };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0] && code == 0; i++)
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, signals[i], 1, self);
#if !SANITIZED
    /* Its flags lie in memory, out of the filter's sight; the C library then takes clone. */
    code = code ? code : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
#endif
    return code;
}

static int add_all(scmp_filter_ctx filter, const int *calls, size_t n)
{
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++)
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    return code;
}

static int compose(scmp_filter_ctx filter, bool stops)
{
    int code = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree: the list is long */
    code = code ? code : add_all(filter, always, sizeof always / sizeof always[0]);
    if (!stops)
        code = code ? code : add_all(filter, unstopped, sizeof unstopped / sizeof unstopped[0]);
    code = code ? code : add_sometimes(filter);
    return code ? code : add_pairs(filter);
}

/* Appends the filter as the kernel takes it. A negative errno. */
static int export(scmp_filter_ctx filter, struct confine_program *p)
{
    int fd = memfd_create("cudal2-filter", MFD_CLOEXEC);
    int code = fd < 0 ? -errno : seccomp_export_bpf(filter, fd);
    size_t room = sizeof p->code - p->length * sizeof p->code[0];
    ssize_t got = code ? 0 : pread(fd, &p->code[p->length], room, 0);
    if (fd >= 0)
        close(fd);
    if (code)
        return code;
    if (got <= 0 || (size_t)got == room)
        return -E2BIG;
    p->length = (unsigned short)(p->length + (size_t)got / sizeof p->code[0]);
    return 0;
}

/* ---- in force ---- */

/* Without SPEC_ALLOW older kernels turn off speculative stores for a filtered process, and with them some speed. */
#define COMMON (SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW)

/* A descriptor that the supervisor listens at, or 0 where it was loaded without; negative errno, or a thread that has a
 * filter of its own as a positive number that is no descriptor of ours (*other). */
static int load(struct confine_program *p, bool listen, long *other)
{
    struct sock_fprog filter = {.len = p->length, .filter = p->code};
    unsigned long flags = COMMON | (listen ? SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC_ESRCH : 0);
    long code = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    if (code < 0)
        return -errno;
    if (!listen && code > 0)
        *other = code;
    return (int)code;
}

static int try(scmp_filter_ctx filter, const struct confine_ranges *ranges, int *listener, long *other)
{
    struct confine_program *p = calloc(1, sizeof *p);
    int code = p ? 0 : -ENOMEM;
    if (p) {
        confine_name(p, ranges, listener != NULL);
        code = export(filter, p);
    }
    if (!code)
        code = load(p, listener != NULL, other);
    free(p);
    if (listener)
        *listener = code > 0 ? code : -1;
    return code < 0 ? code : 0;
}

int confine_calls(const struct confine_ranges *ranges, bool stops, int *listener, char note[CONFINE_NOTE])
{
    long other = 0;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int code = filter ? compose(filter, stops) : -ENOMEM;
    if (!code) {
        code = listener ? try(filter, ranges, listener, &other) : -1;
        if (code) /* nobody listens, or the kernel cannot (before 5.7): denied all the same */
            code = try(filter, ranges, NULL, &other);
    }
    seccomp_release(filter);
    if (other)
        snprintf(note, CONFINE_NOTE, "seccomp: thread %ld has a filter of its own", other);
    else if (code)
        snprintf(note, CONFINE_NOTE, "seccomp: %s", strerror(-code));
    return code || other ? -1 : 0;
}
