/*
 * store.h - what the server keeps on disk: one directory for each job, made so that a restart loses nothing that a
 * client was told. A file is written whole (file_write_atomic) before the client hears of it.
 *
 *   DIR/lock                              one server at a time
 *   DIR/jobs/ab/abcd.../submission.json   id, client, sequence, priority, the submission
 *                       attempts          how often its evaluation was begun
 *                       kernel/           source and manifest, as compiled
 *                       run.journal.jsonl the run's journal (docs/results.md)
 *                       outcome.json      the answer; its presence means done
 */
#ifndef CUDAL2_SERVE_STORE_H
#define CUDAL2_SERVE_STORE_H

#include "base/digest.h"
#include "base/json.h"

#include <limits.h>

struct store {
    int lock_fd;
    char directory[PATH_MAX / 2];
};

/* Makes the directory and takes its lock. EXIT_CODE_TEMPORARY where another server has it. */
int store_open(const char *directory, struct store *out, struct error *err);
void store_close(struct store *s);

/* Whether it can be a job's id, and so part of a path: a client may send anything. */
bool store_is_id(const char *name);

/* Where a job's file lies; leaf "" is its directory. EXIT_CODE_DATA when the path is too long. */
int store_path(const struct store *s, const char *id, const char *leaf, char out[PATH_MAX], struct error *err);

/* Makes the job's directory and writes its submission or outcome. EXIT_CODE_IO or EXIT_CODE_CANTCREATE: disk full. */
int store_put(const struct store *s, const char *id, const char *leaf, const cJSON *tree, struct error *err);
/* The text of such a file, owned by the caller. EXIT_CODE_DATA when it is not there. */
int store_get(const struct store *s, const char *id, const char *leaf, char **text, struct error *err);

/* Waits until what is in such a file is on disk; one that is not there, or cannot be waited for, is passed over. */
void store_sync(const struct store *s, const char *id, const char *leaf);

/* Counts one more beginning of the job's evaluation into *count. A failure counts from zero: it must not stop a job. */
void store_attempt(const struct store *s, const char *id, unsigned *count);

/* Takes one of its files away, if it is there. */
void store_remove(const struct store *s, const char *id, const char *leaf);

/* Every job that is there, in no order. A submission that cannot be read is passed over and counted in *damaged. */
typedef int (*store_visitor)(void *context, const char *id, struct json_at submission, bool done, struct error *err);
int store_scan(const struct store *s, store_visitor visit, void *context, size_t *damaged, struct error *err);

#define STORE_SUBMISSION "submission.json"
#define STORE_OUTCOME "outcome.json"
#define STORE_JOURNAL "run.journal.jsonl"
#define STORE_ATTEMPTS "attempts"
#define STORE_FILE_BYTES (16u << 20)

#endif
