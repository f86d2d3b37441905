/*
 * waits.c - a short list of clients with their counts, looked through from end to end. Relies on waits.h. Called by
 * server.c.
 */
#include "serve/waits.h"

#include <stdio.h>
#include <string.h>

/* Where there is none yet, the place behind the last. */
static struct waiting_client *find(struct waits *w, const char *client)
{
    size_t i = 0;
    while (i < w->n_clients && strcmp(w->list[i].name, client) != 0)
        i++;
    return &w->list[i];
}

bool waits_begin(struct waits *w, const char *client)
{
    if (w->all >= WAITS_OF_ALL) /* so there is a place behind the last, too */
        return false;
    struct waiting_client *who = find(w, client);
    if (who == &w->list[w->n_clients]) {
        snprintf(who->name, sizeof who->name, "%s", client);
        who->n = 0;
        w->n_clients++;
    }
    if (who->n >= WAITS_OF_ONE)
        return false;
    who->n++;
    w->all++;
    return true;
}

void waits_end(struct waits *w, const char *client)
{
    struct waiting_client *who = find(w, client);
    if (who == &w->list[w->n_clients])
        return;
    w->all--;
    if (--who->n == 0)
        *who = w->list[--w->n_clients];
}
