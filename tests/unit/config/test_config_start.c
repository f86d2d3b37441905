/* What a newcomer's config needs: the shapes alone, comments, all faults at once, defaults of the device, its place. */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#define SHAPE "\"shapes\":[{\"m\":1,\"n\":2,\"k\":3}]"

static void accept(const char *text, struct config *c)
{
    struct error err;
    if (config_parse(text, strlen(text), "c.json", c, &err))
        fail_msg("%s", err.text);
}

static void assert_refused(const char *text, const char *message)
{
    struct config c;
    struct error err;
    assert_int_equal(config_parse(text, strlen(text), "c.json", &c, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, message);
}

static char *text_of(const struct config *c)
{
    cJSON *tree = config_to_json(c);
    char *text = json_print(tree, false);
    cJSON_Delete(tree);
    assert_non_null(text);
    return text;
}

static void assert_round_trip(const struct config *c)
{
    struct config back;
    char *first = text_of(c);
    accept(first, &back);
    char *second = text_of(&back);
    assert_string_equal(first, second);
    free(first);
    free(second);
    config_free(&back);
}

/* All that a newcomer has to write. */
static void test_smallest(void **state)
{
    struct config c;
    (void)state;
    accept("{\"shapes\":[\"4096x2048x64\",{\"m\":1,\"n\":1,\"k\":1}]}", &c);
    assert_true(c.n_shapes == 2 && c.shapes[0].m == 4096 && c.shapes[0].n == 2048 && c.shapes[0].k == 64);
    assert_string_equal(c.name, "run");
    assert_true(c.dtype_native && !c.baselines_given && !c.candidates_given);
    assert_round_trip(&c);
    config_free(&c);
    assert_refused("{\"shapes\":[\"1x2x3\",\"1x2x3\"]}", "c.json: $.shapes[1]: repeats $.shapes[0] (1x2x3)");
    static const char *const bad[] = {"1x2", "1x2x3x4", "0x1x1", "1x1x1048577", "ax1x1", "1X1X1", "", "12345678x1x1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[100], message[160];
        snprintf(text, sizeof text, "{\"shapes\":[\"%s\"]}", bad[i]);
        snprintf(message, sizeof message,
                 "c.json: $.shapes[0]: expected MxNxK, as in 64x96x128, each from 1 to 1048576, found \"%s\"", bad[i]);
        assert_refused(text, message);
    }
}

static void test_comments(void **state)
{
    struct config c;
    (void)state;
    accept("// head\n{\"shapes\": /* two\nlines */ [\"1x2x3\", // one\n \"4x5x6\",\n],\n// \"dtype\": \"x\",\n"
           "\"candidates\": [\"a//b.so\", \"/*x*/.so\", \",].so\"],}//",
           &c);
    assert_int_equal(c.n_shapes, 2);
    assert_string_equal(c.candidates[0], "a//b.so");
    assert_string_equal(c.candidates[1], "/*x*/.so");
    assert_string_equal(c.candidates[2], ",].so");
    config_free(&c);
    assert_refused("{\n/* never", "c.json: line 2: the comment has no end (expected */)");
    assert_refused("{\"shapes\":[,]}", "c.json: line 1, column 12: expected a value");
    assert_refused("{\"shapes\":[\"1x1x1\",,]}", "c.json: line 1, column 20: expected a value");
    assert_refused("/* places\nstay */ {x}", "c.json: line 2, column 10: expected a key in quotes");
}

/* Every fault has its line; what can only be told of faultless keys is not told of others. */
static void test_all_faults_at_once(void **state)
{
    char path[] = "/tmp/test_config_XXXXXX";
    struct config c;
    struct faults faults = {.count = 0};
    (void)state;
    static const char text[] =
        "{\"bogus\":1,\"nam\":2,\"shapes\":[\"64x64x64\",{\"m\":0,\"n\":1},\"4x\"],\"dtype\":\"fp16\",\"modes\":[\"x\","
        "\"y\"],"
        "\"baselines\":[\"a b\",\"c\",\"c\"],\"stop\":{\"min_blocks\":-1},\"limits\":3,\"aa\":1}";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    config_read(path, &c, &faults);
    static const char *const places[] = {": $: unknown key \"bogus\"",
                                         ": $: unknown key \"nam\"",
                                         ": $.shapes[1].m: expected",
                                         ": $.shapes[1].k: is missing",
                                         ": $.shapes[2]: expected",
                                         ": $.dtype: expected",
                                         ": $.modes[0]: expected",
                                         ": $.modes[1]: expected",
                                         ": $.baselines[0]: expected",
                                         ": $.baselines[2]: \"c\" is there",
                                         ": $.limits: expected an object",
                                         ": $.stop.min_blocks: expected",
                                         ": $.aa: expected"};
    size_t n = sizeof places / sizeof places[0];
    assert_int_equal(faults.count, n);
    const char *at = faults.lines.bytes;
    for (size_t i = 0; i < n; i++, at = strchr(at, '\n') + 1) {
        assert_memory_equal(at, path, strlen(path));
        if (strncmp(at + strlen(path), places[i], strlen(places[i])) != 0)
            fail_msg("expected %s at %s", places[i], at);
    }
    faults_free(&faults);
    config_free(&c);
    close(fd);
    unlink(path);
}

/* Beyond what a screen holds they are counted. */
static void test_many_faults(void **state)
{
    char path[] = "/tmp/test_config_XXXXXX";
    struct config c;
    struct faults faults = {.count = 0};
    (void)state;
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("{\"shapes\":[0", file);
    for (int i = 1; i < 100; i++)
        fprintf(file, ",%d", i);
    fputs("]}", file);
    fclose(file);
    config_read(path, &c, &faults);
    assert_int_equal(faults.count, 100);
    size_t lines = 0;
    for (const char *at = faults.lines.bytes; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, FAULTS_SHOWN);
    faults_free(&faults);
    config_free(&c);
    unlink(path);
}

static void test_follows_the_device(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    accept("{" SHAPE "}", &c);
    assert_int_equal(config_settle(&c, false, &err), 0);
    assert_string_equal(c.baselines[0], "torch.matmul");
    assert_string_equal(c.baselines[1], "openblas");
    assert_null(c.baselines[2]);
    assert_string_equal(c.candidates[0], "blocked");
    assert_null(c.candidates[1]);
    config_free(&c);
    accept("{" SHAPE "}", &c);
    assert_int_equal(config_settle(&c, true, &err), 0);
    assert_string_equal(c.baselines[3], "cublaslt-autotuning");
    assert_string_equal(c.baselines[4], "cublaslt-autotuning-32f"); /* f16 is the default, and nobody has to use it */
    assert_null(c.baselines[5]);
    assert_string_equal(c.candidates[0], "cudal2");
    config_free(&c);
    static const char *const narrow[] = {"\"accumulate\":[\"f32\"]", "\"protocol\":\"paper\""};
    for (size_t i = 0; i < 2; i++) {
        char text[200];
        snprintf(text, sizeof text, "{" SHAPE ",%s}", narrow[i]);
        accept(text, &c);
        assert_int_equal(config_settle(&c, true, &err), 0);
        assert_string_equal(c.baselines[3], "cublaslt-autotuning");
        assert_null(c.baselines[4]);
        config_free(&c);
    }
    accept("{" SHAPE ",\"baselines\":[\"blocked\"]}", &c); /* who is a baseline is no candidate as well */
    assert_int_equal(config_settle(&c, false, &err), 0);
    assert_string_equal(c.baselines[0], "blocked");
    assert_null(c.candidates[0]);
    config_free(&c);
    accept("{" SHAPE ",\"baselines\":[\"openblas\"]}", &c); /* baselines alone race one another */
    assert_int_equal(config_settle(&c, false, &err), 0);
    assert_null(c.candidates[0]);
    config_free(&c);
    accept("{" SHAPE ",\"candidates\":[]}", &c); /* none is a choice too */
    assert_int_equal(config_settle(&c, false, &err), 0);
    assert_null(c.candidates[0]);
    config_free(&c);
}

/* Paths start where the file is, and so does its name. */
static void test_starts_at_its_file(void **state)
{
    char directory[] = "/tmp/test_config_XXXXXX", path[80], expected[200];
    struct config c;
    struct error err;
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/my.config.json", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{" SHAPE "\n,\"baselines\":[\"cublas\",\"/a/b.so\"],\"candidates\":[\"x.so\",\"./y.json\",\"../z.so\"]}",
          file);
    fclose(file);
    assert_int_equal(config_load(path, &c, &err), 0);
    assert_string_equal(c.name, "my.config");
    assert_string_equal(c.baselines[0], "cublas");
    assert_string_equal(c.baselines[1], "/a/b.so");
    static const char *const rest[] = {"x.so", "y.json", "../z.so"};
    for (int i = 0; i < 3; i++) {
        snprintf(expected, sizeof expected, "%s/%s", directory, rest[i]);
        assert_string_equal(c.candidates[i], expected);
    }
    config_free(&c);
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest),           cmocka_unit_test(test_comments),
        cmocka_unit_test(test_all_faults_at_once), cmocka_unit_test(test_many_faults),
        cmocka_unit_test(test_follows_the_device), cmocka_unit_test(test_starts_at_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
