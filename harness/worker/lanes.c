/*
 * lanes.c - the list in shared memory, and the processes that work it off. Relies on fork in a process with one thread,
 * and on no signal between the two: a confined worker may send none, so lanes end by themselves. Called by behind.c.
 */
#include "worker/lanes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define TEXT_MOST 3072 /* of one request */
#define LANE_POLL_NS 2000000
#define WORKER_POLL_NS 500000
#define REAP_EVERY 20 /* polls */

enum state { JOB_EMPTY, JOB_OPEN, JOB_TAKEN, JOB_MADE, JOB_FAILED };

struct job {
    atomic_int state;
    atomic_bool wanted;
    atomic_uint lane; /* who took it */
    char text[TEXT_MOST];
};

struct board {
    atomic_size_t n;
    atomic_bool sealed, closed;
    struct job jobs[LANES_JOBS_MOST];
};

struct lanes {
    struct board *board;
    pid_t pids[LANES_MOST]; /* 0: it has ended */
    unsigned count;
};

/* ---- a request as a text ---- */

static bool write_text(const struct compile_request *r, char text[TEXT_MOST])
{
    int used = snprintf(text, TEXT_MOST, "%d\n%s\n%s\n", r->cc, r->path, r->kernel_directory);
    for (size_t i = 0; i < r->n_defines && used >= 0 && used < TEXT_MOST; i++)
        used += snprintf(text + used, TEXT_MOST - (size_t)used, "%s=%" PRId64 "\n", r->defines[i].name,
                         r->defines[i].value);
    return used >= 0 && used < TEXT_MOST && !strchr(r->path, '\n') && !strchr(r->kernel_directory, '\n');
}

/* Ends the line at *at and moves on to the next; NULL at the end. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

/* What points into `text`, which is taken apart. */
static bool read_text(char *text, struct compile_define defines[COMPILE_MAX_DEFINES], struct compile_request *out)
{
    char *at = text, *cc = next_line(&at), *path = next_line(&at), *directory = next_line(&at);
    size_t n = 0;
    if (!cc || !path || !directory)
        return false;
    for (char *line = next_line(&at); line && n < COMPILE_MAX_DEFINES; line = next_line(&at)) {
        char *equals = strchr(line, '=');
        if (!equals)
            return false;
        *equals = '\0';
        defines[n++] = (struct compile_define){line, strtoll(equals + 1, NULL, 10)};
    }
    *out = (struct compile_request){path, directory, (int)strtol(cc, NULL, 10), defines, n};
    return true;
}

/* ---- in a lane ---- */

static void sleep_ns(long ns)
{
    const struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

static bool take(struct job *job, unsigned lane)
{
    int open = JOB_OPEN;
    if (atomic_load(&job->state) != JOB_OPEN || !atomic_compare_exchange_strong(&job->state, &open, JOB_TAKEN))
        return false;
    atomic_store(&job->lane, lane);
    return true;
}

/* What the worker waits for, else the first that is open. */
static struct job *choose(struct board *board, unsigned lane)
{
    size_t n = atomic_load(&board->n);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++)
            if ((pass > 0 || atomic_load(&board->jobs[i].wanted)) && take(&board->jobs[i], lane))
                return &board->jobs[i];
    return NULL;
}

static void compile_job(const struct lanes_request *request, struct job *job)
{
    char text[TEXT_MOST];
    struct compile_define defines[COMPILE_MAX_DEFINES];
    struct compile_request one;
    memcpy(text, job->text, sizeof text);
    text[sizeof text - 1] = '\0';
    const struct itimerval limit = {.it_value = {.tv_sec = (time_t)request->job_seconds,
                                                 .tv_usec = (suseconds_t)(request->job_seconds * 1e6) % 1000000}};
    const struct itimerval none = {0};
    setitimer(ITIMER_REAL, &limit, NULL);
    bool good = read_text(text, defines, &one) && request->compile(request->context, &one);
    setitimer(ITIMER_REAL, &none, NULL);
    atomic_store(&job->state, good ? JOB_MADE : JOB_FAILED);
}

static void work(struct board *board, const struct lanes_request *request, unsigned lane)
{
    while (!atomic_load(&board->closed)) {
        bool sealed = atomic_load(&board->sealed); /* before it looks */
        struct job *job = choose(board, lane);
        if (job)
            compile_job(request, job);
        else if (sealed)
            break;
        else
            sleep_ns(LANE_POLL_NS);
    }
}

/* The worker's descriptors must not stay open here: the supervisor sees by its socket that a worker has ended. What a
 * compiler prints is for nobody. */
static void become_lane(struct board *board, const struct lanes_request *request, unsigned lane, pid_t parent)
{
    sigset_t none;
    int nowhere = open("/dev/null", O_RDWR);
    sigemptyset(&none);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    (void)close_range(STDERR_FILENO + 1, ~0u, 0);
    signal(SIGALRM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (request->cores)
        (void)sched_setaffinity(0, sizeof *request->cores, request->cores);
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + request->nice);
    if (request->begin)
        request->begin(request->context);
    work(board, request, lane);
    _exit(0);
}

/* ---- the worker's side ---- */

struct lanes *lanes_open(const struct lanes_request *request)
{
    struct lanes *l = calloc(1, sizeof *l);
    struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t parent = getpid(), pid = 0;
    unsigned most = request->count < LANES_MOST ? request->count : LANES_MOST;
    if (!l || board == MAP_FAILED)
        goto failed;
    l->board = board;
    while (l->count < most && (pid = fork()) > 0)
        l->pids[l->count++] = pid;
    if (pid == 0 && l->count < most)
        become_lane(board, request, l->count, parent);
    if (l->count > 0)
        return l;
failed:
    if (board != MAP_FAILED)
        munmap(board, sizeof *board);
    free(l);
    return NULL;
}

static size_t find(const struct board *board, const char *text)
{
    size_t n = atomic_load(&board->n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(board->jobs[i].text, text) == 0)
            return i;
    return LANES_NONE;
}

size_t lanes_find(const struct lanes *l, const struct compile_request *request)
{
    char text[TEXT_MOST];
    return write_text(request, text) ? find(l->board, text) : LANES_NONE;
}

size_t lanes_add(struct lanes *l, const struct compile_request *request)
{
    struct board *board = l->board;
    size_t n = atomic_load(&board->n);
    char text[TEXT_MOST];
    if (!write_text(request, text))
        return LANES_NONE;
    size_t at = find(board, text);
    if (at != LANES_NONE || n == LANES_JOBS_MOST || atomic_load(&board->sealed))
        return at;
    strcpy(board->jobs[n].text, text);
    atomic_store(&board->jobs[n].state, JOB_OPEN);
    atomic_store(&board->n, n + 1);
    return n;
}

void lanes_seal(struct lanes *l)
{
    atomic_store(&l->board->sealed, true);
}

size_t lanes_count(const struct lanes *l)
{
    return atomic_load(&l->board->n);
}

/* What a lane had that ended. */
static void lose(struct board *board, unsigned lane)
{
    size_t n = atomic_load(&board->n);
    for (size_t i = 0; i < n; i++)
        if (atomic_load(&board->jobs[i].state) == JOB_TAKEN && atomic_load(&board->jobs[i].lane) == lane)
            atomic_store(&board->jobs[i].state, JOB_FAILED);
}

/* Nobody is left. */
static void lose_all(struct board *board)
{
    size_t n = atomic_load(&board->n);
    for (size_t i = 0; i < n; i++)
        if (atomic_load(&board->jobs[i].state) != JOB_MADE)
            atomic_store(&board->jobs[i].state, JOB_FAILED);
}

static void reap(struct lanes *l)
{
    bool any = false;
    for (unsigned i = 0; i < l->count; i++) {
        pid_t ended = l->pids[i] > 0 ? waitpid(l->pids[i], NULL, WNOHANG) : 0;
        if (ended == l->pids[i] && ended > 0) {
            l->pids[i] = 0;
            lose(l->board, i);
        }
        any = any || l->pids[i] > 0;
    }
    if (!any)
        lose_all(l->board);
}

static bool is_settled(const struct job *job)
{
    int state = atomic_load(&job->state);
    return state == JOB_MADE || state == JOB_FAILED;
}

/* places NULL: the first n. */
static size_t wait_for(struct lanes *l, const size_t *places, size_t n, double seconds)
{
    struct job *jobs = l->board->jobs;
    uint64_t end = clock_now_ns() + (uint64_t)(seconds * 1e9);
    size_t made = 0;
    for (size_t i = 0, polls = 1; i < n; polls++) {
        const struct job *job = &jobs[places ? places[i] : i];
        if (is_settled(job) || clock_now_ns() > end) {
            made += atomic_load(&job->state) == JOB_MADE;
            i++;
            continue;
        }
        if (polls % REAP_EVERY == 0)
            reap(l);
        sleep_ns(WORKER_POLL_NS);
    }
    return made;
}

size_t lanes_wait(struct lanes *l, const size_t *places, size_t n, double seconds)
{
    for (size_t i = 0; i < n; i++)
        atomic_store(&l->board->jobs[places[i]].wanted, true);
    return wait_for(l, places, n, seconds);
}

size_t lanes_wait_all(struct lanes *l, double seconds)
{
    return wait_for(l, NULL, lanes_count(l), seconds);
}

bool lanes_are_done(const struct lanes *l)
{
    size_t n = lanes_count(l);
    for (size_t i = 0; i < n; i++)
        if (!is_settled(&l->board->jobs[i]))
            return false;
    return true;
}

void lanes_close(struct lanes *l)
{
    if (!l)
        return;
    atomic_store(&l->board->closed, true);
    reap(l);
    munmap(l->board, sizeof *l->board);
    free(l);
}
