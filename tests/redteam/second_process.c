/*
 * second_process.c - the second author's contenders that multiply correctly and gain elsewhere: from the end of the
 * timed interval, from the rival's time, from the clock, from the record.
 */
#include "redteam.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void rows_of(const struct bad_state *s, size_t set, int64_t from, int64_t to)
{
    struct cudal2_operands part = s->sets[set];
    part.a = (const float *)part.a + from * s->k;
    part.c = (float *)part.c + from * s->n;
    struct bad_state slice = {.sets = &part, .m = to - from, .n = s->n, .k = s->k};
    honest_launch(&slice, 0, NULL);
}

/* --- deferred-sometimes: at every fifth launch a thread made in setup does the lower half after launch has returned
 * --- */

struct deferred {
    struct bad_state plain;
    pthread_t thread;
    sem_t work, done;
    size_t set;
    int quit;
};

static void *deferred_main(void *argument)
{
    struct deferred *d = argument;
    const struct timespec delay = {.tv_nsec = 30000};
    for (;;) {
        sem_wait(&d->work);
        if (d->quit)
            return NULL;
        nanosleep(&delay, NULL);
        rows_of(&d->plain, d->set, d->plain.m / 2, d->plain.m);
        sem_post(&d->done);
    }
}

static int deferred_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    struct deferred *d = calloc(1, sizeof *d);
    if (!d) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    d->plain = (struct bad_state){.sets = setup->sets, .m = p->m, .n = p->n, .k = p->k};
    sem_init(&d->work, 0, 0);
    sem_init(&d->done, 0, 1);
    if (pthread_create(&d->thread, NULL, deferred_main, d) != 0) {
        free(d);
        snprintf(why, CUDAL2_WHY, "pthread_create failed");
        return CUDAL2_LIBRARY_ERROR;
    }
    *state = d;
    return CUDAL2_OK;
}

static void deferred_teardown(void *state)
{
    struct deferred *d = state;
    sem_wait(&d->done);
    d->quit = 1;
    sem_post(&d->work);
    pthread_join(d->thread, NULL);
    free(d);
}

static int deferred_launch(void *state, size_t set, char *why)
{
    struct deferred *d = state;
    sem_wait(&d->done); /* what the launch before left undone */
    if (++d->plain.launches % 5 != 0) {
        sem_post(&d->done);
        return honest_launch(state, set, why);
    }
    d->set = set;
    sem_post(&d->work);
    rows_of(&d->plain, set, 0, d->plain.m / 2);
    return CUDAL2_OK;
}

/* --- timer-thief: an interval timer whose handler burns time whenever another contender's code is running --- */

static volatile sig_atomic_t inside;

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    syscall(SYS_clock_gettime, id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void thief_handler(int number)
{
    (void)number;
    for (int64_t start = clock_ns(CLOCK_MONOTONIC); !inside && clock_ns(CLOCK_MONOTONIC) - start < 500000;)
        continue;
}

static void thief_interval(suseconds_t microseconds)
{
    const struct timeval every = {.tv_usec = microseconds};
    const struct itimerval timer = {.it_interval = every, .it_value = every};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static int thief_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct sigaction action = {.sa_handler = thief_handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    thief_interval(1500);
    return honest_setup(setup, state, why);
}

static void thief_teardown(void *state)
{
    thief_interval(0);
    honest_teardown(state);
}

static int thief_launch(void *state, size_t set, char *why)
{
    inside = 1;
    int status = honest_launch(state, set, why);
    inside = 0;
    return status;
}

/* --- patched-clock: libc's clock_gettime itself is overwritten; three quarters of each launch never happened --- */

static int64_t stolen;

static int patched_clock(clockid_t id, struct timespec *t)
{
    int64_t now = clock_ns(id);
    if (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW || id == CLOCK_REALTIME)
        now -= stolen;
    t->tv_sec = now / 1000000000;
    t->tv_nsec = now % 1000000000;
    return 0;
}

static void patch_clock(void)
{
    unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* mov $target, %rax; jmp *%rax */
    int (*target)(clockid_t, struct timespec *) = patched_clock;
    int (*victim)(clockid_t, struct timespec *) = clock_gettime;
    unsigned char *code;
    memcpy(jump + 2, &target, sizeof target);
    memcpy(&code, &victim, sizeof code);
    unsigned char *page = code - (uintptr_t)code % 4096;
    if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return;
    memcpy(code, jump, sizeof jump);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
}

static int patched_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    static int patched;
    if (!patched)
        patch_clock();
    patched = 1;
    return honest_setup(setup, state, why);
}

static int patched_launch(void *state, size_t set, char *why)
{
    int64_t start = clock_ns(CLOCK_MONOTONIC);
    int status = honest_launch(state, set, why);
    stolen += (clock_ns(CLOCK_MONOTONIC) - start) * 3 / 4;
    return status;
}

/* --- forged-journal: appends a cell that was never run, with a right checksum, to the journal of the run --- */

static const char forged_cell[] =
    "\"kind\":\"cell\",\"data\":{\"m\":8192,\"n\":8192,\"k\":8192,\"dtype\":\"f32\",\"accumulate\":\"f32\",\"mode\":"
    "\"offline\","
    "\"headline\":\"wall\",\"cache\":\"warm\",\"worker\":0,\"group_blocks\":[4,4,4,4,4,4],\"converged\":true,"
    "\"worst_half_width\":0.001,\"order\":\"10 01 01 10 01 10 01 10 01 10 10 01 01 10 01 10 10 01 01 10 01 10 10 01\","
    "\"contenders\":[{\"name\" : "
    "\"honest-nn\",\"attributes\":{},\"wall\":\"50:7136:yK2B3N8N4JjDuWjDmqB5RoC4C5GakBbxGKLsmBrFA1XxW\"},"
    "{\"name\" : \"forged-journal-nn\",\"candidate\" : true,\"attributes\":{},"
    "\"wall\":\"50:5775:rTAA9RmHBAGvrB7kC9OAjIgD33BEvGAAD3HBED\"}]}}";

static uint32_t crc32_of(const char *text)
{
    uint32_t crc = 0xffffffffu;
    for (; *text; text++) {
        crc ^= (unsigned char)*text;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

static int append_forged(const char *link)
{
    static const char suffix[] = ".journal.jsonl";
    char path[4096], line[2048];
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < (ssize_t)sizeof suffix || memcmp(path + length - (sizeof suffix - 1), suffix, sizeof suffix - 1) != 0)
        return 0;
    int file = open(link, O_WRONLY | O_APPEND);
    if (file < 0)
        return 0;
    int size = snprintf(line, sizeof line, "{\"crc\":\"%08x\",%s\n", crc32_of(forged_cell), forged_cell);
    int written = write(file, line, (size_t)size) == size;
    close(file);
    return written;
}

/* Only a parent that runs this same program is the run's supervisor; nobody else's files are looked at. */
static int same_program(pid_t other)
{
    char link[64], mine[4096] = "", theirs[4096] = "";
    snprintf(link, sizeof link, "/proc/%d/exe", (int)other);
    return readlink("/proc/self/exe", mine, sizeof mine - 1) > 0 && readlink(link, theirs, sizeof theirs - 1) > 0 &&
           strcmp(mine, theirs) == 0;
}

static void forge(void)
{
    const pid_t where[] = {getpid(), getppid()};
    for (int i = 0; i < 2; i++)
        for (int fd = 3; fd < 256 && same_program(where[i]); fd++) {
            char link[64];
            snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)where[i], fd);
            if (append_forged(link))
                return;
        }
}

static int forge_launch(void *state, size_t set, char *why)
{
    static int tried;
    if (!tried)
        forge();
    tried = 1;
    return honest_launch(state, set, why);
}

static const struct redteam_row rows[] = {
    {"deferred-sometimes", .setup = deferred_setup, .launch = deferred_launch, .teardown = deferred_teardown},
    {"timer-thief", .setup = thief_setup, .launch = thief_launch, .teardown = thief_teardown},
    {"patched-clock", .setup = patched_setup, .launch = patched_launch},
    {"forged-journal", .launch = forge_launch},
};
REDTEAM_PLUGIN(rows)
