/* record/record: what one cell leaves behind, written and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "record/record.h"
#include "edited.h"

static void add_contender(struct cell_record *r, const char *name, const char *family, enum cudal2_layout layout)
{
    struct contender_record *c = &r->contenders[r->n_contenders++];
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->family, sizeof c->family, "%s", family);
    record_set_verdict(c, "ok");
    c->layout = layout;
    c->has_layout_suffix = strcmp(name, family) != 0;
    strcpy(c->rung, "graph");
    c->launches = 48;
    c->primers = 1;
}

static void add_blocks(struct cell_record *r, unsigned groups, unsigned per_group)
{
    r->groups = groups;
    r->blocks = groups * per_group;
    r->order = calloc(r->blocks, sizeof *r->order);
    r->group_of = calloc(r->blocks, sizeof *r->group_of);
    for (unsigned b = 0; b < r->blocks; b++) {
        char digits[128];
        size_t at = 0;
        for (int t = 0; t < (b % 4 == 0 ? 3 : 1); t++) {
            if (t > 0)
                digits[at++] = '.';
            for (size_t i = 0; i < r->n_contenders; i++)
                digits[at++] = (char)('0' + (i + b) % r->n_contenders);
        }
        digits[at] = '\0';
        r->order[b] = strdup(digits);
        r->group_of[b] = b / per_group;
    }
}

/* Eleven contenders in server mode, 32 blocks in 4 groups: the cell that the journal's size is planned for. */
static struct cell_record *full_record(double scale_ns)
{
    static const char *const families[] = {"cudal2", "cublas", "cublaslt-heuristic", "cublaslt-autotuning", "tiny"};
    struct cell_record *r = record_new();
    struct random random;
    char name[RECORD_NAME_MAX];
    random_seed(&random, 3);
    r->problem =
        (struct cudal2_problem){.m = 4096, .n = 8192, .k = 16384, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    r->mode = MODE_SERVER;
    r->worker = 1;
    r->outcome = CELL_OK;
    add_contender(r, "torch.matmul", "torch.matmul", CUDAL2_NN);
    for (int f = 0; f < 5; f++)
        for (int l = 0; l < 2; l++) {
            snprintf(name, sizeof name, "%s-%s", families[f], layout_names[l]);
            add_contender(r, name, families[f], (enum cudal2_layout)l);
        }
    r->contenders[1].candidate = r->contenders[2].candidate = true;
    add_blocks(r, 4, 8);
    for (unsigned b = 0; b < r->blocks; b++) {
        double gap = random_exponential(&random, 2e6);
        for (size_t i = 0; i < r->n_contenders; i++) {
            struct contender_record *c = &r->contenders[i];
            for (int t = 0; t < TIMING_COUNT; t++)
                if (t == 0 || b % 4 == 0)
                    series_add(&c->timings[t], b, scale_ns * (1 + t + 0.02 * random_unit(&random)));
            series_add(&c->gaps, b, gap + 3000 * random_unit(&random));
        }
        if (b % 4 == 0)
            series_add(&r->null_graph, b, 800 + random_unit(&random));
    }
    r->converged = true;
    r->worst_half_width = 0.0043218765;
    strcpy(r->worst_pair, "cudal2-nn / cublaslt-autotuning-tn");
    r->health = calloc(4, sizeof *r->health);
    r->n_health = 4;
    for (unsigned i = 0; i < 4; i++) {
        r->health[i].block = 8 * i + 7;
        r->health[i].health = (struct device_health){true, 1980, 2619, 412345, 46, 4, false};
    }
    for (int i = 0; i < PHASE_COUNT; i++)
        r->phase_seconds[i] = 0.1234567 * i;
    r->part_seconds[PART_DECIDE] = 0.0832;
    r->busy_seconds = 0.4567891234;
    return r;
}

static char *printed(const struct cell_record *r)
{
    cJSON *tree = record_to_json(r);
    assert_non_null(tree);
    char *text = json_print(tree, false);
    cJSON_Delete(tree);
    return text;
}

static int read_text(const char *text, struct cell_record **out, struct error *err)
{
    cJSON *tree = NULL;
    int code = json_parse(text, strlen(text), 1u << 20, "test", &tree, err);
    if (code == 0)
        code = record_from_json(json_root(tree, "test"), out, err);
    cJSON_Delete(tree);
    return code;
}

static bool tree_is(const cJSON *tree, const char *wanted)
{
    cJSON *other = cJSON_Parse(wanted);
    bool same = cJSON_Compare(tree, other, true);
    cJSON_Delete(other);
    return same;
}

static struct cell_record *reread(const char *text)
{
    struct cell_record *out = NULL;
    struct error err = {0};
    if (read_text(text, &out, &err))
        fail_msg("%s", err.text);
    return out;
}

static void same_after_one_rounding(void **state)
{
    static const double scales[] = {3.7, 4213.5, 60e3, 99999.96, 4.2e6, 1.1e10};
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        struct cell_record *first = full_record(scales[i]);
        char *once = printed(first);
        struct cell_record *second = reread(once);
        char *twice = printed(second);
        assert_string_equal(once, twice);
        for (size_t c = 0; c < first->n_contenders; c++)
            for (size_t v = 0; v < first->contenders[c].timings[0].n; v++) {
                double before = first->contenders[c].timings[0].ns[v];
                double after = second->contenders[c].timings[0].ns[v];
                assert_true(fabs(before - after) <= fmax(0.0501, 1.0001e-4 * before));
            }
        record_free(first);
        record_free(second);
        free(once);
        free(twice);
    }
}

/* A record of which every field says something; contender 3 failed. */
static struct cell_record *telling_record(void)
{
    struct cell_record *r = full_record(5000);
    struct contender_record *c = &r->contenders[3];
    strcpy(r->label, "ffn up");
    strcpy(r->reason, "tiny-nn failed");
    r->outcome = CELL_PARTIAL;
    r->headline = TIMING_EVENT;
    r->cache = CACHE_FLUSH;
    r->visits = 4;
    r->passes = 2;
    r->dropped_blocks = 8;
    r->converged = false;
    r->health[2].health.slowdown = true;
    r->health[3].health = (struct device_health){0};
    r->verification = cJSON_Parse("{\"bound\":[0.5,0.0006]}");
    record_set_verdict(c, "crash");
    strcpy(c->stage, "setup");
    strcpy(c->reason, "signal 11");
    strcpy(c->copy_of, "cublas-nn");
    strcpy(c->family, "renamed");
    strcpy(c->rung_reason, "declares that it synchronises");
    c->host_sync = c->early = true;
    strcpy(c->join_reason, "does not wait");
    c->attributes = cJSON_Parse("{\"algo\":66,\"tile\":\"128x256\"}");
    c->tuning = cJSON_Parse("{\"variants\":8}");
    c->energy = cJSON_Parse("{\"joules\":0.5,\"steps\":12}");
    c->verification = cJSON_Parse("{\"checked\":4096}");
    c->deviation = cJSON_Parse("[0.125,0.000201]");
    c->invalid = true;
    return r;
}

static void assert_same_cell(const struct cell_record *back, const struct cell_record *r)
{
    assert_true(problem_equal(&back->problem, &r->problem));
    assert_string_equal(back->label, "ffn up");
    assert_string_equal(back->reason, "tiny-nn failed");
    assert_string_equal(record_outcome(back), "partial");
    assert_int_equal(back->mode, MODE_SERVER);
    assert_int_equal(back->headline, TIMING_EVENT);
    assert_int_equal(back->cache, CACHE_FLUSH);
    assert_int_equal(back->worker, 1);
    assert_true(back->groups == 4 && back->blocks == 32);
    assert_true(back->visits == 4 && back->passes == 2);
    assert_int_equal(back->dropped_blocks, 8);
    assert_false(back->converged);
    assert_true(back->worst_half_width == 0.004322);
    assert_string_equal(back->worst_pair, r->worst_pair);
    for (unsigned b = 0; b < r->blocks; b++) {
        assert_string_equal(back->order[b], r->order[b]);
        assert_int_equal(back->group_of[b], r->group_of[b]);
    }
    assert_true(cJSON_Compare(back->verification, r->verification, true));
    assert_int_equal(back->n_health, 4);
    assert_int_equal(back->health[0].health.power_mw, 412345);
    assert_true(back->health[2].health.slowdown && back->health[2].health.known);
    assert_false(back->health[3].health.known);
    assert_true(fabs(back->phase_seconds[PHASE_OTHER] - 0.617) < 1e-12);
    assert_true(fabs(back->part_seconds[PART_DECIDE] - 0.083) < 1e-12);
}

static void assert_same_contender(const struct contender_record *d, const struct contender_record *c)
{
    assert_string_equal(d->name, c->name);
    assert_string_equal(d->family, "renamed");
    assert_true(d->has_layout_suffix);
    assert_string_equal(record_verdict(d), "crash");
    assert_string_equal(d->stage, "setup");
    assert_string_equal(d->reason, "signal 11");
    assert_string_equal(d->copy_of, "cublas-nn");
    assert_string_equal(d->rung, "graph");
    assert_string_equal(d->rung_reason, "declares that it synchronises");
    assert_string_equal(d->join_reason, "does not wait");
    assert_true(d->host_sync && d->early && !d->joined && !d->candidate && d->invalid && d->launches == 48 &&
                d->primers == 1);
    assert_true(cJSON_Compare(d->attributes, c->attributes, true));
    assert_true(cJSON_Compare(d->tuning, c->tuning, true));
    assert_true(cJSON_Compare(d->energy, c->energy, true));
    assert_true(cJSON_Compare(d->verification, c->verification, true));
    assert_true(cJSON_Compare(d->deviation, c->deviation, true));
    assert_int_equal(d->timings[TIMING_WALL].n, 8);
    assert_int_equal(d->timings[TIMING_WALL].block[7], 28);
    for (size_t g = 0; g < c->gaps.n; g++)
        assert_true(fabs(d->gaps.ns[g] - c->gaps.ns[g]) <= 50.001);
}

static void keeps_every_field(void **state)
{
    (void)state;
    struct cell_record *r = telling_record();
    char *text = printed(r);
    struct cell_record *back = reread(text);
    assert_same_cell(back, r);
    assert_same_contender(&back->contenders[3], &r->contenders[3]);
    assert_true(back->contenders[1].candidate && !back->contenders[1].invalid);
    assert_string_equal(back->contenders[0].family, "torch.matmul");
    assert_false(back->contenders[0].has_layout_suffix);
    record_free(r);
    record_free(back);
    free(text);
}

static void numbers_print_short(void **state)
{
    (void)state;
    struct cell_record *r = full_record(4000);
    r->contenders[0].timings[0].ns[0] = 4213.549999999;
    r->contenders[0].timings[0].ns[1] = 123456.7;
    r->contenders[0].timings[0].ns[2] = 4213.04;
    for (int i = 3; i < 32; i++)
        r->contenders[0].timings[0].ns[i] = 4000.5;
    char *text = printed(r);
    assert_non_null(strstr(text, "\"device\":\"0.5:8001:"));
    assert_null(strstr(text, "\"status\""));
    assert_null(strstr(text, "\"layout\""));
    assert_non_null(strstr(text, "\"usual\":{\"rung\":\"graph\",\"launches\":48,\"primers\":1}"));
    assert_ptr_equal(strstr(strstr(text, "\"rung\"") + 1, "\"rung\""), NULL); /* said once */
    record_free(r);
    free(text);
}

/* Who differs from the cell's usual says so, also where it has nothing. */
static void differences_from_the_usual_are_kept(void **state)
{
    (void)state;
    struct cell_record *r = full_record(4000);
    r->contenders[0].verification = cJSON_Parse("{\"coverage\":1}");
    r->contenders[1].verification = cJSON_Parse("{\"coverage\":1}");
    r->contenders[2].verification = cJSON_Parse("{\"coverage\":0.5}");
    for (size_t i = 1; i < 7; i++) /* the first one is the odd one out, and the last has none */
        r->contenders[i].deviation = cJSON_Parse(i == 3 ? "[3,4]" : "[1,2]");
    r->contenders[0].deviation = cJSON_Parse("[5,6]");
    strcpy(r->contenders[4].rung, "");
    strcpy(r->contenders[5].rung, "events");
    r->contenders[4].launches = r->contenders[4].primers = 0;
    r->contenders[6].layout = CUDAL2_NN; /* a name that says tn */
    strcpy(r->contenders[7].copy_of, "tiny-tn");
    strcpy(r->contenders[7].family, "tiny");
    r->contenders[7].layout = CUDAL2_TN;
    char *text = printed(r);
    struct cell_record *back = reread(text);
    assert_true(tree_is(back->contenders[1].verification, "{\"coverage\":1}"));
    assert_true(tree_is(back->contenders[2].verification, "{\"coverage\":0.5}"));
    assert_null(back->contenders[3].verification);
    assert_true(tree_is(back->contenders[0].deviation, "[5,6]") && tree_is(back->contenders[3].deviation, "[3,4]"));
    assert_true(tree_is(back->contenders[2].deviation, "[1,2]") && tree_is(back->contenders[6].deviation, "[1,2]"));
    assert_null(back->contenders[7].deviation);
    assert_non_null(strstr(text, "\"deviation\":[1,2]"));
    assert_null(strstr(strstr(text, "\"deviation\":[1,2]") + 1, "\"deviation\":[1,2]")); /* once, for all */
    assert_string_equal(back->contenders[3].rung, "graph");
    assert_string_equal(back->contenders[4].rung, "");
    assert_string_equal(back->contenders[5].rung, "events");
    assert_int_equal(back->contenders[4].launches + back->contenders[4].primers, 0);
    assert_int_equal(back->contenders[5].launches, 48);
    assert_int_equal(back->contenders[6].layout, CUDAL2_NN);
    assert_int_equal(back->contenders[7].layout, CUDAL2_TN);
    assert_string_equal(back->contenders[7].family, "tiny");
    char *again = printed(back);
    assert_string_equal(text, again);
    record_free(r);
    record_free(back);
    free(text);
    free(again);
}

static void a_cell_stays_under_5_kb(void **state)
{
    static const double scales[] = {4213.5, 60e3, 900e3};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct cell_record *r = full_record(scales[i]);
        char *text = printed(r);
        print_message("server cell at %.0f ns: %zu bytes\n", scales[i], strlen(text));
        assert_true(strlen(text) < 5000);
        record_free(r);
        free(text);
    }
}

/* A contender that dies after block 2 and one that joins late need lists of blocks. */
static void odd_series_keep_their_blocks(void **state)
{
    (void)state;
    struct cell_record *r = record_new();
    r->problem = (struct cudal2_problem){.m = 1, .n = 1, .k = 1, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    r->outcome = CELL_OK;
    add_contender(r, "a", "a", CUDAL2_NN);
    add_blocks(r, 2, 8);
    struct contender_record *c = r->contenders;
    series_add(&c->timings[0], 5, 1);
    series_add(&c->timings[1], 0, 2);
    for (unsigned b = 3; b < 16; b += 3)
        series_add(&c->timings[2], b, b);
    char *text = printed(r);
    struct cell_record *back = reread(text);
    const struct series *s = back->contenders[0].timings;
    assert_int_equal(s[0].block[0], 5);
    assert_int_equal(s[1].block[0], 0);
    assert_int_equal(s[2].n, 5);
    assert_int_equal(s[2].block[0], 3);
    assert_int_equal(s[2].block[4], 15);
    record_free(r);
    record_free(back);
    free(text);
}

static void a_cell_without_blocks(void **state)
{
    (void)state;
    struct cell_record *r = record_new();
    r->problem =
        (struct cudal2_problem){.m = 1 << 30, .n = 1 << 30, .k = 1, .dtype = CUDAL2_BF16, .accumulate = CUDAL2_ACC_F32};
    r->outcome = CELL_SKIPPED;
    strcpy(r->reason, "needs 2305843009213693952 bytes");
    r->worst_half_width = INFINITY;
    char *text = printed(r);
    struct cell_record *back = reread(text);
    assert_int_equal(back->blocks, 0);
    assert_int_equal(back->n_contenders, 0);
    assert_true(isnan(back->worst_half_width));
    record_free(r);
    record_free(back);
    free(text);
}

#define EQUAL_PATH(members) "\"event\":\"", "\"equal_path_event\":{" members "},\"event\":\""

/* Each replacement in a good record must be refused, with the place named. */
static const char *const changes[][3] = {
    {"\"m\":4096", "\"m\":0", "$.m"},
    {"\"m\":4096", "\"m\":4096.5", "$.m"},
    {"\"m\":4096,", "", "$.m"},
    {"\"dtype\":\"f16\"", "\"dtype\":\"f8\"", "$.dtype"},
    {"\"mode\":", "\"moode\":", "moode"},
    {"\"group_blocks\":[8,8,8,8]", "\"group_blocks\":[8,8,8,7]", "$.order"},
    {"\"group_blocks\":[8,8,8,8]", "\"group_blocks\":[8,8,8,9]", "$.order"},
    {"\"group_blocks\":[8,8,8,8]", "\"group_blocks\":[999999,999999]", "$.group_blocks[1]"},
    {"\"converged\":true", "\"converged\":1", "$.converged"},
    {"\"name\":\"cudal2-tn\"", "\"name\":\"cudal2-nn\"", "$.contenders[2]"},
    {"\"name\":\"torch.matmul\"", "\"name\":\"\"", "$.contenders[0].name"},
    {"\"name\":\"tiny-nn\"", "\"name\":\"tiny-nn\",\"status\":\"a status that is longer than thirty-one bytes\"",
     "$.contenders[9].status"},
    {"\"name\":\"tiny-nn\"", "\"name\":\"tiny-nn\",\"layout\":\"nt\"", "$.contenders[9].layout"},
    {"\"usual\":{", "\"usual\":{\"status\":\"ok\",", "$.usual"},
    {"\"device\":\"", "\"device\":\"x", "$.contenders[0].device"},
    {"\"device\":\"", "\"device\":null,\"x\":\"", "unknown key"},
    {"\"device\":\"0.5:", "\"device\":\"0.5:9:A\",\"equal_path_wall\":\"0.5:", "$.contenders[0].equal_path_wall"},
    {"\"device\":\"", "\"device\":[1],\"equal_path_wall\":\"", "$.contenders[0].device"},
    {"\"others_every\":4", "\"others_every\":4.5", "$.others_every"},
    {"\"others_every\":4", "\"others_every\":5", "$.contenders[0][\"device-row\"]"},
    {EQUAL_PATH("\"every\":0,\"values\":\"1:1:A\""), "$.contenders[0].equal_path_event.every"},
    {EQUAL_PATH("\"every\":4,\"values\":\"1:1:\""), "$.contenders[0].equal_path_event.values"},
    {EQUAL_PATH("\"block\":[0,1,2],\"values\":\"1:9:ABCD\""), "$.contenders[0].equal_path_event.block"},
    {EQUAL_PATH("\"block\":[0,1,2,3,4],\"values\":\"1:9:ABCD\""), "$.contenders[0].equal_path_event.block"},
    {EQUAL_PATH("\"block\":[0,1,1,2],\"values\":\"1:9:ABCD\""), "$.contenders[0].equal_path_event.block"},
    {EQUAL_PATH("\"block\":[0,0.5],\"values\":\"1:9:AB\""), "$.contenders[0].equal_path_event.block[1]"},
    {EQUAL_PATH("\"every\":4,\"block\":[0],\"values\":\"1:2:A\""), "$.contenders[0].equal_path_event"},
    {"\"gap\":\"100:", "\"gap\":\"x100:", "$.gap"},
    {"\"gap\"", "\"gaps\"", "unknown key"},
    {"\"attributes\":{}", "\"attributes\":1", "attributes"},
    {"\"phase_seconds\":{", "\"phase_seconds\":{\"rest\":1,", "$.phase_seconds"},
    {"\"part_seconds\":{", "\"part_seconds\":{\"rest\":1,", "$.part_seconds"},
    {"\"busy_seconds\":", "\"busy_seconds\":-", "$.busy_seconds"},
    {"\"worker\":1", "\"worker\":\"1\"", "$.worker"},
    {"\"block\":7,", "\"block\":-7,", "$.health[0].block"},
    {"\"sm_mhz\":1980,\"memory_mhz\":2619", "\"sm_mhz\":1980", "$.health[0].memory_mhz"},
};

static void refuses_what_it_did_not_write(void **state)
{
    (void)state;
    struct cell_record *r = full_record(4000);
    r->contenders[0].attributes = cJSON_CreateObject();
    char *text = printed(r);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct error err = {0};
        struct cell_record *out = NULL;
        char *bad = edited(text, changes[i][0], changes[i][1]);
        int code = read_text(bad, &out, &err);
        if (code != EXIT_CODE_DATA || !strstr(err.text, changes[i][2]))
            fail_msg("%s -> %s: code %d, %s", changes[i][0], changes[i][1], code, err.text);
        free(bad);
    }
    record_free(r);
    free(text);
}

static void gaps_are_of_every_block(void **state)
{
    (void)state;
    struct cell_record *r = full_record(4000), *out = NULL;
    struct error err = {0};
    cJSON *tree = record_to_json(r);
    cJSON_ReplaceItemInObject(tree, "gap", cJSON_CreateString("100:1:AB"));
    assert_int_equal(record_from_json(json_root(tree, "test"), &out, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "2 gaps for 32 blocks"));
    cJSON_Delete(tree);
    record_free(r);
}

static void slowdown_drops_its_group(void **state)
{
    (void)state;
    struct cell_record *r = full_record(4000);
    r->health[1].health.slowdown = true; /* sampled after block 15 */
    for (unsigned b = 0; b < r->blocks; b++)
        assert_int_equal(record_block_dropped(r, b), b >= 8 && b < 16);
    assert_false(record_block_dropped(r, 1000));
    record_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_after_one_rounding), cmocka_unit_test(keeps_every_field),
        cmocka_unit_test(numbers_print_short),     cmocka_unit_test(differences_from_the_usual_are_kept),
        cmocka_unit_test(a_cell_stays_under_5_kb), cmocka_unit_test(odd_series_keep_their_blocks),
        cmocka_unit_test(a_cell_without_blocks),   cmocka_unit_test(refuses_what_it_did_not_write),
        cmocka_unit_test(gaps_are_of_every_block), cmocka_unit_test(slowdown_drops_its_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
