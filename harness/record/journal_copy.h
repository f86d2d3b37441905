/*
 * journal_copy.h - what a journal should hold by now, kept in memory by its writer: whoever deletes, replaces or
 * changes the file while a run writes it is noticed, and nothing is lost. journal.c is the only caller.
 */
#ifndef CUDAL2_RECORD_JOURNAL_COPY_H
#define CUDAL2_RECORD_JOURNAL_COPY_H

#include "base/error.h"
#include "base/text.h"

#include <sys/stat.h>

struct journal_copy {
    struct text lines;
    struct stat file; /* after our latest write */
    size_t compared;  /* the next look begins here */
};

/* After each change that is ours. */
void journal_copy_note(struct journal_copy *copy, int fd);

/* What happened to the file behind fd, which should lie at path: "was deleted" and so on; NULL when it is as we left
 * it. Two calls of stat and a reading: of the whole file where its times say that somebody touched it, else of the next
 * MiB, in turn. */
const char *journal_copy_fault(struct journal_copy *copy, int fd, const char *path);

/* The next look reads the whole file, whatever its times say. */
void journal_copy_doubt(struct journal_copy *copy);

/* Writes the lines to a new file: path.rescued, or under a further name, or in the nearest directory above that is
 * still there, or among temporary files. Its name is in out. -1 when none could be written. */
int journal_copy_rescue(const struct journal_copy *copy, const char *path, char *out, size_t capacity);

void journal_copy_free(struct journal_copy *copy);

#endif
