/* Scripted searches: cells with finalists, and the journals that tables are made from. Include after cmocka. */
#ifndef CUDAL2_TESTS_TABLE_FIXTURE_H
#define CUDAL2_TESTS_TABLE_FIXTURE_H

#include <unistd.h>

#include "journal_fixture.h"
#include "scratch_fixture.h"

/* Of the search and of its table, in the test's own directory. */
__attribute__((unused)) static char journal_path[128], table_path[128];

__attribute__((unused)) static int make_table_paths(void **state)
{
    if (scratch_make(state))
        return -1;
    snprintf(journal_path, sizeof journal_path, "%s", scratch_path("t.journal.jsonl"));
    snprintf(table_path, sizeof table_path, "%s", scratch_path("t.json"));
    return 0;
}

/* A contender's time is even_ns in even groups and odd_ns in odd ones. */
struct lane {
    const char *name, *variant;
    double even_ns, odd_ns;
    bool first; /* the one that was searched */
};

__attribute__((unused)) static const struct lane usual[] = {
    {"lt-nn", NULL, 2000, 2000, false},          {"lt-tn", NULL, 1900, 1900, false},
    {"cudal2-nn", "k:A=1", 1000, 1100, true},    {"cudal2-nn+2", "k:A=2", 990, 1200, false},
    {"cudal2-nn+3", "k:A=3", 1500, 900, false},  {"cudal2-tn", "k:A=2", 800, 810, true},
    {"cudal2-tn+2", "k:A=1", 1700, 1700, false},
};

__attribute__((unused)) static void add_lane(struct cell_record *r, const struct lane *lane)
{
    bool candidate = strncmp(lane->name, "lt", 2) != 0;
    char plain[32];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(lane->name, "+"), lane->name);
    struct contender_record *c = fixture_contender(r, plain, candidate);
    snprintf(c->name, sizeof c->name, "%s", lane->name);
    if (lane->variant) {
        c->tuning = cJSON_CreateObject();
        if (lane->first)
            cJSON_AddStringToObject(c->tuning, "source", "search");
        cJSON_AddStringToObject(c->tuning, "variant", lane->variant);
    }
    for (unsigned block = 0; block < r->blocks; block++) {
        double ns = r->group_of[block] % 2 == 0 ? lane->even_ns : lane->odd_ns;
        assert_int_equal(series_add(&c->timings[TIMING_DEVICE], block, ns), 0);
    }
}

/* Six groups of two blocks. */
__attribute__((unused)) static struct cell_record *cell_with(int64_t m, const struct lane *lanes, size_t n)
{
    struct cell_record *r = fixture_record(m, MODE_OFFLINE);
    for (int i = 0; i < 12; i++)
        fixture_block(r, 2);
    for (size_t i = 0; i < n; i++)
        add_lane(r, &lanes[i]);
    return r;
}

/* Takes the records over. */
__attribute__((unused)) static void write_search(const char *path, const char *commit, struct cell_record **records,
                                                 size_t n)
{
    char run[256];
    unlink(path);
    struct journal *j = new_journal(path);
    snprintf(run, sizeof run, "{\"build\":{\"commit\":\"%s\"}}", commit);
    put_text(j, "run", run);
    put_text(j, "env",
             "{\"device\":{\"name\":\"NVIDIA H200\",\"driver\":\"580.1\"},\"libraries\":{\"cudal2\":{\"set\":"
             "\"x\"},\"lt\":{\"lt\":\"13\"}}}");
    put_text(j, "env", "{\"device\":{\"name\":\"another\",\"driver\":\"1\"}}");
    for (size_t i = 0; i < n; i++)
        put_cell(j, records[i]);
    journal_close(j);
}

#endif
