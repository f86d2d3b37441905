/* Scripted runs as journals, for the tests of compare. */
#ifndef CUDAL2_TESTS_COMPARE_FIXTURE_H
#define CUDAL2_TESTS_COMPARE_FIXTURE_H

#include <math.h>

#include "compare/compare.h"
#include "journal_fixture.h"

/* What a test changes about an otherwise fixed run: three cells offline and one in server mode, "mine-nn" against
 * "cublas-nn" and "torch.matmul", 8 groups of two blocks. */
struct script {
    double slower[4];      /* of mine-nn in each cell: 0.05 takes 5% longer */
    unsigned groups;       /* 0: 8 */
    uint64_t seed;         /* of the noise */
    double noise;          /* sd of a group's log ratio; 0: 0.2% */
    const char *driver;    /* NULL: "570.1" */
    const char *nvrtc;     /* version; NULL: "13.0" */
    const char *cublas;    /* version; NULL: "13.0.0" */
    const char *digest;    /* of mine's plugin; NULL: "aa" */
    const char *plugin;    /* what mine, then a plugin and no kernel set, calls its version; NULL: it is a set */
    const char *tables;    /* JSON object of tuning tables; NULL: none */
    const char *protocol;  /* NULL: "adaptive" */
    const char *baselines; /* JSON array; NULL: the two */
    const char *modes;     /* JSON array of the config; NULL: both */
    bool skip_cell[4];     /* not in the journal */
    bool twice;            /* the first cell a second time */
    bool aa;               /* a copy of mine-nn, 4% slower in every cell */
    enum timing headline;  /* TIMING_DEVICE */
    const char *status[4]; /* of mine-nn; NULL: "ok" */
    const char *rung;      /* of all contenders; NULL: "graph" */
    bool torch_elsewhere;  /* torch on another rung */
    bool no_torch;         /* torch.matmul is unavailable */
    bool baselines_only;   /* mine-nn is no candidate */
    bool throttled;        /* every group saw a slowdown */
    bool no_end;
    void (*change)(struct cell_record *r, int cell); /* the last word on a record */
};

static double fixture_noise(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return sum;
}

static void fixture_times(struct cell_record *r, const struct script *s, int cell)
{
    uint64_t state = 77 + s->seed * 1000 + (uint64_t)cell;
    double noise = s->noise > 0 ? s->noise : 0.002;
    for (unsigned g = 0; g < (s->groups ? s->groups : 8); g++) {
        double mine = (1 + s->slower[cell]) * exp(noise * fixture_noise(&state));
        double drift = 1 + 0.3 * fabs(fixture_noise(&state)); /* of everyone together: must cancel */
        for (int b = 0; b < 2; b++) {
            unsigned block = fixture_block(r, 2);
            for (size_t c = 0; c < r->n_contenders; c++) {
                struct contender_record *who = &r->contenders[c];
                bool is_mine = strncmp(who->name, "mine", 4) == 0;
                double ns = 20000 * drift * (is_mine ? mine : 1) * (who->copy_of[0] ? 1.04 : 1);
                if (strcmp(who->status, "ok") == 0)
                    series_add(&who->timings[s->headline], block, ns);
            }
            if (s->throttled)
                fixture_slowdown(r, block);
        }
    }
}

static struct cell_record *fixture_cell(const struct script *s, int cell)
{
    static const int64_t m[4] = {64, 128, 256, 64};
    struct cell_record *r = fixture_record(m[cell], cell == 3 ? MODE_SERVER : MODE_OFFLINE);
    r->headline = s->headline;
    struct contender_record *torch = fixture_contender(r, "torch.matmul", false);
    struct contender_record *cublas = fixture_contender(r, "cublas-nn", false);
    struct contender_record *mine = fixture_contender(r, "mine-nn", !s->baselines_only);
    if (s->no_torch)
        fixture_fail(torch, "unavailable", "not here");
    if (s->status[cell])
        fixture_fail(mine, s->status[cell], "says the script");
    if (s->rung) {
        strcpy(cublas->rung, s->rung);
        strcpy(mine->rung, s->rung);
        strcpy(torch->rung, s->rung);
    }
    if (s->torch_elsewhere)
        strcpy(torch->rung, "events");
    if (s->aa)
        strcpy(fixture_contender(r, "mine-nn#2", true)->copy_of, "mine-nn");
    fixture_times(r, s, cell);
    if (s->change)
        s->change(r, cell);
    return r;
}

static cJSON *fixture_run(const struct script *s)
{
    char text[1200];
    const char *names = s->baselines ? s->baselines : "[\"torch.matmul\",\"cublas\"]";
    snprintf(text, sizeof text,
             "{\"started\":\"2026-01-02T03:04:05Z\",\"config_hash\":\"c\",\"plan_hash\":\"p\",\"device\":\"cuda\","
             "\"seed\":\"%d\",\"build\":{\"commit\":\"0123456789abcdef\"},\"config\":{\"protocol\":\"%s\",\"modes\":%s,"
             "\"baselines\":%s,\"candidates\":%s,\"dtype\":\"f16\",\"workspace_bytes\":1},\"plan\":[]}",
             (int)s->seed, s->protocol ? s->protocol : "adaptive", s->modes ? s->modes : "[\"offline\",\"server\"]",
             names, s->baselines_only ? "[]" : "[\"mine\"]");
    return cJSON_Parse(text);
}

static cJSON *fixture_env(const struct script *s)
{
    const char *digest = s->digest ? s->digest : "aa"; /* of the candidate's code: meant to differ */
    char text[600], mine[200];
    if (s->plugin)
        snprintf(mine, sizeof mine, "\"mine\":\"%s\"", s->plugin);
    else
        snprintf(mine, sizeof mine, "\"set\":\"%s\",\"kernels\":{\"k\":\"%s\"},\"nvrtc\":\"%s\"", digest, digest,
                 s->nvrtc ? s->nvrtc : "13.0");
    snprintf(text, sizeof text,
             "{\"device\":{\"kind\":\"cuda\",\"name\":\"H\",\"driver\":\"%s\"},\"libraries\":{\"cublas\":{\"cublas\":"
             "\"%s\",\"path\":\"/x/"
             "%d\"},\"mine\":{\"plugin_digest\":\"%s\",%s}%s%s}}",
             s->driver ? s->driver : "570.1", s->cublas ? s->cublas : "13.0.0", (int)s->seed, digest, mine,
             s->tables ? ",\"tuned\":" : "", s->tables ? s->tables : "");
    return cJSON_Parse(text);
}

static void fixture_write(const char *path, const struct script *s)
{
    remove(path);
    struct journal *j = new_journal(path);
    put_tree(j, "run", fixture_run(s));
    put_tree(j, "env", fixture_env(s));
    for (int i = 0; i < (s->twice ? 5 : 4); i++) {
        if (s->skip_cell[i % 4])
            continue;
        put_cell(j, fixture_cell(s, i % 4));
    }
    if (!s->no_end)
        put_tree(j, "end", cJSON_CreateObject());
    journal_close(j);
}

/* The first row of this cell. */
__attribute__((unused)) static const struct compare_row *fixture_row(const struct compare_runs *c, const char *key)
{
    for (size_t i = 0; i < c->n_rows; i++)
        if (strcmp(c->rows[i].key, key) == 0)
            return &c->rows[i];
    fail_msg("no row %s", key);
    return NULL;
}

#endif
