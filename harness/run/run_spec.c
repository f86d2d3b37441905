/*
 * run_spec.c - defaults of a run's spec and the names of its files. Pure. Called by cli/spec.c and by
 * serve/evaluate.c.
 */
#include "run/run_spec.h"

#include <stdio.h>
#include <string.h>

void run_spec_init(struct run_spec *spec, const struct config *config)
{
    *spec = (struct run_spec){
        .config = config, .program = RUN_PROGRAM, .lock_seconds = RUN_LOCK_SECONDS, .pause_seconds = RUN_PAUSE_SECONDS};
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

/* The output with another ending than ".json", which it need not have. */
static int replace_ending(const char *output, const char *ending, char path[PATH_MAX], struct error *err)
{
    size_t length = strlen(output);
    if (unfit(output))
        return error_set(err, EXIT_CODE_USAGE, "--output %s: %s", output, unfit(output));
    if (length > 5 && strcmp(output + length - 5, ".json") == 0)
        length -= 5;
    int used = snprintf(path, PATH_MAX, "%.*s%s", (int)length, output, ending);
    if (used < 0 || used >= PATH_MAX)
        return error_set(err, EXIT_CODE_USAGE, "--output: the path is too long");
    return 0;
}

int run_journal_path(const char *output, char path[PATH_MAX], struct error *err)
{
    return replace_ending(output, ".journal.jsonl", path, err);
}

int run_shard_path(const char *output, const struct shard *shard, char path[PATH_MAX], struct error *err)
{
    char ending[64];
    snprintf(ending, sizeof ending, ".shard-%u-of-%u.json", shard->index, shard->count);
    return replace_ending(output, ending, path, err);
}

int run_spec_name(struct run_spec *spec, const char *output, struct error *err)
{
    if (run_journal_path(output, spec->journal, err))
        return err->code;
    snprintf(spec->output, sizeof spec->output, "%s", output);
    return 0;
}
