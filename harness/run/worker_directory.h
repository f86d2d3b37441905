/*
 * worker_directory.h - the directory for a worker's temporary files: of its own, and gone with it. It is the only place
 * beside caches that Landlock lets a worker write to, so the journal of a run in /tmp is out of its reach.
 */
#ifndef CUDAL2_RUN_WORKER_DIRECTORY_H
#define CUDAL2_RUN_WORKER_DIRECTORY_H

struct worker_directory {
    char *path; /* owned; NULL: none */
    int lock;   /* held while its maker lives */
};

/* Makes one where temporary files go ($TMPDIR, else /tmp), for this user alone, and removes those there whose makers
 * were killed. None when that cannot be had, or with CUDAL2_ISOLATION without its part "temporary". */
struct worker_directory worker_directory_make(void);

/* Removes it with all that it holds. No link is followed. None is fine. */
void worker_directory_remove(struct worker_directory *directory);

#endif
