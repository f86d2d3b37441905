/* baselines/cublaslt_enumerate: which algorithms stand around the heuristic's answers, on a library that is a few
 * tables: an algorithm's words are its attributes, and it takes what `accepts` says. Links the baseline's own object.
 */
#include "../baselines/cublaslt_enumerate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TILES 600 /* as many as a library may have, of which all suit but every fourth */
#define CAPACITY 400
#define CLUSTER CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID

struct library {
    int answers; /* of the heuristic; negative: it fails with that */
    size_t workspace_of_split;
    uint32_t custom_max;
    bool splits;
};

static struct library library;

static uint64_t *word(cublasLtMatmulAlgo_t *a, cublasLtMatmulAlgoConfigAttributes_t which)
{
    return &a->data[which % 8];
}

static uint32_t value(const cublasLtMatmulAlgo_t *a, cublasLtMatmulAlgoConfigAttributes_t which)
{
    return (uint32_t)a->data[which % 8];
}

static void start(const struct library *as)
{
    library = *as;
}

/* ---- the library ---- */

cublasStatus_t CUBLASWINAPI cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *a,
                                                              cublasLtMatmulAlgoCapAttributes_t which, void *out,
                                                              size_t size, size_t *written)
{
    static uint32_t tiles[TILES];
    (void)a;
    for (uint32_t i = 0; i < TILES; i++)
        tiles[i] = 10 + i;
    uint32_t one = which == CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX       ? library.custom_max
                   : which == CUBLASLT_ALGO_CAP_SPLITK_SUPPORT        ? library.splits
                   : which == CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK ? 6
                                                                      : 0;
    const void *from = which == CUBLASLT_ALGO_CAP_TILE_IDS ? (const void *)tiles : (const void *)&one;
    *written = which == CUBLASLT_ALGO_CAP_TILE_IDS ? sizeof tiles : which == CUBLASLT_ALGO_CAP_STAGES_IDS ? 0 : 4;
    if (size < *written)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(out, from, *written);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *a,
                                                                 cublasLtMatmulAlgoConfigAttributes_t which, void *out,
                                                                 size_t size, size_t *written)
{
    uint32_t wide = value(a, which);
    uint16_t narrow = (uint16_t)wide;
    memcpy(out, size == 2 ? (const void *)&narrow : (const void *)&wide, size);
    *written = size;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *a,
                                                                 cublasLtMatmulAlgoConfigAttributes_t which,
                                                                 const void *from, size_t size)
{
    uint32_t wide = 0;
    uint16_t narrow = 0;
    memcpy(size == 2 ? (void *)&narrow : (void *)&wide, from, size);
    *word(a, which) = size == 2 ? narrow : wide;
    return CUBLAS_STATUS_SUCCESS;
}

/* Tiles 13, 17, ... suit nothing; pieces of K want a reduction, one piece wants none. */
static bool accepts(const cublasLtMatmulAlgo_t *a)
{
    bool split = value(a, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) > 1;
    return value(a, CUBLASLT_ALGO_CONFIG_TILE_ID) % 4 != 1 && value(a, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID) < 6 &&
           split == (value(a, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) != 0);
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                                    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                    const cublasLtMatmulAlgo_t *algo,
                                                    cublasLtMatmulHeuristicResult_t *result)
{
    (void)handle, (void)operation, (void)a, (void)b, (void)c, (void)d;
    result->workspaceSize = value(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) > 1 ? library.workspace_of_split : 0;
    return accepts(algo) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* The heuristic: tile 10, then 11, ... in one piece. */
int lt_all_algorithms(const struct lt_matmul *m, size_t workspace_bytes, struct lt_algorithm *out, char *why)
{
    (void)m, (void)workspace_bytes;
    for (int i = 0; i < library.answers; i++) {
        memset(&out[i], 0, sizeof out[i]);
        *word(&out[i].algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID) = 10u + (unsigned)i;
        *word(&out[i].algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) = 1;
    }
    if (library.answers < 0)
        snprintf(why, CUDAL2_WHY, "the library failed");
    return library.answers;
}

/* ---- tests ---- */

static struct lt_algorithm list[CAPACITY];

static int enumerate(int capacity)
{
    const struct lt_matmul m = {0};
    const struct cudal2_setup setup = {.problem = {.m = 64, .n = 128, .k = 256}, .workspace_bytes = 1000};
    char why[CUDAL2_WHY] = "";
    return lt_enumerate(&m, &setup, list, capacity, why);
}

static bool has(int n, uint32_t tile, uint32_t split, uint32_t custom, uint32_t cluster)
{
    for (int i = 0; i < n; i++) {
        const cublasLtMatmulAlgo_t *a = &list[i].algorithm;
        if (value(a, CUBLASLT_ALGO_CONFIG_TILE_ID) == tile && value(a, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) == split &&
            value(a, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION) == custom &&
            value(a, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID) == cluster)
            return true;
    }
    return false;
}

static void answers_come_first_and_their_neighbours_follow(void **state)
{
    (void)state;
    start(&(struct library){.answers = 2, .custom_max = 3, .splits = true});
    int n = enumerate(CAPACITY);
    assert_true(n > 2);
    assert_int_equal(value(&list[0].algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID), 10);
    assert_int_equal(value(&list[1].algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID), 11);
    assert_true(has(n, 10, 1, 3, 0) && has(n, 11, 1, 0, 5) && has(n, 11, 16, 0, 0));
}

/* Tiles are many, and do not take the room of the rest: both answers are varied in every attribute and in two at once.
 */
static void there_is_room_for_all_kinds(void **state)
{
    size_t tiles = 0, twice[2] = {0}, splits[2] = {0};
    (void)state;
    start(&(struct library){.answers = 2, .custom_max = 31, .splits = true});
    int n = enumerate(CAPACITY);
    for (int i = 2; i < n; i++) {
        const cublasLtMatmulAlgo_t *a = &list[i].algorithm;
        uint32_t tile = value(a, CUBLASLT_ALGO_CONFIG_TILE_ID), split = value(a, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
        bool custom = value(a, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION), cluster = value(a, CLUSTER);
        if (tile >= 12) {
            tiles++;
            continue;
        }
        twice[tile - 10] += (split > 1) + custom + cluster > 1;
        splits[tile - 10] += split > 1;
    }
    assert_true(tiles > CAPACITY / 4 && tiles < CAPACITY / 2);
    assert_true(twice[0] > 20 && twice[1] > 20 && splits[0] > 10 && splits[1] > 10);
}

static void only_what_the_library_takes_and_once(void **state)
{
    (void)state;
    start(&(struct library){.answers = 2, .custom_max = 3, .splits = true});
    int n = enumerate(CAPACITY);
    for (int i = 0; i < n; i++) {
        assert_true(accepts(&list[i].algorithm));
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(&list[i].algorithm, &list[j].algorithm, sizeof list[i].algorithm);
    }
}

static void too_much_workspace_is_left_out(void **state)
{
    (void)state;
    start(&(struct library){.answers = 1, .splits = true, .workspace_of_split = 1001});
    int n = enumerate(CAPACITY);
    assert_true(n > 1);
    for (int i = 0; i < n; i++)
        assert_int_equal(value(&list[i].algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), 1);
}

static void the_list_is_full_at_its_capacity_and_repeats(void **state)
{
    (void)state;
    static struct lt_algorithm before[CAPACITY];
    start(&(struct library){.answers = 2, .custom_max = 31, .splits = true});
    int n = enumerate(CAPACITY);
    assert_int_equal(n, CAPACITY);
    memcpy(before, list, sizeof before);
    assert_int_equal(enumerate(CAPACITY), n);
    assert_memory_equal(before, list, sizeof before);
    assert_int_equal(enumerate(1), 1);
}

static void a_library_that_knows_nothing_or_fails_is_passed_on(void **state)
{
    (void)state;
    start(&(struct library){.answers = 0});
    assert_int_equal(enumerate(CAPACITY), 0);
    start(&(struct library){.answers = -CUDAL2_LIBRARY_ERROR});
    assert_int_equal(enumerate(CAPACITY), -CUDAL2_LIBRARY_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_first_and_their_neighbours_follow),
        cmocka_unit_test(there_is_room_for_all_kinds),
        cmocka_unit_test(only_what_the_library_takes_and_once),
        cmocka_unit_test(too_much_workspace_is_left_out),
        cmocka_unit_test(the_list_is_full_at_its_capacity_and_repeats),
        cmocka_unit_test(a_library_that_knows_nothing_or_fails_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
