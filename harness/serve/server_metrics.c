/*
 * server_metrics.c - what monitoring asks of the server: /health as JSON, /metrics in Prometheus' text form. Called by
 * api.c.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/tree.h"
#include "serve/server_state.h"

static double age_seconds(const struct server *s)
{
    return (double)(clock_now_ns() - s->started_ns) * 1e-9;
}

static size_t waiting(const struct server *s)
{
    return jobs_count(&s->jobs, NULL, JOB_QUEUED) + jobs_count(&s->jobs, NULL, JOB_READY);
}

static bool is_failing(const struct server *s, int device)
{
    return s->failures[device] >= SERVER_FAILING;
}

/* All, or those that fail. */
static cJSON *device_list(const struct server *s, bool all)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; list && i < s->options.devices->count; i++)
        if ((all || is_failing(s, i)) && !tree_append(list, cJSON_CreateString(s->options.devices->spec[i])))
            list = NULL;
    return list;
}

static int count_failing(const struct server *s)
{
    int n = 0;
    for (int i = 0; i < s->options.devices->count; i++)
        n += is_failing(s, i);
    return n;
}

char *server_health(struct server *s, bool *draining)
{
    struct tree t = tree_begin();
    pthread_mutex_lock(&s->lock);
    *draining = s->draining;
    tree_put_text(&t, "status", s->draining ? "draining" : "ok");
    tree_put(&t, "devices", device_list(s, true));
    tree_put(&t, "failing", device_list(s, false));
    tree_put_number(&t, "queued", (double)waiting(s));
    tree_put_number(&t, "compiling", (double)jobs_count(&s->jobs, NULL, JOB_COMPILING));
    tree_put_number(&t, "measuring", (double)jobs_count(&s->jobs, NULL, JOB_MEASURING));
    tree_put_number(&t, "done", (double)s->jobs.n_done);
    tree_put_number(&t, "uptime_seconds", round_to(age_seconds(s), 10));
    pthread_mutex_unlock(&s->lock);
    cJSON *tree = tree_finish(&t);
    char *text = tree ? json_print(tree, false) : NULL;
    cJSON_Delete(tree);
    return text;
}

static void add_metric(struct text *out, const char *name, const char *type, double value)
{
    text_add(out, "# TYPE cudal2_serve_%s %s\ncudal2_serve_%s %.17g\n", name, type, name, value);
}

static void add_all(struct text *out, const struct server *s)
{
    const struct server_counts *c = &s->counts;
    add_metric(out, "submissions_total", "counter", (double)c->submitted);
    add_metric(out, "repeats_total", "counter", (double)c->repeated);
    add_metric(out, "refusals_total", "counter", (double)c->refused);
    add_metric(out, "jobs_waiting", "gauge", (double)waiting(s));
    add_metric(out, "jobs_compiling", "gauge", (double)jobs_count(&s->jobs, NULL, JOB_COMPILING));
    add_metric(out, "jobs_measuring", "gauge", (double)jobs_count(&s->jobs, NULL, JOB_MEASURING));
    add_metric(out, "jobs_done", "gauge", (double)s->jobs.n_done);
    add_metric(out, "devices", "gauge", s->options.devices->count);
    add_metric(out, "devices_failing", "gauge", count_failing(s));
    add_metric(out, "measuring_seconds_total", "counter", c->measuring_seconds);
    add_metric(out, "busy_seconds_total", "counter", c->busy_seconds);
    add_metric(out, "compiling_seconds_total", "counter", c->compiling_seconds);
    add_metric(out, "streams", "gauge", (double)c->streams);
    add_metric(out, "draining", "gauge", s->draining);
    text_add(out, "# TYPE cudal2_serve_outcomes_total counter\n");
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (c->outcomes[v] > 0)
            text_add(out, "cudal2_serve_outcomes_total{verdict=\"%s\"} %llu\n", verdict_name((enum verdict)v),
                     (unsigned long long)c->outcomes[v]);
}

char *server_metrics(struct server *s)
{
    struct text out = {0};
    pthread_mutex_lock(&s->lock);
    add_all(&out, s);
    pthread_mutex_unlock(&s->lock);
    if (!out.failed)
        return out.bytes;
    text_free(&out);
    return NULL;
}

void server_count_refusal(struct server *s, int status)
{
    pthread_mutex_lock(&s->lock);
    s->counts.refused += status >= 400;
    pthread_mutex_unlock(&s->lock);
}

void server_count_stream(struct server *s, int change)
{
    pthread_mutex_lock(&s->lock);
    s->counts.streams += change;
    pthread_mutex_unlock(&s->lock);
}
