/* What is made from the option table: help, the man page, and completions that run in the real shells. */
#include "cli/help.h"
#include "cli/options.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/wait.h>

#include "command_line.h"

static void test_table_is_sound(void **state)
{
    (void)state;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_info *a = &option_table[i];
        assert_non_null(a->name);
        assert_true(a->commands != 0 && a->help[0] && a->section[0]);
        assert_true(a->help[strlen(a->help) - 1] != '.');
        assert_int_equal(a->kind == OPTION_KIND_FLAG, !a->argument && !a->choices);
        assert_true(a->hint != OPTION_HINT_CHOICES || a->choices);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(a->name, option_table[j].name);
            assert_true(!a->letter || a->letter != option_table[j].letter);
            assert_true(a->offset != option_table[j].offset);
        }
    }
}

static void asked(const char *line, struct text *out)
{
    struct options o;
    accept(line, &o);
    assert_true(help_wanted(&o, out));
    assert_false(out->failed);
}

static size_t times(const char *in, const char *wanted)
{
    size_t n = 0;
    for (const char *at = in; (at = strstr(at, wanted)) != NULL; at += strlen(wanted))
        n++;
    return n;
}

/* Of every command and of the man page: each heading stands once, whatever the order of the table. */
static void test_sections_stand_once(void **state)
{
    static const char *const lines[] = {"--help",        "run --help",   "tune --help",
                                        "verify --help", "serve --help", "help --man"};
    (void)state;
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
        struct text out = {0};
        asked(lines[l], &out);
        for (int i = 0; i < OPTION_COUNT; i++) {
            char heading[80];
            snprintf(heading, sizeof heading, strstr(lines[l], "man") ? ".SS %s\n" : "\n%s:\n",
                     option_table[i].section);
            assert_in_range(times(out.bytes, heading), strstr(lines[l], "man") ? 1 : 0, 1);
        }
        for (int i = 0; i < OPTION_COUNT; i++) {
            char name[80];
            snprintf(name, sizeof name, "--%s", option_table[i].name);
            assert_true(!(option_table[i].commands & (1u << COMMAND_RUN)) || l > 1 || strstr(out.bytes, name));
        }
        text_free(&out);
    }
}

static void assert_has(const struct text *t, const char *wanted)
{
    if (!strstr(t->bytes, wanted))
        fail_msg("no \"%s\" in:\n%s", wanted, t->bytes);
}

/* The same where lines may be broken between words. */
static void assert_has_words(const struct text *t, const char *wanted)
{
    struct text flat = {0};
    for (const char *c = t->bytes; *c; c++)
        if (!(isspace((unsigned char)*c) && isspace((unsigned char)c[1])))
            text_add(&flat, "%c", isspace((unsigned char)*c) ? ' ' : *c);
    assert_has(&flat, wanted);
    text_free(&flat);
}

static void test_help_fits_a_terminal(void **state)
{
    (void)state;
    for (int command = 0; command < COMMAND_COUNT; command++) {
        char line[64];
        struct text t = {0};
        if (command_table[command].hidden)
            continue;
        snprintf(line, sizeof line, "help %s", command_table[command].name);
        asked(line, &t);
        for (const char *one = t.bytes; *one; one = strchr(one, '\n') + 1)
            if (strcspn(one, "\n") > 80)
                fail_msg("%s: %.*s", line, (int)strcspn(one, "\n"), one);
        text_free(&t);
    }
}

static void test_help_names_everything(void **state)
{
    struct text t = {0};
    (void)state;
    asked("--help", &t);
    for (int i = 0; i < OPTION_COUNT; i++) {
        char option[64];
        snprintf(option, sizeof option, "--%s", option_table[i].name);
        if (option_table[i].commands & (1u << COMMAND_RUN))
            assert_has(&t, option);
    }
    for (int i = 0; exit_table[i].text; i++)
        assert_has_words(&t, exit_table[i].text);
    assert_has(&t, "  doctor ");
    assert_null(strstr(t.bytes, "worker"));
    text_free(&t);
    asked("doctor --help", &t);
    assert_has(&t, "--device");
    assert_null(strstr(t.bytes, "--mode"));
    text_free(&t);
    asked("--version", &t);
    assert_memory_equal(t.bytes, "cudal2-bench " PROGRAM_VERSION "\ncommit ",
                        strlen("cudal2-bench " PROGRAM_VERSION "\ncommit "));
    assert_has(&t, "\nbuilt by ");
    text_free(&t);
    struct options o;
    accept("-c c", &o);
    assert_false(help_wanted(&o, &t));
}

/* Feeds `script` to a shell; its exit status. */
static int run_shell(const char *command, const char *script)
{
    FILE *shell = popen(command, "w");
    assert_non_null(shell);
    fputs(script, shell);
    int status = pclose(shell);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_man_is_roff(void **state)
{
    struct text t = {0};
    (void)state;
    asked("help --man", &t);
    assert_memory_equal(t.bytes, ".TH ", 4);
    assert_has(&t, "\\-\\-mode");
    assert_has(&t, ".SH EXIT STATUS");
    assert_has(&t, "\n(run).\n");       /* no commands: all of them */
    assert_null(strstr(t.bytes, "--")); /* an option must be copyable: \-\-, not a dash */
    for (const char *line = t.bytes; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 80);
    /* what the formatters say of it, where they are installed */
    if (system("command -v mandoc >/dev/null 2>&1") == 0)
        assert_int_equal(run_shell("mandoc -T lint -W style >&2", t.bytes), 0);
    if (system("command -v man >/dev/null 2>&1") == 0)
        assert_int_equal(run_shell("man --warnings=w -l - 2>&1 >/dev/null | (! grep .)", t.bytes), 0);
    text_free(&t);
}

/* What bash offers after these words, sorted, one line: the real script run by the real shell. */
static void offered(const char *words, int cword, const char *wanted)
{
    struct text script = {0};
    asked("help --completion bash", &script);
    text_add(&script,
             "COMP_WORDS=(%s); COMP_CWORD=%d; _cudal2_bench\n"
             "got=$(printf '%%s\\n' \"${COMPREPLY[@]}\" | sort | tr '\\n' ' ')\n"
             "[[ $got == '%s ' ]] || { echo \"offered: $got\" >&2; exit 1; }\n",
             words, cword, wanted);
    assert_false(script.failed);
    if (run_shell("bash -u", script.bytes) != 0)
        fail_msg("completion of: %s", words);
    text_free(&script);
}

static void test_bash_completion(void **state)
{
    (void)state;
    if (system("command -v bash >/dev/null 2>&1") != 0)
        skip();
    offered("cudal2-bench --mode ''", 2, "both chain offline server");
    offered("cudal2-bench --mode = ''", 3, "both chain offline server");
    offered("cudal2-bench --mode =", 2, "both chain offline server");
    offered("cudal2-bench -m se", 2, "server");
    offered("cudal2-bench --tim", 1, "--time-anyway --timing");
    offered("cudal2-bench do", 1, "doctor");
    offered("cudal2-bench ''", 1, "compare compile doctor help init list merge report run serve tune verify watch");
    offered("cudal2-bench doctor --m", 2, "");
    offered("cudal2-bench tune --u", 2, "--update");
    offered("cudal2-bench run --u", 2, "");
    offered("cudal2-bench compare -f ''", 3, "html json junit markdown text");
    offered("cudal2-bench report -f j", 3, "json");
    offered("cudal2-bench verify --format = ''", 4, "json text");
    offered("cudal2-bench report --table ''", 3, "1 2 3 4 5 6 7 8");
    offered("cudal2-bench help rep", 2, "report");
    offered("cudal2-bench help --", 2, "--completion --help --man --no-color --version");
}

/* A command speaks of itself: its own texts, formats and exit codes. */
static void test_help_is_of_its_command(void **state)
{
    struct text t = {0};
    (void)state;
    asked("report --help", &t);
    assert_has(&t, "-o, --output DIR ");
    assert_has_words(&t, "nothing was measured in what was given");
    assert_null(strstr(t.bytes, "journal beside"));
    assert_null(strstr(t.bytes, "junit"));
    assert_null(strstr(t.bytes, "TERM"));
    assert_null(strstr(t.bytes, "  130  "));
    text_free(&t);
    asked("compare --help", &t);
    assert_has(&t, "junit");
    assert_has(&t, "    1  a regression was found");
    assert_null(strstr(t.bytes, "figures"));
    assert_null(strstr(t.bytes, "tuning table"));
    text_free(&t);
    asked("run --help", &t);
    assert_has_words(&t, "2 run, tune: somebody who was named was measured in no cell"); /* the whole program: each row
                                                                                            says whose it is */
    text_free(&t);
    asked("tune --help", &t);
    assert_has_words(&t, "the tuning table, its journal beside it");
    assert_null(strstr(t.bytes, "regression"));
    text_free(&t);
}

static void put(const char *directory, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* Names of what is here, and files: -k takes either. */
static void test_bash_completes_kernels(void **state)
{
    char root[] = "/tmp/cudal2-help-XXXXXX", command[300], words[200], wanted[200];
    (void)state;
    if (system("command -v bash >/dev/null 2>&1") != 0)
        skip();
    assert_non_null(mkdtemp(root));
    snprintf(command, sizeof command, "mkdir -p %s/harness %s/sets", root, root);
    assert_int_equal(system(command), 0);
    put(root, "tiny.json");
    put(root, "tiny.cu");
    put(root, "kernel.schema.json");
    put(root, "sets/cudal2.json");
    setenv("CUDAL2_KERNELS", root, 1);
    offered("cudal2-bench -k cud", 2, "cudal2");
    offered("cudal2-bench --candidate = ti", 3, "tiny");
    offered("cudal2-bench verify cuda", 2, "cudal2");
    snprintf(words, sizeof words, "cudal2-bench verify %s/t", root);
    snprintf(wanted, sizeof wanted, "%s/tiny.cu %s/tiny.json", root, root);
    offered(words, 2, wanted);
    unsetenv("CUDAL2_KERNELS");
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void test_zsh_completion(void **state)
{
    struct text t = {0};
    (void)state;
    asked("help --completion zsh", &t);
    assert_memory_equal(t.bytes, "#compdef cudal2-bench\n", 22);
    assert_has(&t, "'--mode=[");
    assert_has(&t, ":mode:(offline server both chain)'");
    assert_has(&t, "(auto cpu cuda cuda\\:0 cuda\\:all)");
    assert_has(&t, "'*--candidate=[");
    assert_has(&t, "config'\\''s");
    assert_has(&t, "]:candidate:_cudal2_bench_candidates'");
    assert_has(&t, "[[ $command == verify ]] && operands=_cudal2_bench_candidates");
    assert_has(&t, ":table:(1 2 3 4 5 6 7 8)'");
    if (system("command -v zsh >/dev/null 2>&1") == 0)
        assert_int_equal(run_shell("zsh -n", t.bytes), 0);
    text_free(&t);
}

/* What zsh's script asks of its helpers after these words: the real script run by the real shell. */
static void asks_for(const char *words, const char *wanted)
{
    struct text script = {0};
    text_add(&script,
             "words=(%s) CURRENT=${#words}\n_describe() { print -r -- \"$@ ${commands[*]}\" }\n"
             "_arguments() { for argument; do [[ $argument == '*: :'* ]] && ${${argument##*:}%%%% *}; done; true }\n"
             "_files() { print files }\ncompadd() { }\n_got() {\n",
             words);
    asked("help --completion zsh", &script);
    text_add(&script, "}\n_got | grep -q '%s'\n", wanted);
    assert_false(script.failed);
    if (run_shell("zsh -f", script.bytes) != 0)
        fail_msg("zsh after: %s", words);
    text_free(&script);
}

static void test_zsh_completes_operands(void **state)
{
    (void)state;
    if (system("command -v zsh >/dev/null 2>&1") != 0)
        skip();
    asks_for("cudal2-bench help ''", "report:make tables");
    asks_for("cudal2-bench report ''", "^files$");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_sound),
        cmocka_unit_test(test_sections_stand_once),
        cmocka_unit_test(test_help_fits_a_terminal),
        cmocka_unit_test(test_help_names_everything),
        cmocka_unit_test(test_man_is_roff),
        cmocka_unit_test(test_bash_completion),
        cmocka_unit_test(test_zsh_completion),
        cmocka_unit_test(test_zsh_completes_operands),
        cmocka_unit_test(test_bash_completes_kernels),
        cmocka_unit_test(test_help_is_of_its_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
