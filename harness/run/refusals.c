/*
 * refusals.c - what the next worker is to do without because the last one died of it at its start: a plugin, or
 * compiling ahead. Called by measuring.c between starts.
 */
#include "run/refusals.h"

#include <stdio.h>
#include <string.h>

/* Notes the plugin in whose constructors, probe or versions the worker died; false when that is not what happened. */
static bool refuse_plugin(struct refusals *r, const struct slot *slot, const struct slot_event *event)
{
    const char *plugin = slot->now.contender;
    if (!plugin[0] || r->n_plugins == START_MAX_REFUSED)
        return false;
    for (size_t i = 0; i < r->n_plugins; i++)
        if (strcmp(r->plugins[i].name, plugin) == 0)
            return false; /* it was not even loaded */
    struct exclusion *e = &r->plugins[r->n_plugins++];
    snprintf(e->name, sizeof e->name, "%s", plugin);
    e->verdict = event->verdict;
    snprintf(e->stage, sizeof e->stage, "%s", slot->now.stage);
    snprintf(e->reason, sizeof e->reason, "%s", event->reason);
    text_add(&r->unsaid, "%s: worker lost while it loaded %s: %s: %s; it is left out\n", slot->device, plugin,
             verdict_name(e->verdict), e->reason);
    return true;
}

/* True the first time that a worker dies of the kernels of all: one of them will be found in its own setup. */
static bool give_up_precompiling(struct refusals *r, const struct slot *slot, const struct slot_event *event)
{
    if (r->one_by_one || strcmp(slot->now.stage, STAGE_COMPILE) != 0)
        return false;
    r->one_by_one = true;
    text_add(&r->unsaid, "%s: worker lost while it compiled kernels: %s: %s; each is compiled by itself from now on\n",
             slot->device, verdict_name(event->verdict), event->reason);
    return true;
}

bool refusals_learn(struct refusals *refusals, const struct slot *slot, const struct slot_event *event)
{
    if (event->verdict == VERDICT_INFRASTRUCTURE)
        return false;
    return refuse_plugin(refusals, slot, event) || give_up_precompiling(refusals, slot, event);
}

void refusals_say(struct refusals *refusals, void (*say)(void *context, const char *line), void *context)
{
    char *rest = NULL;
    char *line = refusals->unsaid.bytes ? strtok_r(refusals->unsaid.bytes, "\n", &rest) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &rest))
        say(context, line);
    text_free(&refusals->unsaid);
}

void refusals_free(struct refusals *refusals)
{
    text_free(&refusals->unsaid);
}

void refusals_tell(const struct refusals *refusals, struct start_request *start)
{
    memcpy(start->refused, refusals->plugins, sizeof start->refused);
    start->n_refused = refusals->n_plugins;
    start->precompile = start->precompile && !refusals->one_by_one;
}
