/* choice/space and choice/prune: what is legal, what is refused and by which rule, and what is left for a problem. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "h200_fixture.h"
#include "scratch_fixture.h"

static const char manifest[] =
    "{\"schema\":\"cudal2-bench/"
    "kernel\",\"schema_version\":1,\"name\":\"toy\",\"source\":\"toy.cu\",\"entry\":\"gemm\","
    "\"dtypes\":[\"f16\"],\"accumulate\":[\"f16\",\"f32\"],\"layouts\":[\"nn\",\"tn\"],\"parameters\":{"
    "\"BM\":{\"values\":[16,32,64],\"default\":16},\"STAGES\":{\"values\":[1,2,3,4],\"default\":2},"
    "\"SPLIT\":{\"values\":[1,2],\"default\":1}},\"constraints\":["
    "{\"rule\":\"BM*STAGES <= 128\",\"why\":\"stages fit in shared memory\"},"
    "{\"rule\":\"SPLIT == 1 || LAYOUT_TN\",\"why\":\"only TN is split\"}],"
    "\"problem_constraints\":[{\"rule\":\"M % BM == 0\",\"why\":\"no edges\"}],"
    "\"grid\":[\"M/BM\",\"1\",\"SPLIT\"],\"block\":[\"32\",\"1\",\"1\"],\"workspace_bytes\":\"SPLIT > 1 ? 4096 : 0\","
    "\"arguments\":[\"a\",\"b\",\"c\",\"m\"]}";

#define SPACE(rest)                                                                                                    \
    "{\"schema\":\"cudal2-bench/"                                                                                      \
    "kernel-space\",\"schema_version\":1,\"name\":\"toy\",\"kernels\":[{\"kernel\":\"toy\"," rest "}]}"
#define MODEL                                                                                                          \
    "\"model\":{\"m\":\"BM\",\"n\":\"64\",\"step_k\":\"16\",\"stages\":\"STAGES\",\"split\":\"SPLIT\",\"cluster\":"    \
    "\"SPLIT\"}"

static struct module_set *open_toy(void)
{
    struct module_set *set;
    struct error err;
    if (module_set_open(scratch_path("toy.json"), "kernels", &h200, &set, &err))
        fail_msg("%s", err.text);
    return set;
}

static int expand(const struct module_set *set, const char *text, enum cudal2_layout layout, struct space *out,
                  struct error *err)
{
    const struct space_conditions conditions = h200_conditions(CUDAL2_ACC_F16, layout);
    scratch_write("space.json", text);
    return space_open(set, scratch_path("space.json"), &conditions, out, err);
}

/* The same for a space that is a good one. */
static void must_expand(const struct module_set *set, const char *text, enum cudal2_layout layout, struct space *out)
{
    struct error err;
    if (expand(set, text, layout, out, &err))
        fail_msg("%s", err.text);
}

static void check_keys(const struct space *s, const char *const *keys)
{
    struct cudal2_variant own;
    size_t n = 0;
    for (; keys[n]; n++) {
        assert_true(n < s->n_configurations);
        assert_int_equal(space_key(s, &s->configurations[n], own.key, sizeof own.key), 0);
        assert_string_equal(own.key, keys[n]);
    }
    assert_int_equal(s->n_configurations, n);
}

static void products_keep_the_rules(void **state)
{
    static const char *const nn[] = {"toy:BM=32,STAGES=2,SPLIT=1", "toy:BM=64,STAGES=2,SPLIT=1",
                                     "toy:BM=32,STAGES=3,SPLIT=1", NULL};
    static const char text[] =
        SPACE(MODEL ",\"grids\":[{\"BM\":[32,64],\"STAGES\":[2,3],\"SPLIT\":[1,2]},{\"BM\":[64]}]");
    struct module_set *set = open_toy();
    struct space s;
    (void)state;
    must_expand(set, text, CUDAL2_NN, &s);
    check_keys(&s, nn); /* BM 64 STAGES 2 of the second grid is known already */
    assert_int_equal(s.n_refusals, 2);
    assert_string_equal(s.refusals[0].why, "toy: stages fit in shared memory (BM*STAGES <= 128)");
    assert_int_equal(s.refusals[0].count, 2);
    assert_string_equal(s.refusals[1].why, "toy: only TN is split (SPLIT == 1 || LAYOUT_TN)");
    assert_int_equal(s.refusals[1].count, 3);
    assert_true(s.configurations[1].tile.m == 64 && s.configurations[1].tile.stages == 2);
    assert_true(s.configurations[1].tile.n == 64 && s.configurations[1].tile.warps == 1);
    space_free(&s);
    must_expand(set, text, CUDAL2_TN, &s);
    assert_int_equal(s.n_configurations, 6);
    space_free(&s);
    module_set_close(set);
}

/* Every figure of the file arrives in its own member. */
static void figures_have_their_places(void **state)
{
    static const char text[] = SPACE(
        "\"model\":{\"m\":\"BM\",\"n\":\"2\",\"step_k\":\"3\",\"stages\":\"4\",\"split\":\"5\",\"cluster\":\"6\","
        "\"per_sm\":\"7\",\"warps\":\"8\",\"a_readers\":\"9\",\"b_readers\":\"10\",\"slices\":\"11\",\"band\":\"12\","
        "\"wgmma\":\"BM\",\"evicts\":\"1\",\"overlaps\":\"2\",\"exchange\":\"3\",\"copied_n\":\"13\","
        "\"own_rows\":\"BM == 16\",\"streams\":\"2\",\"fetch\":\"128\",\"down\":\"BM == "
        "16\",\"early\":\"1\",\"fits\":\"14\",\"abreast\":\"2\",\"tail\":\"BM == 16\"},\"grids\":[{\"BM\":[16]}]");
    struct module_set *set = open_toy();
    struct space s;
    (void)state;
    must_expand(set, text, CUDAL2_TN, &s);
    const struct model_tile *t = &s.configurations[0].tile;
    assert_true(t->m == 16 && t->n == 2 && t->step_k == 3 && t->stages == 4 && t->split == 5 && t->cluster == 6);
    assert_true(t->per_sm == 7 && t->warps == 8 && t->a_readers == 9 && t->b_readers == 10 && t->slices == 11);
    assert_true(t->band == 12 && t->wgmma && !t->direct && t->evicts && t->own_rows && t->down && t->early);
    assert_int_equal(t->overlaps, 2);
    assert_int_equal(t->exchange, 3);
    assert_int_equal(t->copied_n, 13);
    assert_int_equal(t->streams, 2);
    assert_int_equal(t->fetch, 128);
    assert_int_equal(t->fits, 14);
    assert_int_equal(t->abreast, 2);
    assert_true(t->tail && !t->queue);
    space_free(&s);
    module_set_close(set);
}

static void only_the_largest_legal_value_stays(void **state)
{
    static const char *const keys[] = {"toy:BM=16,STAGES=4,SPLIT=1", "toy:BM=32,STAGES=4,SPLIT=1",
                                       "toy:BM=64,STAGES=2,SPLIT=1", NULL};
    struct module_set *set = open_toy();
    struct space s;
    (void)state;
    must_expand(set, SPACE(MODEL ",\"largest\":\"STAGES\",\"grids\":[{\"BM\":[16,32,64],\"STAGES\":[1,4,2,3]}]"),
                CUDAL2_NN, &s);
    check_keys(&s, keys);
    space_free(&s);
    module_set_close(set);
}

/* A grid may want all values of what the kernel keeps the largest of; what the grids share is there once. */
static void a_grid_may_keep_all_values(void **state)
{
    static const char *const keys[] = {"toy:BM=16,STAGES=4,SPLIT=1", "toy:BM=16,STAGES=1,SPLIT=1",
                                       "toy:BM=16,STAGES=2,SPLIT=1", "toy:BM=32,STAGES=4,SPLIT=1", NULL};
    struct module_set *set = open_toy();
    struct space s;
    (void)state;
    must_expand(set,
                SPACE(MODEL ",\"largest\":\"STAGES\",\"grids\":[{\"BM\":[16],\"STAGES\":[1,4,2]},"
                            "{\"largest\":null,\"BM\":[16],\"STAGES\":[1,4,2]},"
                            "{\"BM\":[32],\"STAGES\":[1,4,2]}]"),
                CUDAL2_NN, &s);
    check_keys(&s, keys);
    space_free(&s);
    module_set_close(set);
}

static void refuse(const struct module_set *set, const char *text, const char *place)
{
    struct space s;
    struct error err;
    if (expand(set, text, CUDAL2_NN, &s, &err) == 0)
        fail_msg("accepted %s", text);
    assert_int_equal(err.code, EXIT_CODE_DATA);
    if (!strstr(err.text, place))
        fail_msg("\"%s\" does not name %s", err.text, place);
    space_free(&s);
}

/* What all grids have in common stands in for a default, and gives way to what a grid names. */
static void grids_have_values_in_common(void **state)
{
    static const char *const keys[] = {"toy:BM=32,STAGES=3,SPLIT=1", "toy:BM=16,STAGES=2,SPLIT=1", NULL};
    static const char text[] = SPACE(MODEL ",\"common\":{\"BM\":[32],\"STAGES\":[3]},\"grids\":[{},{\"BM\":[16],"
                                           "\"STAGES\":[2]}]");
    struct module_set *set = open_toy();
    struct space s;
    (void)state;
    must_expand(set, text, CUDAL2_NN, &s);
    check_keys(&s, keys);
    space_free(&s);
    refuse(set, SPACE(MODEL ",\"common\":{\"BM\":[33]},\"grids\":[{}]"), ".common.BM[0]");
    refuse(set, SPACE(MODEL ",\"common\":[],\"grids\":[{}]"), ".common");
    module_set_close(set);
}

static void bad_spaces_name_the_place(void **state)
{
    struct module_set *set = open_toy();
    (void)state;
    refuse(set, SPACE(MODEL ",\"grids\":[{\"BN\":[32]}]"), "$.kernels[0].grids[0].BN");
    refuse(set, SPACE(MODEL ",\"grids\":[{\"BM\":[48]}]"), "48 is not among the values of BM");
    refuse(set, SPACE(MODEL ",\"grids\":[]"), "$.kernels[0].grids");
    refuse(set, SPACE("\"model\":{\"m\":\"BQ\"},\"grids\":[{}]"), "$.kernels[0].model.m");
    refuse(set, SPACE("\"model\":{\"m\":\"16 +\"},\"grids\":[{}]"), "$.kernels[0].model.m");
    refuse(set, SPACE("\"model\":{\"o\":\"16\"},\"grids\":[{}]"), "unknown key");
    refuse(set, SPACE(MODEL ",\"largest\":\"BK\",\"grids\":[{}]"), "$.kernels[0].largest");
    refuse(set, SPACE(MODEL ",\"grids\":[{\"largest\":\"STAGES\"}]"), "$.kernels[0].grids[0].largest");
    refuse(set,
           "{\"schema\":\"cudal2-bench/"
           "kernel-space\",\"schema_version\":1,\"name\":\"toy\",\"kernels\":[{\"kernel\":\"toys\",\"grids\":[{}]}]}",
           "no such kernel");
    refuse(set,
           "{\"schema\":\"cudal2-bench/"
           "kernel-space\",\"schema_version\":1,\"name\":\"tay\",\"kernels\":[{\"kernel\":\"toy\",\"grids\":[{}]}]}",
           "$.name");
    module_set_close(set);
}

static size_t prune(const struct space *s, enum cudal2_layout layout, const int64_t mnk[3], uint64_t workspace,
                    size_t *out)
{
    const struct prune_request request = {.space = s,
                                          .machine = figures_machine(&h200.info),
                                          .conditions = h200_conditions(CUDAL2_ACC_F16, layout),
                                          .m = mnk[0],
                                          .n = mnk[1],
                                          .k = mnk[2],
                                          .workspace_bytes = workspace,
                                          .breadth = 16};
    return prune_choose(&request, out);
}

/* A kernel refuses a problem by its own rule, the workspace it lacks, or the compiler's verdict. */
static void what_cannot_win_is_passed_over(void **state)
{
    struct module_set *set = open_toy();
    struct space s;
    size_t out[PRUNE_MAX];
    (void)state;
    must_expand(set, SPACE(MODEL ",\"grids\":[{\"BM\":[16,32,64],\"SPLIT\":[1,2]}]"), CUDAL2_TN, &s);
    assert_int_equal(s.n_configurations, 6);
    const int64_t whole[] = {64, 64, 64}, half[] = {32, 64, 64}, odd[] = {33, 64, 64};
    assert_int_equal(prune(&s, CUDAL2_TN, whole, 4096, out), 6);
    assert_int_equal(prune(&s, CUDAL2_TN, whole, 4095, out), 3);
    assert_int_equal(prune(&s, CUDAL2_TN, half, 4095, out), 2);
    assert_int_equal(prune(&s, CUDAL2_TN, odd, 4096, out), 0);
    s.configurations[out[0]].rejected = true;
    s.configurations[0].rejected = true; /* BM 16 */
    assert_int_equal(prune(&s, CUDAL2_TN, half, 4095, out), 1);
    assert_int_equal(out[0], 1);
    space_free(&s);
    module_set_close(set);
}

static bool is_kernel(const struct space *s, size_t configuration, const char *name)
{
    return strcmp(s->kernels[s->configurations[configuration].kernel]->name, name) == 0;
}

static bool has_kernel(const struct space *s, const size_t *out, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (is_kernel(s, out[i], name))
            return true;
    return false;
}

/* The committed space: a good file, and for each class of problem the family that docs/kernels.md says is for it. */
static void the_committed_space_serves_every_class(void **state)
{
    struct module_set *set = open_cudal2();
    size_t out[PRUNE_MAX];
    (void)state;
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        for (int layout = 0; layout < 2; layout++) {
            const struct space_conditions conditions =
                h200_conditions((enum cudal2_accumulate)accumulate, (enum cudal2_layout)layout);
            const int64_t latency[] = {64, 64, 256}, large[] = {4096, 4096, 4096}, split[] = {256, 256, 8192};
            struct space s;
            open_space(set, &conditions, &s);
            assert_in_range(s.n_configurations, 300, SPACE_MAX_CONFIGURATIONS);
            assert_int_equal(prune(&s, (enum cudal2_layout)layout, latency, 64 << 20, out), 16);
            assert_true(has_kernel(&s, out, 16, "tiny")); /* wins it with fp32 */
            assert_int_equal(prune(&s, (enum cudal2_layout)layout, large, 64 << 20, out), 16);
            assert_true(is_kernel(&s, out[0], "persistent"));
            assert_true(s.configurations[out[0]].tile.m * s.configurations[out[0]].tile.n >= 128 * 128);
            assert_int_equal(prune(&s, (enum cudal2_layout)layout, split, 64 << 20, out), 16);
            assert_true(s.configurations[out[0]].tile.split >= 4);
            space_free(&s);
        }
    }
    module_set_close(set);
}

/* A key that names a TAIL besides 0 is one whose tile has it. */
static void the_committed_space_knows_tails(void **state)
{
    const struct space_conditions conditions = h200_conditions(CUDAL2_ACC_F32, CUDAL2_TN);
    struct module_set *set = open_cudal2();
    struct cudal2_variant own;
    struct space s;
    size_t tails = 0;
    (void)state;
    open_space(set, &conditions, &s);
    for (size_t i = 0; i < s.n_configurations; i++) {
        assert_int_equal(space_key(&s, &s.configurations[i], own.key, sizeof own.key), 0);
        assert_int_equal(s.configurations[i].tile.tail, strstr(own.key, "TAIL=") && !strstr(own.key, "TAIL=0"));
        tails += s.configurations[i].tile.tail;
    }
    assert_true(tails > 0);
    space_free(&s);
    module_set_close(set);
}

static size_t count_kernel(const struct space *s, const int64_t mnk[3], const char *kernel)
{
    size_t out[PRUNE_MAX], found = 0;
    for (size_t n = prune(s, CUDAL2_TN, mnk, 64 << 20, out); n-- > 0;)
        found += is_kernel(s, out[n], kernel);
    return found;
}

/* mma.sync keeps its two places of sixteen where it may win, and none where the model has it 1.5 times behind. */
static void a_kernel_far_behind_has_no_share(void **state)
{
    struct module_set *set = open_cudal2();
    const struct space_conditions conditions = h200_conditions(CUDAL2_ACC_F32, CUDAL2_TN);
    const int64_t near[] = {16384, 64, 4096}, far[] = {128, 4096, 2048};
    struct space s;
    (void)state;
    open_space(set, &conditions, &s);
    assert_true(count_kernel(&s, near, "multistage") >= 2);
    assert_int_equal(count_kernel(&s, far, "multistage"), 0);
    space_free(&s);
    module_set_close(set);
}

/* Sizes that are no multiple of 8 are for the kernels that take them. */
static void ragged_sizes_have_a_kernel(void **state)
{
    struct module_set *set = open_cudal2();
    const struct space_conditions conditions = h200_conditions(CUDAL2_ACC_F16, CUDAL2_NN);
    const int64_t ragged[] = {333, 77, 55};
    struct space s;
    size_t out[PRUNE_MAX];
    (void)state;
    open_space(set, &conditions, &s);
    size_t n = prune(&s, CUDAL2_NN, ragged, 64 << 20, out);
    assert_in_range(n, 1, 16);
    for (size_t i = 0; i < n; i++)
        assert_true(is_kernel(&s, out[i], "tiny") || is_kernel(&s, out[i], "decode"));
    space_free(&s);
    module_set_close(set);
}

static size_t count_streams(const struct space *s, const int64_t mnk[3])
{
    size_t out[PRUNE_MAX], found = 0;
    for (size_t n = prune(s, CUDAL2_TN, mnk, 64 << 20, out); n-- > 0;)
        found += s->configurations[out[n]].tile.streams > 0;
    return found;
}

static bool takes(const struct space *s, const int64_t mnk[3], const char *key)
{
    const struct prune_request request = {.space = s,
                                          .machine = figures_machine(&h200.info),
                                          .conditions = h200_conditions(CUDAL2_ACC_F32, CUDAL2_TN),
                                          .m = mnk[0],
                                          .n = mnk[1],
                                          .k = mnk[2]};
    struct configuration c;
    assert_true(space_read_key(s, key, &c));
    return prune_takes(&request, &c);
}

/* In an L2 of 63 MB: 101 MB of weights may leave it first, 34 and 7 may not, whoever proposes the kernel. */
static void what_fits_the_l2_stays_there(void **state)
{
    const char *streams = "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,STREAM=2,FETCH=128";
    const char *stays = "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,STREAM=0,FETCH=128";
    const int64_t small[] = {56, 5000, 640}, middling[] = {64, 4096, 4096}, large[] = {64, 12288, 4096};
    const struct space_conditions conditions = h200_conditions(CUDAL2_ACC_F32, CUDAL2_TN);
    struct module_set *set = open_cudal2();
    struct space s;
    (void)state;
    open_space(set, &conditions, &s);
    assert_int_equal(count_streams(&s, small), 0);
    assert_int_equal(count_streams(&s, middling), 0);
    assert_true(count_streams(&s, large) > 0);
    assert_false(takes(&s, middling, streams));
    assert_true(takes(&s, middling, stays));
    assert_true(takes(&s, large, streams));
    space_free(&s);
    module_set_close(set);
}

static int make_toy(void **state)
{
    if (scratch_make(state))
        return -1;
    scratch_write("toy.json", manifest);
    scratch_write("toy.cu", "extern \"C\" __global__ void gemm(const u16 *a, const u16 *b, u16 *c, int m) {}\n");
    return 0;
}

/* A key is read whether or not a grid has it, with the figures that the space gives its kernel. */
static void keys_are_read_back(void **state)
{
    struct module_set *set = open_cudal2();
    const struct space_conditions on = h200_conditions(CUDAL2_ACC_F32, CUDAL2_TN);
    const struct model_machine machine = figures_machine(&h200.info);
    const struct cudal2_problem problem = {
        .m = 4384, .n = 5096, .k = 1392, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    struct space s;
    struct configuration c;
    struct cudal2_variant key;
    (void)state;
    open_space(set, &on, &s);
    for (size_t i = 0; i < s.n_configurations; i += 7) {
        assert_int_equal(space_key(&s, &s.configurations[i], key.key, sizeof key.key), 0);
        assert_true(space_read_key(&s, key.key, &c));
        assert_int_equal(c.kernel, s.configurations[i].kernel);
        assert_float_equal(model_seconds(&machine, &problem, CUDAL2_TN, &c.tile),
                           model_seconds(&machine, &problem, CUDAL2_TN, &s.configurations[i].tile), 0);
    }
    assert_true(space_read_key(&s, "persistent:BM=128,BN=256,STAGES=2,ACROSS=1,CLUSTER_M=2", &c));
    assert_int_equal(c.tile.across, 1);
    assert_float_equal(c.tile.stages, 2, 0);
    assert_false(space_read_key(&s, "persistent:BM=128,BN=250", &c));
    assert_false(space_read_key(&s, "persistent:BM=64,BN=128,CONSUMERS=2", &c)); /* breaks a rule */
    assert_false(space_read_key(&s, "another:BM=128", &c));
    space_free(&s);
    module_set_close(set);
}

/* A GPC of an H200 has no place for all clusters of four or eight that its multiprocessors would make: more of them
 * than run at once would begin when others have done all their tiles. */
static void wide_clusters_have_places_at_once(void **state)
{
    static const struct {
        const char *key;
        unsigned ctas;
    } grids[] = {{"persistent:BM=128,BN=128", 132},
                 {"persistent:BM=128,BN=128,CLUSTER_M=2", 132},
                 {"persistent:BM=128,BN=128,CLUSTER_M=4", 120},
                 {"persistent:BM=128,BN=128,CLUSTER_M=2,CLUSTER_N=2", 120},
                 {"persistent:BM=128,BN=128,CLUSTER_M=2,CLUSTER_N=4", 120},
                 {"persistent:BM=64,BN=64,CONSUMERS=1,CLUSTER_M=4,MIN_BLOCKS=2", 240}};
    struct module_set *set = open_cudal2();
    const struct space_conditions on = h200_conditions(CUDAL2_ACC_F32, CUDAL2_TN);
    const struct cudal2_problem problem = {
        .m = 8192, .n = 8192, .k = 1024, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    const struct manifest_conditions conditions = manifest_conditions_on(&h200.info, &problem, CUDAL2_TN);
    struct space s;
    (void)state;
    open_space(set, &on, &s);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct configuration c;
        struct manifest_plan plan;
        char why[CUDAL2_WHY];
        assert_true(space_read_key(&s, grids[i].key, &c));
        assert_int_equal(manifest_plan(s.kernels[c.kernel], &conditions, c.values, &plan, why), CUDAL2_OK);
        assert_int_equal(plan.grid[0], grids[i].ctas);
    }
    space_free(&s);
    module_set_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_keep_the_rules),
        cmocka_unit_test(figures_have_their_places),
        cmocka_unit_test(keys_are_read_back),
        cmocka_unit_test(wide_clusters_have_places_at_once),
        cmocka_unit_test(only_the_largest_legal_value_stays),
        cmocka_unit_test(a_grid_may_keep_all_values),
        cmocka_unit_test(bad_spaces_name_the_place),
        cmocka_unit_test(grids_have_values_in_common),
        cmocka_unit_test(what_cannot_win_is_passed_over),
        cmocka_unit_test(the_committed_space_serves_every_class),
        cmocka_unit_test(the_committed_space_knows_tails),
        cmocka_unit_test(a_kernel_far_behind_has_no_share),
        cmocka_unit_test(ragged_sizes_have_a_kernel),
        cmocka_unit_test(what_fits_the_l2_stays_there),
    };
    return cmocka_run_group_tests(tests, make_toy, scratch_remove);
}
