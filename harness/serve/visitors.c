/*
 * visitors.c - a list of connections behind a lock, whose slow ones have their sockets shut, by a thread or when one
 * too many comes: the transport sees their end then, and closes them. Relies on base/clock.h. Called by http.c.
 */
#include "serve/visitors.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"

#define LOOK_SECONDS 5

struct visitor {
    struct visitor *before, *next;
    uint64_t since_ns;
    int socket;
    bool asked, out; /* has asked; was shown out */
};

struct visitors {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t ends;
    pthread_t thread;
    struct visitor *first;
    bool over;
};

static bool show_one_out(struct visitor *who)
{
    who->out = true;
    return shutdown(who->socket, SHUT_RDWR) == 0;
}

/* Makes room where one too many has come, by the one who has said nothing for longest. The lock is held. */
static void make_room(const struct visitors *v)
{
    unsigned all = 0, idle = 0;
    struct visitor *oldest = NULL;
    for (struct visitor *who = v->first; who; who = who->next) {
        bool is_idle = !who->out && !who->asked;
        all += !who->out;
        idle += is_idle;
        if (is_idle && (!oldest || who->since_ns <= oldest->since_ns))
            oldest = who;
    }
    if (oldest && all > VISITORS_PLACES && idle > VISITORS_IDLE)
        show_one_out(oldest);
}

struct visitor *visitors_come(struct visitors *v, int socket, uint64_t now_ns)
{
    struct visitor *who = calloc(1, sizeof *who);
    if (!who)
        return NULL;
    *who = (struct visitor){.since_ns = now_ns, .socket = socket};
    pthread_mutex_lock(&v->lock);
    who->next = v->first;
    if (v->first)
        v->first->before = who;
    v->first = who;
    make_room(v);
    pthread_mutex_unlock(&v->lock);
    return who;
}

void visitors_leave(struct visitors *v, struct visitor *who)
{
    if (!who)
        return;
    pthread_mutex_lock(&v->lock);
    *(who->before ? &who->before->next : &v->first) = who->next;
    if (who->next)
        who->next->before = who->before;
    pthread_mutex_unlock(&v->lock);
    free(who);
}

static void mark(struct visitors *v, struct visitor *who, bool asked, uint64_t now_ns)
{
    if (!who)
        return;
    pthread_mutex_lock(&v->lock);
    who->asked = asked;
    who->since_ns = now_ns;
    pthread_mutex_unlock(&v->lock);
}

void visitors_asked(struct visitors *v, struct visitor *who)
{
    mark(v, who, true, 0);
}

void visitors_next(struct visitors *v, struct visitor *who, uint64_t now_ns)
{
    mark(v, who, false, now_ns);
}

/* The lock is held. */
static unsigned show_out(const struct visitors *v, uint64_t now_ns)
{
    unsigned n = 0;
    for (struct visitor *who = v->first; who; who = who->next)
        if (!who->asked && !who->out && now_ns > who->since_ns &&
            (double)(now_ns - who->since_ns) * 1e-9 > VISITORS_SECONDS)
            n += show_one_out(who);
    return n;
}

unsigned visitors_show_out(struct visitors *v, uint64_t now_ns)
{
    pthread_mutex_lock(&v->lock);
    unsigned n = show_out(v, now_ns);
    pthread_mutex_unlock(&v->lock);
    return n;
}

static void *look_after(void *context)
{
    struct visitors *v = context;
    pthread_mutex_lock(&v->lock);
    while (!v->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += LOOK_SECONDS;
        pthread_cond_timedwait(&v->ends, &v->lock, &until);
        show_out(v, clock_now_ns());
    }
    pthread_mutex_unlock(&v->lock);
    return NULL;
}

int visitors_open(struct visitors **out, struct error *err)
{
    struct visitors *v = calloc(1, sizeof *v);
    *out = NULL;
    if (!v)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for connections");
    pthread_mutex_init(&v->lock, NULL);
    pthread_cond_init(&v->ends, NULL);
    int failed = pthread_create(&v->thread, NULL, look_after, v);
    if (!failed) {
        *out = v;
        return 0;
    }
    free(v);
    return error_set(err, EXIT_CODE_UNAVAILABLE, "serve: no thread: %s", strerror(failed));
}

void visitors_close(struct visitors *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    v->over = true;
    pthread_cond_signal(&v->ends);
    pthread_mutex_unlock(&v->lock);
    pthread_join(v->thread, NULL);
    pthread_cond_destroy(&v->ends);
    pthread_mutex_destroy(&v->lock);
    free(v);
}
