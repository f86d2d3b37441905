/*
 * events.c - words the events of one job for one client. Relies on server.h for the waiting. Called by api.c and
 * http.c.
 */
#include "serve/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/tree.h"

/* So late is it seen that a client is gone, for only what is sent tells. */
#define TICK_SECONDS 2

struct events {
    struct server *server;
    struct text text; /* the event that the client has now */
    char client[64];
    char id[DIGEST_HEX];
    char state[16]; /* that it was told last */
    bool over;
};

int events_open(struct server *server, const char *client, const char *id, struct events **out, struct error *err)
{
    struct server_view view;
    int status = server_look(server, client, id, 0, &view, err);
    server_view_free(&view);
    *out = NULL;
    if (status == 200)
        status = server_wait_begin(server, client, err);
    if (status != 200)
        return status;
    struct events *e = calloc(1, sizeof *e);
    if (!e) {
        server_wait_end(server, client);
        error_set(err, EXIT_CODE_INTERNAL, "out of memory for events");
        return 500;
    }
    e->server = server;
    snprintf(e->client, sizeof e->client, "%s", client);
    snprintf(e->id, sizeof e->id, "%s", id);
    server_count_stream(server, 1);
    *out = e;
    return 200;
}

/* Takes the tree over. */
static void word_event(struct events *e, const char *name, cJSON *tree)
{
    char *json = tree ? json_print(tree, false) : NULL;
    text_add(&e->text, "event: %s\ndata: %s\n\n", name, json ? json : "{}");
    free(json);
    cJSON_Delete(tree);
}

static void word_state(struct events *e, const struct server_view *view)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "id", view->id);
    tree_put_text(&t, "state", view->state);
    tree_put_number(&t, "ahead", (double)view->ahead);
    word_event(e, "state", tree_finish(&t));
}

/* What has more than one line would be more than one event. */
static void word_outcome(struct events *e, const struct server_view *view)
{
    cJSON *tree = NULL;
    struct error ignored;
    json_parse(view->outcome, strlen(view->outcome), SUBMISSION_BODY_BYTES, "outcome", &tree, &ignored);
    word_event(e, "outcome", tree);
}

static void word(struct events *e, const struct server_view *view)
{
    text_free(&e->text);
    if (view->outcome)
        word_outcome(e, view);
    else
        word_state(e, view);
    e->over = view->outcome != NULL;
    snprintf(e->state, sizeof e->state, "%s", view->state);
}

const char *events_next(struct events *e)
{
    struct server_view view;
    struct error ignored;
    if (e->over)
        return NULL;
    const struct server_wait wait = {.seconds = TICK_SECONDS, .unlike = e->state};
    int status = server_watch(e->server, e->client, e->id, &wait, &view, &ignored);
    if (status == 200)
        word(e, &view);
    else
        e->over = true;
    server_view_free(&view);
    return status == 200 && e->text.bytes ? e->text.bytes : NULL;
}

void events_close(struct events *e)
{
    if (!e)
        return;
    server_count_stream(e->server, -1);
    server_wait_end(e->server, e->client);
    text_free(&e->text);
    free(e);
}
