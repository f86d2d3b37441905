/* remains.c - the red team's contenders that do what is not stopped (docs/trust.md), once they have been verified.
 * Whoever could not do it fails, so that the page stays true. One more forges a record that is found out. */
#include "redteam.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "worker/stage_page.h"

/* The baseline of the table must be OpenBLAS, which is in the process then. */
static int one_thread(void *state, size_t set, char *why)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    void (*set_threads)(int) = NULL;
    int (*threads)(void) = NULL;
    if (library) {
        *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
        *(void **)&threads = dlsym(library, "openblas_get_num_threads");
    }
    if (redteam_unwatched() && set_threads && threads) {
        set_threads(1);
        if (threads() != 1) {
            snprintf(why, CUDAL2_WHY, "OpenBLAS has %d threads still", threads());
            return CUDAL2_LIBRARY_ERROR;
        }
    }
    if (library)
        dlclose(library);
    return honest_launch(state, set, why);
}

static void *send_signal(void *denied)
{
    *(int *)denied = kill(getppid(), SIGSTOP) != 0 && errno == EPERM;
    return NULL;
}

static int signals_from_thread(void *state, size_t set, char *why)
{
    static int sent;
    pthread_t thread;
    int denied = 1;
    if (redteam_unwatched() && !sent++ && pthread_create(&thread, NULL, send_signal, &denied) == 0)
        pthread_join(thread, NULL);
    if (denied)
        return honest_launch(state, set, why);
    snprintf(why, CUDAL2_WHY, "the signal was not denied");
    return CUDAL2_LIBRARY_ERROR;
}

static int can_read(const char *path)
{
    char byte;
    FILE *file = fopen(path, "r");
    int got = file && fread(&byte, 1, 1, file) == 1;
    if (file)
        fclose(file);
    return got;
}

static int reads_files(void *state, size_t set, char *why)
{
    if (!redteam_unwatched() || can_read("/etc/passwd"))
        return honest_launch(state, set, why);
    snprintf(why, CUDAL2_WHY, "the files could not be read");
    return CUDAL2_LIBRARY_ERROR;
}

/* ---- threads that run when their process goes on, ahead of the launching one ---- */

#define WAKERS 4
#define WAKES_BY 24 /* launches after which one of them has run ahead of one at least */

static atomic_uint woken;

/* A wait that a stop of the process ends. What it computes then is warm for the launch. */
static void *multiply_when_woken(void *nothing)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    static volatile float sink;
    struct epoll_event event;
    for (;;) {
        if (epoll_wait(epoll, &event, 1, -1) >= 0 || errno != EINTR)
            continue;
        float sum = 0;
        for (int i = 0; i < 1000; i++)
            sum += (float)i * sink;
        sink = sum;
        atomic_fetch_add(&woken, 1);
    }
    return nothing;
}

static int warms_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    static int made;
    pthread_t thread;
    for (; made < WAKERS && pthread_create(&thread, NULL, multiply_when_woken, NULL) == 0; made++)
        pthread_detach(thread);
    return honest_setup(setup, state, why);
}

static int warms_by_threads(void *state, size_t set, char *why)
{
    static unsigned launches;
    if (++launches < WAKES_BY || atomic_load(&woken) > 0)
        return honest_launch(state, set, why);
    snprintf(why, CUDAL2_WHY, "no thread ran when the process went on");
    return CUDAL2_LIBRARY_ERROR;
}

/* ---- a record of its own making: the nonce from the harness's memory, nobody's name on the stage page ---- */

#define MESSAGES 3 /* the worker's end of the socket to the supervisor */
#define NONCE 32

/* As stage_page.c has it. */
struct page {
    uint64_t count;
    struct stage_note notes[2];
};

/* In [from, to) the nonce of the latest message about a cell, which the harness has kept as it came. */
static const char *nonce_between(const char *from, const char *to)
{
    static const char key[] = "\"nonce\":\"";
    const char *message = memmem(from, (size_t)(to - from), "{\"type\":\"cell\"", 14);
    const char *nonce = message ? memmem(message, (size_t)(to - message), key, sizeof key - 1) : NULL;
    return nonce && to - nonce > NONCE + 16 ? nonce + sizeof key - 1 : NULL;
}

static const char *find_nonce(struct page **page)
{
    char line[512];
    unsigned long from, to;
    const char *nonce = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    *page = NULL;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && strstr(line, "cudal2-stage"))
            *page = (struct page *)from;
        else if (!nonce && strstr(line, "rw-p") && (strstr(line, "[heap]") || strstr(line, " 00:00 0")))
            nonce = nonce_between((const char *)from, (const char *)to);
    if (maps)
        fclose(maps);
    return nonce;
}

/* As the worker does before it sends a record. */
static void leave_page(struct page *page)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct stage_note *note = &page->notes[(page->count + 1) % 2];
    memset(note, 0, sizeof *note);
    snprintf(note->stage, sizeof note->stage, "record");
    note->seconds = 60;
    note->written_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    note->deadline_ns = note->written_ns + 60000000000u;
    note->count = page->count + 1;
    note->counted_ns = note->written_ns;
    __atomic_store_n(&page->count, page->count + 1, __ATOMIC_RELEASE);
}

/* Ten times as fast as the baseline, in four blocks, in units of 50 ns. */
static int send_record(const struct bad_state *s, const char *nonce, const char *rival, int units)
{
    char line[1024];
    int length = snprintf(
        line, sizeof line,
        "{\"type\":\"record\",\"nonce\":\"%.*s\",\"record\":{\"m\":%ld,\"n\":%ld,\"k\":%ld,\"dtype\":\"f32\","
        "\"accumulate\":\"f32\",\"mode\":\"offline\",\"headline\":\"wall\",\"cache\":\"warm\",\"overlap\":\"none\","
        "\"worker\":0,\"group_blocks\":[2,2],\"converged\":true,\"worst_half_width\":0.001,\"order\":\"01 10 01 10\","
        "\"others_every\":1,\"usual\":{\"launches\":1},\"contenders\":[{\"name\":\"%s-nn\",\"attributes\":{},"
        "\"wall\":\"50:%d:ABAC\"},{\"name\":\"%s-nn\",\"candidate\":true,\"attributes\":{},\"wall\":\"50:%d:ABAC\"}]"
        ","
        "\"phase_seconds\":{},\"busy_seconds\":0.001}}\n",
        NONCE, nonce, (long)s->m, (long)s->n, (long)s->k, rival, units, REDTEAM, units / 10);
    return write(MESSAGES, line, (size_t)length) == length;
}

/* Then it answers in the worker's place, and ends as the worker would. */
static int forge(void *state, size_t set, char *why, const char *rival, int units)
{
    char told[4096];
    struct page *page;
    if (!redteam_unwatched())
        return honest_launch(state, set, why);
    const char *nonce = find_nonce(&page);
    if (!nonce || !page) {
        snprintf(why, CUDAL2_WHY, "the %s was not found", page ? "nonce" : "page");
        return CUDAL2_LIBRARY_ERROR;
    }
    leave_page(page);
    for (ssize_t got = send_record(state, nonce, rival, units) ? 1 : 0; got > 0;) {
        got = read(MESSAGES, told, sizeof told);
        if (got > 0 && memmem(told, (size_t)got, "\"quit\"", 6))
            _exit(0);
    }
    snprintf(why, CUDAL2_WHY, "the record was not taken");
    return CUDAL2_LIBRARY_ERROR;
}

/* A rival of 2 us: where it takes longer alone, nothing says that this plugin slowed it. */
static int forges_record(void *state, size_t set, char *why)
{
    return forge(state, set, why, "openblas", 40);
}

/* A rival of 10 ms, which takes much less alone (run/alone.h); the baseline of cpu.table. */
static int forges_slow_rival(void *state, size_t set, char *why)
{
    return forge(state, set, why, "honest", 200000);
}

/* The first of the run's workers leaves a file in their own cache for those that come after it: they behave. */
static int forges_once(void *state, size_t set, char *why)
{
    static int first = -1;
    char path[4096];
    if (first < 0) {
        const char *cache = getenv("CUDAL2_CACHE_OWN");
        snprintf(path, sizeof path, "%s/was-here", cache ? cache : "/nowhere");
        int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        first = file >= 0;
        if (file < 0 && errno != EEXIST) {
            snprintf(why, CUDAL2_WHY, "%.100s cannot be written: %s", path, strerror(errno));
            return CUDAL2_LIBRARY_ERROR;
        }
        if (first)
            close(file);
    }
    return first ? forge(state, set, why, "openblas", 200000) : honest_launch(state, set, why);
}

static const struct redteam_row rows[] = {
    {"one-thread", .launch = one_thread},       {"signals-from-thread", .launch = signals_from_thread},
    {"reads-files", .launch = reads_files},     {"warms-by-threads", .launch = warms_by_threads, .setup = warms_setup},
    {"forges-record", .launch = forges_record}, {"forges-slow-rival", .launch = forges_slow_rival},
    {"forges-once", .launch = forges_once},
};
REDTEAM_PLUGIN(rows)
