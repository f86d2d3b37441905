/*
 * file.h - whole files: read with a cap, written by temporary file, fsync and rename; directories; the executable's
 * own place; the one on-disk cache (cubins, autotune winners).
 */
#ifndef CUDAL2_BASE_FILE_H
#define CUDAL2_BASE_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Opens a regular file of at most max_bytes for reading, closed on exec, without waiting: a FIFO, a device, a socket or
 * a directory is refused by one line that says which it is. *bytes is its size, 0 where (under /proc) none is stated.
 * Everything that a user names is opened by this. EXIT_CODE_DATA. */
int file_open(const char *path, size_t max_bytes, int *fd, size_t *bytes, struct error *err);

/* Reads a regular file of at most max_bytes; *bytes is NUL-terminated and owned by the caller (free). */
int file_read(const char *path, size_t max_bytes, char **bytes, size_t *length, struct error *err);

/* The same of standard input, to its end; `name` is for errors. */
int file_read_input(const char *name, size_t max_bytes, char **bytes, size_t *length, struct error *err);

/* Writes path.tmp.<pid>, fsyncs, renames over path, fsyncs the directory; nothing is left behind on failure.
 * EXIT_CODE_CANTCREATE when it cannot be created, EXIT_CODE_IO when write, sync or rename fails. */
int file_write_atomic(const char *path, const void *bytes, size_t length, struct error *err);

/* The same without waiting for the disk: other processes see the old file or the new one, but a power cut may leave
 * neither. For what carries a checksum and can be made again. */
int file_write_passing(const char *path, const void *bytes, size_t length, struct error *err);

/* Whether a lock (flock) that this process holds on the file keeps others out: some network file systems say yes to
 * everybody. */
bool file_lock_holds(const char *path);

/* mkdir -p. */
int file_make_directories(const char *path, struct error *err);

/* Directory of the running executable (from /proc/self/exe), no trailing slash. */
int file_executable_directory(char *out, size_t capacity, struct error *err);

/* A file that carries the CRC and length of its content, so that one that was cut off or changed by a fault is known.
 * The bytes are the caller's, with a NUL behind them; nothing is owned but of a good one. */
enum file_entry { FILE_ENTRY_NONE, FILE_ENTRY_DAMAGED, FILE_ENTRY_GOOD };
enum file_entry file_entry_get(const char *path, char **bytes, size_t *length);
/* Makes the directories too; does not wait for the disk. */
int file_entry_put(const char *path, const void *bytes, size_t length, struct error *err);

/* The cache directory: $CUDAL2_CACHE, else $XDG_CACHE_HOME/cudal2-bench, else $HOME/.cache/cudal2-bench, else
 * /tmp/cudal2-bench-cache-<uid>. Created on demand by file_cache_put. */
int file_cache_directory(char *out, size_t capacity, struct error *err);
/* <cache>/<kind>/<key>; both must be plain names. */
int file_cache_path(const char *kind, const char *key, char *out, size_t capacity, struct error *err);
/* *found is false (and 0 returned) on a miss or an unreadable entry; entries carry a CRC and a corrupt one is a miss,
 * which is why putting one does not wait for the disk. */
int file_cache_get(const char *kind, const char *key, char **bytes, size_t *length, bool *found, struct error *err);
int file_cache_put(const char *kind, const char *key, const void *bytes, size_t length, struct error *err);
/* Variables that a worker sets for itself where a plugin could write into its cache. The first: a directory that is
 * written instead, and read first. The second: only kinds whose names begin so are read or written at all. */
#define FILE_CACHE_OWN "CUDAL2_CACHE_OWN"
#define FILE_CACHE_ONLY "CUDAL2_CACHE_ONLY"

#endif
