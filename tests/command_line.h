/*
 * command_line.h - one line of text through the option parser, for the tests of cli/. Include after cmocka and
 * options.h.
 */
#ifndef CUDAL2_TESTS_COMMAND_LINE_H
#define CUDAL2_TESTS_COMMAND_LINE_H

#include <stdio.h>
#include <string.h>

#define ARGUMENTS_MAX 128

/* The words of one command line, split at spaces; "" in the text is an empty word. The result points into `line`. */
static int split(char *line, char **argv)
{
    int argc = 0;
    static char program[] = "cudal2-bench";
    argv[argc++] = program;
    for (char *word = strtok(line, " "); word && argc < ARGUMENTS_MAX - 1; word = strtok(NULL, " ")) {
        if (strcmp(word, "\"\"") == 0)
            word += 2;
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    return argc;
}

static char line_copy[4000];

static int parse(const char *line, struct options *o, struct error *err)
{
    char *argv[ARGUMENTS_MAX];
    err->text[0] = '\0';
    snprintf(line_copy, sizeof line_copy, "%s", line);
    return options_parse(split(line_copy, argv), argv, o, err);
}

static void accept(const char *line, struct options *o)
{
    struct error err;
    if (parse(line, o, &err))
        fail_msg("%s: %s", line, err.text);
}

#endif
