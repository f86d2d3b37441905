/*
 * cmd_agree.c - the command `compare --agreement`: reads several runs and prints by how much they differ. Relies on
 * compare/agree.h. Called by cmd_compare.c.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/utf8.h"
#include "cli/terminal.h"
#include "compare/agree.h"
#include "report/markdown.h"

_Static_assert(AGREE_BASES_MAX + 1 == OPTIONS_OPERANDS_MAX, "as many operands as runs can be compared");

enum form { FORM_TEXT, FORM_MARKDOWN, FORM_JSON, FORM_COUNT };
static const char *const form_names[FORM_COUNT] = {"text", "markdown", "json"};

static int find_form(const struct options *options, enum form *out, struct error *err)
{
    const char *name = format_choices[options->format];
    for (int i = 0; i < FORM_COUNT; i++)
        if (strcmp(form_names[i], name) == 0) {
            *out = (enum form)i;
            return 0;
        }
    return error_set(err, EXIT_CODE_USAGE, "compare --agreement: there is no format \"%s\" (text, markdown, json)",
                     name);
}

/* Prints what is whole, and frees it. All but text is UTF-8 by definition, whatever the files are called. */
static bool hand_over(struct text *out, enum form form)
{
    bool whole = !out->failed && out->bytes;
    if (whole && form == FORM_TEXT)
        plain_for_terminal(out);
    else if (whole)
        utf8_repair(out);
    if (whole && !out->failed)
        fputs(out->bytes, stdout);
    whole = whole && !out->failed;
    text_free(out);
    return whole;
}

/* Prints and deletes. */
static void add_tree(struct text *out, cJSON *root)
{
    json_add(out, root);
    cJSON_Delete(root);
}

/* ---- what it came to ---- */

static void add_cost(struct text *out, const struct agreement *a)
{
    bool several = a->n_bases > 1;
    text_add(out, "%zu common cell%s, measured in %.1f s by ", a->n_cells, a->n_cells == 1 ? "" : "s", a->seconds[0]);
    if (several)
        text_add(out, "%zu runs of ", a->n_bases);
    text_add(out, "BASE and %.1f s by NEW", a->seconds[1]);
    if (a->seconds[0] > 0 && a->seconds[1] > 0)
        text_add(out, " (%.3g times)", a->seconds[1] / a->seconds[0]);
    text_add(out, "\n");
    if (a->n_other_starts > 0)
        text_add(out, "in %zu pairs of device times graphs were held in %s the host in them\n", a->n_other_starts,
                 several ? "some runs alone: the others have" : "one run alone: the other has");
}

static void add_json(struct text *out, const struct table *groups, const struct table *rows, const struct agreement *a)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddItemToObject(root, "groups", table_to_json(groups));
    cJSON_AddItemToObject(root, "rows", table_to_json(rows));
    json_put_number(root, "cells", (double)a->n_cells);
    json_put_number(root, "base_runs", (double)a->n_bases);
    json_put_number(root, "base_seconds", a->seconds[0]);
    json_put_number(root, "new_seconds", a->seconds[1]);
    add_tree(out, root);
}

static int print(const struct agreement *a, enum form form, const struct options *options, struct error *err)
{
    bool colour = !options->no_color && terminal_has_colour(STDOUT_FILENO);
    struct table tables[2] = {{.n_columns = 0}, {.n_columns = 0}};
    struct text out = {0};
    agree_groups_table(a, &tables[0]);
    agree_rows_table(a, &tables[1]);
    if (form == FORM_JSON)
        add_json(&out, &tables[0], &tables[1], a);
    for (int i = 0; i < 2 && form != FORM_JSON; i++) {
        if (form == FORM_MARKDOWN)
            table_print_markdown(&out, &tables[i]);
        else
            table_print_text(&out, &tables[i], colour);
        text_add(&out, "\n");
    }
    if (form != FORM_JSON)
        add_cost(&out, a);
    out.failed |= tables[0].failed || tables[1].failed;
    table_free(&tables[0]);
    table_free(&tables[1]);
    return hand_over(&out, form) ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the comparison");
}

/* ---- why it came to nothing ---- */

static void add_failure_json(struct text *out, const struct agree_request *request, const struct error *why)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "outcome", why->text);
    json_put_number(root, "exit_code", why->code);
    cJSON_AddItemToObject(root, "base", cJSON_CreateStringArray(request->bases, (int)request->n_bases));
    cJSON_AddStringToObject(root, "new", request->fresh);
    cJSON_AddItemToObject(root, "groups", cJSON_CreateArray());
    cJSON_AddItemToObject(root, "rows", cJSON_CreateArray());
    add_tree(out, root);
}

static void add_line(struct text *out, const char *before, const char *words)
{
    text_add(out, "%s", before);
    markdown_add(out, words);
    text_add(out, "\n");
}

static void add_failure_markdown(struct text *out, const struct agree_request *request, const struct error *why)
{
    add_line(out, "### cudal2-bench compare --agreement: ", why->text);
    text_add(out, "\n");
    for (size_t i = 0; i < request->n_bases; i++)
        add_line(out, "- BASE: ", request->bases[i]);
    add_line(out, "- NEW: ", request->fresh);
}

/* As compare does: a form that says nothing is taken for a job that has not run. The error stays as it is. */
static void print_failure(const struct agree_request *request, enum form form, const struct error *why)
{
    struct text out = {0};
    if (form == FORM_JSON)
        add_failure_json(&out, request, why);
    else if (form == FORM_MARKDOWN)
        add_failure_markdown(&out, request, why);
    hand_over(&out, form);
}

int command_agree(const struct options *options, struct error *err)
{
    struct agreement agreement;
    enum form form = FORM_TEXT;
    if (options->n_operands < 2)
        return error_set(err, EXIT_CODE_USAGE, "compare --agreement needs two runs or more, BASE... and NEW");
    if (options->confirm || options->resume || options_given(options, OPTION_DELTA))
        return error_set(err, EXIT_CODE_USAGE, "--agreement cannot go with --confirm, --resume or --delta");
    if (find_form(options, &form, err))
        return err->code;
    size_t n_bases = options->n_operands - 1;
    struct agree_request request = {
        .bases = options->operands, .n_bases = n_bases, .fresh = options->operands[n_bases], .force = options->force};
    if (agree_open(&request, &agreement, err)) {
        print_failure(&request, form, err);
        return err->code;
    }
    int code = print(&agreement, form, options, err);
    agree_free(&agreement);
    return code;
}
