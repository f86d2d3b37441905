/* The last words of `run --explain`: which row stands for a group, and what is told where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/explain.h"
#include "opened_result.h"

#define ROW(mode, timing, candidate, reference, geomean)                                                               \
    "{\"mode\":\"" mode "\",\"dtype\":\"f32\",\"accumulate\":\"f32\",\"timing\":\"" timing                             \
    "\",\"candidate\":\"" candidate "\",\"reference\":\"" reference "\",\"n\":4,\"wins\":1,\"geomean\":" geomean "}"
#define CELL(mode, headline)                                                                                           \
    "{\"mode\":\"" mode "\",\"dtype\":\"f32\",\"accumulate\":\"f32\",\"headline\":\"" headline "\"}"

/* Of a result with these cells and rows, 4 cells measured and `converged` of them narrow enough. */
static char *explain(const char *kind, const char *cells, const char *rows, int converged)
{
    struct text json = {0}, out = {0};
    text_add(&json,
             "{\"env\":[{\"device\":{\"kind\":\"%s\",\"name\":\"a \\u001b[31m device\"}}],\"cells\":[%s],\"summary\":{"
             "\"convergence\":{\"measured\":4,\"converged\":%d},\"speedups\":[%s]}}",
             kind, cells, converged, rows);
    struct result *result = opened_text(json.bytes);
    const struct explain_names names = {"r.json", "bin/cudal2-bench", "k"};
    explain_add(&out, result, &names);
    result_free(result);
    text_free(&json);
    assert_false(out.failed);
    return out.bytes;
}

static void must_hold(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("no \"%s\" in:\n%s", words, text);
}

static void test_of_a_cpu(void **state)
{
    (void)state;
    char *text = explain("cpu", CELL("server", "wall"),
                         ROW("server", "wall", "mine-nn", "torch.matmul", "-0.9") ","   /* a layout alone */
                         ROW("server", "event", "mine-max", "torch.matmul", "-0.8") "," /* another timing */
                         ROW("server", "wall", "mine-max", "torch.matmul", "0.5") ","   /* a weaker rival */
                         ROW("server", "wall", "mine-max", "strongest", "0.2") ","      /* nobody */
                         ROW("server", "wall", "mine-max", "openblas-max", "0.25"),
                         4);
    must_hold(text, "measured: 4 cells (a shape in a mode) on a \\x1b[31m device, every result checked");
    must_hold(text, "all reached the precision that was asked for\n");
    must_hold(text,
              "meaning:  server: mine-max runs at 1.25 times the speed of openblas-max, its strongest rival here (4 "
              "shapes, faster on 1)\n");
    must_hold(text, "next:     bin/cudal2-bench report r.json --format html --output page\n");
    must_hold(text, "bin/cudal2-bench doctor\n");
    must_hold(text, "verify skeleton --shape 200x136x264\n");
    assert_null(strstr(text, "example"));
    free(text);
}

static void test_of_two_modes(void **state)
{
    (void)state;
    char *text = explain("cuda", CELL("offline", "device") "," CELL("server", "device"),
                         ROW("offline", "device", "cudal2-max", "cublas-max",
                             "0.1") "," ROW("offline", "device", "cudal2-max", "torch.matmul",
                                            "0.2") "," ROW("server", "device", "blocked-max", "cublas-max", "-0.1"),
                         3);
    must_hold(text, "; 3 reached the precision that was asked for, the others have wider intervals\n");
    must_hold(text, "meaning:  offline: cudal2-max runs at 1.10 times the speed of cublas-max");
    must_hold(text, "\n          server: blocked-max runs at 0.90 times the speed of cublas-max");
    must_hold(text, "; blocked is an example in plain C\n");
    must_hold(text, "run -c grid --mode offline\n");
    must_hold(text, "verify k/skeleton.json\n");
    free(text);
}

/* On a busy machine a ratio would say more than is known. */
static void test_too_wide(void **state)
{
    (void)state;
    char *text = explain("cpu", CELL("server", "wall"), ROW("server", "wall", "mine-max", "torch.matmul", "0.5"), 1);
    must_hold(text, "meaning:  nothing yet: the times scatter too much");
    assert_null(strstr(text, "times the speed"));
    free(text);
}

static void test_without_a_candidate(void **state)
{
    (void)state;
    char *text = explain("cpu", CELL("server", "wall"), "", 4);
    must_hold(text, "meaning:  no candidate was measured beside a baseline; the table says why\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_of_a_cpu), cmocka_unit_test(test_of_two_modes),
                                       cmocka_unit_test(test_without_a_candidate), cmocka_unit_test(test_too_wide)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
