/*
 * host_threads.c - a table of the process's threads from /proc/self/task: in whose turn each appeared, and what it
 * computed since. Called by worker/ for its process; verify/rivals.c asks it who computes out of turn.
 */
#include "device/host_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/waited.h"

#define QUICK_THREADS 8

/* The kernel keeps a clock for every thread; this is its number (CLOCK_THREAD_CPUTIME_ID of another one). */
static clockid_t clock_of(int id)
{
    return (clockid_t)((~(unsigned)id << 3) | 6);
}

/* 0 for a thread that has ended. */
static uint64_t processor_ns(int id)
{
    struct timespec t;
    return clock_gettime(clock_of(id), &t) == 0 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

/* Of the whole process but this thread and the listed ones: what came and went. The kernel brings the sum of running
 * threads up to date at each tick. */
static uint64_t unlisted_ns(const struct host_threads *t)
{
    struct timespec all = {0}, own = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    int64_t ns = (all.tv_sec - own.tv_sec) * 1000000000 + (all.tv_nsec - own.tv_nsec);
    for (size_t i = 0; i < t->n; i++)
        ns -= (int64_t)processor_ns(t->list[i].id);
    return ns > 0 ? (uint64_t)ns : 0;
}

/* A contender may have closed the descriptor, or put another file behind it. */
static void open_directory(struct host_threads *t)
{
    struct stat st = {0};
    t->directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->directory >= 0 && fstat(t->directory, &st) == 0)
        t->inode = st.st_ino;
}

/* The directory has two links, and one for each thread. */
static uint64_t count_threads(struct host_threads *t)
{
    struct stat st;
    if (fstat(t->directory, &st) == 0 && st.st_ino == t->inode)
        return st.st_nlink;
    open_directory(t);
    return t->directory >= 0 && fstat(t->directory, &st) == 0 ? st.st_nlink : 0;
}

static const struct host_thread *find(const struct host_thread *list, size_t n, int id)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].id == id)
            return &list[i];
    return NULL;
}

/* Somebody else's threads may have made what is new: any, where they were not looked at when the turn began. */
static bool others_computed(const struct host_threads *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct host_thread *thread = &t->list[i];
        if (thread->owner[0] && strcmp(thread->owner, t->turn) != 0 &&
            (!t->looked || processor_ns(thread->id) != thread->turn_ns))
            return true;
    }
    return false;
}

/* A thread that is new. */
static struct host_thread make(const struct host_threads *t, int id, bool several)
{
    struct host_thread thread = {.id = id};
    bool nobodys = !t->complete || (several && t->turn[0]);
    snprintf(thread.owner, sizeof thread.owner, "%s", nobodys ? HOST_THREADS_NOBODY : t->turn);
    return thread;
}

static bool any_ended(const struct host_threads *t)
{
    struct timespec unused;
    for (size_t i = 0; i < t->n; i++)
        if (clock_gettime(clock_of(t->list[i].id), &unused) != 0)
            return true;
    return false;
}

/* Makes the list anew: who has ended is out, who is new belongs to the turn. */
static void list_threads(struct host_threads *t)
{
    struct host_thread *now = calloc(HOST_THREADS_MAX, sizeof *now);
    DIR *tasks = now ? opendir("/proc/self/task") : NULL;
    bool several = others_computed(t);
    size_t n = 0;
    for (const struct dirent *entry = tasks ? readdir(tasks) : NULL; entry && n < HOST_THREADS_MAX;
         entry = readdir(tasks)) {
        int id = atoi(entry->d_name);
        const struct host_thread *known = id > 0 ? find(t->list, t->n, id) : NULL;
        if (id > 0 && id != getpid())
            now[n++] = known ? *known : make(t, id, several);
    }
    if (tasks) {
        free(t->list);
        t->list = now;
        t->n = n;
        closedir(tasks);
        return;
    }
    free(now);
}

void host_threads_begin(struct host_threads *t, bool asked)
{
    *t = (struct host_threads){.directory = -1, .complete = true, .asked = asked};
    if (!asked)
        return;
    t->count = count_threads(t);
    list_threads(t);
}

/* Of the harness's own nobody asks. */
static void look(struct host_threads *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].owner[0])
            t->list[i].turn_ns = processor_ns(t->list[i].id);
}

bool host_threads_any_owned(const struct host_threads *t)
{
    bool any = false;
    for (size_t i = 0; i < t->n && !any; i++)
        any = t->list[i].owner[0] != '\0';
    return any;
}

/* Who is new since the last turn was of that turn. */
static void take_turn(struct host_threads *t, const char *name, bool quick)
{
    uint64_t count = count_threads(t);
    bool all = !quick || t->n <= QUICK_THREADS, changed = count != t->count;
    if (!changed && all && (!quick || host_threads_any_owned(t))) /* a driver's own do not end while others are timed */
        changed = any_ended(t);
    if (changed) {
        t->count = count;
        list_threads(t);
    }
    if (strcmp(name, t->turn) == 0 && t->looked)
        return;
    snprintf(t->turn, sizeof t->turn, "%s", name);
    t->complete = all || changed;
    t->looked = !quick || t->n <= QUICK_THREADS;
    if (t->looked)
        look(t);
}

void host_threads_turn(struct host_threads *t, const char *name, bool quick)
{
    if (t->asked)
        take_turn(t, name, quick);
    else
        snprintf(t->turn, sizeof t->turn, "%s", name);
}

/* "ID (NAME) STATE ..."; a name may hold brackets (proc(5)). */
bool host_threads_one_runnable(const struct host_thread *thread)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread->id);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    const char *end = strrchr(text, ')');
    return end && strncmp(end, ") R", 3) == 0;
}

uint64_t host_threads_one_waited(const struct host_thread *thread)
{
    uint64_t now = waited_ns(0, thread->id);
    return now > thread->waited_ns ? now - thread->waited_ns : 0;
}

void host_threads_mark(struct host_threads *t)
{
    for (size_t i = 0; i < t->n; i++) {
        t->list[i].waited_ns = waited_ns(0, t->list[i].id);
        t->list[i].marked_ns = processor_ns(t->list[i].id);
    }
    t->marked_ns = unlisted_ns(t);
}

uint64_t host_threads_one_since(const struct host_thread *thread)
{
    uint64_t now = processor_ns(thread->id);
    return now > thread->marked_ns ? now - thread->marked_ns : 0;
}

static uint64_t since_mark(const struct host_threads *t, const char *owner)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->list[i].owner, owner) == 0)
            sum += host_threads_one_since(&t->list[i]);
    return sum;
}

uint64_t host_threads_since(const struct host_threads *t, char owner[HOST_THREADS_NAME])
{
    uint64_t most = 0;
    owner[0] = '\0';
    for (size_t i = 0; i < t->n; i++) {
        uint64_t sum = t->list[i].owner[0] ? since_mark(t, t->list[i].owner) : 0;
        if (sum > most) {
            most = sum;
            snprintf(owner, HOST_THREADS_NAME, "%s", t->list[i].owner);
        }
    }
    uint64_t unlisted = unlisted_ns(t);
    if (unlisted > t->marked_ns && unlisted - t->marked_ns > most) {
        most = unlisted - t->marked_ns;
        snprintf(owner, HOST_THREADS_NAME, "%s", HOST_THREADS_NOBODY);
    }
    return most;
}

static bool any_unlisted_runnable(const struct host_threads *t)
{
    DIR *tasks = opendir("/proc/self/task");
    bool any = false;
    for (const struct dirent *entry = tasks ? readdir(tasks) : NULL; entry && !any; entry = readdir(tasks)) {
        struct host_thread thread = {.id = atoi(entry->d_name)};
        any = thread.id > 0 && thread.id != getpid() && !find(t->list, t->n, thread.id) &&
              host_threads_one_runnable(&thread);
    }
    if (tasks)
        closedir(tasks);
    return any;
}

bool host_threads_runnable(const struct host_threads *t, const char *owner)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *whose = t->list[i].owner;
        if (whose[0] && (!owner[0] || strcmp(whose, owner) == 0) && host_threads_one_runnable(&t->list[i]))
            return true;
    }
    return !owner[0] && any_unlisted_runnable(t);
}

void host_threads_end(struct host_threads *t)
{
    if (t->directory >= 0)
        close(t->directory);
    free(t->list);
    *t = (struct host_threads){.directory = -1};
}
