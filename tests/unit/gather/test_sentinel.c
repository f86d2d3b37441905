/* gather/sentinel: a host that is slower than the others is told, and by how much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "gather/sentinel.h"

/* A shard's record: two contenders, three blocks each, `slower` times as long as is usual. */
static void add(struct sentinels *s, unsigned shard, const char *node, double slower, bool second)
{
    struct sentinel where = {.shard = shard, .device = "GPU-1"};
    struct cell_record *record = record_new();
    struct error err;
    assert_non_null(record);
    snprintf(where.node, sizeof where.node, "%s", node);
    record->n_contenders = second ? 2 : 1;
    for (size_t c = 0; c < record->n_contenders; c++) {
        snprintf(record->contenders[c].name, sizeof record->contenders[c].name, "c%zu", c);
        for (unsigned block = 0; block < 3; block++)
            assert_int_equal(series_add(&record->contenders[c].timings[record->headline], block,
                                        (c == 0 ? 1000 : 5000) * slower + block),
                             0);
    }
    assert_int_equal(sentinels_add(s, &where, record, &err), 0);
    record_free(record);
}

static void test_a_slow_host(void **state)
{
    struct sentinels s = {0};
    struct text text = {0};
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        add(&s, i, i == 3 ? "slow" : i < 3 ? "a" : "b", i == 3 ? 1.25 : 1, true);
    sentinels_rate(&s);
    for (unsigned i = 0; i < 5; i++)
        assert_true(fabs(s.list[i].ratio - (i == 3 ? 1.25 : 1)) < 1e-3);
    cJSON *line = sentinel_line(&s.list[3], "offline/x");
    assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(line, "times_ns"), "c0")->valuedouble == 1251);
    assert_string_equal(cJSON_GetObjectItem(line, "node")->valuestring, "slow");
    cJSON_Delete(line);
    sentinels_text(&s, "offline/x", &text);
    char *slow = strstr(text.bytes, "+25.0%  slow"), *a = strstr(text.bytes, "a  ");
    assert_non_null(slow);
    assert_non_null(a);
    assert_true(slow < a); /* the slowest first, and it alone is marked */
    assert_non_null(strstr(text.bytes, "1 shard  differs"));
    assert_non_null(strstr(text.bytes, "3 shards\n"));
    text_free(&text);
    sentinels_free(&s);
}

/* What one shard lacks (it crashed there) does not count for the others. */
static void test_a_contender_that_is_not_everywhere(void **state)
{
    struct sentinels s = {0};
    (void)state;
    add(&s, 0, "a", 1, true);
    add(&s, 1, "b", 1, false);
    sentinels_rate(&s);
    assert_true(fabs(s.list[0].ratio - 1) < 1e-9);
    sentinels_free(&s);
}

static void test_nothing_in_common(void **state)
{
    struct sentinels s = {0};
    struct text text = {0};
    (void)state;
    add(&s, 0, "a", 1, true);
    s.list[0].times = (cJSON_Delete(s.list[0].times), cJSON_CreateObject());
    sentinels_rate(&s);
    assert_true(isnan(s.list[0].ratio));
    sentinels_text(&s, "offline/x", &text);
    assert_non_null(strstr(text.bytes, "no contender that every shard timed"));
    text_free(&text);
    sentinels_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_slow_host), cmocka_unit_test(test_nothing_in_common),
                                       cmocka_unit_test(test_a_contender_that_is_not_everywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
