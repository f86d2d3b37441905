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

/* ---- Prometheus ---- */

enum metric {
    SUBMISSIONS,
    REPEATS,
    REFUSALS,
    WAITING,
    COMPILING,
    MEASURING,
    DONE,
    DEVICES,
    FAILING,
    MEASURING_SECONDS,
    BUSY_SECONDS,
    COMPILING_SECONDS,
    STREAMS,
    DRAINING,
    OUTCOMES, /* one for each verdict */
    METRIC_COUNT
};

static const struct {
    const char *name, *type, *help;
} metrics[METRIC_COUNT] = {
    [SUBMISSIONS] = {"submissions_total", "counter", "Jobs that were taken."},
    [REPEATS] = {"repeats_total", "counter", "Submissions whose content was known: no new job."},
    [REFUSALS] = {"refusals_total", "counter", "Requests that were answered with a status of 400 or above."},
    [WAITING] = {"jobs_waiting", "gauge", "Jobs that wait for a compiler or a device."},
    [COMPILING] = {"jobs_compiling", "gauge", "Jobs that are being compiled."},
    [MEASURING] = {"jobs_measuring", "gauge", "Jobs that are being measured."},
    [DONE] = {"jobs_done", "gauge", "Jobs whose outcomes are kept."},
    [DEVICES] = {"devices", "gauge", "Devices that jobs are measured on."},
    [FAILING] = {"devices_failing", "gauge", "Devices that could not measure their last jobs."},
    [MEASURING_SECONDS] = {"measuring_seconds_total", "counter", "Time of devices with jobs."},
    [BUSY_SECONDS] = {"busy_seconds_total", "counter", "Time of devices in launches of contenders."},
    [COMPILING_SECONDS] = {"compiling_seconds_total", "counter", "Time of compilers."},
    [STREAMS] = {"streams", "gauge", "Streams of events that are open."},
    [DRAINING] = {"draining", "gauge", "1 when the server takes no more submissions."},
    [OUTCOMES] = {"outcomes_total", "counter", "Outcomes, by verdict."},
};

static void add_head(struct text *out, enum metric which)
{
    const char *name = metrics[which].name;
    text_add(out, "# HELP cudal2_serve_%s %s\n# TYPE cudal2_serve_%s %s\n", name, metrics[which].help, name,
             metrics[which].type);
}

static void add_outcomes(struct text *out, const struct server *s)
{
    add_head(out, OUTCOMES);
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (s->counts.outcomes[v] > 0)
            text_add(out, "cudal2_serve_%s{verdict=\"%s\"} %llu\n", metrics[OUTCOMES].name,
                     verdict_name((enum verdict)v), (unsigned long long)s->counts.outcomes[v]);
}

static void add_all(struct text *out, const struct server *s)
{
    const struct server_counts *c = &s->counts;
    const double values[OUTCOMES] = {
        [SUBMISSIONS] = (double)c->submitted,
        [REPEATS] = (double)c->repeated,
        [REFUSALS] = (double)c->refused,
        [WAITING] = (double)waiting(s),
        [COMPILING] = (double)jobs_count(&s->jobs, NULL, JOB_COMPILING),
        [MEASURING] = (double)jobs_count(&s->jobs, NULL, JOB_MEASURING),
        [DONE] = (double)s->jobs.n_done,
        [DEVICES] = s->options.devices->count,
        [FAILING] = count_failing(s),
        [MEASURING_SECONDS] = c->measuring_seconds,
        [BUSY_SECONDS] = c->busy_seconds,
        [COMPILING_SECONDS] = c->compiling_seconds,
        [STREAMS] = (double)c->streams,
        [DRAINING] = s->draining,
    };
    for (int i = 0; i < OUTCOMES; i++) {
        add_head(out, (enum metric)i);
        text_add(out, "cudal2_serve_%s %.17g\n", metrics[i].name, values[i]);
    }
    add_outcomes(out, s);
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
