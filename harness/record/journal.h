/*
 * journal.h - the run's memory: append-only JSON lines, each with a CRC, on disk before the next cell begins.
 *
 * A line is {"crc":"xxxxxxxx","kind":"...","data":{...}}\n where crc is digest_crc32 of everything from `"kind"` to the
 * byte before the newline. Kinds, in order: one `run` (config, hashes, seed, argv, plan), then `sitting` (one for each
 * start, with argv and time), `env` (one for each worker start), `cell` (a cell_record), `activity` (activity.h) and
 * `end`. A journal merged of shards also has `sentinel` lines: what each shard measured of the cell that all have.
 */
#ifndef CUDAL2_RECORD_JOURNAL_H
#define CUDAL2_RECORD_JOURNAL_H

#include "base/json.h"

#define JOURNAL_MAX_BYTES (64u << 20)
#define JOURNAL_MAX_LINE (4u << 20)
#define SENTINEL_KIND "sentinel"

struct journal;

/* Called for each good line in order; returning non-zero stops with that code (and err set by the visitor). */
typedef int (*journal_visitor)(void *context, const char *kind, struct json_at data, struct error *err);

/* Reads without changing or locking; the file may be compressed by gzip. A torn last line (no newline, or bad CRC/JSON
 * on the very last line) is ignored and *torn set (may be NULL); anything else corrupt is EXIT_CODE_DATA with file and
 * line number. */
int journal_read(const char *path, journal_visitor visit, void *context, bool *torn, struct error *err);

/* The same for a journal that is in memory (fuzzing); `source` stands for the file's name. */
struct journal_text {
    const char *source, *bytes;
    size_t length;
};
int journal_parse(const struct journal_text *text, journal_visitor visit, void *context, bool *torn, struct error *err);

/* The same for the lines of one kind; the others are skipped, whatever is in them. */
struct journal_filter {
    const char *kind;
    journal_visitor visit;
    void *context;
};
int journal_read_kind(const char *path, const struct journal_filter *only, struct error *err);
int journal_parse_kind(const struct journal_text *text, const struct journal_filter *only, struct error *err);

/* Creates a new journal (EXIT_CODE_CANTCREATE if it exists or cannot be created) and takes its flock. */
int journal_create(const char *path, struct journal **out, struct error *err);
/* The same for one that nobody goes on with: no line of it waits for the disk. */
int journal_create_passing(const char *path, struct journal **out, struct error *err);
/* Opens an existing one for appending: flock (EXIT_CODE_TEMPORARY if another process holds it), visits every line, then
 * cuts a torn last line off. */
int journal_resume(const char *path, journal_visitor visit, void *context, struct journal **out, struct error *err);
/* Writes one line and fdatasyncs it. `data` stays the caller's. After a failure (EXIT_CODE_IO: disk full) the file is
 * cut back to its last good length, so that a later resume is clean. */
int journal_append(struct journal *j, const char *kind, const cJSON *data, struct error *err);
/* Whether the file is still what was written to it: EXIT_CODE_IO when it was deleted, moved, replaced or changed. All
 * lines, the one that is being appended included, are then in a file beside it, which the error names. journal_append
 * asks the same. Cheap enough to be asked several times a second. */
int journal_check(struct journal *j, struct error *err);
/* The same, and the whole file is read whatever its times say. */
int journal_check_all(struct journal *j, struct error *err);
/* Whether that has been found. */
bool journal_is_lost(const struct journal *j);
void journal_close(struct journal *j);

/* For tests: what takes fdatasync's place from now on. */
void journal_replace_sync(struct journal *j, int (*sync)(int fd));

#endif
