/* choice/rank: a kernel set's first choices for problems that nobody searched, by the model. */
#include "choice/rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "h200_fixture.h"

static struct module_set *set;
static struct ranker *ranker;

static size_t choose(int64_t m, int64_t n, int64_t k, struct cudal2_variant *out)
{
    const struct rank_query query = {.set = set,
                                     .problem = {m, n, k, CUDAL2_BF16, CUDAL2_ACC_F32},
                                     .layout = CUDAL2_TN,
                                     .workspace_bytes = 64 << 20,
                                     .breadth = 8};
    return ranker_choose(ranker, &query, out);
}

/* Every problem that the set takes has a choice, no key twice, and each is a key of the set. */
static void any_problem_has_a_choice(void **state)
{
    static const int64_t sizes[][3] = {{64, 64, 64}, {1, 4096, 4096}, {528, 7608, 2808}, {16384, 16384, 16384}};
    struct cudal2_variant out[8], known;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = choose(sizes[i][0], sizes[i][1], sizes[i][2], out);
        assert_int_equal(n, 8);
        for (size_t a = 0; a < n; a++) {
            assert_true(module_set_key(set, out[a].key, &known));
            for (size_t b = 0; b < a; b++)
                assert_string_not_equal(out[a].key, out[b].key);
        }
    }
}

/* Asked again it is the same space, and the same answer. */
static void a_choice_is_repeated(void **state)
{
    struct cudal2_variant first[8], again[8];
    (void)state;
    assert_int_equal(choose(1000, 2000, 3000, first), 8);
    assert_int_equal(choose(1000, 2000, 3000, again), 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(first[i].key, again[i].key);
}

/* A last wave that is nearly empty is dealt out. */
static void a_ragged_wave_is_dealt_out(void **state)
{
    struct cudal2_variant out[8];
    bool dealt = false;
    (void)state;
    size_t n = choose(1024, 4416, 6976, out); /* dealt out it takes 88 us, 115 at best otherwise (measured) */
    for (size_t i = 0; i < n; i++)
        dealt |= strstr(out[i].key, "STREAM_K=") != NULL && strstr(out[i].key, "STREAM_K=0") == NULL;
    assert_true(dealt);
}

static void what_takes_nothing_has_none(void **state)
{
    struct cudal2_variant out[8];
    (void)state;
    assert_int_equal(choose(0, 64, 64, out), 0);
}

static int open_set(void **state)
{
    (void)state;
    set = open_cudal2();
    ranker = ranker_open(&h200.info, 1);
    return ranker ? 0 : -1;
}

static int close_set(void **state)
{
    (void)state;
    ranker_close(ranker);
    module_set_close(set);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_problem_has_a_choice),
        cmocka_unit_test(a_choice_is_repeated),
        cmocka_unit_test(a_ragged_wave_is_dealt_out),
        cmocka_unit_test(what_takes_nothing_has_none),
    };
    return cmocka_run_group_tests(tests, open_set, close_set);
}
