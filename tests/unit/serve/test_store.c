/* serve/store and serve/compiling: what is on disk after a fault, and a compiler that is slow, dies or talks nonsense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/tree.h"
#include "scratch_fixture.h"
#include "serve/compiling.h"

#define ID "0123456789abcdef0123456789abcdef"
#define OTHER "ff23456789abcdef0123456789abcdef"

static struct store store;

static int open_store(void **state)
{
    char path[PATH_MAX];
    struct error err;
    if (scratch_make(state))
        return -1;
    snprintf(path, sizeof path, "%s/jobs-here", scratch);
    return store_open(path, &store, &err);
}

static int close_store(void **state)
{
    store_close(&store);
    return scratch_remove(state);
}

static void put(const char *id, const char *leaf, const char *text)
{
    struct error err;
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    assert_int_equal(store_put(&store, id, leaf, tree, &err), 0);
    cJSON_Delete(tree);
}

struct seen {
    int open, done;
};

static int see(void *context, const char *id, struct json_at submission, bool done, struct error *err)
{
    struct seen *seen = context;
    (void)err;
    assert_string_equal(id, tree_text(submission.node, "id"));
    *(done ? &seen->done : &seen->open) += 1;
    return 0;
}

static void scans(void **state)
{
    struct seen seen = {0};
    struct error err;
    char path[PATH_MAX];
    size_t damaged;
    (void)state;
    put(ID, STORE_SUBMISSION, "{\"id\":\"" ID "\"}");
    put(OTHER, STORE_SUBMISSION, "{\"id\":\"" OTHER "\"}");
    put(OTHER, STORE_OUTCOME, "{\"verdict\":\"ok\"}");
    assert_int_equal(store_scan(&store, see, &seen, &damaged, &err), 0);
    assert_true(seen.open == 1 && seen.done == 1 && damaged == 0);
    assert_int_equal(store_path(&store, ID, STORE_SUBMISSION, path, &err), 0);
    assert_int_equal(truncate(path, 3), 0);
    seen = (struct seen){0};
    assert_int_equal(store_scan(&store, see, &seen, &damaged, &err), 0);
    assert_true(seen.open == 0 && seen.done == 1 && damaged == 1);
}

static void attempts(void **state)
{
    unsigned n;
    (void)state;
    put(ID, STORE_SUBMISSION, "{}");
    store_attempt(&store, ID, &n);
    assert_int_equal(n, 1);
    store_attempt(&store, ID, &n);
    assert_int_equal(n, 2);
    store_remove(&store, ID, STORE_ATTEMPTS);
    store_attempt(&store, ID, &n);
    assert_int_equal(n, 1);
}

static void one_server(void **state)
{
    struct store second;
    struct error err;
    (void)state;
    assert_int_equal(store_open(store.directory, &second, &err), EXIT_CODE_TEMPORARY);
}

/* ---- a compiler ---- */

static volatile int stop;

/* Compiles with a script in the program's place. */
static int compile_with(const char *script, double seconds, cJSON *trees[2], struct error *err)
{
    char program[PATH_MAX], text[1024];
    char source[] = "code";
    cJSON *manifest = cJSON_CreateObject();
    struct submission s = {.kind = CANDIDATE_SOURCE, .n_problems = 1, .source = source, .manifest = manifest};
    const struct evaluation job = {.store = &store, .id = ID, .submission = &s, .stop = &stop};
    const struct compiling c = {.job = &job, .program = program, .seconds = seconds};
    struct error ignored;
    snprintf(program, sizeof program, "%s/compiler", scratch);
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    assert_int_equal(file_write_atomic(program, text, strlen(text), &ignored), 0);
    assert_int_equal(chmod(program, 0700), 0);
    int code = compile_submission(&c, &trees[0], &trees[1], err);
    cJSON_Delete(manifest);
    return code;
}

static void ends(const char *script, double seconds, const char *verdict, const char *words)
{
    cJSON *trees[2];
    struct error err = {0};
    assert_int_equal(compile_with(script, seconds, trees, &err), 0);
    assert_null(trees[0]);
    assert_string_equal(tree_text(trees[1], "verdict"), verdict);
    if (!strstr(tree_text(trees[1], "error"), words))
        fail_msg("\"%s\" is not in: %s", words, tree_text(trees[1], "error"));
    assert_false(cJSON_IsNull(tree_member(trees[1], "reward")));
    cJSON_Delete(trees[1]);
}

/* Time or memory, whatever the compiler says of it. */
static void ends_outgrown(const char *script, double seconds)
{
    ends(script, seconds, "compile_error", ": it takes more than the compiler is given: 90 s and 8 GiB");
}

static void candidates_fault(void **state)
{
    (void)state;
    ends_outgrown("sleep 100", 0.1);
    ends_outgrown("kill -9 $$", 60);
    ends("kill -11 $$", 60, "compile_error", ": the compiler died of it, or it takes more than the compiler is given");
    ends_outgrown("printf '%s' '{\"kernels\":[{\"variants\":[{\"verdict\":\"compile_error\",\"reason\":\"x.cu(1): "
                  "catastrophic error: out of memory\",\"log\":\"x.cu(1): catastrophic error: out of memory\\n"
                  "1 error\"}]}]}'; exit 3",
                  60);
    ends_outgrown("echo 'cudal2-bench: nvrtcCompileProgram: NVRTC_ERROR_OUT_OF_MEMORY: ' >&2; exit 70", 60);
    ends("echo 'cudal2-bench: kernel.json: $.grid: is missing' >&2; exit 65", 60, "invalid", ": kernel.json: $.grid");
    ends("printf '%s' '{\"kernels\":[{\"variants\":[{\"verdict\":\"compile_error\",\"reason\":\"short\","
         "\"log\":\"kernel.cu(1): error: a\\nkernel.cu(2): error: b\"}]}]}'; exit 3",
         60, "compile_error", "kernel.cu(2): error: b");
    ends("echo '{\"kernels\":[{\"variants\":[],\"reason\":\"K is odd\"}]}'; exit 2", 60, "unsupported", "K is odd");
}

static void passes(void **state)
{
    cJSON *trees[2];
    struct error err;
    (void)state;
    assert_int_equal(
        compile_with("echo '{\"kernels\":[{\"variants\":[{\"verdict\":\"ok\",\"registers\":31}]}]}'", 60, trees, &err),
        0);
    assert_null(trees[1]);
    assert_true(tree_number(trees[0], "registers") == 31);
    cJSON_Delete(trees[0]);
}

static void nobodys_fault(void **state)
{
    cJSON *trees[2];
    struct error err;
    (void)state;
    assert_int_equal(compile_with("echo 'cudal2-bench: no NVRTC' >&2; exit 69", 60, trees, &err),
                     EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "no NVRTC"));
    assert_true(!trees[0] && !trees[1]);
    stop = 1;
    assert_int_equal(compile_with("sleep 100", 60, trees, &err), EXIT_CODE_INTERRUPTED);
    stop = 0;
}

/* A manifest cannot lead to another source than the one that came with it. */
static void own_source(void **state)
{
    cJSON *trees[2];
    char *text = NULL;
    struct error err;
    (void)state;
    assert_int_equal(compile_with("echo '{\"kernels\":[{\"variants\":[{\"verdict\":\"ok\"}]}]}'", 60, trees, &err), 0);
    cJSON_Delete(trees[0]);
    assert_int_equal(store_get(&store, ID, "kernel/kernel.json", &text, &err), 0);
    assert_non_null(strstr(text, "\"source\": \"kernel.cu\""));
    free(text);
    assert_int_equal(store_get(&store, ID, "kernel/kernel.cu", &text, &err), 0);
    assert_string_equal(text, "code");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scans, open_store, close_store),
        cmocka_unit_test_setup_teardown(attempts, open_store, close_store),
        cmocka_unit_test_setup_teardown(one_server, open_store, close_store),
        cmocka_unit_test_setup_teardown(candidates_fault, open_store, close_store),
        cmocka_unit_test_setup_teardown(passes, open_store, close_store),
        cmocka_unit_test_setup_teardown(nobodys_fault, open_store, close_store),
        cmocka_unit_test_setup_teardown(own_source, open_store, close_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
