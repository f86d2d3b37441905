/*
 * options.c - parses the command line by the table into struct options, and refuses what a command does not take.
 * Relies on options_table.c. Called by main.c once.
 */
#include "cli/options.h"

#include "base/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 32u

struct parser {
    int argc, next;
    char **argv;
    bool options_ended, command_named;
    struct options *out;
    struct error *err;
};

bool options_given(const struct options *o, enum option_id id)
{
    return o->given[id];
}

static const char *near_option(const char *word)
{
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = option_table[i].name;
    return nearest_name(word, names, OPTION_COUNT);
}

static const char *near_command(const char *word)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = command_table[i].hidden ? NULL : command_table[i].name;
    return nearest_name(word, names, COMMAND_COUNT);
}

static int usage(struct parser *p, const char *problem, const char *subject, const char *hint)
{
    return error_set(p->err, EXIT_CODE_USAGE, "%s \"%.60s\"%s%s%s", problem, subject, hint ? " (did you mean " : "",
                     hint ? hint : "", hint ? "?)" : "");
}

static int bad_value(struct parser *p, const struct option_info *option, const char *value)
{
    char wanted[240];
    struct option_info shown = *option;
    bool chooses = option->kind == OPTION_KIND_CHOICE || option->kind == OPTION_KIND_LIST;
    if (chooses) { /* what may be written, not the word that stands for it in the help */
        shown.argument = NULL;
        shown.choices =
            option_choices((enum option_id)(option - option_table), p->command_named ? p->out->command : COMMAND_COUNT);
    }
    option_argument_text(&shown, wanted, sizeof wanted);
    const char *number = option->kind == OPTION_KIND_REAL ? ", a number above 0" : "";
    if (option->kind == OPTION_KIND_INTEGER)
        number = ", a whole number";
    if (option->kind == OPTION_KIND_LIST)
        number = ", or several separated by commas, none twice";
    return error_set(p->err, EXIT_CODE_USAGE, "--%s: expected %s%s, found \"%.60s\"", option->name, wanted, number,
                     value);
}

/* auto, cpu, cuda, cuda:all, cuda:N, cuda:N,M,... without repeats. */
static bool device_valid(const char *text)
{
    uint64_t seen = 0;
    static const char *const words[] = {"auto", "cpu", "cuda", "cuda:all"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    if (strncmp(text, "cuda:", 5) != 0)
        return false;
    for (const char *c = text + 4; *c == ':' || *c == ',';) {
        char *end;
        if (c[1] < '0' || c[1] > '9')
            return false;
        unsigned long ordinal = strtoul(c + 1, &end, 10);
        if (ordinal > 63 || (seen >> ordinal) & 1u)
            return false;
        seen |= (uint64_t)1 << ordinal;
        c = end;
        if (*c == '\0')
            return true;
    }
    return false;
}

static bool read_integer(const char *text, uint64_t *out)
{
    size_t length = strlen(text);
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return length > 0 && strspn(text, "0123456789") == length && errno == 0;
}

static bool read_positive(const char *text, double *out)
{
    char *end;
    if (strspn(text, "0123456789.eE+-") != strlen(text)) /* no hexadecimal, infinity or NaN */
        return false;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out) && *out > 0;
}

static bool read_choice(const char *const choices[], const char *text, int *out)
{
    for (*out = 0; choices[*out]; (*out)++) {
        if (strcmp(choices[*out], text) == 0)
            return true;
    }
    return false;
}

/* Words separated by commas, none twice. */
static bool read_list(const char *const choices[], const char *text, struct option_list *out)
{
    *out = (struct option_list){0, 0};
    for (const char *from = text;; from++) {
        char word[WORD_MAX + 1];
        size_t length = strcspn(from, ",");
        int choice;
        snprintf(word, sizeof word, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), from);
        if (!read_choice(choices, word, &choice) || (out->bits & (1u << choice)) != 0)
            return false;
        if (from == text)
            out->first = choice;
        out->bits |= 1u << choice;
        from += length;
        if (*from == '\0')
            return true;
    }
}

static int append(struct parser *p, const struct option_info *option, const char **list, const char *value)
{
    size_t count = 0;
    while (list[count])
        count++;
    if (count == CONFIG_NAMES_MAX)
        return error_set(p->err, EXIT_CODE_USAGE, "--%s: given more than %d times", option->name, CONFIG_NAMES_MAX);
    list[count] = value;
    return 0;
}

static int store(struct parser *p, enum option_id id, const char *value)
{
    const struct option_info *option = &option_table[id];
    char *field = (char *)p->out + option->offset;
    bool valid = true;
    if (value && !value[0])
        return error_set(p->err, EXIT_CODE_USAGE, "--%s: the value is empty", option->name);
    switch (option->kind) {
    case OPTION_KIND_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_KIND_TEXT:
        *(const char **)(void *)field = value;
        valid = id != OPTION_DEVICE || device_valid(value);
        break;
    case OPTION_KIND_OPTIONAL:
        *(const char **)(void *)field = value ? value : "";
        break;
    case OPTION_KIND_CHOICE:
        valid = read_choice(option->choices, value, (int *)(void *)field);
        break;
    case OPTION_KIND_LIST:
        valid = read_list(option->choices, value, (struct option_list *)(void *)field);
        break;
    case OPTION_KIND_INTEGER:
        valid = read_integer(value, (uint64_t *)(void *)field);
        break;
    case OPTION_KIND_REAL:
        valid = read_positive(value, (double *)(void *)field);
        break;
    case OPTION_KIND_MANY:
        return append(p, option, (const char **)(void *)field, value);
    }
    return valid ? 0 : bad_value(p, option, value);
}

/* One option; `attached` is what stood after '=' or after its letter, or NULL. */
static int take_option(struct parser *p, enum option_id id, const char *attached)
{
    const struct option_info *option = &option_table[id];
    bool takes_value = option->kind != OPTION_KIND_FLAG && option->kind != OPTION_KIND_OPTIONAL;
    if (option->kind == OPTION_KIND_FLAG && attached)
        return error_set(p->err, EXIT_CODE_USAGE, "--%s takes no value", option->name);
    if (takes_value && !attached) {
        if (p->next == p->argc)
            return error_set(p->err, EXIT_CODE_USAGE, "--%s needs a value", option->name);
        attached = p->argv[p->next++];
    }
    if (option->kind != OPTION_KIND_MANY && options_given(p->out, id))
        return error_set(p->err, EXIT_CODE_USAGE, "--%s is given twice", option->name);
    p->out->given[id] = true;
    return store(p, id, attached);
}

static int take_long(struct parser *p, const char *argument)
{
    char name[WORD_MAX + 1];
    char hint[WORD_MAX + 8];
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    snprintf(name, sizeof name, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), argument);
    for (int i = 0; i < OPTION_COUNT && length <= WORD_MAX; i++) {
        if (strcmp(option_table[i].name, name) == 0)
            return take_option(p, (enum option_id)i, equals ? equals + 1 : NULL);
    }
    const char *near = length <= WORD_MAX ? near_option(name) : NULL;
    snprintf(hint, sizeof hint, "--%s", near ? near : "");
    return usage(p, "unknown option", argument - 2, near ? hint : NULL);
}

static int take_short(struct parser *p, const char *argument)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_table[i].letter && option_table[i].letter == argument[1])
            return take_option(p, (enum option_id)i, argument[2] ? argument + 2 : NULL);
    }
    return usage(p, "unknown option", argument, NULL);
}

/* A file in the place of a command is most likely a config without its option. */
static int unknown_command(struct parser *p, const char *word)
{
    const char *near = near_command(word), *dot = strrchr(word, '.');
    if (near)
        return usage(p, "unknown command", word, near);
    return error_set(p->err, EXIT_CODE_USAGE, "unknown command \"%.60s\" (%s)", word,
                     dot && strcmp(dot, ".json") == 0 ? "a config is given with --config"
                                                      : "see " PROGRAM_NAME " --help");
}

/* Names a command: the first word does, and the operand of help. */
static int find_command(struct parser *p, const char *word, enum command *out)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(command_table[i].name, word) == 0) {
            *out = (enum command)i;
            return 0;
        }
    }
    return unknown_command(p, word);
}

static int take_word(struct parser *p, const char *word)
{
    if (!p->command_named) {
        p->command_named = true;
        return find_command(p, word, &p->out->command);
    }
    if (p->out->command == COMMAND_HELP && find_command(p, word, &p->out->topic))
        return p->err->code;
    if (p->out->n_operands == command_table[p->out->command].max_operands)
        return usage(p, "unexpected argument", word, NULL);
    if (word[0] == '\0') /* of a variable that is not set; as a path it would be told without a name */
        return error_set(p->err, EXIT_CODE_USAGE, "argument %zu of %s is empty", p->out->n_operands + 1,
                         command_table[p->out->command].name);
    p->out->operands[p->out->n_operands++] = word;
    return 0;
}

static int take_argument(struct parser *p)
{
    const char *argument = p->argv[p->next++];
    if (p->options_ended || argument[0] != '-' || argument[1] == '\0')
        return take_word(p, argument);
    if (strcmp(argument, "--") == 0) {
        p->options_ended = true;
        return 0;
    }
    return argument[1] == '-' ? take_long(p, argument + 2) : take_short(p, argument);
}

/* A word that another command knows. */
static int check_format(struct parser *p)
{
    const char *word = format_choices[p->out->format];
    int ignored;
    if (read_choice(option_choices(OPTION_FORMAT, p->out->command), word, &ignored))
        return 0;
    p->command_named = true;
    return bad_value(p, &option_table[OPTION_FORMAT], word);
}

/* Options may stand before the command, so whether they belong to it is known at the end only. */
static int check(struct parser *p)
{
    const struct options *o = p->out;
    struct error *err = p->err;
    const struct command_info *command = &command_table[o->command];
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (options_given(o, (enum option_id)i) && !((option_table[i].commands >> o->command) & 1u))
            return error_set(err, EXIT_CODE_USAGE, "--%s does not apply to \"%s\" (see " PROGRAM_NAME " %s --help)",
                             option_table[i].name, command->name, command->name);
    }
    if (o->help || o->version)
        return 0;
    if (options_given(o, OPTION_FORMAT) && check_format(p))
        return err->code;
    if ((o->command == COMMAND_RUN || o->command == COMMAND_TUNE || o->command == COMMAND_COMPILE) && !o->config &&
        !o->shapes[0])
        return error_set(err, EXIT_CODE_USAGE,
                         "%s needs --config FILE or --shape MxNxK (\"" PROGRAM_NAME
                         " init > my.json\" writes a config to start from; see " PROGRAM_NAME " --help)",
                         command_table[o->command].name);
    if (command->operands[0] && command->operands[0] != '[' && o->n_operands == 0)
        return error_set(err, EXIT_CODE_USAGE, "%s needs %s (see " PROGRAM_NAME " %s --help)", command->name,
                         command->operands, command->name);
    return 0;
}

int options_parse(int argc, char **argv, struct options *out, struct error *err)
{
    struct parser p = {.argc = argc, .next = 1, .argv = argv, .out = out, .err = err};
    memset(out, 0, sizeof *out);
    out->argc = argc;
    out->argv = argv;
    out->device = "auto";
    out->topic = COMMAND_COUNT;
    while (p.next < argc) {
        int code = take_argument(&p);
        if (code)
            return code;
    }
    return check(&p);
}
