/*
 * listener.c - answers the system calls that the filter hands to the supervisor: always refused, each told in words.
 * Relies on seccomp's user notification. Called by slot.c.
 */
#include "run/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/spaces.h"

static void add(struct listener *l, const struct cmsghdr *head)
{
    int fd;
    memcpy(&fd, CMSG_DATA(head), sizeof fd);
    if (l->together <= 0)
        l->together = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event waits = {.events = EPOLLIN};
    if (l->n < LISTENER_MOST && epoll_ctl(l->together, EPOLL_CTL_ADD, fd, &waits) == 0)
        l->fds[l->n++] = fd;
    else
        close(fd);
}

/* One message of the worker's, or the end of them. */
static void take_one(struct listener *l)
{
    struct spaces_moved said = {0};
    struct iovec bytes = {&said, sizeof said};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(l->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got == (ssize_t)sizeof said && said.kind == SPACES_MOVED && said.pid > 0 && !l->moved) {
        l->moved = said.pid;
        return;
    }
    const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        add(l, head);
        return;
    }
    close(l->socket);
    l->socket = 0;
}

/* Where every process has ended nothing comes any more, and who waits would find it ready for ever. */
static void drop_ended(struct listener *l)
{
    int kept = 0;
    for (int i = 0; i < l->n; i++) {
        struct pollfd ready = {.fd = l->fds[i], .events = POLLIN};
        if (poll(&ready, 1, 0) == 1 && (ready.revents & (POLLIN | POLLHUP)) == POLLHUP)
            close(l->fds[i]);
        else
            l->fds[kept++] = l->fds[i];
    }
    l->n = kept;
}

void listener_take(struct listener *l)
{
    int before;
    drop_ended(l);
    do {
        before = l->n + (l->moved != 0);
        if (l->socket > 0)
            take_one(l);
    } while (l->n + (l->moved != 0) > before);
}

int listener_wait_fd(const struct listener *l)
{
    int fd = l->together > 0 ? l->together : l->socket;
    return fd > 0 ? fd : -1;
}

/* What each call would have done. The rest is named by its number. */
static const char *words_of(const struct seccomp_data *call)
{
    switch (call->nr) {
    case SYS_seccomp:
        return "seccomp: a filter of its own for system calls";
    case SYS_prctl:
        return (int)call->args[0] == PR_SET_TSC ? "prctl: the processor's time stamps"
                                                : "prctl: how the process's system calls or memory are handled";
    case SYS_fcntl:
        return "fcntl: signals from a descriptor to another process";
    case SYS_ioctl:
        return "ioctl: signals from a descriptor, or input for a terminal";
    case SYS_ftruncate:
    case SYS_fallocate:
        return "the length of the page shared with the supervisor";
    case SYS_rt_sigaction:
        return "rt_sigaction: a handler for SIGTRAP, or for the C library's own signals";
    case SYS_process_vm_writev:
    case SYS_ptrace:
        return "the memory of a process";
    case SYS_madvise:
    case SYS_mbind:
    case SYS_mlock:
    case SYS_mlock2:
    case SYS_munlock:
        return "the pages that the harness's matrices lie on";
    case SYS_mprotect:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mmap:
        return "the memory of the harness's or the C library's code, of its matrices, or of the kernel's clock";
#if defined(__x86_64__)
    case SYS_arch_prctl:
        return "arch_prctl: the processor's identity, or another clock page";
#endif
    default:
        return "a signal to another process, or its descriptors";
    }
}

static bool hear(int fd, struct listener_call *call)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    struct seccomp_notif asked = {0};
    if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLIN) || ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
        return false;
    call->id = asked.id;
    call->fd = fd;
    call->thread = (pid_t)asked.pid;
    snprintf(call->what, sizeof call->what, "%s", words_of(&asked.data));
    return true;
}

bool listener_hear(const struct listener *l, struct listener_call *call)
{
    bool heard = false;
    for (int i = 0; i < l->n && !heard; i++)
        heard = hear(l->fds[i], call);
    return heard;
}

bool listener_is_launching(const struct listener_call *call)
{
    char path[64], line[128];
    int first = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)call->thread);
    FILE *file = fopen(path, "re");
    while (file && first < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "Tgid: %d", &first) != 1)
            first = -1;
    if (file)
        fclose(file);
    return first == (int)call->thread;
}

void listener_refuse(const struct listener_call *call)
{
    struct seccomp_notif_resp answer = {.id = call->id, .error = -EPERM};
    (void)ioctl(call->fd, SECCOMP_IOCTL_NOTIF_SEND, &answer); /* the thread may be gone */
}

void listener_close(struct listener *l)
{
    for (int i = 0; i < l->n; i++)
        close(l->fds[i]);
    if (l->together > 0)
        close(l->together);
    if (l->socket > 0)
        close(l->socket);
    *l = (struct listener){0};
}
