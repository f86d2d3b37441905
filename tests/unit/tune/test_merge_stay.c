/* tune/merge: which entries a search leaves as they are though it found a winner of its own: those whose variant it has
 * nothing on, where what it found is over 2% slower. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge_fixture.h"
#include "edited.h"

/* The table's entry of 64 NN, by "first": k:A=2, 1200 of the 1900 ns that lt-tn takes, before k:A=1 with 1100. */
static const struct tuned_entry *nn(const struct tuned_table *t)
{
    return entry_of(t, "cudal2", 64, CUDAL2_NN);
}

/* 64 NN searched again by "second": k:A=7 takes ns. */
static struct cell_record *found(double ns, double reference_ns)
{
    const struct lane lanes[] = {{"lt-nn", NULL, reference_ns, reference_ns, false},
                                 {"cudal2-nn", "k:A=7", ns, ns, true}};
    return cell_with(64, lanes, 2);
}

/* What a search that is slow enough has beside its winner. */
static struct cell_record *found_beside(const char *name, const char *variant)
{
    const struct lane lane = {name, variant, 1600, 1600, false};
    struct cell_record *r = found(1500, 2000);
    add_lane(r, &lane);
    return r;
}

static void assert_stayed(const char *runner_up, double runner_up_ns)
{
    struct tuned_table *t = load();
    const struct tuned_entry *e = nn(t);
    assert_entry(t, e, "k:A=2", 1200, "first");
    assert_true(e->low_ns <= 1200 && e->high_ns >= 1200);
    assert_string_equal(e->reference, "lt-tn");
    assert_true(e->reference_ns == 1900);
    assert_string_equal(t->variants[e->runner_up].key, runner_up);
    assert_true(e->runner_up_ns == runner_up_ns);
    assert_string_equal(t->commit, "second");
    tuned_free(t);
}

/* The search goes into the table that is there, whose entry stays or not. Takes the record over. */
static void settle(struct cell_record *r, bool stays)
{
    struct merge_counts counts = update("second", &r, 1);
    assert_int_equal(counts.stayed, stays);
    assert_int_equal(counts.replaced, !stays);
    assert_int_equal(counts.added, 0);
    assert_int_equal(counts.kept, 3);
    struct tuned_table *t = load();
    assert_string_equal(t->variants[nn(t)->variant].key, stays ? "k:A=2" : "k:A=7");
    assert_string_equal(nn(t)->commit, stays ? "first" : "");
    tuned_free(t);
}

static void what_a_search_missed_and_is_faster_stays(void **state)
{
    (void)state;
    begin();
    settle(found(1500, 2000), true);
    assert_stayed("k:A=7", 1425); /* three quarters of 1900 */
}

/* Here 1224 ns, and against 1900 as much. */
static void two_per_cent_decide(void **state)
{
    (void)state;
    begin();
    settle(found(1223, 1900), false);
    begin();
    settle(found(1225, 1900), true);
    assert_stayed("k:A=7", 1225);
}

static void slower_in_one_way_alone_replaces(void **state)
{
    (void)state;
    begin();
    settle(found(1210, 1500), false); /* this host's baseline is faster */
    begin();
    settle(found(1500, 3000), false); /* this host is slower */
}

static void a_finalist_is_replaced(void **state)
{
    (void)state;
    begin();
    settle(found_beside("cudal2-nn+2", "k:A=2"), false);
    begin();
    struct cell_record *failed = found_beside("cudal2-nn+2", "k:A=2");
    fixture_fail(&failed->contenders[2], "wrong_result", "mismatch");
    settle(failed, false);
}

/* The same variant in the other layout, in another family, or of another problem is another matter. */
static void a_finalist_elsewhere_is_none(void **state)
{
    struct cell_record *tn = found_beside("cudal2-tn+2", "k:A=2"), *other = found_beside("other-nn", "k:A=2"),
                       *records[] = {cell_with(256, usual, 7), found(1500, 2000)};
    (void)state;
    begin();
    settle(tn, true);
    begin();
    settle(other, true);
    begin();
    assert_int_equal(update("second", records, 2).stayed, 1);
    assert_stayed("k:A=7", 1425);
}

/* found() with {"variant": 1} or {"key": ...} rejected. */
static struct cell_record *found_rejecting(const char *tuning)
{
    struct cell_record *r = found(1500, 2000);
    struct contender_record *c = &r->contenders[1];
    cJSON_Delete(c->tuning);
    c->tuning = cJSON_Parse(tuning);
    assert_non_null(c->tuning);
    return r;
}

/* What no longer compiles, or answers wrongly, must not outlive its search. */
static void what_was_struck_off_is_replaced(void **state)
{
#define SEARCHED "{\"source\":\"search\",\"variant\":\"k:A=7\",\"keys\":[\"k:A=7\",\"k:A=2\",\"k:A=3\"],\"rejected\":"
    (void)state;
    begin();
    settle(found_rejecting(SEARCHED "[{\"variant\":2,\"reason\":\"x\"},{\"variant\":1,\"reason\":\"x\"}]}"), false);
    begin();
    settle(found_rejecting(SEARCHED "[{\"key\":\"k:A=2\",\"reason\":\"x\"}]}"), false);
    begin();
    settle(found_rejecting(SEARCHED "[{\"variant\":2,\"reason\":\"x\"},{\"key\":\"k:A=1\",\"reason\":\"x\"}]}"), true);
    begin(); /* before 2026-11-22 a race did not say what it was among */
    settle(found_rejecting("{\"source\":\"search\",\"variant\":\"k:A=7\",\"rejected\":[{\"variant\":1,\"reason\":"
                           "\"x\"}]}"),
           true);
}

/* The table with the first `from` replaced by `to`. */
static void edit_table(const char *from, const char *to)
{
    char *text = read_table(), *other = edited(text, from, to);
    write_table(other);
    free(other);
    free(text);
}

static void without_a_reference_it_is_replaced(void **state)
{
    static const struct lane alone[] = {{"cudal2-nn", "k:A=7", 1500, 1500, true}};
    (void)state;
    begin();
    settle(cell_with(64, alone, 1), false);
    begin();
    edit_table(",\"reference_ns\":1900", "");
    settle(found(1500, 2000), false);
    begin();
    edit_table("\"reference\":\"lt-tn\",", "");
    settle(found(1500, 2000), false);
}

/* The runner-up that the first time left, and the times as a table rounds them, change nothing. */
static void twice_is_as_good_as_once(void **state)
{
    struct cell_record *again[] = {found(1500.37, 1999.91), cell_with(256, usual, 7)},
                       *measured = found_beside("cudal2-nn+2", "k:A=2");
    (void)state;
    begin();
    settle(found(1500.37, 1999.91), true);
    char *once = read_table();
    settle(found(1500.37, 1999.91), true);
    char *twice = read_table();
    assert_string_equal(once, twice);
    assert_int_equal(update("second", again, 2).stayed, 1); /* a second sitting */
    assert_stayed("k:A=7", 1425.4);
    assert_int_equal(update("third", &measured, 1).replaced, 1); /* by a search that has it in its blocks */
    free(once);
    free(twice);
}

/* By the search's own commit: the table says it for all. */
static void an_entry_of_the_same_commit_stays_too(void **state)
{
    struct cell_record *r = found(1500, 2000);
    (void)state;
    begin();
    assert_int_equal(update("first", &r, 1).stayed, 1);
    struct tuned_table *t = load();
    assert_entry(t, nn(t), "k:A=2", 1200, "");
    assert_string_equal(t->commit, "first");
    tuned_free(t);
}

/* ---- keys as the kernels write them ---- */

#define TINY "tiny:BM=16,BN=16,WARPS=4,CLUSTER_K=1,DEPTH=1,ALIGNED=1"
#define TINY_SLOWER "tiny:BM=32,BN=32,WARPS=4,CLUSTER_K=1,DEPTH=1,ALIGNED=1,EARLY=1"

/* Whether an entry of the variant `old` stays when a search of the set finds TINY_SLOWER before `finalist`. */
static bool stays_beside(const char *old, const char *finalist)
{
    const struct lane first[] = {{"lt-nn", NULL, 2000, 2000, false}, {"cudal2-nn", old, 1000, 1000, true}},
                      second[] = {{"lt-nn", NULL, 2000, 2000, false},
                                  {"cudal2-nn", TINY_SLOWER, 1500, 1500, true},
                                  {"cudal2-nn+2", finalist, 1600, 1600, false}};
    unlink(table_path);
    update_one("first", 64, first, 2);
    struct merge_counts counts = update_one("second", 64, second, 3);
    struct tuned_table *t = load();
    assert_string_equal(t->variants[nn(t)->variant].key, counts.stayed ? old : TINY_SLOWER); /* not rewritten */
    tuned_free(t);
    return counts.stayed == 1;
}

static void a_key_may_leave_out_what_has_its_default(void **state)
{
    char *candidates[] = {"no-such-plugin.so", "cudal2", NULL};
    (void)state;
    assert_int_equal(keys_open(candidates, "kernels", &keys, &err), 0);
    assert_false(stays_beside(TINY, TINY ",EARLY=0"));
    assert_true(stays_beside(TINY, TINY ",EARLY=1"));
    assert_false(stays_beside(TINY ",EARLY=0", TINY));
    keys_close(keys);
    keys = NULL;
    assert_true(stays_beside(TINY, TINY ",EARLY=0")); /* nobody says what EARLY is by default */
}

/* `run` passes over it: the search's winner is all that there is. */
static void what_no_kernel_knows_is_replaced(void **state)
{
    char *candidates[] = {"cudal2", NULL};
    (void)state;
    assert_int_equal(keys_open(candidates, "kernels", &keys, &err), 0);
    assert_true(stays_beside(TINY, "tiny"));
    assert_false(stays_beside(TINY ",GONE=1", "tiny"));
    assert_false(stays_beside("gone", "tiny"));
    keys_close(keys);
    keys = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_search_missed_and_is_faster_stays),
        cmocka_unit_test(two_per_cent_decide),
        cmocka_unit_test(slower_in_one_way_alone_replaces),
        cmocka_unit_test(a_finalist_is_replaced),
        cmocka_unit_test(a_finalist_elsewhere_is_none),
        cmocka_unit_test(what_was_struck_off_is_replaced),
        cmocka_unit_test(without_a_reference_it_is_replaced),
        cmocka_unit_test(twice_is_as_good_as_once),
        cmocka_unit_test(an_entry_of_the_same_commit_stays_too),
        cmocka_unit_test(a_key_may_leave_out_what_has_its_default),
        cmocka_unit_test(what_no_kernel_knows_is_replaced),
    };
    return cmocka_run_group_tests(tests, make_table_paths, scratch_remove);
}
