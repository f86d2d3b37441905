/*
 * compile_progress.c - counts kernels as they come from several threads, keeps them by cubins.h, and tells how far it
 * is: a live line on a terminal, a line every ten seconds elsewhere, one line for each refusal. Called by
 * cmd_compile.c.
 */
#include "cli/compile_progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "compile/cubins.h"

#define REDRAW_NS 200000000ull
#define LINE_NS 10000000000ull
#define WIPE "\r\033[K"

struct compile_progress {
    pthread_mutex_t lock; /* of all below */
    const char *directory;
    bool quiet, live;
    uint64_t begun_ns, told_ns;
    size_t total, there, cached, compiled, refused;
    double bytes;
    struct error failed; /* the first write that failed */
};

static size_t done_of(const struct compile_progress *p)
{
    return p->there + p->cached + p->compiled + p->refused;
}

/* What was there already takes no time, so the rest is reckoned by what was compiled. */
static void tell(struct compile_progress *p)
{
    uint64_t now = clock_now_ns();
    size_t done = done_of(p), rest = p->total > done ? p->total - done : 0, slow = p->compiled + p->refused;
    char left[24];
    if (p->quiet || now - p->told_ns < (p->live ? REDRAW_NS : LINE_NS))
        return;
    p->told_ns = now;
    progress_duration(slow > 0 ? (double)(now - p->begun_ns) * 1e-9 / (double)slow * (double)rest : 0, left);
    fprintf(stderr, "%s%zu of %zu kernels, %zu compiled, about %s left%s", p->live ? WIPE : "", done, p->total,
            p->compiled, left, p->live ? "" : "\n");
}

static void say(const struct compile_progress *p, const char *what, const char *name, const char *why)
{
    char ours[768];
    snprintf(ours, sizeof ours, "%s%s: %.600s: ", p->live ? WIPE : "", what, name);
    terminal_say(stderr, ours, why);
}

static void keep(struct compile_progress *p, const char *name, const struct compile_result *result)
{
    struct error err;
    if (result->damaged)
        say(p, "damaged", name, "its cubin in the directory is cut off or damaged, and is made anew");
    if (!result->ahead && result->asked && cubins_put(p->directory, result, &err) && p->failed.code == 0)
        p->failed = err;
    p->there += result->ahead;
    p->cached += result->cached;
    p->compiled += !result->ahead && !result->cached;
    p->bytes += (double)result->length;
}

static void on_told(void *context, const char *name, const struct compile_result *result, const char *why)
{
    struct compile_progress *p = context;
    pthread_mutex_lock(&p->lock);
    if (why) {
        p->refused++;
        say(p, "refused", name, why);
    } else {
        keep(p, name, result);
    }
    tell(p);
    pthread_mutex_unlock(&p->lock);
}

static void on_counted(void *context, size_t n)
{
    struct compile_progress *p = context;
    pthread_mutex_lock(&p->lock);
    p->total += n;
    pthread_mutex_unlock(&p->lock);
}

struct compile_progress *compile_progress_open(const char *directory, bool quiet, struct error *err)
{
    struct compile_progress *p = calloc(1, sizeof *p);
    if (!p) {
        error_set(err, EXIT_CODE_INTERNAL, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    p->directory = directory;
    p->quiet = quiet;
    p->live = !quiet && terminal_is_live(STDERR_FILENO);
    p->begun_ns = p->told_ns = clock_now_ns();
    return p;
}

struct compile_watch compile_progress_watch(struct compile_progress *p)
{
    return (struct compile_watch){.context = p, .counted = on_counted, .told = on_told};
}

static void print_sum(const struct compile_progress *p)
{
    if (p->live)
        fputs(WIPE, stderr);
    printf("%zu kernels, %.1f MB: %zu compiled, %zu from the cache, %zu were there, %zu refused; in ", p->total,
           p->bytes / 1e6, p->compiled, p->cached, p->there, p->refused);
    terminal_say(stdout, "", p->directory);
}

int compile_progress_close(struct compile_progress *p, struct error *err)
{
    int code = 0;
    print_sum(p);
    if (p->failed.code) {
        *err = p->failed;
        code = err->code;
    } else if (p->refused > 0) {
        code = error_set(err, EXIT_CODE_VERIFICATION, "compile: %zu of %zu kernels were refused", p->refused, p->total);
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
    return code;
}
