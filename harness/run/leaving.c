/*
 * leaving.c - moves the process of a dismissed worker out of its slot and sees to its end. Relies on slot.h, whose
 * deadline of `quit` goes on with it. Called by crew.c.
 */
#include "run/leaving.h"

#define POLL_MS 100

static void clear(struct slot *slot)
{
    *slot = (struct slot){.process.fd = -1, .reader.fd = -1, .lock_fd = -1, .work = -1, .env_index = -1};
}

void leaving_begin(struct leaving *l, struct slot *list, int n)
{
    *l = (struct leaving){.list = list, .n = n};
    for (int i = 0; i < n; i++)
        clear(&list[i]);
}

bool leaving_still(const struct leaving *l, int number)
{
    return l->list[number].process.pid > 0;
}

bool leaving_take(struct leaving *l, int number, struct slot *slot, const struct leaving_witness *witness)
{
    if (leaving_still(l, number) || slot->state != SLOT_QUITTING)
        return false;
    uint64_t peak = process_peak_bytes(&slot->process);
    l->peak_bytes = peak > l->peak_bytes ? peak : l->peak_bytes;
    l->list[number] = *slot;
    l->witness[number] = *witness;
    l->list[number].lock_fd = -1; /* the device's, and the slot's to give back */
    slot->process = (struct process){.fd = -1};
    slot->reader = (struct line_reader){.fd = -1};
    slot->state = SLOT_EMPTY;
    slot->up = false;
    return true;
}

static void look_at(struct slot *slot, const struct leaving_witness *witness)
{
    bool more = true;
    while (more && slot->process.pid > 0) {
        struct slot_event event;
        slot_look(slot, &event);
        more = event.kind != SLOT_NOTHING;
        if (event.kind == SLOT_LOST && witness->lost)
            witness->lost(witness->context, slot, &event);
        slot_event_free(&event);
    }
}

void leaving_look(struct leaving *l)
{
    for (int i = 0; i < l->n; i++)
        look_at(&l->list[i], &l->witness[i]);
}

static bool anybody(const struct leaving *l)
{
    for (int i = 0; i < l->n; i++)
        if (leaving_still(l, i))
            return true;
    return false;
}

void leaving_end(struct leaving *l, bool at_once)
{
    while (!at_once && anybody(l)) {
        leaving_look(l);
        if (anybody(l))
            slots_wait(l->list, l->n, 0, POLL_MS);
    }
    for (int i = 0; i < l->n; i++)
        slot_kill(&l->list[i]);
}
