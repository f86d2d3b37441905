/*
 * confine.c - the parts of a worker's confinement: which are wanted (CUDAL2_ISOLATION), limits, and the order in which
 * they come into force. Relies on confine_files.c and confine_calls.c. Called by worker.c, `list` and the compile
 * pool.
 */
#include "worker/confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A cubin of a large library has a few hundred MB; nothing of ours writes more than that. */
#define MAX_FILE_BYTES ((rlim_t)4 << 30)
#define MAX_DESCRIPTORS ((rlim_t)16384) /* CUDA keeps some hundreds open */

static const char *const part_names[] = {
    [CONFINE_LIMITS] = "limits", [CONFINE_MEMORY] = "memory",       [CONFINE_FILES] = "files",
    [CONFINE_CALLS] = "calls",   [CONFINE_SPACES] = "namespaces",   [CONFINE_PROCESSES] = "processes",
    [CONFINE_USER] = "user",     [CONFINE_TEMPORARY] = "temporary", NULL};

/* ---- which parts ---- */

static int find_part(const char *name, size_t length)
{
    for (int i = 0; part_names[i]; i++)
        if (strlen(part_names[i]) == length && memcmp(part_names[i], name, length) == 0)
            return i;
    return -1;
}

static void want_all(struct confinement *c, bool wanted)
{
    for (int i = 0; i < CONFINE_PARTS; i++)
        c->wanted[i] = wanted;
}

int confine_parse(const char *value, struct confinement *out, struct error *err)
{
    *out = (struct confinement){.listener_socket = -1};
    if (!value || strcmp(value, "on") == 0 || strcmp(value, "off") == 0) {
        want_all(out, !value || strcmp(value, "on") == 0);
        return 0;
    }
    for (const char *at = value;;) {
        size_t length = strcspn(at, ",");
        int part = find_part(at, length);
        if (part < 0)
            return error_set(err, EXIT_CODE_USAGE,
                             CONFINE_VARIABLE
                             "=%.60s: expected on, off or a list of limits, memory, files, calls, namespaces, "
                             "processes, user, temporary",
                             value);
        out->wanted[part] = true;
        if (at[length] == '\0')
            return 0;
        at += length + 1;
    }
}

/* ---- limits ---- */

bool confine_lower(int resource, uint64_t most)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
        return false;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
        limit.rlim_max = most;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &limit) == 0;
}

/* No limit on address space or processes: CUDA reserves terabytes of the one, and the other counts the whole user. */
static int confine_limits(char note[CONFINE_NOTE])
{
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too long is a failed write, not a crash */
    if (confine_lower(RLIMIT_CORE, 0) && confine_lower(RLIMIT_FSIZE, MAX_FILE_BYTES) &&
        confine_lower(RLIMIT_NOFILE, MAX_DESCRIPTORS))
        return 0;
    snprintf(note, CONFINE_NOTE, "setrlimit: %s", strerror(errno));
    return -1;
}

/* ---- temporary files ---- */

/* Made by whoever started this process. */
static int confine_temporary(char note[CONFINE_NOTE])
{
    const char *path = getenv("TMPDIR"), *name = path ? strrchr(path, '/') : NULL;
    struct stat st;
    bool own = name && strncmp(name + 1, CONFINE_TEMPORARY_NAME, strlen(CONFINE_TEMPORARY_NAME)) == 0 &&
               stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == getuid() && (st.st_mode & 077) == 0;
    if (!own)
        snprintf(note, CONFINE_NOTE, "temporary: no directory of its own");
    return own ? 0 : -1;
}

/* ---- a user of its own ---- */

/* It may write what root may write: only where Landlock says to what files. */
static void lower_rights(struct confinement *c)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const uint32_t reads = 1u << CAP_DAC_READ_SEARCH;
    const struct __user_cap_data_struct wanted[2] = {{.effective = reads, .permitted = reads}, {0}};
    if (c->in_force[CONFINE_USER] && !c->in_force[CONFINE_FILES])
        snprintf(c->note[CONFINE_USER], CONFINE_NOTE, "user: %s",
                 syscall(SYS_capset, &head, wanted) == 0 ? "caches cannot be written, for want of Landlock"
                                                         : strerror(errno));
}

/* ---- all of it ---- */

/* One byte, with the descriptor beside it: the socket keeps it until the supervisor takes it. */
static bool hand_over(int socket, int listener)
{
    char byte = 'L';
    struct iovec bytes = {&byte, 1};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    memcpy(CMSG_DATA(&control.head), &listener, sizeof listener);
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

static void filter_calls(struct confinement *c, const struct confine_ranges *ranges)
{
    int listener = -1;
    bool listens = c->listener_socket >= 0;
    c->in_force[CONFINE_CALLS] =
        confine_calls(ranges, c->stops, listens ? &listener : NULL, c->note[CONFINE_CALLS]) == 0;
    c->listened = listener >= 0 && hand_over(c->listener_socket, listener);
    if (listens && c->in_force[CONFINE_CALLS] && !c->listened)
        snprintf(c->note[CONFINE_CALLS], CONFINE_NOTE, "seccomp: nobody is told of the calls that are denied");
    if (listener >= 0)
        close(listener);
}

static void *wait_for_cancel(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

/* libc sets its handler of SIGCANCEL with the first pthread_cancel: later nobody may set one. */
static void have_cancel_handled(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_cancel, NULL) != 0)
        return;
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

void confine_process(struct confinement *c)
{
    struct confine_ranges ranges = {0};
    bool *on = c->in_force;
    bool locked = c->wanted[CONFINE_FILES] || c->wanted[CONFINE_CALLS];
    if (c->wanted[CONFINE_LIMITS])
        on[CONFINE_LIMITS] = confine_limits(c->note[CONFINE_LIMITS]) == 0;
    if (c->wanted[CONFINE_TEMPORARY])
        on[CONFINE_TEMPORARY] = confine_temporary(c->note[CONFINE_TEMPORARY]) == 0;
    if (c->wanted[CONFINE_MEMORY])
        on[CONFINE_MEMORY] = confine_memory(&ranges, c->note[CONFINE_MEMORY]) == 0;
    /* Both of the others ask for it, unless root. It has to come after the device is open: the driver may start a
     * setuid helper that makes the device nodes. */
    if (locked && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        snprintf(c->note[CONFINE_CALLS], sizeof c->note[0], "no_new_privs: %s", strerror(errno));
    if (c->wanted[CONFINE_FILES])
        on[CONFINE_FILES] = confine_files(c) == 0;
    lower_rights(c);
    ranges.operands = c->operands;
    if (c->wanted[CONFINE_CALLS]) {
        have_cancel_handled();
        filter_calls(c, &ranges);
    }
    if (c->listener_socket >= 0)
        close(c->listener_socket);
    c->listener_socket = -1;
}

void confine_keeping(struct confinement *c, const struct device *d)
{
    bool on_cpu = (d->info.device_bit & CUDAL2_ON_CPU) != 0;
    if (d->pages)
        c->operands = host_pages_whole(d->pages);
    confine_process(c);
    if (d->pages && c->in_force[CONFINE_CALLS])
        host_pages_keep(d->pages);
    else if (d->pages)
        host_pages_watch(d->pages);
    else if (on_cpu && !SANITIZED && c->wanted[CONFINE_MEMORY] && !c->note[CONFINE_MEMORY][0])
        snprintf(c->note[CONFINE_MEMORY], CONFINE_NOTE,
                 "pages: no addresses to reserve; matrices lie on the allocator's");
}

cJSON *confine_to_json(const struct confinement *c)
{
    cJSON *o = cJSON_CreateObject(), *notes = NULL;
    for (int i = 0; i < CONFINE_PARTS; i++)
        cJSON_AddBoolToObject(o, part_names[i], c->in_force[i]);
    cJSON_AddBoolToObject(o, "listened", c->listened);
    if (c->process_per_plugin)
        cJSON_AddTrueToObject(o, "process_per_plugin");
    if (c->landlock_abi > 0)
        cJSON_AddNumberToObject(o, "landlock", c->landlock_abi);
    for (int i = 0; i < CONFINE_PARTS; i++) {
        if (!c->note[i][0])
            continue;
        if (!notes)
            notes = cJSON_AddArrayToObject(o, "notes");
        cJSON_AddItemToArray(notes, cJSON_CreateString(c->note[i]));
    }
    return o;
}
