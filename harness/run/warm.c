/*
 * warm.c - moves a worker between the slots of two runs. Relies on slot.h and process.h. Called by crew.c and by
 * serve/evaluate.c and server_work.c, which own it.
 */
#include "run/warm.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

bool warm_any(const struct warm *w)
{
    return w->held || (w->watcher && w->watcher->held);
}

void warm_end(struct warm *w)
{
    if (w->watcher)
        warm_end(w->watcher);
    if (!w->held)
        return;
    slot_kill(&w->slot);
    if (w->slot.lock_fd >= 0)
        close(w->slot.lock_fd);
    w->held = false;
}

void warm_begin(struct warm *w, const char key[DIGEST_HEX])
{
    w->taken = false;
    if (w->held && (strcmp(w->key, key) != 0 || w->runs >= WARM_RUNS || process_ended(&w->slot.process)))
        warm_end(w);
    snprintf(w->key, sizeof w->key, "%s", key);
    if (w->watcher)
        warm_begin(w->watcher, key);
}

int warm_lock(const struct warm *w)
{
    const struct warm *from = !w->held && w->watcher ? w->watcher : w;
    return from->held && from->slot.lock_fd >= 0 ? fcntl(from->slot.lock_fd, F_DUPFD_CLOEXEC, 0) : -1;
}

/* What belongs to the process, and not to the run that has it. */
static void move_process(struct slot *to, struct slot *from)
{
    to->process = from->process;
    to->reader = from->reader;
    to->oom_kills = from->oom_kills;
    to->warned_memory = from->warned_memory;
    from->process = (struct process){.fd = -1};
    from->reader = (struct line_reader){.fd = -1};
}

bool warm_take(struct warm *w, struct slot *slot)
{
    if (!w->held)
        return false;
    move_process(slot, &w->slot);
    if (w->slot.lock_fd >= 0)
        close(w->slot.lock_fd);
    w->held = false;
    w->taken = true;
    return true;
}

bool warm_keep(struct warm *w, struct slot *slot)
{
    int lock_fd = slot->lock_fd < 0 ? -1 : fcntl(slot->lock_fd, F_DUPFD_CLOEXEC, 0);
    if (w->held || slot->state != SLOT_IDLE || (slot->lock_fd >= 0 && lock_fd < 0)) {
        if (lock_fd >= 0)
            close(lock_fd);
        return false;
    }
    w->runs = w->taken ? w->runs + 1 : 1;
    w->slot = (struct slot){.state = SLOT_IDLE, .lock_fd = lock_fd};
    move_process(&w->slot, slot);
    w->kept_ns = clock_now_ns();
    w->held = true;
    slot->state = SLOT_EMPTY;
    return true;
}
