/*
 * watch.h - how far a sharded run is, from its journals alone: read again and again, only what is new each time.
 * Nothing is asked of tasks or schedulers, so it works from any machine that sees the journals.
 */
#ifndef CUDAL2_GATHER_WATCH_H
#define CUDAL2_GATHER_WATCH_H

#include "base/text.h"
#include "run/shard_record.h"

enum watch_state {
    WATCH_WAITING, /* no journal yet */
    WATCH_STOPPED, /* nobody has the journal locked, and it has no end */
    WATCH_RUNNING,
    WATCH_DONE
};

struct watched_cell {
    const char *key; /* points into the journal's plan */
    uint64_t cost_us;
};

/* One journal. */
struct watched {
    char *path; /* owned */
    struct shard shard;
    enum watch_state state;
    size_t n_cells, n_done, n_failed, n_wrong; /* n_wrong: contenders refuted */
    size_t first_failed, first_wrong;          /* of its first cell, the sentinel */
    unsigned starts;
    uint64_t cost_us, cost_done_us; /* modelled, of all its cells; of those that are there */
    double seconds;                 /* that those took */
    char node[64];                  /* of the latest start */
    long long offset;               /* bytes read */
    cJSON *plan;                    /* owned */
    struct watched_cell *cells;     /* owned; by key */
};

struct watch {
    struct watched *list; /* in the order in which they were found */
    size_t n, capacity;
    char plan_hash[DIGEST_HEX], hash[DIGEST_HEX];
    unsigned n_shards;
    size_t n_whole;
};

/* What it comes to. Cells of shards that have no journal are among n_whole alone; the sentinel counts once. */
struct watch_sum {
    unsigned of_state[WATCH_DONE + 1]; /* shards */
    size_t n_done, n_failed, n_wrong;
    double eta_seconds; /* NAN: not known */
};

/* Reads what is new. Set *w to 0 before the first. EXIT_CODE_DATA for damage, and for journals of two runs or cuts. */
int watch_poll(struct watch *w, const char *const *operands, struct error *err);

void watch_sum_up(const struct watch *w, struct watch_sum *out);

/* The journal that speaks for a shard: the one that is furthest; NULL when there is none. */
const struct watched *watch_of(const struct watch *w, unsigned index);

/* One line; and the shards that are not done, a row each, at most `rows` of them. No newline behind the last. */
void watch_line(const struct watch_sum *sum, const struct watch *w, struct text *out);
void watch_rows(const struct watch *w, size_t rows, struct text *out);

void watch_free(struct watch *w);

#endif
