/*
 * process_state.c - compares the supervisor's socket and the locale with what they were, each time a contender's hook
 * is left. Relies on base/plain_locale.h. Called by worker.c through the stage reporter.
 */
#include "worker/process_state.h"

#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plain_locale.h"
#include "worker/protocol.h"
#include "worker/stage_page.h"

#define THREADS_MOST 1000u
#define THREADS_EACH 8u /* processor */

/* A process of so many wakes nobody as fast as it did: the kernel finds sleepers in lists that all share. Libraries
 * have a few for each processor. */
static unsigned most_threads(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return THREADS_MOST + THREADS_EACH * (unsigned)(processors > 0 ? processors : 1);
}

void process_state_begin(struct process_state *out, int fd)
{
    struct stat st = {0};
    *out = (struct process_state){.fd = fd, .most_threads = most_threads()};
    if (fstat(fd, &st) == 0) {
        out->device = st.st_dev;
        out->inode = st.st_ino;
    }
    host_state_read(&out->host);
    plain_locale_enter();
}

/* Between two messages of ours nothing may be unread, for the supervisor has answered the last one. Another file may
 * have taken the place of a descriptor that was closed. */
static int check_socket(const struct process_state *state)
{
    struct stat st;
    int unread = 0;
    if (fstat(state->fd, &st) != 0 || st.st_dev != state->device || st.st_ino != state->inode)
        return PROTOCOL_TAMPERED;
    return ioctl(state->fd, SIOCOUTQ, &unread) == 0 && unread > 0 ? PROTOCOL_TAMPERED : 0;
}

static int check(const struct process_state *state)
{
    int code = check_socket(state);
    if (code == 0 && (!plain_locale_is_here() || !plain_locale_is_global()))
        code = PROTOCOL_LOCALE;
    if (code == 0 && host_state_computes_otherwise(&state->host))
        code = PROTOCOL_ARITHMETIC;
    if (code == 0 && !cpu_fill_holds(&state->inputs, clock_raw_ns()))
        code = PROTOCOL_INPUTS;
    if (code == 0 && host_process_hoards(&state->host.process))
        code = PROTOCOL_DESCRIPTORS;
    return code;
}

static int check_all(const struct process_state *state)
{
    int code = check(state);
    if (code == 0 && host_state_threads() > state->most_threads)
        code = PROTOCOL_THREADS;
    if (code == 0 && host_process_steered(&state->host.process))
        code = PROTOCOL_VARIABLES;
    if (code == 0 && host_process_slows_malloc(&state->host.process))
        code = PROTOCOL_MALLOC;
    return code;
}

int process_state_leave(const struct process_state *state, const char *stage, bool goes_on)
{
    if (strcmp(stage, "load") == 0)
        host_state_restore_arithmetic(&state->host);
    else if (goes_on || stage_is(stage, "measure"))
        return check(state);
    return check_all(state);
}
