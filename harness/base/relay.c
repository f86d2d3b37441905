/*
 * relay.c - reads the pipe of a process that runs code of strangers and prints its lines. A descriptor of our own
 * there would let it move what we print, cut off the file that it goes to, or command the terminal. Relies on plain.h.
 * Called by run/process.c and cli/plugin_isolation.c.
 */
#include "base/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"

#define READS_MOST 16 /* in one look: who writes without end does not keep us */
#define LOWEST_FD 16  /* above those that a child is given places for */

int relay_open(struct relay *r, int to, const char *before)
{
    int pair[2], ours = -1, theirs = -1;
    if (pipe2(pair, O_CLOEXEC) != 0)
        return -1;
    ours = fcntl(pair[0], F_DUPFD_CLOEXEC, LOWEST_FD);
    theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, LOWEST_FD);
    close(pair[0]);
    close(pair[1]);
    if (ours >= 0 && theirs >= 0 && fcntl(ours, F_SETFL, O_NONBLOCK) == 0) {
        *r = (struct relay){.fd = ours, .to = to, .before = before};
        return theirs;
    }
    if (ours >= 0)
        close(ours);
    if (theirs >= 0)
        close(theirs);
    return -1;
}

int relay_wait_fd(const struct relay *r)
{
    return r->fd > 0 ? r->fd : -1;
}

/* A terminal or file that takes no more loses the line. */
static void write_all(int fd, const char *bytes, size_t left)
{
    while (left > 0) {
        ssize_t wrote = write(fd, bytes, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return;
        bytes += wrote;
        left -= (size_t)wrote;
    }
}

/* A tab is a space, and what ends a string a question mark. No colours: one of them hides what follows. */
static void print_line(struct relay *r, const char *bytes, size_t length)
{
    char words[RELAY_LINE + 1];
    struct text line = {0};
    for (size_t i = 0; i < length; i++)
        words[i] = (char)(bytes[i] == '\t' ? ' ' : bytes[i] == '\0' ? '?' : bytes[i]);
    words[length] = '\0';
    text_add(&line, "%s", r->before);
    plain_add(&line, words);
    text_add(&line, "\n");
    if (!line.failed)
        write_all(r->to, line.bytes, line.length);
    text_free(&line);
}

static void pass_line(struct relay *r, const char *words, size_t length)
{
    static const char rest[] = "(what else it wrote is left out)";
    bool before = r->passed <= RELAY_MOST;
    r->passed += length + 1;
    if (r->passed <= RELAY_MOST)
        print_line(r, words, length);
    else if (before)
        print_line(r, rest, sizeof rest - 1);
}

/* Whole lines, and what is held where it fills all the room. */
static void pass_lines(struct relay *r)
{
    size_t at = 0;
    for (const char *end; (end = memchr(r->line + at, '\n', r->held - at)); at = (size_t)(end - r->line) + 1)
        pass_line(r, r->line + at, (size_t)(end - r->line) - at);
    if (at == 0 && r->held == sizeof r->line) {
        pass_line(r, r->line, r->held);
        at = r->held;
    }
    memmove(r->line, r->line + at, r->held - at);
    r->held -= at;
}

static void end(struct relay *r)
{
    if (r->held > 0)
        pass_line(r, r->line, r->held);
    r->held = 0;
    close(r->fd);
    r->fd = 0;
}

void relay_pass(struct relay *r)
{
    for (int i = 0; i < READS_MOST && r->fd > 0; i++) {
        ssize_t got = read(r->fd, r->line + r->held, sizeof r->line - r->held);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        r->held += (size_t)got;
        if (got == 0)
            end(r);
        else
            pass_lines(r);
    }
}

void relay_close(struct relay *r)
{
    size_t before;
    do {
        before = r->passed + r->held;
        relay_pass(r);
    } while (r->fd > 0 && r->passed + r->held != before && r->passed <= RELAY_MOST);
    if (r->fd > 0)
        end(r);
}
