/*
 * man.c - the man page in troff: commands, options and exit codes from the tables of options.h; description,
 * environment and examples are written here. Called by help.c for `help --man`.
 */
#include "cli/help.h"

#include <string.h>

#define SOURCE_WIDTH 72 /* roff fills lines by itself; these are for people who read the source */

/* How far the line has come that is being written. */
static size_t column_of(const struct text *out)
{
    size_t column = 0;
    while (column < out->length && out->bytes[out->length - column - 1] != '\n')
        column++;
    return column;
}

/* Text that roff takes literally: '-' is a minus (so that options can be copied), '\' is \e, and a line never starts
 * with a '.' or '\''. */
static void add_roff(struct text *out, const char *words)
{
    if (words[0] == '.' || words[0] == '\'')
        text_add(out, "\\&");
    for (; *words; words++) {
        bool may_break = *words == ' ' && !strchr(".' ", words[1]);
        if (may_break && column_of(out) + strcspn(words + 1, " \n") >= SOURCE_WIDTH)
            text_add(out, "\n");
        else if (*words == '-')
            text_add(out, "\\-");
        else if (*words == '\\')
            text_add(out, "\\e");
        else
            text_add_bytes(out, words, 1);
    }
}

static void add_commands(struct text *out)
{
    text_add(out, ".SH COMMANDS\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const struct command_info *command = &command_table[i];
        if (command->hidden)
            continue;
        text_add(out, ".TP\n.B %s", command->name);
        text_add(out, "%s%s\n", command->operands[0] ? " " : "", command->operands);
        add_roff(out, command->help);
        text_add(out, ".\n");
    }
}

/* Which commands take the option, where it is not all of them. */
static void add_users(struct text *out, const struct option_info *option)
{
    uint32_t visible = 0;
    for (int i = 0; i < COMMAND_COUNT; i++)
        visible |= command_table[i].hidden ? 0 : 1u << i;
    if ((option->commands & visible) == visible)
        return;
    text_add(out, "\n(");
    const char *between = "";
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (((option->commands & visible) >> i) & 1u) {
            text_add(out, "%s%s", between, command_table[i].name);
            between = ", ";
        }
    }
    text_add(out, ")");
}

static void add_option(struct text *out, const struct option_info *option)
{
    char form[120];
    option_form(option, form, sizeof form);
    text_add(out, ".TP\n.B \"");
    add_roff(out, form + strspn(form, " "));
    text_add(out, "\"\n");
    add_roff(out, option->help);
    add_users(out, option);
    text_add(out, ".\n");
}

/* Each section once, where its first row stands, with all of its rows. */
static void add_options(struct text *out)
{
    text_add(out, ".SH OPTIONS\n");
    for (int first = 0; first < OPTION_COUNT; first++) {
        const char *section = option_table[first].section;
        bool seen = false;
        for (int i = 0; i < first && !seen; i++)
            seen = strcmp(option_table[i].section, section) == 0;
        if (seen)
            continue;
        text_add(out, ".SS %s\n", section);
        for (int i = first; i < OPTION_COUNT; i++)
            if (strcmp(option_table[i].section, section) == 0)
                add_option(out, &option_table[i]);
    }
}

static void add_environment(struct text *out)
{
    static const char *const lines[][2] = {
        {"CUDAL2_CACHE", "Directory of compiled kernels and autotuning winners; default: cudal2-bench under "
                         "XDG_CACHE_HOME or ~/.cache."},
        {"CUDAL2_CUBINS",
         "Directory of kernels compiled ahead, which is only read, or none; default: cubins beside the kernel "
         "directory."},
        {"CUDAL2_KERNELS", "Directory of kernel sets, as with --kernels."},
        {"COLUMNS", "Width that the tables by shape of a run's screen must fit; default: that of the terminal, and no "
                    "limit where output is none."},
        {"NO_COLOR", "When set and not empty, tables have no colour."},
        {"TERM", "On a terminal that is dumb, tables have no colour and progress is told in lines."},
        {"CUDAL2_ISOLATION",
         "What workers give up before they load plugins: on (default), off, or a list of limits, memory, "
         "files, calls, namespaces, processes, user and temporary. The record says what was in force. A profiler or a "
         "sanitizer that "
         "attaches to "
         "a worker may need off."},
    };
    text_add(out, ".SH ENVIRONMENT\n");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        text_add(out, ".TP\n.B %s\n", lines[i][0]);
        add_roff(out, lines[i][1]);
        text_add(out, "\n");
    }
}

void help_man(struct text *out)
{
    text_add(out,
             ".TH CUDAL2\\-BENCH 1 \"" PROGRAM_DATE "\" \"" PROGRAM_NAME " " PROGRAM_VERSION "\" \"User Commands\"\n");
    text_add(out, ".SH NAME\ncudal2\\-bench \\- measure half\\-precision GEMM kernels against their competition\n");
    text_add(out,
             ".SH SYNOPSIS\n.B cudal2\\-bench\n[\\fBrun\\fR] \\fB\\-\\-config\\fR \\fIFILE\\fR [\\fIOPTION\\fR]...\n"
             ".br\n.B cudal2\\-bench\n\\fBrun\\fR \\fB\\-\\-shape\\fR \\fIMxNxK\\fR [\\fIOPTION\\fR]...\n"
             ".br\n.B cudal2\\-bench\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n");
    text_add(out,
             ".SH DESCRIPTION\nMeasures how fast a GEMM kernel is on this machine,\nagainst what its vendor ships, "
             "offline\n(launches back to back) and as a server sees it (each launch after an idle gap).\n"
             "A config file names the shapes and the contenders;\nevery result can be traced to the "
             "journal beside it,\n"
             "and an interrupted run goes on with \\fB\\-\\-resume\\fR.\n");
    add_commands(out);
    add_options(out);
    text_add(out, ".SH EXIT STATUS\n");
    for (int i = 0; exit_table[i].text; i++) {
        char who[80];
        commands_text(exit_table[i].commands, who, sizeof who);
        text_add(out, ".TP\n.B %d\n", exit_table[i].code);
        add_roff(out, who);
        add_roff(out, exit_table[i].text);
        text_add(out, ".\n");
    }
    add_environment(out);
    text_add(out, ".SH EXAMPLES\n.nf\n");
    add_roff(out, "cudal2-bench --mode server --config configs/smoke.json\n");
    add_roff(out, "cudal2-bench --config configs/grid.json --accumulate f32 --output f32.json --resume\n");
    text_add(out, ".fi\n");
}
