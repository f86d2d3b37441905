/* result/: the file, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/file.h"
#include "result/cell.h"
#include "result_fixture.h"

static void expect_refused(const char *wanted)
{
    cJSON *tree = NULL;
    struct error err = {0};
    assert_int_equal(result_json_from_journal(journal_path, &tree, &err), EXIT_CODE_DATA);
    if (!strstr(err.text, wanted))
        fail_msg("expected \"%s\" in: %s", wanted, err.text);
}

static void a_cell_twice_is_refused(void **state)
{
    (void)state;
    struct journal *j = begin();
    put_cell(j, simple_cell(64));
    put_cell(j, simple_cell(64));
    journal_close(j);
    expect_refused("offline/f16-f32-64x64x64 is there twice");
}

static void journals_of_another_making_are_refused(void **state)
{
    (void)state;
    struct journal *j = begin();
    put_text(j, "surprise", "{}");
    journal_close(j);
    expect_refused("unknown kind \"surprise\"");
    unlink(journal_path);
    j = begin();
    put_text(j, "run", "{}");
    journal_close(j);
    expect_refused("second \"run\"");
    unlink(journal_path);
    j = begin();
    put_text(j, "cell", "{\"m\":1}");
    journal_close(j);
    expect_refused("line 4");
    unlink(journal_path);
    journal_close(new_journal(journal_path));
    expect_refused("no \"run\" line");
    unlink(journal_path);
    expect_refused(journal_path);
}

static void results_are_checked_when_read(void **state)
{
    static const char *const bad[][2] = {
        {"{\"schema\":\"cudal2-bench/result\",\"schema_version\":2,\"cells\":[]}", "version 2"},
        {"{\"schema\":\"other\",\"schema_version\":1,\"cells\":[]}", "$.schema"},
        {"{\"schema\":\"cudal2-bench/result\",\"schema_version\":1}", "$.cells"},
        {"{\"schema\":\"cudal2-bench/"
         "result\",\"schema_version\":1,\"summary\":{},\"cells\":[{\"key\":\"a\",\"m\":1,\"n\":1,\"k\":1},{\"key\":"
         "\"a\",\"m\":1,\"n\":1,\"k\":1}]}",
         "twice"},
        {"{\"schema\":\"cudal2-bench/result\",\"schema_version\":1,\"cells\":[{\"kay\":\"a\"}]}", "$.cells[0].key"},
        {"{\"schema\":\"cudal2-bench/"
         "result\",\"schema_version\":1,\"cells\":[{\"key\":\"a\",\"m\":1,\"n\":1,\"k\":1,\"contenders\":[{}]}]}",
         "$.cells[0].contenders: expected an object, found an array"},
        {"{\"schema\":\"cudal2-bench/"
         "result\",\"schema_version\":1,\"cells\":[{\"key\":\"a\",\"m\":1,\"n\":1,\"k\":1,\"contenders\":{\"x\":[]}}]}",
         "$.cells[0].contenders.x: expected an object, found an array"},
        {"{\"schema\":\"cudal2-bench/"
         "result\",\"schema_version\":1,\"cells\":[{\"key\":\"a\",\"m\":1,\"n\":1,\"k\":1,\"speedups\":{\"x\":1}}]}",
         "$.cells[0].speedups: expected an array"},
        {"{\"schema\":\"cudal2-bench/"
         "result\",\"schema_version\":1,\"cells\":[{\"key\":\"a\",\"m\":1,\"n\":1,\"k\":1,\"speedups\":[[]]}]}",
         "$.cells[0].speedups[0]: expected an object, found an array"},
        {"{\"schema\":\"cudal2-bench/result\",\"schema_", ""},
        {"{\"schema\":\"cudal2-bench/result\",\"schema_version\":1,\"cells\":[NaN]}", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        struct result *tree = NULL;
        assert_int_equal(file_write_atomic(result_path, bad[i][0], strlen(bad[i][0]), &err), 0);
        assert_int_equal(result_read(result_path, &tree, &err), EXIT_CODE_DATA);
        assert_non_null(strstr(err.text, bad[i][1]));
        assert_null(tree);
    }
}

static cJSON *written_and_read(void)
{
    struct error err = {0};
    cJSON *back = NULL;
    assert_int_equal(result_write(journal_path, result_path, &err), 0);
    assert_int_equal(json_read_file(result_path, RESULT_FILE_MAX_BYTES, &back, &err), 0);
    return back;
}

/* The result of the journal, or of the file that was made of it, as structs. */
static struct result *opened_from(bool file)
{
    struct error err = {0};
    struct result *r = NULL;
    assert_int_equal(file ? result_read(result_path, &r, &err) : result_from_journal(journal_path, &r, &err), 0);
    return r;
}

static const struct result_pair *pair_of(const struct result *r, const char *reference)
{
    for (size_t i = 0; i < r->cells[0].n_speedups; i++) {
        const struct result_pair *s = &r->cells[0].speedups[i];
        if (s->timing == TIMING_DEVICE && strcmp(s->candidate, "cudal2-max") == 0 &&
            strcmp(s->reference, reference) == 0)
            return s;
    }
    fail_msg("no speedup over %s", reference);
    return NULL;
}

/* Two candidates and two baselines in both layouts and a copy, timed three ways. */
static struct cell_record *rich_cell(void)
{
    static const char *const names[] = {"torch.matmul", "cublas-nn", "cublas-tn", "cudal2-nn", "cudal2-tn"};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    for (int i = 0; i < 5; i++)
        fixture_contender(r, names[i], i >= 3);
    struct contender_record *copy = fixture_contender(r, "cudal2-nn+copy", true);
    strcpy(copy->copy_of, "cudal2-nn");
    strcpy(copy->family, "cudal2");
    copy->has_layout_suffix = true;
    for (unsigned b = 0; b < 8; b++) {
        unsigned block = fixture_block(r, 4);
        for (size_t i = 0; i < r->n_contenders; i++)
            for (int t = 0; t < TIMING_COUNT; t++)
                series_add(&r->contenders[i].timings[t], block, 1000.0 + 100 * t + 10 * (double)i + b);
    }
    r->contenders[0].verification = cJSON_Parse("{\"coverage\":1}");
    r->contenders[1].verification = cJSON_Parse("{\"coverage\":1}");
    r->contenders[2].verification = cJSON_Parse("{\"coverage\":0.5}");
    r->contenders[1].tuning = cJSON_Parse("{\"variants\":2,\"race_ns\":[1,2],\"keys\":[\"x\",\"y\"]}");
    r->contenders[1].launches = 7;
    strcpy(r->contenders[2].rung, "blocked");
    return r;
}

static void the_file_has_the_headline_of_whole_candidates(void **state)
{
    (void)state;
    struct journal *j = begin();
    put_cell(j, rich_cell());
    journal_close(j);
    cJSON *full = result(), *back = written_and_read();
    const cJSON *all = tree_member(full, "cells")->child, *kept = tree_member(back, "cells")->child;
    assert_true(cJSON_Compare(tree_member(full, "summary"), tree_member(back, "summary"), true));
    assert_non_null(speedup(all, "cudal2-nn", "torch.matmul", "device"));
    assert_non_null(speedup(all, "cudal2-max", "torch.matmul", "wall"));
    assert_null(speedup(kept, "cudal2-nn", "torch.matmul", "device"));
    assert_null(speedup(kept, "cudal2-max", "torch.matmul", "wall"));
    assert_non_null(speedup(kept, "cudal2-max", "cublas-nn", "device"));
    assert_int_equal(cJSON_GetArraySize(tree_member(all, "aa")), TIMING_COUNT);
    assert_int_equal(cJSON_GetArraySize(tree_member(kept, "aa")), 1);
    cJSON_Delete(full);
    cJSON_Delete(back);
}

/* Its stream of launches is the other half of what a chain says (Table 7). */
static void of_chains_the_file_has_every_timing(void **state)
{
    (void)state;
    struct cell_record *r = rich_cell();
    r->mode = MODE_CHAIN;
    r->chain = cJSON_Parse("{\"layers\":4}");
    struct journal *j = begin();
    put_cell(j, r);
    journal_close(j);
    cJSON *back = written_and_read();
    const cJSON *kept = tree_member(back, "cells")->child;
    assert_non_null(speedup(kept, "cudal2-max", "torch.matmul", "device"));
    assert_non_null(speedup(kept, "cudal2-max", "torch.matmul", "event"));
    assert_null(speedup(kept, "cudal2-nn", "torch.matmul", "event"));
    assert_true(tree_number(tree_member(kept, "chain"), "layers") == 4);
    cJSON_Delete(back);
}

static void same_contender(const struct result_contender *a, const struct result_contender *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->family, b->family);
    assert_string_equal(a->status, b->status);
    assert_string_equal(a->layout, b->layout);
    assert_string_equal(a->copy_of, b->copy_of);
    assert_int_equal(a->role, b->role);
    assert_true(a->tflops == b->tflops);
    assert_true(fabs(a->percent_of_roofline - b->percent_of_roofline) <= 1e-3 * a->percent_of_roofline);
}

static void what_the_file_leaves_out_is_put_back(void **state)
{
    static const char *const references[] = {"torch.matmul", "cublas-nn"};
    (void)state;
    struct journal *j = begin();
    put_cell(j, rich_cell());
    journal_close(j);
    cJSON_Delete(written_and_read());
    struct result *full = opened_from(false), *back = opened_from(true);
    assert_int_equal(full->cells[0].n_contenders, back->cells[0].n_contenders);
    for (size_t i = 0; i < full->cells[0].n_contenders; i++)
        same_contender(&full->cells[0].contenders[i], &back->cells[0].contenders[i]);
    for (int i = 0; i < 2; i++) {
        const struct result_pair *a = pair_of(full, references[i]), *b = pair_of(back, references[i]);
        assert_true(a->geomean == b->geomean && a->ci95.low == b->ci95.low && a->ci95.high == b->ci95.high);
        assert_true(a->n == b->n && a->groups == b->groups && a->mean_of_ratios == b->mean_of_ratios);
    }
    result_free(full);
    result_free(back);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_pair(const struct result_pair *a, const struct result_pair *b)
{
    return strcmp(a->candidate, b->candidate) == 0 && strcmp(a->reference, b->reference) == 0 &&
           a->timing == b->timing && same(a->geomean, b->geomean) && same(a->mean_of_ratios, b->mean_of_ratios) &&
           same(a->ratio_of_means, b->ratio_of_means) && same(a->n, b->n) && same(a->groups, b->groups) &&
           same(a->paper_max, b->paper_max) && same(a->geomean_all_blocks, b->geomean_all_blocks) &&
           same(a->uneven, b->uneven) && same(a->ci95.low, b->ci95.low) && same(a->ci95.high, b->ci95.high);
}

/* Every member of a cell that is written is read under the same name: the struct made of a record is the one that its
 * JSON gives. */
static void a_cell_is_read_as_it_was_made(void **state)
{
    const struct peak peak = {1e12, 0, 1e11};
    struct cell_record *r = rich_cell();
    struct made_cell *made = malloc(sizeof *made);
    (void)state;
    assert_true(cell_make(r, &peak, made));
    struct journal *j = begin();
    put_cell(j, rich_cell());
    journal_close(j);
    struct result *read = opened_from(false);
    const struct result_cell *a = &made->cell, *b = &read->cells[0];
    assert_string_equal(a->key, b->key);
    assert_int_equal(a->headline, b->headline);
    assert_true(same(a->floor_ns, b->floor_ns) && same(a->wall_seconds, b->wall_seconds) && a->blocks == b->blocks);
    assert_int_equal(a->n_contenders, b->n_contenders);
    for (size_t i = 0; i < a->n_contenders; i++)
        for (int t = 0; t < TIMING_COUNT; t++) {
            const struct result_timing *x = &a->contenders[i].timings[t], *y = &b->contenders[i].timings[t];
            assert_true(same(x->median_ns, y->median_ns) && same(x->p99_ns, y->p99_ns) && same(x->sd_ns, y->sd_ns));
        }
    assert_int_equal(a->n_speedups, b->n_speedups);
    for (size_t i = 0; i < a->n_speedups; i++)
        assert_true(same_pair(&a->speedups[i], &b->speedups[i]));
    assert_int_equal(a->n_aa, b->n_aa);
    for (size_t i = 0; i < a->n_aa; i++)
        assert_true(same(a->aa[i].geomean, b->aa[i].geomean) && a->aa[i].excludes_one == b->aa[i].excludes_one);
    result_free(read);
    cell_free(made);
    free(made);
    record_free(r);
}

static void what_tables_do_not_read_is_left_out(void **state)
{
    (void)state;
    struct journal *j = begin();
    put_cell(j, rich_cell());
    journal_close(j);
    cJSON *back = written_and_read();
    const cJSON *contenders = tree_member(tree_member(back, "cells")->child, "contenders");
    const cJSON *nn = tree_member(contenders, "cublas-nn"), *tn = tree_member(contenders, "cublas-tn");
    assert_true(tree_number(tree_member(nn, "tuning"), "variants") == 2);
    assert_null(tree_member(tree_member(nn, "tuning"), "race_ns"));
    assert_null(tree_member(tree_member(nn, "tuning"), "keys"));
    assert_null(tree_member(nn, "launches"));
    assert_null(tree_member(nn, "verification"));
    assert_true(tree_number(tree_member(tn, "verification"), "coverage") == 0.5);
    assert_null(tree_member(nn, "rung"));
    assert_string_equal(tree_text(tn, "rung"), "blocked");
    assert_null(tree_member(nn, "family"));
    assert_null(tree_member(nn, "role"));
    cJSON_Delete(back);
}

static void a_file_that_cannot_be_written(void **state)
{
    (void)state;
    struct error err = {0};
    struct journal *j = begin();
    put_cell(j, simple_cell(64));
    journal_close(j);
    assert_int_equal(result_write(journal_path, "/nonexistent/r.json", &err), EXIT_CODE_CANTCREATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cell_twice_is_refused),
        TEST(journals_of_another_making_are_refused),
        TEST(results_are_checked_when_read),
        TEST(the_file_has_the_headline_of_whole_candidates),
        TEST(of_chains_the_file_has_every_timing),
        TEST(what_the_file_leaves_out_is_put_back),
        TEST(what_tables_do_not_read_is_left_out),
        TEST(a_cell_is_read_as_it_was_made),
        TEST(a_file_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
