/*
 * watch_text.c - what a watched run comes to: counts, the time it still takes, a line and rows. Pure. Called by
 * cli/cmd_watch.c.
 */
#include <math.h>
#include <stdlib.h>

#include "gather/watch.h"

/* Sums over the shards that have a journal. */
struct pace {
    double cost_done, seconds; /* modelled and real, of cells that are there */
    double cost_known, longest_left, left;
    unsigned known, working;
};

static void add_pace(struct pace *p, const struct watched *j)
{
    double left = (double)(j->cost_us - j->cost_done_us);
    p->cost_done += (double)j->cost_done_us;
    p->seconds += j->seconds;
    p->cost_known += (double)j->cost_us;
    p->known++;
    if (j->state == WATCH_DONE)
        return;
    p->left += left;
    p->longest_left = fmax(p->longest_left, left);
    p->working += j->state == WATCH_RUNNING;
}

/* A shard without a journal is as long as the others, which the cut saw to. What no task works on has to wait for those
 * that are working: the whole by their number, or the longest one if that takes longer. */
static double eta_of(const struct pace *p, unsigned waiting)
{
    if (p->cost_done <= 0 || p->working == 0)
        return p->left > 0 || waiting > 0 ? (double)NAN : 0;
    double per_cost = p->seconds / p->cost_done, each = p->cost_known / p->known;
    return per_cost * fmax(p->longest_left, (p->left + waiting * each) / p->working);
}

void watch_sum_up(const struct watch *w, struct watch_sum *out)
{
    struct pace pace = {0};
    *out = (struct watch_sum){.n_done = 0};
    for (unsigned i = 0; i < w->n_shards; i++) {
        const struct watched *j = watch_of(w, i);
        out->of_state[j ? j->state : WATCH_WAITING]++;
        if (!j)
            continue;
        add_pace(&pace, j);
        /* The sentinel comes first, and is shard 0's. */
        out->n_done += j->n_done - (j->n_done > 0 && i > 0);
        out->n_failed += j->n_failed - (i > 0 ? j->first_failed : 0);
        out->n_wrong += j->n_wrong - (i > 0 ? j->first_wrong : 0);
    }
    out->eta_seconds = eta_of(&pace, out->of_state[WATCH_WAITING]);
}

static void add_time(struct text *out, double seconds)
{
    long whole = lround(seconds);
    text_add(out, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

void watch_line(const struct watch_sum *sum, const struct watch *w, struct text *out)
{
    if (w->n_shards == 0) {
        text_add(out, "no shard has begun");
        return;
    }
    text_add(
        out,
        "%zu of %zu cells (%.0f%%), %zu failed, %zu wrong; shards: %u of %u done, %u running, %u stopped, %u waiting",
        sum->n_done, w->n_whole, 100.0 * (double)sum->n_done / (double)w->n_whole, sum->n_failed, sum->n_wrong,
        sum->of_state[WATCH_DONE], w->n_shards, sum->of_state[WATCH_RUNNING], sum->of_state[WATCH_STOPPED],
        sum->of_state[WATCH_WAITING]);
    if (sum->of_state[WATCH_DONE] == w->n_shards)
        return;
    text_add(out, "; ");
    if (isnan(sum->eta_seconds))
        text_add(out, "time left unknown");
    else
        add_time(out, sum->eta_seconds);
    text_add(out, isnan(sum->eta_seconds) ? "" : " left");
}

void watch_rows(const struct watch *w, size_t rows, struct text *out)
{
    static const char *const words[] = {"waiting", "stopped", "running", "done"};
    size_t open = 0;
    for (unsigned i = 0; i < w->n_shards; i++) {
        const struct watched *j = watch_of(w, i);
        if (j && j->state == WATCH_DONE)
            continue;
        if (open++ >= rows)
            continue;
        text_add(out, "%sshard %-5u %-8s", out->length ? "\n" : "", i, words[j ? j->state : WATCH_WAITING]);
        if (j)
            text_add(out, " %5zu of %zu cells, %zu failed, start %u on %s", j->n_done, j->n_cells, j->n_failed,
                     j->starts, j->node);
    }
    if (open > rows)
        text_add(out, "%sand %zu more", out->length ? "\n" : "", open - rows);
}
