/* cli/shard: which shard a process is, by --shard and by the words of four schedulers, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/shard.h"

/* NAME=VALUE of the environment; NULL ends it. */
static const char *const *environment;

static const char *lookup(const char *name)
{
    size_t length = strlen(name);
    for (const char *const *e = environment; *e; e++)
        if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
            return *e + length + 1;
    return NULL;
}

#define ARRAY(id, low, high, count)                                                                                    \
    "SLURM_ARRAY_TASK_ID=" id, "SLURM_ARRAY_TASK_MIN=" low, "SLURM_ARRAY_TASK_MAX=" high,                              \
        "SLURM_ARRAY_TASK_COUNT=" count, "SLURM_ARRAY_TASK_STEP=1"
#define STEP(id, count) "SLURM_PROCID=" id, "SLURM_NTASKS=" count, "SLURM_STEP_NUM_TASKS=" count
#define MPI(id, count) "OMPI_COMM_WORLD_RANK=" id, "OMPI_COMM_WORLD_SIZE=" count

struct example {
    const char *option;
    const char *environment[24];
    int code;
    unsigned index, count;
    const char *source;
};

static const struct example examples[] = {
    {NULL, {NULL}, 0, 0, 0, ""},
    {"3/8", {"CUDAL2_SHARD=1/2", NULL}, 0, 3, 8, "--shard"},
    {"none", {"CUDAL2_SHARD=1/2", NULL}, 0, 0, 0, "--shard"},
    {"0/1", {NULL}, 0, 0, 1, "--shard"},
    {NULL, {"CUDAL2_SHARD=1/2", ARRAY("0", "0", "3", "4"), NULL}, 0, 1, 2, "CUDAL2_SHARD"},
    {NULL, {"CUDAL2_SHARD=", ARRAY("0", "0", "3", "4"), NULL}, 0, 0, 4, "SLURM_ARRAY_TASK_ID"},
    {NULL,
     {ARRAY("2", "0", "3", "4"), "JOB_COMPLETION_INDEX=1", "CUDAL2_SHARDS=6", NULL},
     0,
     2,
     6,
     "SLURM_ARRAY_TASK_ID"},
    {NULL, {ARRAY("3", "3", "7", "2"), "CUDAL2_SHARDS=8", NULL}, 0, 3, 8, "SLURM_ARRAY_TASK_ID"},
    {NULL, {"JOB_COMPLETION_INDEX=5", "CUDAL2_SHARDS=6", STEP("0", "2"), NULL}, 0, 5, 6, "JOB_COMPLETION_INDEX"},
    {NULL, {"JOB_COMPLETION_INDEX=5", NULL}, 0, 0, 0, ""},
    {NULL, {STEP("1", "2"), MPI("0", "3"), NULL}, 0, 1, 2, "SLURM_PROCID"},
    {NULL, {MPI("2", "3"), NULL}, 0, 2, 3, "OMPI_COMM_WORLD_RANK"},
    /* One task is no shard, and a batch script of a job of four tasks is one. */
    {NULL, {STEP("0", "1"), NULL}, 0, 0, 0, ""},
    {NULL, {MPI("0", "1"), NULL}, 0, 0, 0, ""},
    {NULL, {"SLURM_PROCID=0", "SLURM_NTASKS=4", NULL}, 0, 0, 0, ""},
    /* What would silently measure another part than was meant. */
    {NULL, {ARRAY("3", "3", "7", "2"), NULL}, EXIT_CODE_USAGE, 0, 0, "SLURM_ARRAY_TASK_ID"},
    {NULL, {ARRAY("3", "3", "3", "1"), NULL}, EXIT_CODE_USAGE, 0, 0, "SLURM_ARRAY_TASK_ID"},
    {NULL, {ARRAY("8", "1", "8", "8"), NULL}, EXIT_CODE_USAGE, 0, 0, "SLURM_ARRAY_TASK_ID"},
    {NULL,
     {"SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX=6", "SLURM_ARRAY_TASK_COUNT=4",
      "SLURM_ARRAY_TASK_STEP=2", NULL},
     EXIT_CODE_USAGE,
     0,
     0,
     "SLURM_ARRAY_TASK_ID"},
    {NULL, {ARRAY("8", "0", "8", "9"), "CUDAL2_SHARDS=8", NULL}, EXIT_CODE_USAGE, 0, 0, "SLURM_ARRAY_TASK_ID"},
    {NULL, {"CUDAL2_SHARD=2", NULL}, EXIT_CODE_USAGE, 0, 0, "CUDAL2_SHARD"},
    {NULL, {"JOB_COMPLETION_INDEX=1", "CUDAL2_SHARDS=many", NULL}, EXIT_CODE_USAGE, 0, 0, "JOB_COMPLETION_INDEX"},
};

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const struct example *e = &examples[i];
        struct shard shard;
        const char *source;
        struct error err = {0};
        environment = e->environment;
        assert_int_equal(shard_resolve(e->option, lookup, &shard, &source, &err), e->code);
        assert_string_equal(source, e->source);
        if (e->code)
            continue;
        assert_int_equal(shard.index, e->index);
        assert_int_equal(shard.count, e->count);
    }
}

static void test_what_is_no_shard(void **state)
{
    static const char *const bad[] = {"",    "3",    "3/",   "/8",  "8/8",     "9/8",   "-1/8",          "+1/8",
                                      "0/0", "1/8/", "1 /8", "x/8", "1/65537", "0x1/8", "1/99999999999", "None"};
    static const char *const none[] = {NULL};
    (void)state;
    environment = none;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct shard shard;
        const char *source;
        struct error err = {0};
        assert_int_equal(shard_resolve(bad[i], lookup, &shard, &source, &err), EXIT_CODE_USAGE);
        assert_non_null(strstr(err.text, "--shard: expected I/N"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_what_is_no_shard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
