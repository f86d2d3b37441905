/*
 * run_spec.c - defaults of a run's spec and the names of its files. Pure. Called by cli/spec.c and by
 * serve/evaluate.c.
 */
#include "run/run_spec.h"

#include <stdio.h>
#include <string.h>

void run_spec_init(struct run_spec *spec, const struct config *config)
{
    *spec = (struct run_spec){.config = config, .program = RUN_PROGRAM, .lock_seconds = RUN_LOCK_SECONDS};
}

/* What is no name of a file, and what would have to be one. */
static const char *unfit(const char *output)
{
    size_t length = strlen(output);
    if (length == 0)
        return "expected a file name";
    if (strcmp(output, "-") == 0)
        return "a result has a journal beside it, so it goes to a file, not to standard output: name one, and print it "
               "with "
               "`report FILE` (a file called - is ./-)";
    return output[length - 1] == '/' ? "expected a file name, this is one of a directory" : NULL;
}

int run_journal_path(const char *output, char path[PATH_MAX], struct error *err)
{
    size_t length = strlen(output);
    if (unfit(output))
        return error_set(err, EXIT_CODE_USAGE, "--output %s: %s", output, unfit(output));
    if (length > 5 && strcmp(output + length - 5, ".json") == 0)
        length -= 5;
    int used = snprintf(path, PATH_MAX, "%.*s.journal.jsonl", (int)length, output);
    if (used < 0 || used >= PATH_MAX)
        return error_set(err, EXIT_CODE_USAGE, "--output: the path is too long");
    return 0;
}

int run_spec_name(struct run_spec *spec, const char *output, struct error *err)
{
    if (run_journal_path(output, spec->journal, err))
        return err->code;
    snprintf(spec->output, sizeof spec->output, "%s", output);
    return 0;
}
