/*
 * rivals.c - computes by itself for some milliseconds between two blocks and looks whose threads compute beside it.
 * Relies on device/host_threads.h. Called by the checks between blocks.
 */
#include "verify/rivals.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define WINDOW_NS 10000000u /* many ticks of the scheduler */
#define LONGEST 20u         /* windows of a machine so busy that this thread hardly runs */
/* Of the time that passed; and of what this thread had, for a busy machine gives both less. A pool that asks every 100
 * us whether there is work takes a tenth of a processor, one that sleeps nothing. */
#define SHARE 0.2
#define SHARE_OF_OWN 0.5
#define SUSPICIOUS 0.02 /* of a processor, over the cell so far: worth a look */
/* Of processor time, in one look. Pools of threads spin before they sleep, by a count of turns: 2^4 cycles in OpenBLAS,
 * 1 to 5 ms in others, 15 to 60 ms in libpthreadpool, whose 1000000 pauses take 40 to 140 cycles each. */
#define LONGEST_SPIN_NS 300000000u
#define LOOK_SECONDS 30.0 /* for one, with its last window: nobody's launch hangs meanwhile */
#define NAMED 2           /* contenders in whose name it is tried */
#define OWNERS 32         /* told apart in one look */

/* Work that no contender's thread has a part in, until this thread has had so much of a processor. What it computes is
 * of no use. Returns what it had: a busy machine gives both less. */
static uint64_t compute(uint64_t ns)
{
    volatile double sum = 1;
    uint64_t start = clock_thread_ns(), had = 0, end = clock_raw_ns() + LONGEST * ns;
    while (had < ns && clock_raw_ns() < end) {
        for (int i = 0; i < 2000; i++)
            sum = sum * 1.0000001 + 1e-9;
        had = clock_thread_ns() - start;
    }
    return had;
}

bool rivals_are_watched(const struct bench *bench)
{
    return bench->threads != NULL && bench->threads->asked && bench->config->honesty && bench->device->probes != NULL &&
           bench->device->probes->threads != NULL;
}

void rivals_begin(struct bench *bench)
{
    if (!rivals_are_watched(bench))
        return;
    host_threads_mark(bench->threads);
    bench->threads_marked_ns = clock_raw_ns();
}

struct seen {
    uint64_t passed, had, taken; /* ns: of time, of this thread, of somebody's threads beside it */
};

static struct seen look(struct host_threads *threads, char owner[HOST_THREADS_NAME])
{
    struct seen seen = {0};
    host_threads_mark(threads);
    uint64_t start = clock_raw_ns();
    seen.had = compute(WINDOW_NS);
    seen.taken = host_threads_since(threads, owner);
    seen.passed = clock_raw_ns() - start;
    return seen;
}

static bool is_much(const struct seen *seen)
{
    return (double)seen->taken > SHARE * (double)seen->passed || (double)seen->taken > SHARE_OF_OWN * (double)seen->had;
}

/* What each owner's threads have taken in the windows in which they took the most. */
struct tallies {
    struct {
        char owner[HOST_THREADS_NAME];
        uint64_t taken;
    } list[OWNERS];
    size_t n;
};

/* The owner's sum; what one more than there is room for takes is not kept. What is nobody's counts a third: where there
 * is somebody to name beside it, that one comes first. */
static uint64_t add(struct tallies *t, const char *owner, uint64_t taken)
{
    size_t i = 0;
    while (i < t->n && strcmp(t->list[i].owner, owner) != 0)
        i++;
    if (i == OWNERS || owner[0] == '\0')
        return 0;
    if (i == t->n)
        snprintf(t->list[t->n++].owner, HOST_THREADS_NAME, "%s", owner);
    t->list[i].taken += taken;
    return strcmp(owner, HOST_THREADS_NOBODY) == 0 ? t->list[i].taken / 3 : t->list[i].taken;
}

/* Of two windows in a row one must show somebody, or end with a thread that waits for a processor; and one owner in all
 * of them more than any pool spins, for on a busy machine that takes much longer than its processor time. Threads of
 * several owners that take turns are found so too, and threads that start each other. The first window is given to
 * those that are just about to sleep. */
bool rivals_look(struct host_threads *threads, char owner[HOST_THREADS_NAME])
{
    char other[HOST_THREADS_NAME] = "";
    struct tallies tallies = {0};
    uint64_t end = clock_raw_ns() + RIVALS_LONGEST_NS, most = 0;
    int quiet = 0;
    owner[0] = '\0';
    for (bool first = true; most < LONGEST_SPIN_NS; first = false) {
        const struct seen seen = look(threads, other);
        quiet = first || is_much(&seen) || host_threads_runnable(threads, "") ? 0 : quiet + 1;
        if (quiet == 2 || clock_raw_ns() > end)
            return false;
        uint64_t sum = add(&tallies, other, seen.taken);
        if (sum > most) {
            most = sum;
            snprintf(owner, HOST_THREADS_NAME, "%s", other);
        }
    }
    return true;
}

bool rivals_find(struct host_threads *threads, const struct device *device, char owner[HOST_THREADS_NAME])
{
    return rivals_look(threads, owner) &&
           ((device->info.device_bit & CUDAL2_ON_CPU) != 0 || strcmp(owner, HOST_THREADS_NOBODY) != 0);
}

static bool loaded_from(const struct contender *c, const char *plugin)
{
    const char *slash = c->asked ? strrchr(c->asked, '/') : NULL, *file = slash ? slash + 1 : c->asked;
    size_t length = strlen(plugin);
    return file && length > 0 && strncmp(file, plugin, length) == 0 && (file[length] == '.' || file[length] == '\0');
}

/* Threads that a plugin's constructor made bear the plugin's name. */
bool rivals_is_of(const struct entrant *e, const char *owner)
{
    return strcmp(e->record->name, owner) == 0 || loaded_from(e->contender, owner);
}

/* The contender of that name goes before the one of that plugin. NULL: nobody of this cell. */
static const struct entrant *owner_of(const struct bench *bench, const char *owner)
{
    for (size_t i = 0; i < bench->n_entrants; i++)
        if (strcmp(bench->entrants[i].record->name, owner) == 0)
            return &bench->entrants[i];
    for (size_t i = 0; i < bench->n_entrants; i++)
        if (loaded_from(bench->entrants[i].contender, owner))
            return &bench->entrants[i];
    return NULL;
}

void rivals_check(struct bench *bench)
{
    char owner[HOST_THREADS_NAME];
    int tried = 0;
    if (!rivals_are_watched(bench))
        return;
    double passed = (double)(clock_raw_ns() - bench->threads_marked_ns);
    bool suspicious = (double)host_threads_since(bench->threads, owner) > SUSPICIOUS * passed;
    for (size_t i = 0; i < bench->n_entrants && suspicious && !bench->threads->disturbed; i++) {
        const struct entrant *named = &bench->entrants[i];
        if (!named->alive || tried++ >= NAMED)
            continue;
        bench_stage(bench, named, "measure", bench->config->limits.launch_seconds + LOOK_SECONDS);
        bench->threads->disturbed = rivals_find(bench->threads, bench->device, owner);
    }
    if (bench->threads->disturbed) { /* a turn of the culprit's, or of nobody's, that ends the worker */
        bench->threads->disturbed = false;
        bench_stage(bench, owner_of(bench, owner), "measure", bench->config->limits.launch_seconds);
        bench->threads->disturbed = true;
    }
    bench_stage(bench, NULL, "measure", bench->config->limits.launch_seconds);
    rivals_begin(bench);
}
