/* run/named: who was named and measured nowhere, over the records of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "run/named.h"

struct spec {
    const char *name, *status, *reason;
};

/* One cell with these contenders, up to the first without a name. */
static void count_cell(struct named *named, const struct spec specs[])
{
    struct cell_record *r = record_new();
    for (size_t i = 0; specs[i].name; i++) {
        struct contender_record *c = &r->contenders[r->n_contenders++];
        strcpy(c->name, specs[i].name);
        record_set_verdict(c, specs[i].status);
        strcpy(c->reason, specs[i].reason);
        strcpy(c->copy_of, strstr(c->name, "+copy") ? "x" : "");
    }
    named_count(named, r);
    record_free(r);
}

static const char config_text[] =
    "{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"t\",\"shapes\":[{\"m\":1,\"n\":1,\"k\":1}],"
    "\"baselines\":[\"lib\",\"there\"],\"candidates\":[\"a/mine.so\"],\"optional\":[\"lib\"]}";

/* Two cells; the words "" for a run in which nobody is missed. */
static void expect(const struct spec first[], const struct spec second[], const char *words)
{
    struct config config;
    struct error err = {0};
    struct named named = {.n = 0};
    assert_int_equal(config_parse(config_text, strlen(config_text), "t", &config, &err), 0);
    cJSON *origins =
        cJSON_Parse("{\"lib\":[\"lib-nn\"],\"there\":[\"there\"],\"a/mine.so\":[\"mine-nn\",\"mine-tn\"]}");
    count_cell(&named, first);
    count_cell(&named, second);
    int code = named_verdict(&named, origins, &config, &err);
    assert_int_equal(code, words[0] ? EXIT_CODE_INCOMPARABLE : 0);
    assert_string_equal(err.text, words);
    cJSON_Delete(origins);
    config_free(&config);
}

#define OK(name)                                                                                                       \
    {                                                                                                                  \
        name, "ok", ""                                                                                                 \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        NULL, NULL, NULL                                                                                               \
    }

static void everybody_was_measured_somewhere(void **state)
{
    (void)state;
    expect((const struct spec[]){OK("lib-nn"), OK("there"), {"mine-nn", "crash", "signal 11"}, OK("mine-tn"), END},
           (const struct spec[]){OK("lib-nn"), OK("there"), OK("mine-nn"), {"mine-tn", "unsupported", "n % 8"}, END},
           "");
}

static void a_fault_in_every_cell(void **state)
{
    (void)state;
    expect((const struct spec[]){OK("there"), {"mine-nn", "unsupported", "odd"}, OK("mine-tn"), END},
           (const struct spec[]){OK("there"), {"mine-nn", "crash", "signal 11"}, OK("mine-tn"), END},
           "a/mine.so (mine-nn) was measured in no cell: crash: signal 11");
}

static void one_layout_that_is_never_supported(void **state)
{
    (void)state;
    expect((const struct spec[]){OK("there"), OK("mine-nn"), {"mine-tn", "unsupported", "nn only"}, END},
           (const struct spec[]){END}, "");
}

static void what_is_optional_may_lack_but_not_fail(void **state)
{
    (void)state;
    expect((const struct spec[]){{"lib-nn", "unavailable", "not built"}, OK("there"), OK("mine-nn"), END},
           (const struct spec[]){{"lib-nn", "skipped", "needs 9 bytes"}, END}, "");
    expect((const struct spec[]){{"lib-nn", "setup_error", "no handle"}, OK("there"), OK("mine-nn"), END},
           (const struct spec[]){END}, "lib (lib-nn) was measured in no cell: setup_error: no handle");
}

static void what_is_named_may_not_lack(void **state)
{
    (void)state;
    expect((const struct spec[]){{"there", "unavailable", "not built"}, OK("mine-nn"), END}, (const struct spec[]){END},
           "there was measured in no cell: unavailable: not built");
    expect(
        (const struct spec[]){{"there", "skipped", "needs 9 bytes"}, {"mine-nn", "skipped", "needs 9 bytes"}, END},
        (const struct spec[]){{"there", "hang", "60 s"}, {"there+2", "hang", "6 s"}, {"mine-nn", "left_out", "x"}, END},
        "there was measured in no cell: hang: 60 s; and 1 more of those named; the table says why");
}

static void places_count_and_copies_do_not(void **state)
{
    (void)state;
    expect((const struct spec[]){OK("there+2"), {"there", "unsupported", "rejected"}, OK("mine-nn"), END},
           (const struct spec[]){END}, "");
    expect((const struct spec[]){OK("there+copy"), {"there", "unsupported", "never"}, OK("mine-nn"), END},
           (const struct spec[]){END}, "there was measured in no cell: unsupported: never");
}

static void a_worker_that_does_not_say(void **state)
{
    struct named named = {.n = 0};
    struct config config = {.n_shapes = 0};
    struct error err = {0};
    (void)state;
    count_cell(&named, (const struct spec[]){{"there", "crash", "x"}, END});
    assert_int_equal(named_verdict(&named, NULL, &config, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_was_measured_somewhere),   cmocka_unit_test(a_fault_in_every_cell),
        cmocka_unit_test(one_layout_that_is_never_supported), cmocka_unit_test(what_is_optional_may_lack_but_not_fail),
        cmocka_unit_test(what_is_named_may_not_lack),         cmocka_unit_test(places_count_and_copies_do_not),
        cmocka_unit_test(a_worker_that_does_not_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
