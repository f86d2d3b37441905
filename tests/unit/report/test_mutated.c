/* A journal in which any one value is of another type than this program writes: report, compare and compare --agreement
 * say what is wrong or go on without it, and never crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "record/journal_line.h"
#include "scratch_fixture.h"

#include "command_line.h"

#define LINES_MAX 8
#define ELEMENTS 2 /* of an array that are tried */

static char base_path[1200], *lines[LINES_MAX];
static size_t n_lines;
static char doing[256]; /* for whoever reads of a crash */

static const char *const values[] = {"null", "true", "-1.5", "\"x\"", "[\"x\"]", "{\"x\":[1]}", "[]"};
#define VALUES (sizeof values / sizeof values[0])

static void tell(int number)
{
    ssize_t written = write(STDERR_FILENO, doing, strlen(doing));
    signal(number, SIG_DFL);
    raise(written < 0 ? SIGABRT : number);
}

/* ---- one value of one line ---- */

/* The n-th node of a tree, itself counted; *n is what is left. NULL: it has fewer. */
static cJSON *nth(cJSON *node, size_t *n)
{
    int index = 0;
    if ((*n)-- == 0)
        return node;
    for (cJSON *c = node->child; c && (cJSON_IsObject(node) || index < ELEMENTS); c = c->next, index++) {
        cJSON *found = nth(c, n);
        if (found)
            return found;
    }
    return NULL;
}

/* Puts the value in the place of the node: a node is its own memory, so the new one's content moves in. */
static void replace(cJSON *node, const char *value)
{
    cJSON *fresh = cJSON_Parse(value);
    cJSON content = *fresh;
    cJSON *rest = cJSON_CreateNull();
    rest->child = node->child;
    rest->type = rest->child ? cJSON_Array : cJSON_NULL;
    content.next = node->next;
    content.prev = node->prev;
    content.string = node->string;
    free(node->valuestring);
    *node = content;
    *fresh = (cJSON){.type = cJSON_NULL};
    cJSON_Delete(fresh);
    cJSON_Delete(rest);
}

/* False when the line has no such node. */
static bool write_mutated(size_t line, size_t node, const char *value)
{
    struct journal_line parsed;
    struct text out = {0};
    struct error err;
    size_t left = node;
    assert_int_equal(journal_line_parse(lines[line], strlen(lines[line]), "line", &parsed, &err), 0);
    cJSON *data = cJSON_GetObjectItemCaseSensitive(parsed.tree, "data"), *chosen = nth(data, &left);
    snprintf(doing, sizeof doing, "line %zu (%s), node %zu (%s), becomes %s\n", line + 1, parsed.kind, node,
             chosen && chosen->string ? chosen->string : "", value);
    if (chosen)
        replace(chosen, value);
    for (size_t i = 0; i < n_lines && chosen; i++)
        if (i == line)
            assert_int_equal(journal_line_print(&out, parsed.kind, data, &err), 0);
        else
            text_add(&out, "%s\n", lines[i]);
    cJSON_Delete(parsed.tree);
    if (chosen)
        scratch_write("m.journal.jsonl", out.bytes);
    text_free(&out);
    return chosen != NULL;
}

/* ---- what reads it ---- */

static void read_it(const char *command, const char *base)
{
    char line[4000];
    struct options options;
    struct error err = {0};
    snprintf(line, sizeof line, "%s %s %s", command, scratch_path("m.journal.jsonl"), base);
    accept(line, &options);
    int code = options.command == COMMAND_REPORT ? command_report(&options, &err)
               : options.agreement               ? command_agree(&options, &err)
                                                 : command_compare(&options, &err);
    fflush(stdout);
    if (code == EXIT_CODE_INTERNAL)
        fail_msg("%s%s", doing, err.text);
}

static void test_every_value_of_every_type(void **state)
{
    int silent = open("/dev/null", O_WRONLY), kept = dup(STDOUT_FILENO);
    (void)state;
    fflush(stdout);
    dup2(silent, STDOUT_FILENO);
    signal(SIGSEGV, tell);
    for (size_t line = 0; line < n_lines; line++)
        for (size_t node = 0; write_mutated(line, node, values[0]); node++)
            for (size_t v = 0; v < VALUES; v++) {
                write_mutated(line, node, values[v]);
                read_it("report", "");
                read_it("compare", base_path);
                read_it("compare --agreement", base_path);
            }
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(silent);
}

static int read_lines(void **state)
{
    struct error err;
    char directory[1000], *text = NULL, *rest = NULL;
    size_t length;
    if (file_executable_directory(directory, sizeof directory, &err))
        return -1;
    snprintf(base_path, sizeof base_path, "%s/../../tests/fixtures/data/small.journal.jsonl", directory);
    if (file_read(base_path, 1u << 20, &text, &length, &err)) {
        print_error("%s\n", err.text);
        return -1;
    }
    for (char *line = strtok_r(text, "\n", &rest); line && n_lines < LINES_MAX; line = strtok_r(NULL, "\n", &rest))
        lines[n_lines++] = strdup(line);
    free(text);
    return scratch_make(state);
}

static int forget_lines(void **state)
{
    for (size_t i = 0; i < n_lines; i++)
        free(lines[i]);
    return scratch_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_value_of_every_type)};
    return cmocka_run_group_tests(tests, read_lines, forget_lines);
}
