/*
 * source.h - from what a user names to the files that are meant: a result, a journal, either of them compressed by
 * gzip, or a directory that holds a run.
 */
#ifndef CUDAL2_REPORT_SOURCE_H
#define CUDAL2_REPORT_SOURCE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

struct source {
    char path[PATH_MAX]; /* of the file to read */
    bool journal;        /* else a result */
};

/* A name that ends in .jsonl or .jsonl.gz is a journal, any other file a result. In a directory it is journal.jsonl or
 * result.json, first the plain file and then the compressed one; a journal has more, so it goes before a result.
 * EXIT_CODE_DATA when there is nothing of the kind. */
int source_find(const char *path, struct source *out, struct error *err);

/* The journal of a run: the source itself, or the one beside its result: "x.json" has "x.journal.jsonl" or
 * "journal.jsonl" for "result.json", plain or compressed. EXIT_CODE_DATA when it is not there. */
int source_find_journal(const char *path, struct source *out, struct error *err);

#endif
