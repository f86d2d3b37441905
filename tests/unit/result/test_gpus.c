/* result/gpus: whether two GPUs of a run agree, by the cells that both measured. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "result/gpus.h"

/* One look: the candidate takes `candidate`, the reference `reference`. */
static void add(cJSON *looks, const char *device, const char *cell, bool again, const double ns[2])
{
    cJSON *look = cJSON_CreateObject();
    cJSON_AddStringToObject(look, "device", device);
    cJSON_AddStringToObject(look, "cell", cell);
    cJSON_AddBoolToObject(look, "again", again);
    cJSON_AddNumberToObject(cJSON_AddObjectToObject(look, "candidates_ns"), "ours", ns[0]);
    cJSON_AddNumberToObject(cJSON_AddObjectToObject(look, "references_ns"), "theirs", ns[1]);
    cJSON_AddItemToArray(looks, look);
}

/* Cells on each; the second GPU takes `longer` times as long, and its speedups are `faster` times the first's, give or
 * take. A first measurement on the first GPU is apart by `repeats`. */
static cJSON *make_cells(int n, double longer, double faster, double repeats)
{
    static const double scatter[] = {1.001, 0.999, 1.002, 0.998};
    cJSON *looks = cJSON_CreateArray();
    for (int i = 0; i < n; i++) {
        char cell[24];
        double base = 1000 * (i + 1);
        snprintf(cell, sizeof cell, "cell-%d", i);
        add(looks, "GPU-a", cell, false, (double[]){base, 1.2 * base * repeats});
        add(looks, "GPU-a", cell, true, (double[]){base, 1.2 * base});
        add(looks, "GPU-b", cell, true, (double[]){base * longer, 1.2 * base * longer * faster * scatter[i]});
    }
    return looks;
}

static cJSON *make(double longer, double faster, double repeats)
{
    return make_cells(4, longer, faster, repeats);
}

static void test_alike(void **state)
{
    struct gpus_apart out;
    const char *devices[4];
    cJSON *looks = make(1.02, 1, 1.003);
    (void)state;
    assert_int_equal(gpus_list(looks, devices, 4), 2);
    assert_string_equal(devices[1], "GPU-b");
    assert_true(gpus_compare(looks, "GPU-a", "GPU-b", &out));
    assert_int_equal(out.cells, 4);
    assert_true(fabs(expm1(out.longer) - 0.02) < 1e-3); /* it is slower, */
    assert_true(fabs(out.speedups) < 1e-3);             /* for everybody */
    assert_true(out.half_width > 1e-3 && out.half_width < 5e-3);
    assert_true(fabs(out.repeats - log(1.003)) < 1e-6);
    assert_false(out.apart);
    cJSON_Delete(looks);
}

static void test_apart(void **state)
{
    struct gpus_apart out;
    cJSON *looks = make(1, 1.02, 1.003);
    (void)state;
    assert_true(gpus_compare(looks, "GPU-a", "GPU-b", &out));
    assert_true(fabs(expm1(out.speedups) - 0.02) < 1e-3);
    assert_true(out.apart);
    cJSON_Delete(looks);
    looks = make(1, 1.02, 1.03); /* so far apart is one GPU from itself */
    assert_true(gpus_compare(looks, "GPU-a", "GPU-b", &out));
    assert_false(out.apart);
    cJSON_Delete(looks);
}

static bool is_apart(cJSON *looks)
{
    struct gpus_apart out;
    bool compared = gpus_compare(looks, "GPU-a", "GPU-b", &out);
    cJSON_Delete(looks);
    assert_true(compared);
    return out.apart;
}

/* One or two cells have no interval worth its name: a difference must be plain. */
static void test_few_cells(void **state)
{
    (void)state;
    assert_true(is_apart(make_cells(1, 1, 1.05, 1.003)));
    assert_false(is_apart(make_cells(1, 1, 1.02, 1.001))); /* runs differ so much */
    assert_false(is_apart(make_cells(1, 1, 1.05, 1.03)));  /* one GPU does */
    assert_true(is_apart(make_cells(2, 1, 0.95, 1.003)));
    assert_false(is_apart(make_cells(2, 1, 1.02, 1.003))); /* although the two agree by chance */
}

static void test_nothing_to_compare(void **state)
{
    struct gpus_apart out;
    const char *devices[4];
    cJSON *looks = cJSON_Parse("[{\"device\":1},{},3,{\"device\":\"GPU-a\",\"cell\":\"x\",\"again\":true,"
                               "\"candidates_ns\":[1,2],\"references_ns\":{\"r\":-1}}]");
    (void)state;
    assert_int_equal(gpus_list(NULL, devices, 4), 0);
    assert_int_equal(gpus_list(looks, devices, 4), 1);
    assert_false(gpus_compare(looks, "GPU-a", "GPU-b", &out));
    assert_false(gpus_compare(NULL, "GPU-a", "GPU-b", &out));
    add(looks, "GPU-a", "y", true, (double[]){1, 2});
    add(looks, "GPU-b", "y", true, (double[]){1, 2});
    assert_true(gpus_compare(looks, "GPU-a", "GPU-b", &out));
    assert_int_equal(out.cells, 1);
    assert_true(isnan(out.half_width) && !out.apart); /* one cell tells no interval */
    cJSON_Delete(looks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alike), cmocka_unit_test(test_apart),
                                       cmocka_unit_test(test_few_cells), cmocka_unit_test(test_nothing_to_compare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
