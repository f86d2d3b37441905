/* `compare --agreement BASE... NEW`: by how much runs differ, as tables. */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "compare/agree.h"

_Static_assert(AGREE_BASES_MAX + 1 == OPTIONS_OPERANDS_MAX, "as many operands as runs can be compared");

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

static void print_json(struct text *out, const struct sheet *groups, const struct sheet *rows,
                       const struct agreement *a)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddItemToObject(root, "groups", sheet_to_json(groups));
    cJSON_AddItemToObject(root, "rows", sheet_to_json(rows));
    json_put_number(root, "cells", (double)a->n_cells);
    json_put_number(root, "base_runs", (double)a->n_bases);
    json_put_number(root, "base_seconds", a->seconds[0]);
    json_put_number(root, "new_seconds", a->seconds[1]);
    char *text = json_print(root, true);
    out->failed |= !text;
    text_add(out, "%s\n", text ? text : "");
    free(text);
    cJSON_Delete(root);
}

static int print(const struct agreement *a, const struct options *options, struct error *err)
{
    const char *format = format_choices[options->format];
    bool colour = !options->no_color && terminal_has_colour(STDOUT_FILENO);
    bool json = strcmp(format, "json") == 0, markdown = strcmp(format, "markdown") == 0;
    struct sheet sheets[2] = {{.n_columns = 0}, {.n_columns = 0}};
    struct text out = {0};
    if (!json && !markdown && strcmp(format, "text") != 0)
        return error_set(err, EXIT_CODE_USAGE, "compare --agreement: there is no format \"%s\" (text, markdown, json)",
                         format);
    agree_groups_sheet(a, &sheets[0]);
    agree_rows_sheet(a, &sheets[1]);
    if (json)
        print_json(&out, &sheets[0], &sheets[1], a);
    for (int i = 0; i < 2 && !json; i++) {
        if (markdown)
            sheet_print_markdown(&out, &sheets[i]);
        else
            sheet_print_text(&out, &sheets[i], colour);
        text_add(&out, "\n");
    }
    if (!json)
        add_cost(&out, a);
    bool failed = out.failed || sheets[0].failed || sheets[1].failed;
    if (!failed)
        fputs(out.bytes, stdout);
    sheet_free(&sheets[0]);
    sheet_free(&sheets[1]);
    text_free(&out);
    return failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the comparison") : 0;
}

int command_agree(const struct options *options, struct error *err)
{
    struct agreement agreement;
    if (options->n_operands < 2)
        return error_set(err, EXIT_CODE_USAGE, "compare --agreement needs two runs or more, BASE... and NEW");
    if (options->confirm || options->resume || options_given(options, OPTION_DELTA))
        return error_set(err, EXIT_CODE_USAGE, "--agreement cannot go with --confirm, --resume or --delta");
    size_t n_bases = options->n_operands - 1;
    struct agree_request request = {
        .bases = options->operands, .n_bases = n_bases, .fresh = options->operands[n_bases], .force = options->force};
    if (agree_open(&request, &agreement, err))
        return err->code;
    int code = print(&agreement, options, err);
    agree_free(&agreement);
    return code;
}
