/* serve/jobs, serve/clients and serve/http_address: whose turn it is, who may ask, where the server listens. */
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

#include "serve/clients.h"
#include "serve/http_address.h"
#include "serve/jobs.h"

static struct job *add(struct jobs *j, int number, int priority, enum candidate_kind kind)
{
    char id[DIGEST_HEX];
    struct submission *s = calloc(1, sizeof *s);
    s->priority = priority;
    s->kind = kind;
    snprintf(id, sizeof id, "%032x", (unsigned)number);
    struct job *job = jobs_add(j, id, s);
    assert_non_null(job);
    job->sequence = (uint64_t)number;
    snprintf(job->client, sizeof job->client, "%s", number % 2 ? "odd" : "even");
    return job;
}

static void turns(void **state)
{
    struct jobs *j = calloc(1, sizeof *j);
    (void)state;
    struct job *first = add(j, 1, 0, CANDIDATE_NAMED), *second = add(j, 2, 0, CANDIDATE_NAMED);
    struct job *urgent = add(j, 3, 5, CANDIDATE_NAMED), *source = add(j, 4, 9, CANDIDATE_SOURCE);
    assert_ptr_equal(jobs_next(j, JOB_READY, -1, 0), urgent);
    assert_ptr_equal(jobs_next(j, JOB_QUEUED, -1, 0), source); /* needs the compiler first */
    assert_int_equal(jobs_ahead(j, second), 3);
    urgent->state = JOB_MEASURING;
    assert_ptr_equal(jobs_next(j, JOB_READY, -1, 0), first);
    first->not_before_ns = 100;
    assert_ptr_equal(jobs_next(j, JOB_READY, -1, 99), second);
    assert_ptr_equal(jobs_next(j, JOB_READY, -1, 100), first);
    first->failed_on = 1u << 2;
    assert_ptr_equal(jobs_next(j, JOB_READY, 1, 100), first);
    assert_ptr_equal(jobs_next(j, JOB_READY, 2, 100), second);
    assert_int_equal(jobs_count(j, "odd", JOB_STATES), 2);
    jobs_done(j, first);
    assert_int_equal(jobs_count(j, "odd", JOB_STATES), 1);
    assert_int_equal(j->n_done, 1);
    assert_ptr_equal(jobs_find(j, first->id), first);
    assert_null(jobs_find(j, "00000000000000000000000000000009"));
    assert_null(jobs_find(j, "short"));
    jobs_free(j);
    free(j);
}

static struct job *add_kernel(struct jobs *j, int number, int priority, const char *parameters)
{
    struct job *job = add(j, number, priority, CANDIDATE_KERNEL);
    job->submission->parameters = cJSON_Parse(parameters);
    job->submission->share = true;
    job->state = JOB_READY;
    return job;
}

/* Jobs of one client have numbers that are all even, or all odd. */
static void together(void **state)
{
    struct jobs *j = calloc(1, sizeof *j);
    struct job *out[8];
    (void)state;
    struct job *first = add_kernel(j, 10, 0, "{\"BM\":1}");
    struct job *late = add_kernel(j, 14, 0, "{\"BM\":2}"), *early = add_kernel(j, 12, 0, "{\"BM\":3}");
    struct job *same = add_kernel(j, 16, 0, "{\"BM\":3}"), *waits = add_kernel(j, 18, 0, "{\"BM\":4}");
    add_kernel(j, 13, 0, "{\"BM\":5}"); /* another client's */
    add_kernel(j, 20, 1, "{\"BM\":6}"); /* whose turn is another one */
    add_kernel(j, 22, 0, "{\"BM\":7}")->alone = true;
    add_kernel(j, 24, 0, "{\"BM\":8}")->tries = 1;
    add_kernel(j, 26, 0, "{\"BM\":9}")->state = JOB_QUEUED;
    waits->not_before_ns = 100;
    assert_int_equal(jobs_together(j, first, 99, out, 8), 2);
    assert_ptr_equal(out[0], early);
    assert_ptr_equal(out[1], late);
    assert_int_equal(jobs_together(j, first, 100, out, 8), 3);
    assert_int_equal(jobs_together(j, first, 100, out, 1), 1);
    assert_int_equal(jobs_together(j, same, 0, out, 8), 2); /* not with its like */
    first->alone = true;
    assert_int_equal(jobs_together(j, first, 100, out, 8), 0);
    jobs_free(j);
    free(j);
}

static void again(void **state)
{
    struct jobs *j = calloc(1, sizeof *j);
    (void)state;
    struct job *job = add(j, 1, 0, CANDIDATE_NAMED);
    jobs_done(j, job);
    assert_null(jobs_next(j, JOB_READY, -1, 0));
    struct submission *s = calloc(1, sizeof *s);
    assert_int_equal(jobs_reopen(j, job, s), 0);
    assert_ptr_equal(jobs_next(j, JOB_READY, -1, 0), job);
    assert_int_equal(j->n_done, 0);
    jobs_free(j);
    free(j);
}

/* ---- tokens ---- */

static int read_tokens(const char *text, mode_t mode, struct clients *out, struct error *err)
{
    char path[] = "/tmp/cudal2-tokens-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    int code = clients_read(path, out, err);
    unlink(path);
    return code;
}

static void tokens(void **state)
{
    struct clients c;
    struct error err;
    (void)state;
    assert_int_equal(read_tokens("# who\n\nalice 0123456789abcdef\nbob\tfedcba9876543210\n", 0600, &c, &err), 0);
    assert_string_equal(clients_find(&c, "Bearer 0123456789abcdef"), "alice");
    assert_string_equal(clients_find(&c, "bearer fedcba9876543210"), "bob");
    assert_null(clients_find(&c, "Bearer 0123456789abcde"));
    assert_null(clients_find(&c, "Bearer 0123456789abcdefg"));
    assert_null(clients_find(&c, "Bearer "));
    assert_null(clients_find(&c, "0123456789abcdef"));
    assert_null(clients_find(&c, NULL));
    clients_free(&c);
}

static void bad_tokens(void **state)
{
    struct clients c;
    struct error err;
    (void)state;
    assert_int_equal(read_tokens("alice short\n", 0600, &c, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "line 1"));
    assert_int_equal(read_tokens("# nobody\n", 0600, &c, &err), EXIT_CODE_DATA);
    assert_int_equal(read_tokens("a/b 0123456789abcdef\n", 0600, &c, &err), EXIT_CODE_DATA);
    assert_int_equal(read_tokens("a 0123456789abcdef more\n", 0600, &c, &err), EXIT_CODE_DATA);
    assert_int_equal(read_tokens("a 0123456789abcdef\n", 0644, &c, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "chmod 600"));
}

/* ---- addresses ---- */

static void addresses(void **state)
{
    struct http_address a;
    struct error err;
    static const char *const bad[] = {"", "x", "127.0.0.1:", "127.0.0.1:99999", "localhost:80", "1.2.3:4", "::1:80x"};
    (void)state;
    assert_int_equal(http_address_parse("127.0.0.1:8090", &a, &err), 0);
    assert_true(a.is_loopback);
    assert_int_equal(http_address_parse("80", &a, &err), 0);
    assert_true(a.is_loopback);
    assert_int_equal(http_address_parse("0.0.0.0:80", &a, &err), 0);
    assert_false(a.is_loopback);
    assert_int_equal(http_address_parse("[::1]:80", &a, &err), 0);
    assert_true(a.is_loopback);
    assert_string_equal(a.host, "[::1]");
    assert_int_equal(http_address_parse("[::]:80", &a, &err), 0);
    assert_false(a.is_loopback);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(http_address_parse(bad[i], &a, &err), EXIT_CODE_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns),      cmocka_unit_test(together),
                                       cmocka_unit_test(again),      cmocka_unit_test(tokens),
                                       cmocka_unit_test(bad_tokens), cmocka_unit_test(addresses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
