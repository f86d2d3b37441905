/*
 * watched.c - a list of digests, looked through from end to end. Relies on warmth.h for the files of a kernel
 * directory. Called by server_work.c and server.c.
 */
#include "serve/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "serve/warmth.h"

bool watched_key(const struct evaluation *e, char key[DIGEST_HEX])
{
    const struct submission *s = e->submission;
    struct digest d;
    char *line = s->kind == CANDIDATE_KERNEL ? json_print(s->parameters, false) : NULL;
    if (!line)
        return false;
    digest_start(&d);
    digest_add_string(&d, s->name);
    digest_add_string(&d, line);
    digest_add_string(&d, accumulate_names[s->accumulate]);
    digest_add_string(&d, mode_names[s->mode]);
    if (s->layouts)
        digest_add_string(&d, submission_layout(s));
    if (e->kernels)
        warmth_add_kernels(&d, e->kernels);
    digest_finish(&d, key);
    free(line);
    return true;
}

const struct watched_line *watched_find(const struct watched_lines *w, const char *key)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->lines[i].key, key) == 0)
            return &w->lines[i];
    return NULL;
}

/* Room for one more, or the oldest one's. NULL out of memory. */
static struct watched_line *next_place(struct watched_lines *w)
{
    if (w->n == WATCHED_MOST) {
        struct watched_line *place = &w->lines[w->oldest];
        w->oldest = (w->oldest + 1) % WATCHED_MOST;
        return place;
    }
    struct watched_line *grown = grow_for_one(w->lines, w->n, &w->capacity, sizeof *grown);
    if (!grown)
        return NULL;
    w->lines = grown;
    return &w->lines[w->n++];
}

void watched_add(struct watched_lines *w, const char *key, bool seen)
{
    struct watched_line *place = watched_find(w, key) ? NULL : next_place(w);
    if (!place)
        return;
    snprintf(place->key, sizeof place->key, "%s", key);
    place->seen = seen;
}

void watched_free(struct watched_lines *w)
{
    free(w->lines);
    *w = (struct watched_lines){0};
}
