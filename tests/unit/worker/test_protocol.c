/* worker/protocol: lines whole or not at all, and requests that are read strictly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/protocol.h"

static int ends[2];

static int open_pair(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends);
}

static int close_pair(void **state)
{
    (void)state;
    close(ends[0]);
    if (ends[1] >= 0)
        close(ends[1]);
    return 0;
}

static void put(const char *text)
{
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
}

static void expect_line(struct line_reader *r, const char *expected)
{
    char *line;
    size_t length;
    assert_int_equal(line_read(r, &line, &length), 1);
    assert_string_equal(line, expected);
    assert_int_equal(length, strlen(expected));
}

static void expect(struct line_reader *r, int outcome)
{
    char *line;
    size_t length;
    assert_int_equal(line_read(r, &line, &length), outcome);
}

static void test_lines_in_pieces(void **state)
{
    struct line_reader r = {.fd = ends[0]};
    (void)state;
    expect(&r, 0);
    put("first\nsec");
    expect_line(&r, "first");
    expect(&r, 0);
    put("ond\n\nthird\n");
    expect_line(&r, "second");
    expect_line(&r, "");
    expect_line(&r, "third");
    expect(&r, 0);
    line_reader_free(&r);
}

/* What a process wrote before it died is read; half a line is not a line. */
static void test_end_of_stream(void **state)
{
    struct line_reader r = {.fd = ends[0]};
    (void)state;
    put("whole\ntorn");
    close(ends[1]);
    ends[1] = -1;
    expect_line(&r, "whole");
    expect(&r, -1);
    line_reader_free(&r);
}

static void test_endless_line_is_an_error(void **state)
{
    struct line_reader r = {.fd = ends[0]};
    static char chunk[65536];
    char *line;
    size_t length, sent = 0;
    int outcome = 0;
    (void)state;
    memset(chunk, 'x', sizeof chunk);
    while (outcome == 0 && sent < 2u * PROTOCOL_MAX_LINE) {
        ssize_t n = write(ends[1], chunk, sizeof chunk);
        sent += n > 0 ? (size_t)n : 0;
        outcome = line_read(&r, &line, &length);
    }
    assert_int_equal(outcome, -1);
    assert_true(sent >= PROTOCOL_MAX_LINE);
    line_reader_free(&r);
}

static void test_write_waits_for_a_slow_reader(void **state)
{
    struct error err;
    size_t size = 3u << 20;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        char *text = malloc(size + 1);
        memset(text, 'y', size);
        text[size] = '\0';
        cJSON *message = cJSON_CreateString(text);
        _exit(line_write(ends[1], message, &err));
    }
    close(ends[1]);
    ends[1] = -1;
    usleep(100000); /* the socket fills up meanwhile */
    struct line_reader r = {.fd = ends[0]};
    char *line;
    size_t length = 0;
    int outcome;
    while ((outcome = line_read(&r, &line, &length)) == 0)
        usleep(1000);
    assert_int_equal(outcome, 1);
    assert_int_equal(length, size + 2); /* and the quotes */
    line_reader_free(&r);
}

/* A worker that is gone must be an error, not a SIGPIPE that ends the run. */
static void test_write_to_nobody(void **state)
{
    struct error err;
    cJSON *message = cJSON_CreateString("x");
    (void)state;
    close(ends[0]);
    assert_int_equal(line_write(ends[1], message, &err), EXIT_CODE_IO);
    ends[0] = open("/dev/null", O_RDONLY);
    cJSON_Delete(message);
}

static struct cell_request sample(void)
{
    struct cell_request r = {
        .problem = {.m = 64, .n = 16384, .k = 7, .dtype = CUDAL2_BF16, .accumulate = CUDAL2_ACC_F32},
        .mode = MODE_SERVER,
        .label = "qkv \"projection\"",
        .seed = UINT64_MAX - 1,
        .nonce = "0123",
        .n_exclusions = 2};
    r.exclusions[0] = (struct exclusion){"cublas-nn", VERDICT_CRASH, "setup", "killed by signal 11"};
    r.exclusions[1] = (struct exclusion){"x-tn", VERDICT_HANG, "measure", ""};
    return r;
}

static void test_cell_request_round_trip(void **state)
{
    struct cell_request in = sample();
    struct cell_request *out = calloc(1, sizeof *out);
    struct error err = {0};
    cJSON *tree = cell_request_to_json(&in);
    char *text = json_print(tree, false);
    cJSON *back = NULL;
    (void)state;
    assert_int_equal(json_parse(text, strlen(text), PROTOCOL_MAX_LINE, "t", &back, &err), 0);
    assert_int_equal(cell_request_from_json(json_root(back, "t"), out, &err), 0);
    assert_true(problem_equal(&in.problem, &out->problem));
    assert_int_equal(out->mode, MODE_SERVER);
    assert_string_equal(out->label, in.label);
    assert_true(out->seed == in.seed); /* beyond 2^53 */
    assert_string_equal(out->nonce, "0123");
    assert_int_equal(out->n_exclusions, 2);
    assert_string_equal(out->exclusions[0].reason, "killed by signal 11");
    assert_string_equal(out->exclusions[1].stage, "measure");
    assert_string_equal(out->exclusions[1].reason, "");
    cJSON_Delete(tree);
    cJSON_Delete(back);
    free(text);
    free(out);
}

static int parse_request(const char *text)
{
    struct cell_request *out = calloc(1, sizeof *out);
    struct error err = {0};
    cJSON *tree = NULL;
    int code = json_parse(text, strlen(text), PROTOCOL_MAX_LINE, "t", &tree, &err);
    if (!code)
        code = cell_request_from_json(json_root(tree, "t"), out, &err);
    cJSON_Delete(tree);
    free(out);
    return code;
}

#define P "\"problem\":{\"m\":1,\"n\":2,\"k\":3,\"dtype\":\"f16\",\"accumulate\":\"f32\"}"
#define REST ",\"mode\":\"offline\",\"label\":\"\",\"seed\":\"1\",\"nonce\":\"n\",\"exclude\":[]}"

static void test_cell_request_is_strict(void **state)
{
    static const char *const bad[] = {
        "[]",
        "{\"type\":\"cell\"" REST,
        "{\"type\":\"cell\",\"extra\":1," P REST,
        "{\"type\":\"cell\",\"problem\":{\"m\":0,\"n\":2,\"k\":3,\"dtype\":\"f16\",\"accumulate\":\"f32\"}" REST,
        "{\"type\":\"cell\",\"problem\":{\"m\":1.5,\"n\":2,\"k\":3,\"dtype\":\"f16\",\"accumulate\":\"f32\"}" REST,
        "{\"type\":\"cell\",\"problem\":{\"m\":1,\"n\":2,\"k\":3,\"dtype\":\"f8\",\"accumulate\":\"f32\"}" REST,
        "{\"type\":\"cell\"," P ",\"mode\":\"batch\",\"label\":\"\",\"seed\":\"1\",\"nonce\":\"n\",\"exclude\":[]}",
        "{\"type\":\"cell\"," P ",\"mode\":\"offline\",\"label\":3,\"seed\":\"1\",\"nonce\":\"n\",\"exclude\":[]}",
        "{\"type\":\"cell\"," P ",\"mode\":\"offline\",\"label\":\"\",\"seed\":\"-1\",\"nonce\":\"n\",\"exclude\":[]}",
        "{\"type\":\"cell\"," P ",\"mode\":\"offline\",\"label\":\"\",\"seed\":\"1\",\"nonce\":\"n\",\"exclude\":{}}",
        "{\"type\":\"cell\"," P
        ",\"mode\":\"offline\",\"label\":\"\",\"seed\":\"1\",\"nonce\":\"n\",\"exclude\":[{\"name\":\"x\"}]}",
        "{\"type\":\"cell\"," P
        ",\"mode\":\"offline\",\"label\":\"\",\"seed\":\"1\",\"nonce\":\"n\",\"exclude\":[{\"name\":\"x\","
        "\"status\":\"a status far too long for its place in the record\",\"stage\":\"\",\"reason\":\"\"}]}",
    };
    (void)state;
    assert_int_equal(parse_request("{\"type\":\"cell\"," P REST), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse_request(bad[i]), EXIT_CODE_DATA);
}

static void test_start_request_round_trip(void **state)
{
    struct error err = {0};
    cJSON *config = cJSON_CreateObject();
    struct start_request in = {.config = config, .device = "cuda:1", .worker = 3, .nonce = "ab"}, out;
    (void)state;
    in.kernel_directory = "/k";
    in.gpu = "GPU-1";
    in.precompile = true;
    in.order = cJSON_Parse("[2,0]");
    in.workers = 2;
    in.n_refused = 1;
    in.refused[0] = (struct exclusion){"evil", VERDICT_CRASH, "load", "killed by signal 6"};
    cJSON *tree = start_request_to_json(&in);
    assert_int_equal(start_request_from_json(json_root(tree, "t"), &out, &err), 0);
    assert_string_equal(out.device, "cuda:1");
    assert_string_equal(out.gpu, "GPU-1");
    assert_int_equal(out.worker, 3);
    assert_string_equal(out.nonce, "ab");
    assert_null(out.plugin_directory);
    assert_string_equal(out.kernel_directory, "/k");
    assert_non_null(out.config);
    assert_true(out.precompile);
    assert_int_equal(out.workers, 2);
    assert_true(cJSON_Compare(out.order, in.order, true));
    assert_int_equal(out.n_refused, 1);
    assert_string_equal(out.refused[0].name, "evil");
    assert_int_equal(out.refused[0].verdict, VERDICT_CRASH);
    assert_string_equal(out.refused[0].reason, "killed by signal 6");
    cJSON_DeleteItemFromObject(tree, "gpu");
    assert_int_equal(start_request_from_json(json_root(tree, "t"), &out, &err), 0);
    assert_null(out.gpu);
    cJSON *evil = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "refused"), 0);
    cJSON_ReplaceItemInObject(evil, "status", cJSON_CreateString("melted"));
    assert_int_equal(start_request_from_json(json_root(tree, "t"), &out, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "there is no verdict \"melted\""));
    cJSON_ReplaceItemInObject(evil, "status", cJSON_CreateString("crash"));
    cJSON_DeleteItemFromObject(tree, "config");
    assert_int_equal(start_request_from_json(json_root(tree, "t"), &out, &err), EXIT_CODE_DATA);
    cJSON_Delete(tree);
    in.n_refused = 0;
    cJSON_ReplaceItemInArray((cJSON *)(uintptr_t)in.order, 1, cJSON_CreateNumber(-1));
    tree = start_request_to_json(&in);
    assert_int_equal(start_request_from_json(json_root(tree, "t"), &out, &err), EXIT_CODE_DATA);
    cJSON_DeleteItemFromObject(tree, "order");
    assert_int_equal(start_request_from_json(json_root(tree, "t"), &out, &err), 0);
    assert_null(out.order);
    cJSON_Delete(tree);
    cJSON_Delete((cJSON *)(uintptr_t)in.order);
    cJSON_Delete(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines_in_pieces, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(test_end_of_stream, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(test_endless_line_is_an_error, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(test_write_waits_for_a_slow_reader, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(test_write_to_nobody, open_pair, close_pair),
        cmocka_unit_test(test_cell_request_round_trip),
        cmocka_unit_test(test_cell_request_is_strict),
        cmocka_unit_test(test_start_request_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
