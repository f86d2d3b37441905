/* The command line: every option, every refusal as text, and what is applied to a config. */
#include "cli/options.h"
#include "compare/forms.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>

#include "command_line.h"

static void refuse(const char *line, const char *message)
{
    struct options o;
    struct error err;
    assert_int_equal(parse(line, &o, &err), EXIT_CODE_USAGE);
    assert_string_equal(err.text, message);
}

static void test_defaults(void **state)
{
    struct options o;
    (void)state;
    accept("--config c.json", &o);
    assert_int_equal(o.command, COMMAND_RUN);
    assert_string_equal(o.config, "c.json");
    assert_string_equal(o.device, "auto");
    assert_null(o.output);
    assert_null(o.candidates[0]);
    assert_null(o.plugins);
    assert_false(o.resume || o.quiet || o.no_color || o.no_verify || o.help || o.version);
    assert_true(options_given(&o, OPTION_CONFIG));
    for (int i = 0; i < OPTION_COUNT; i++)
        assert_true(i == OPTION_CONFIG || !options_given(&o, (enum option_id)i));
}

static void check_everything(const struct options *o)
{
    assert_int_equal(o->command, COMMAND_RUN);
    assert_int_equal(o->mode, MODE_CHOICE_BOTH);
    assert_int_equal(o->protocol, PROTOCOL_PAPER);
    assert_int_equal(o->timing.first, TIMING_WALL);
    assert_int_equal(o->timing.bits, CUDAL2_BIT(TIMING_WALL));
    assert_int_equal(o->accumulate, CUDAL2_ACC_F32);
    assert_int_equal(o->cache, CACHE_FLUSH);
    assert_true(o->rate_hz == 500);
    assert_int_equal(o->gap, GAP_FIXED);
    assert_true(o->seed == UINT64_MAX);
    assert_string_equal(o->aa, "cublas");
    assert_true(o->no_verify && o->resume && o->quiet && o->no_color);
    assert_string_equal(o->baselines, "cublas,openblas");
    assert_string_equal(o->candidates[0], "tiny");
    assert_string_equal(o->candidates[1], "./x.so");
    assert_null(o->candidates[2]);
    assert_string_equal(o->plugins, "p");
    assert_string_equal(o->kernels, "k");
    assert_string_equal(o->device, "cuda:0,3");
    assert_string_equal(o->output, "out.json");
}

static void test_both_forms(void **state)
{
    struct options o;
    (void)state;
    accept("run --config=c --mode=both --protocol=paper --timing=wall --accumulate=f32 --cache=flush --rate=5e2 "
           "--gap=fixed --seed=18446744073709551615 --aa=cublas --no-verify --baselines=cublas,openblas "
           "--candidate=tiny --candidate=./x.so --plugins=p --kernels=k --device=cuda:0,3 --output=out.json --resume "
           "--quiet --no-color",
           &o);
    check_everything(&o);
    accept("--config c --mode both --protocol paper --timing wall --accumulate f32 --cache flush --rate 500 "
           "--gap fixed --seed 18446744073709551615 --aa=cublas --no-verify --baselines cublas,openblas "
           "--candidate tiny --candidate ./x.so --plugins p --kernels k --device cuda:0,3 --output out.json --resume "
           "--quiet --no-color run",
           &o);
    check_everything(&o);
}

static void test_letters(void **state)
{
    struct options o;
    (void)state;
    accept("-c c.json -oout.json -q -m server -dcpu -k a -kb", &o);
    assert_string_equal(o.config, "c.json");
    assert_string_equal(o.output, "out.json");
    assert_string_equal(o.device, "cpu");
    assert_int_equal(o.mode, MODE_CHOICE_SERVER);
    assert_string_equal(o.candidates[1], "b");
    assert_true(o.quiet);
    refuse("-c c -qx", "--quiet takes no value");
    refuse("-c c --timing device,wall,device",
           "--timing: expected device|device-row|event|wall, or several separated by commas, none twice, found "
           "\"device,wall,device\"");
    refuse("-c c --timing device,",
           "--timing: expected device|device-row|event|wall, or several separated by commas, none twice, found "
           "\"device,\"");
    refuse("-c c -z", "unknown option \"-z\"");
    refuse("-c", "--config needs a value");
}

static void test_commands(void **state)
{
    struct options o;
    (void)state;
    accept("list --device cpu", &o);
    assert_int_equal(o.command, COMMAND_LIST);
    assert_null(o.output);
    accept("--device cpu doctor", &o);
    assert_int_equal(o.command, COMMAND_DOCTOR);
    accept("report result.json", &o);
    assert_int_equal(o.command, COMMAND_REPORT);
    assert_int_equal(o.n_operands, 1);
    assert_string_equal(o.operands[0], "result.json");
    assert_null(o.operands[1]);
    accept("-c c --timing device,device-row", &o);
    assert_int_equal(o.timing.first, TIMING_DEVICE);
    assert_int_equal(o.timing.bits, CUDAL2_BIT(TIMING_DEVICE) | CUDAL2_BIT(TIMING_DEVICE_ROW));
    accept("report a b --format html --timing wall --published x.csv --published y.csv --mixed -o dir", &o);
    assert_int_equal(o.n_operands, 2);
    assert_string_equal(format_choices[o.format], "html");
    assert_string_equal(o.published[1], "y.csv");
    assert_null(o.published[2]);
    assert_true(o.mixed);
    assert_string_equal(o.output, "dir");
    accept("tune -c c", &o);
    assert_false(o.update);
    accept("tune -c c --update", &o);
    assert_true(o.update);
    accept("compare --confirm=c.json base.json --delta 2.5 --force new.json --format junit --device cpu --quiet", &o);
    assert_int_equal(o.command, COMMAND_COMPARE);
    assert_true(o.force && o.quiet);
    assert_string_equal(o.confirm, "c.json");
    assert_true(o.delta_percent == 2.5);
    assert_string_equal(format_choices[o.format], "junit");
    assert_string_equal(o.operands[1], "new.json");
    accept("compare --confirm base.json new.json", &o);
    assert_string_equal(o.confirm, "");
    assert_int_equal(o.n_operands, 2);
    accept("compare --agreement 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", &o);
    assert_int_equal(o.n_operands, 16);
    assert_string_equal(o.operands[15], "16");
    accept("report -- --odd-name", &o);
    assert_string_equal(o.operands[0], "--odd-name");
    accept("worker", &o);
    assert_int_equal(o.command, COMMAND_WORKER);
    accept("help", &o);
    assert_int_equal(o.topic, COMMAND_COUNT);
    accept("help doctor", &o);
    assert_int_equal(o.topic, COMMAND_DOCTOR);
}

static void test_help_needs_nothing(void **state)
{
    struct options o;
    (void)state;
    accept("--help", &o);
    accept("--version", &o);
    accept("run -h", &o);
    accept("report --help", &o);
    assert_int_equal(o.command, COMMAND_REPORT);
}

#define NO_CONFIG                                                                                                      \
    "run needs --config FILE or --shape MxNxK (\"cudal2-bench init > my.json\" writes a config to start from; see "    \
    "cudal2-bench --help)"

static void test_refusals(void **state)
{
    static const char *const cases[][2] = {
        {"", NO_CONFIG},
        {"run", NO_CONFIG},
        {"--mdoe server", "unknown option \"--mdoe\" (did you mean --mode?)"},
        {"--mod=server", "unknown option \"--mod=server\" (did you mean --mode?)"},
        {"--conf c", "unknown option \"--conf\" (did you mean --config?)"},
        {"--xyzzy", "unknown option \"--xyzzy\""},
        {"--x", "unknown option \"--x\""},
        {"--", NO_CONFIG},
        {"--mode", "--mode needs a value"},
        {"--mode=", "--mode: the value is empty"},
        {"--config \"\"", "--config: the value is empty"},
        {"--mode serve", "--mode: expected offline|server|both|chain, found \"serve\""},
        {"--mode Server", "--mode: expected offline|server|both|chain, found \"Server\""},
        {"--mode server --mode server", "--mode is given twice"},
        {"-m server --mode=both", "--mode is given twice"},
        {"--resume=yes", "--resume takes no value"},
        {"--equal-budget 0", "--equal-budget: expected SECONDS, a number above 0, found \"0\""},
        {"--rate 0", "--rate: expected HZ, a number above 0, found \"0\""},
        {"--rate -5", "--rate: expected HZ, a number above 0, found \"-5\""},
        {"--rate nan", "--rate: expected HZ, a number above 0, found \"nan\""},
        {"--rate inf", "--rate: expected HZ, a number above 0, found \"inf\""},
        {"--rate 0x10", "--rate: expected HZ, a number above 0, found \"0x10\""},
        {"--rate 1e999", "--rate: expected HZ, a number above 0, found \"1e999\""},
        {"--rate 5x", "--rate: expected HZ, a number above 0, found \"5x\""},
        {"--seed -1", "--seed: expected N, a whole number, found \"-1\""},
        {"--seed 1.5", "--seed: expected N, a whole number, found \"1.5\""},
        {"--seed 18446744073709551616", "--seed: expected N, a whole number, found \"18446744073709551616\""},
        {"--device cuda:all,0", "--device: expected auto|cpu|cuda:N[,M]|cuda:all, found \"cuda:all,0\""},
        {"--device gpu", "--device: expected auto|cpu|cuda:N[,M]|cuda:all, found \"gpu\""},
        {"--device cuda:", "--device: expected auto|cpu|cuda:N[,M]|cuda:all, found \"cuda:\""},
        {"--device cuda:0,", "--device: expected auto|cpu|cuda:N[,M]|cuda:all, found \"cuda:0,\""},
        {"--device cuda:0,0", "--device: expected auto|cpu|cuda:N[,M]|cuda:all, found \"cuda:0,0\""},
        {"--device cuda:-1", "--device: expected auto|cpu|cuda:N[,M]|cuda:all, found \"cuda:-1\""},
        {"--device cuda:64", "--device: expected auto|cpu|cuda:N[,M]|cuda:all, found \"cuda:64\""},
        {"--device cuda:1x", "--device: expected auto|cpu|cuda:N[,M]|cuda:all, found \"cuda:1x\""},
        {"dctor", "unknown command \"dctor\" (did you mean doctor?)"},
        {"rnu", "unknown command \"rnu\" (did you mean run?)"},
        {"workr", "unknown command \"workr\" (see cudal2-bench --help)"},
        {"frobnicate", "unknown command \"frobnicate\" (see cudal2-bench --help)"},
        {"c.json", "unknown command \"c.json\" (a config is given with --config)"},
        {"run c.json", "unexpected argument \"c.json\""},
        {"compare", "compare needs BASE... NEW (see cudal2-bench compare --help)"},
        {"compare 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "unexpected argument \"17\""},
        {"compare a b --delta 0", "--delta: expected PERCENT, a number above 0, found \"0\""},
        {"report a --confirm", "--confirm does not apply to \"report\" (see cudal2-bench report --help)"},
        {"report --format pdf r.json",
         "--format: expected "
         "text|markdown|latex|csv|json|figures|html|bencher|google-benchmark|nvbench|github-action|"
         "prometheus|medians|shapes|pairs|result, found \"pdf\""},
        {"report --table one r.json", "--table: expected 1..8, a whole number, found \"one\""},
        {"run -c c --table 1", "--table does not apply to \"run\" (see cudal2-bench run --help)"},
        {"doctor --mode server", "--mode does not apply to \"doctor\" (see cudal2-bench doctor --help)"},
        {"run -c c --update", "--update does not apply to \"run\" (see cudal2-bench run --help)"},
        {"--resume list", "--resume does not apply to \"list\" (see cudal2-bench list --help)"},
        {"-c c --man", "--man does not apply to \"run\" (see cudal2-bench run --help)"},
        {"worker --quiet", "--quiet does not apply to \"worker\" (see cudal2-bench worker --help)"},
        {"help nothing", "unknown command \"nothing\" (see cudal2-bench --help)"},
        {"help --completion fish", "--completion: expected bash|zsh, found \"fish\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refuse(cases[i][0], cases[i][1]);
}

static void test_long_words(void **state)
{
    char line[3000] = "--";
    struct options o;
    struct error err;
    (void)state;
    memset(line + 2, 'm', 2000);
    assert_int_equal(parse(line, &o, &err), EXIT_CODE_USAGE);
    assert_true(strlen(err.text) < 120);
    memset(line, 'r', 2000);
    assert_int_equal(parse(line, &o, &err), EXIT_CODE_USAGE);
    assert_true(strlen(err.text) < 120);
    strcpy(line, "-c c");
    for (int i = 0; i <= CONFIG_NAMES_MAX; i++)
        strcat(line, " -k x");
    assert_int_equal(parse(line, &o, &err), EXIT_CODE_USAGE);
    assert_string_equal(err.text, "--candidate: given more than 32 times");
}

/* ---- applying ---- */

#define CONFIG                                                                                                         \
    "{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"t\",\"shapes\":[{\"m\":1,\"n\":1,\"k\":1}],"  \
    "\"baselines\":[\"cublas\"],\"candidates\":[\"cudal2\"]%s}"

static int apply(const char *line, const char *rest, struct config *c, struct error *err)
{
    char text[1000];
    struct options o;
    accept(line, &o);
    snprintf(text, sizeof text, CONFIG, rest);
    if (config_parse(text, strlen(text), "c.json", c, err))
        fail_msg("%s", err->text);
    return options_apply(&o, c, err);
}

static void test_apply_nothing(void **state)
{
    struct config c, untouched;
    struct error err;
    (void)state;
    assert_int_equal(apply("-c c", "", &c, &err), 0);
    assert_false(c.join_rows);
    assert_int_equal(config_parse("{}", 2, "x", &untouched, &err), EXIT_CODE_DATA);
    char text[1000];
    snprintf(text, sizeof text, CONFIG, "");
    assert_int_equal(config_parse(text, strlen(text), "c.json", &untouched, &err), 0);
    cJSON *a = config_to_json(&c), *b = config_to_json(&untouched);
    assert_true(cJSON_Compare(a, b, true));
    cJSON_Delete(a);
    cJSON_Delete(b);
    config_free(&c);
    config_free(&untouched);
}

static void test_apply_everything(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(apply("-c c --mode offline --protocol paper --timing event --accumulate f32 --cache rotate --rate "
                           "1000 --gap uniform --seed 7 --aa=openblas --no-verify --activity off --baselines "
                           "openblas,torch.matmul --candidate tiny --equal-budget 2.5",
                           "", &c, &err),
                     0);
    assert_int_equal(c.modes, 1u << MODE_OFFLINE);
    assert_int_equal(c.protocol, PROTOCOL_PAPER);
    assert_true(c.headline_given);
    assert_int_equal(c.headline, TIMING_EVENT);
    assert_int_equal(c.accumulates, CUDAL2_BIT(CUDAL2_ACC_F32));
    assert_int_equal(c.cache[MODE_OFFLINE], CACHE_ROTATE);
    assert_int_equal(c.cache[MODE_SERVER], CACHE_ROTATE);
    assert_true(c.gap.mean_ns == 1e6);
    assert_int_equal(c.gap.kind, GAP_UNIFORM);
    assert_true(c.seed_given && c.seed == 7);
    assert_true(c.race_seconds == 2.5);
    assert_true(c.aa);
    assert_string_equal(c.aa_contender, "openblas");
    assert_false(c.verify);
    assert_int_equal(c.activity, ACTIVITY_OFF);
    assert_string_equal(c.baselines[0], "openblas");
    assert_string_equal(c.baselines[1], "torch.matmul");
    assert_null(c.baselines[2]);
    assert_string_equal(c.candidates[0], "cudal2");
    assert_string_equal(c.candidates[1], "tiny");
    assert_null(c.candidates[2]);
    config_free(&c);
}

static void test_apply_joins_rows(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(apply("-c c --join-rows", "", &c, &err), 0);
    assert_true(c.join_rows);
    config_free(&c);
    assert_int_equal(apply("-c c", ",\"join_rows\":true", &c, &err), 0);
    assert_true(c.join_rows);
    config_free(&c);
}

static void test_apply_keeps_a_named_aa(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(apply("-c c --aa", ",\"aa\":\"cublas-nn\"", &c, &err), 0);
    assert_true(c.aa);
    assert_string_equal(c.aa_contender, "cublas-nn");
    config_free(&c);
    assert_int_equal(apply("-c c --mode both", ",\"modes\":[\"server\"]", &c, &err), 0);
    assert_int_equal(c.modes, 3);
    config_free(&c);
}

static void refuse_apply(const char *line, const char *rest, const char *message)
{
    struct config c;
    struct error err;
    assert_int_equal(apply(line, rest, &c, &err), EXIT_CODE_USAGE);
    assert_int_equal(err.code, EXIT_CODE_USAGE);
    assert_string_equal(err.text, message);
    config_free(&c);
}

static void test_apply_refusals(void **state)
{
    (void)state;
    refuse_apply("-c c --accumulate f16", ",\"dtype\":\"f32\"",
                 "c with these options: $.accumulate: f16 needs dtype f16 or native, this is f32");
    refuse_apply("-c c --candidate cudal2", "", "--candidate: \"cudal2\" is there twice");
    refuse_apply("-c c --candidate cublas", "", "c with these options: $.candidates[1]: \"cublas\" is also a baseline");
    refuse_apply("-c c --baselines a,a", "", "--baselines: \"a\" is there twice");
    refuse_apply(
        "-c c --baselines a,,b", "",
        "--baselines: expected a family, a kernel set, or the path of a plugin (.so) or manifest (.json), found \"\"");
    refuse_apply("-c c --mode server --energy", "",
                 "--energy is measured in mode offline, and this run has none (--mode)");
    refuse_apply("-c c --rate 1e7", "", "--rate: expected 1/60 to 1000000 launches a second, found 1e+07");
    refuse_apply("-c c --rate 0.001", "", "--rate: expected 1/60 to 1000000 launches a second, found 0.001");
    refuse_apply("-c c --aa=0123456789012345678901234567890123456789012345678901234567890123", "",
                 "--aa: the name is longer than 63 bytes");
}

/* An entry of compare/formats.h is a choice of --format, and told by --help. */
static void every_compare_format_is_a_choice(void **state)
{
    const char *help = option_help(OPTION_FORMAT, COMMAND_COMPARE);
    (void)state;
    for (int i = 0; i < COMPARE_FORMAT_COUNT; i++) {
        int at = 0;
        while (format_choices[at] && strcmp(format_choices[at], compare_format_names[i]) != 0)
            at++;
        assert_non_null(format_choices[at]);
        assert_non_null(strstr(help, compare_format_names[i]));
    }
    assert_null(compare_format_names[COMPARE_FORMAT_COUNT]);
    assert_ptr_equal(option_choices(OPTION_FORMAT, COMMAND_COMPARE), compare_format_names);
}

/* An entry of report/formats.h is a choice of --format, at its index, and told by --help. */
static void every_report_format_is_a_choice(void **state)
{
    const char *help = option_help(OPTION_FORMAT, COMMAND_REPORT);
    (void)state;
    for (int i = 0; i < REPORT_FORMAT_COUNT; i++) {
        assert_string_equal(format_choices[i], report_format_names[i]);
        assert_non_null(strstr(help, report_format_names[i]));
    }
    assert_null(report_format_names[REPORT_FORMAT_COUNT]);
    assert_ptr_equal(option_choices(OPTION_FORMAT, COMMAND_REPORT), report_format_names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_report_format_is_a_choice),
        cmocka_unit_test(every_compare_format_is_a_choice),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_both_forms),
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_help_needs_nothing),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_apply_nothing),
        cmocka_unit_test(test_apply_everything),
        cmocka_unit_test(test_apply_joins_rows),
        cmocka_unit_test(test_apply_keeps_a_named_aa),
        cmocka_unit_test(test_apply_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
