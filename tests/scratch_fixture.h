/* A directory of the test's own, for whole groups of tests or for each. */
#ifndef CUDAL2_TESTS_SCRATCH_FIXTURE_H
#define CUDAL2_TESTS_SCRATCH_FIXTURE_H

extern char scratch[64];

/* Set-ups and tear-down as cmocka takes them: an empty directory; the same, which the program's cache on disk
 * (CUDAL2_CACHE) is from then on; the removal of all that it holds, and of the directory too. */
int scratch_make(void **state);
int scratch_make_cache(void **state);
int scratch_empty(void **state);
int scratch_remove(void **state);

/* "<scratch>/<name>", good for the next three calls. */
const char *scratch_path(const char *name);
/* Writes the file, in folders of its own where the name has them. Fails the test when it cannot. */
void scratch_write(const char *name, const char *text);

#endif
