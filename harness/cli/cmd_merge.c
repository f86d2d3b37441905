/*
 * cmd_merge.c - the command `merge`: one journal and one result of a run's shards, or the list of those that are
 * missing. Relies on gather/merge.h. Called by main.c.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/terminal.h"
#include "gather/merge.h"
#include "record/journal.h"
#include "result/make.h"

#define RESULT_MAX_CELLS 20000u /* of them a result takes 0.3 GB of memory to make */

static void print_hosts(struct merge_outcome *out)
{
    struct text text = {0};
    sentinels_text(&out->sentinels, out->sentinel, &text);
    fputs(text.bytes ? text.bytes : "", stdout);
    text_free(&text);
}

/* A search has its table in the result's place, which the tuner makes. */
static int write_result(const struct merge_outcome *out, struct error *err)
{
    struct stat st;
    bool large = stat(out->journal, &st) == 0 && st.st_size > (off_t)JOURNAL_MAX_BYTES;
    if (out->search) {
        printf("a search: the same `tune` with --shard none --resume --output FILE makes the table of this journal\n");
        return 0;
    }
    if (large || out->n_cells > RESULT_MAX_CELLS) {
        printf("no result of so many cells: a result is made of %u cells and %u MB at most\n", RESULT_MAX_CELLS,
               JOURNAL_MAX_BYTES / 1000000);
        return 0;
    }
    if (result_write(out->journal, out->output, err))
        return err->code;
    terminal_say(stdout, "result: ", out->output);
    return 0;
}

static int conclude(struct merge_outcome *out, int code, struct error *err)
{
    if (code == EXIT_CODE_INCOMPARABLE && out->n_missing > 0)
        printf("--array=%s\n", out->missing.bytes);
    if (code)
        return code;
    print_hosts(out);
    printf("%zu cells of %u shards\n", out->n_cells, out->n_shards);
    terminal_say(stdout, "journal: ", out->journal);
    return write_result(out, err);
}

int command_merge(const struct options *options, struct error *err)
{
    const struct merge_request request = {
        .sources = options->operands, .output = options->output, .notes = stderr, .mixed = options->mixed};
    struct merge_outcome *out = malloc(sizeof *out);
    if (!out)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a merge");
    int code = conclude(out, merge_shards(&request, out, err), err);
    merge_outcome_free(out);
    free(out);
    return code;
}
