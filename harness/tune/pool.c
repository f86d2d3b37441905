/*
 * pool.c - child processes that work off jobs, each killed and replaced when it dies or takes too long. Relies on fork
 * in a process with one thread. Called by family.c to compile.
 */
#include "tune/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define POLL_MS 100
#define NO_JOB SIZE_MAX

/* What a child sends back for one job; smaller than PIPE_BUF, so it arrives whole or not at all. */
struct answer {
    size_t job;
    bool good;
    char why[CUDAL2_WHY];
};

struct hand {
    pid_t pid; /* 0: none */
    int fd;    /* our end of a socket pair; -1: none */
    size_t job;
    uint64_t deadline_ns;
};

struct pool {
    const struct pool_request *request;
    struct pool_verdict *verdicts;
    struct hand hands[POOL_MAX_WORKERS];
    unsigned n_hands;
    size_t next, left;
};

/* ---- in the child ---- */

static void serve(const struct pool_request *request, int fd)
{
    size_t job;
    while (read(fd, &job, sizeof job) == sizeof job) {
        struct answer answer = {.job = job};
        answer.good = request->work(request->context, job, answer.why);
        if (send(fd, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
            break;
    }
    _exit(0);
}

/* The siblings' sockets must not stay open here: a hand is told to end by closing its socket. */
static void become_hand(const struct pool *pool, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* of the terminal; the parent decides */
    for (unsigned i = 0; i < pool->n_hands; i++)
        if (pool->hands[i].fd >= 0)
            close(pool->hands[i].fd);
    serve(pool->request, fd);
}

/* ---- hands ---- */

static bool hire(struct pool *pool, struct hand *hand)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        become_hand(pool, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *hand = (struct hand){.pid = pid, .fd = ends[0], .job = NO_JOB};
    return true;
}

/* Ends the process; how it had ended by itself comes back as waitpid() tells it, or -1. */
static int dismiss(struct hand *hand, bool kill_it)
{
    int status = -1;
    if (kill_it)
        kill(hand->pid, SIGKILL);
    close(hand->fd);
    while (waitpid(hand->pid, &status, 0) < 0 && errno == EINTR) {
    }
    *hand = (struct hand){.fd = -1, .job = NO_JOB};
    return status;
}

/* ---- jobs ---- */

static void settle(struct pool *pool, size_t job, bool good, const char *why)
{
    struct pool_verdict *v = &pool->verdicts[job];
    *v = (struct pool_verdict){.done = true, .good = good};
    snprintf(v->why, sizeof v->why, "%s", why);
    pool->left--;
}

static void lose(struct pool *pool, struct hand *hand, bool late)
{
    char why[CUDAL2_WHY];
    size_t job = hand->job;
    int status = dismiss(hand, late);
    if (job == NO_JOB)
        return;
    if (late)
        snprintf(why, sizeof why, "did not end within %g s", pool->request->seconds);
    else if (status >= 0 && WIFSIGNALED(status))
        snprintf(why, sizeof why, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(why, sizeof why, "exited with code %d", status >= 0 ? WEXITSTATUS(status) : -1);
    settle(pool, job, false, why);
}

/* False when nobody could be hired for the job. */
static bool give(struct pool *pool, struct hand *hand)
{
    if (hand->pid == 0 && !hire(pool, hand))
        return false;
    hand->job = pool->next++;
    hand->deadline_ns = clock_now_ns() + (uint64_t)(pool->request->seconds * 1e9);
    if (send(hand->fd, &hand->job, sizeof hand->job, MSG_NOSIGNAL) != (ssize_t)sizeof hand->job)
        lose(pool, hand, false);
    return true;
}

static void hear(struct pool *pool, struct hand *hand)
{
    struct answer answer;
    ssize_t n = recv(hand->fd, &answer, sizeof answer, MSG_DONTWAIT);
    if (n == (ssize_t)sizeof answer && answer.job == hand->job) {
        answer.why[sizeof answer.why - 1] = '\0';
        settle(pool, hand->job, answer.good, answer.why);
        hand->job = NO_JOB;
    } else if (!(n < 0 && (errno == EAGAIN || errno == EINTR))) {
        lose(pool, hand, false);
    }
}

static void wait_for_answers(struct pool *pool)
{
    struct pollfd fds[POOL_MAX_WORKERS];
    struct hand *busy[POOL_MAX_WORKERS];
    nfds_t n = 0;
    for (unsigned i = 0; i < pool->n_hands; i++) {
        if (pool->hands[i].job == NO_JOB)
            continue;
        busy[n] = &pool->hands[i];
        fds[n++] = (struct pollfd){.fd = pool->hands[i].fd, .events = POLLIN};
    }
    poll(fds, n, POLL_MS);
    for (nfds_t i = 0; i < n; i++) {
        if (fds[i].revents)
            hear(pool, busy[i]);
        else if (clock_now_ns() > busy[i]->deadline_ns)
            lose(pool, busy[i], true);
    }
}

static bool stopped(const struct pool *pool)
{
    return pool->request->stop && *pool->request->stop != 0;
}

static int work_off(struct pool *pool, struct error *err)
{
    while (pool->left > 0 && !stopped(pool)) {
        bool hands = false;
        for (unsigned i = 0; i < pool->n_hands; i++) {
            struct hand *hand = &pool->hands[i];
            if (hand->job == NO_JOB && pool->next < pool->request->n_jobs)
                give(pool, hand);
            hands = hands || hand->job != NO_JOB;
        }
        if (!hands && pool->left > 0)
            return error_set(err, EXIT_CODE_UNAVAILABLE, "no process can be started: %s", strerror(errno));
        wait_for_answers(pool);
    }
    return 0;
}

int pool_run(const struct pool_request *request, struct pool_verdict *verdicts, struct error *err)
{
    struct pool pool = {.request = request, .verdicts = verdicts, .left = request->n_jobs};
    pool.n_hands = request->workers < 1 ? 1 : request->workers < POOL_MAX_WORKERS ? request->workers : POOL_MAX_WORKERS;
    for (unsigned i = 0; i < POOL_MAX_WORKERS; i++)
        pool.hands[i] = (struct hand){.fd = -1, .job = NO_JOB};
    memset(verdicts, 0, request->n_jobs * sizeof *verdicts);
    int code = work_off(&pool, err);
    for (unsigned i = 0; i < pool.n_hands; i++)
        if (pool.hands[i].pid > 0)
            dismiss(&pool.hands[i], true);
    return code;
}
