/*
 * help.c - prints --help from the table of options, wrapped to the terminal, and chooses man page and completions.
 * Relies on options_table.c. Called by main.c.
 */
#include "cli/help.h"
#include "worker/environment.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define HELP_WIDTH 80u
#define HELP_COLUMN 30u /* where descriptions begin */

static bool applies(const struct option_info *option, enum command command)
{
    return command == COMMAND_COUNT || ((option->commands >> command) & 1u);
}

/* Breaks `words` at spaces so that no line is longer than HELP_WIDTH; each line but the first begins at `indent`. */
static void add_wrapped(struct text *out, const char *words, unsigned indent)
{
    size_t width = HELP_WIDTH - indent;
    while (strlen(words) > width) {
        size_t cut = width;
        while (cut > 0 && words[cut] != ' ')
            cut--;
        if (cut == 0)
            break;
        text_add(out, "%.*s\n%*s", (int)cut, words, (int)indent, "");
        words += cut + 1;
    }
    text_add(out, "%s\n", words);
}

/* "  -c, --config FILE", and its description beside it, or below where the left side is too long. */
static void add_entry(struct text *out, const char *left, const char *help)
{
    text_add(out, "  %s", left);
    if (strlen(left) + 4 > HELP_COLUMN)
        text_add(out, "\n%*s", (int)HELP_COLUMN, "");
    else
        text_add(out, "%*s", (int)(HELP_COLUMN - 2 - strlen(left)), "");
    add_wrapped(out, help, HELP_COLUMN);
}

static void add_option(struct text *out, enum option_id id, enum command command)
{
    char left[120];
    struct option_info option = option_table[id];
    option.argument = option_argument(id, command);
    option_form(&option, left, sizeof left);
    add_entry(out, left, option_help(id, command));
}

static bool is_of_section(int id, enum command command, const char *section)
{
    return applies(&option_table[id], command) && strcmp(option_table[id].section, section) == 0;
}

/* Each section once, where its first row stands, with all of its rows. */
static void add_options(struct text *out, enum command command)
{
    for (int first = 0; first < OPTION_COUNT; first++) {
        const char *section = option_table[first].section;
        bool seen = !applies(&option_table[first], command);
        for (int i = 0; i < first && !seen; i++)
            seen = is_of_section(i, command, section);
        if (seen)
            continue;
        text_add(out, "\n%s:\n", section);
        for (int i = first; i < OPTION_COUNT; i++)
            if (is_of_section(i, command, section))
                add_option(out, (enum option_id)i, command);
    }
}

/* Of one command, or with COMMAND_COUNT of all, each row with whom it is about. */
static void add_exit_codes(struct text *out, enum command command)
{
    text_add(out, "\nExit status:\n");
    for (int i = 0; exit_table[i].text; i++) {
        char who[80] = "", line[240];
        if (command != COMMAND_COUNT && !((exit_table[i].commands >> command) & 1u))
            continue;
        if (command == COMMAND_COUNT)
            commands_text(exit_table[i].commands, who, sizeof who);
        snprintf(line, sizeof line, "%s%s", who, exit_table[i].text);
        text_add(out, "  %3d  ", exit_table[i].code);
        add_wrapped(out, line, 7);
    }
}

void help_program(struct text *out)
{
    text_add(out, "Usage: " PROGRAM_NAME " [run] --config FILE [OPTION]...\n       " PROGRAM_NAME
                  " run --shape MxNxK [OPTION]...\n       " PROGRAM_NAME " COMMAND [OPTION]... [ARGUMENT]...\n\n");
    text_add(out, "Measures how fast half-precision GEMM kernels are against the libraries they\ncompete with.\n\n"
                  "Commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        char left[60];
        const struct command_info *command = &command_table[i];
        snprintf(left, sizeof left, "%s%s%s", command->name, command->operands[0] ? " " : "", command->operands);
        if (!command->hidden)
            add_entry(out, left, command->help);
    }
    text_add(out, "\nThe options of run; \"" PROGRAM_NAME " COMMAND --help\" shows those of another\ncommand.\n");
    add_options(out, COMMAND_RUN);
    add_exit_codes(out, COMMAND_COUNT);
}

void help_command(struct text *out, enum command command)
{
    const struct command_info *info = &command_table[command];
    text_add(out, "Usage: " PROGRAM_NAME " %s [OPTION]...%s%s\n\n", info->name, info->operands[0] ? " " : "",
             info->operands);
    char sentence[240];
    snprintf(sentence, sizeof sentence, "%c%s.", toupper((unsigned char)info->help[0]), info->help + 1);
    add_wrapped(out, sentence, 0);
    add_options(out, command);
    add_exit_codes(out, command);
}

static void add_version(struct text *out)
{
    text_add(out, PROGRAM_NAME " " PROGRAM_VERSION "\n");
    environment_add_build(out);
}

bool help_wanted(const struct options *o, struct text *out)
{
    if (o->version)
        add_version(out);
    else if (o->command == COMMAND_HELP && o->man)
        help_man(out);
    else if (o->command == COMMAND_HELP && options_given(o, OPTION_COMPLETION))
        help_completion(out, (enum completion_shell)o->completion);
    else if (o->command == COMMAND_HELP && o->topic != COMMAND_COUNT)
        help_command(out, o->topic);
    else if (o->command == COMMAND_HELP || (o->help && o->command == COMMAND_RUN))
        help_program(out);
    else if (o->help)
        help_command(out, o->command);
    else
        return false;
    return true;
}
