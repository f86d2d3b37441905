/*
 * plugin_process.c - forks the processes that plugins run in, stops them, has them go on, and waits for their answers.
 * Relies on plugin_server.c for what they do, and on plugin_place.h. Called by worker/plugin_sandbox.c and
 * plugin_remote.c.
 */
#include "contender/plugin_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contender/plugin_place.h"
#include "contender/plugin_server.h"

struct plugin_process {
    struct plugin_processes *all;
    struct plugin_mailbox *mailbox;
    pid_t pid;
    int file;       /* what it sees of request.apart; -1: nothing */
    uint32_t asked; /* number of the latest question */
    unsigned awake; /* calls of wake without one of rest */
    uint64_t key;   /* drawn when it has been forked: in its memory the loop alone has it */
    uint64_t word;  /* of the latest answer */
    uint64_t loop;  /* plugin_mailbox.stack, as it was before there was a plugin */
    bool astray;    /* its thread was seen elsewhere at a rest */
};

struct plugin_processes {
    struct plugin_processes_request request;
    cpu_set_t before; /* the calling thread's processors while nobody is awake */
    size_t n;
    struct plugin_process list[PLUGIN_PROCESSES_MOST];
};

/* ---- the end of one ---- */

static void end(struct plugin_process *p, int status)
{
    p->pid = 0;
    p->all->request.ended(p->all->request.context, status);
    _exit(EXIT_CODE_INTERNAL); /* nobody is there to answer */
}

/* Its state changes are waited for with `options`. */
static void look_after(struct plugin_process *p, int options)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(p->pid, &status, options);
    while (got < 0 && errno == EINTR);
    if (got == p->pid && !WIFSTOPPED(status))
        end(p, status);
}

/* ---- awake and stopped ---- */

/* Something has answered that is not the loop. */
static void end_forger(struct plugin_process *p)
{
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    p->pid = 0;
    p->all->request.forged(p->all->request.context);
    _exit(EXIT_CODE_INTERNAL); /* nobody is there to answer */
}

static void wait_for_answer(struct plugin_process *p)
{
    const struct plugin_mailbox *m = p->mailbox;
    uint64_t expected = mailbox_word(p->key, p->asked), word;
    for (unsigned i = 1; (word = atomic_load_explicit(&m->answer.word, memory_order_acquire)) != expected; i++) {
        if (word != p->word)
            end_forger(p);
        plugin_wait_a_moment(p->all->request.alone, i);
        if (i % PLUGIN_WAITS_EACH == 0) /* is it still there? */
            look_after(p, WNOHANG);
    }
    p->word = expected;
}

static void put_question(struct plugin_process *p, const struct mailbox_question *question)
{
    struct mailbox_question *q = &p->mailbox->question;
    q->hook = question->hook;
    q->contender = question->contender;
    q->capacity = question->capacity;
    q->state = question->state;
    q->set = question->set;
    atomic_store_explicit(&q->number, ++p->asked, memory_order_release);
}

static void say_hello(struct plugin_process *p)
{
    const struct mailbox_question hello = {.hook = MAILBOX_HELLO};
    put_question(p, &hello);
    wait_for_answer(p);
}

void plugin_process_wake(struct plugin_process *p)
{
    if (p->awake++ > 0)
        return;
    (void)sched_setaffinity(0, sizeof p->all->request.harness, &p->all->request.harness);
    kill(p->pid, SIGCONT);
    say_hello(p);
    if (p->asked != 1)
        return;
    p->loop = p->mailbox->stack;
    p->mailbox->key = 0;
}

static void look_where_it_stands(struct plugin_process *p)
{
    struct plugin_place place;
    p->astray = p->astray || (plugin_place_read(p->pid, &place) && !plugin_place_is_in(&place, p->loop));
}

void plugin_process_rest(struct plugin_process *p)
{
    if (--p->awake > 0)
        return;
    say_hello(p); /* who answers has blocked signals behind its last hook, and so runs no handler when it goes on */
    kill(p->pid, SIGSTOP);
    look_after(p, WUNTRACED);
    look_where_it_stands(p);
    (void)sched_setaffinity(0, sizeof p->all->before, &p->all->before);
}

bool plugin_process_is_astray(const struct plugin_process *p)
{
    return p->astray;
}

int plugin_process_ask(struct plugin_process *p, const struct mailbox_question *question)
{
    bool sleeps = p->awake == 0;
    if (sleeps)
        plugin_process_wake(p);
    put_question(p, question);
    wait_for_answer(p);
    int status = p->mailbox->answer.status;
    if (sleeps)
        plugin_process_rest(p);
    return status;
}

bool plugin_process_lend(struct plugin_process *p, const void *from, const void *to, bool keep)
{
    const struct host_loan loan = {p->file, keep, from, to};
    return p->file >= 0 && host_apart_lend(p->all->request.apart, &loan);
}

struct plugin_mailbox *plugin_process_mailbox(const struct plugin_process *p)
{
    return p->mailbox;
}

void plugin_process_mapped(const struct plugin_process *p, struct mapped *out)
{
    mapped_look(p->pid, out);
}

/* ---- their beginning ---- */

static void close_file(struct plugin_process *p)
{
    if (p->file >= 0)
        close(p->file);
    p->file = -1;
}

/* In the process: it gives up the other plugins' mailboxes and matrices first. */
static void enter_apart(void *context)
{
    struct plugin_process *p = context;
    struct plugin_processes *all = p->all;
    if (p->file >= 0 && !host_apart_enter(all->request.apart, p->file))
        _exit(EXIT_CODE_INTERNAL);
    close_file(p);
    for (size_t i = 0; i < all->n; i++) {
        if (&all->list[i] == p)
            continue;
        close_file(&all->list[i]);
        all->list[i].key = 0;
        munmap(all->list[i].mailbox, sizeof *all->list[i].mailbox);
    }
    all->request.enter(all->request.context);
}

_Noreturn static void serve(struct plugin_process *p, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(EXIT_CODE_INTERNAL);
    (void)sched_setaffinity(0, sizeof p->all->request.plugins, &p->all->request.plugins);
    raise(SIGSTOP);
    plugin_serve(p->mailbox, p->all->request.alone, enter_apart, p);
}

static bool fork_stopped(struct plugin_process *p)
{
    pid_t parent = getpid();
    int status = 0;
    p->pid = fork();
    if (p->pid == 0)
        serve(p, parent);
    bool stopped = p->pid > 0 && waitpid(p->pid, &status, WUNTRACED) == p->pid && WIFSTOPPED(status);
    if (!stopped || getrandom(&p->key, sizeof p->key, 0) != sizeof p->key)
        return false;
    p->mailbox->key = p->key;
    return true;
}

struct plugin_processes *plugin_processes_open(const struct plugin_processes_request *request)
{
    struct plugin_processes *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->request = *request;
    (void)sched_getaffinity(0, sizeof all->before, &all->before);
    return all;
}

struct plugin_process *plugin_processes_begin(struct plugin_processes *all, const char *path, struct error *err)
{
    struct plugin_process *p = all->n < PLUGIN_PROCESSES_MOST ? &all->list[all->n] : NULL;
    if (!p) {
        error_set(err, EXIT_CODE_UNAVAILABLE, "%.200s: more than %d plugins", path, PLUGIN_PROCESSES_MOST);
        return NULL;
    }
    void *memory = mmap(NULL, sizeof *p->mailbox, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *p = (struct plugin_process){.all = all, .mailbox = memory, .file = -1};
    if (memory != MAP_FAILED && all->request.apart)
        p->file = host_apart_file(all->request.apart);
    bool prepared = memory != MAP_FAILED && (!all->request.apart || p->file >= 0);
    if (prepared && fork_stopped(p)) {
        all->n++;
        all->request.begun(all->request.context, p->pid);
        return p;
    }
    error_set(err, EXIT_CODE_UNAVAILABLE, "%.200s: no process of its own: %s%s", path, strerror(errno),
              errno == EFBIG ? " (ulimit -f holds for shared memory too: raise it)" : "");
    if (memory != MAP_FAILED)
        munmap(memory, sizeof *p->mailbox);
    close_file(p);
    return NULL;
}

void plugin_processes_close(struct plugin_processes *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++) {
        kill(all->list[i].pid, SIGKILL);
        waitpid(all->list[i].pid, NULL, 0);
        munmap(all->list[i].mailbox, sizeof *all->list[i].mailbox);
        if (all->list[i].file >= 0)
            host_apart_end(all->request.apart, all->list[i].file);
    }
    free(all);
}
