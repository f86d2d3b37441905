/* serve/warmth: whose jobs may share a worker: the key of a submission of installed code, and that there is none for
 * code that a client brings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "scratch_fixture.h"
#include "serve/warmth.h"

static struct submission s;
static char kernels[160], plugins[160];

static void put(const char *directory, const char *leaf, const char *text)
{
    char path[256];
    struct error err;
    snprintf(path, sizeof path, "%s/%s", directory, leaf);
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), 0);
}

static int begin(void **state)
{
    struct error err;
    char tuned[192];
    if (scratch_make(state))
        return -1;
    snprintf(plugins, sizeof plugins, "%s/plugins", scratch);
    snprintf(kernels, sizeof kernels, "%s/kernels", scratch);
    snprintf(tuned, sizeof tuned, "%s/tuned", kernels);
    if (file_make_directories(plugins, &err) || file_make_directories(tuned, &err))
        return -1;
    put(plugins, "a.so", "one");
    put(kernels, "k.cu", "one");
    put(kernels, "tuned/t.json", "one");
    s = (struct submission){.kind = CANDIDATE_KERNEL, .name = "k", .baseline = "b"};
    return 0;
}

/* "" where there is none; good until the next call but one. */
static const char *key(void)
{
    static char keys[2][DIGEST_HEX];
    static unsigned n;
    const struct evaluation e = {.submission = &s, .plugins = plugins, .kernels = kernels};
    char *out = keys[n++ % 2];
    out[0] = '\0';
    bool has = warmth_key(&e, out);
    assert_int_equal(has, out[0] != 0);
    return out;
}

/* Problems, parameters and what decides when a measurement ends are the next job's own. */
static void one_worker_for_all_parameters(void **state)
{
    (void)state;
    const char *before = key();
    s.half_width = 0.1;
    s.n_problems = 3;
    s.parameters = cJSON_Parse("{\"BM\":64}");
    assert_string_equal(key(), before);
    cJSON_Delete(s.parameters);
}

static void none_for_code_that_comes_with_the_job(void **state)
{
    (void)state;
    s.kind = CANDIDATE_SOURCE;
    for (int format = SOURCE_CUDA; format <= SOURCE_FATBIN; format++) {
        s.format = (enum source_format)format;
        assert_string_equal(key(), "");
    }
}

static void another_for_other_code(void **state)
{
    (void)state;
    const char *before = key();
    snprintf(s.name, sizeof s.name, "l");
    assert_string_not_equal(key(), before);
    before = key();
    s.kind = CANDIDATE_NAMED;
    assert_string_not_equal(key(), before);
    before = key();
    snprintf(s.baseline, sizeof s.baseline, "c");
    assert_string_not_equal(key(), before);
    before = key();
    s.accumulate = CUDAL2_ACC_F32;
    assert_string_not_equal(key(), before);
    before = key();
    s.mode = MODE_SERVER;
    assert_string_not_equal(key(), before);
}

static void another_for_changed_files(void **state)
{
    (void)state;
    const char *before = key();
    assert_string_equal(key(), before);
    before = key();
    put(plugins, "a.so", "other");
    assert_string_not_equal(key(), before);
    before = key();
    put(kernels, "k.cu", "two"); /* of the same size */
    assert_string_not_equal(key(), before);
    before = key();
    put(kernels, "tuned/t.json", "two");
    assert_string_not_equal(key(), before);
    before = key();
    put(plugins, "b.so", "new");
    assert_string_not_equal(key(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_worker_for_all_parameters, begin, scratch_remove),
        cmocka_unit_test_setup_teardown(none_for_code_that_comes_with_the_job, begin, scratch_remove),
        cmocka_unit_test_setup_teardown(another_for_other_code, begin, scratch_remove),
        cmocka_unit_test_setup_teardown(another_for_changed_files, begin, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
