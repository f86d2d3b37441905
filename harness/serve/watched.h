/*
 * watched.h - lines of parameters whose launches were watched under CUPTI since the server began: a line is watched in
 * the first job that has it, and not again while the kernel's files stay as they are. Holds no lock: server_work.c
 * does.
 */
#ifndef CUDAL2_SERVE_WATCHED_H
#define CUDAL2_SERVE_WATCHED_H

#include "serve/evaluate.h"

#define WATCHED_MOST 65536u /* lines; then the oldest goes, and is watched again */

struct watched_line {
    char key[DIGEST_HEX];
    bool seen; /* false: nobody could watch here (no CUPTI), and that is not tried again */
};

/* All zero: nothing. */
struct watched_lines {
    struct watched_line *lines; /* owned; n of them */
    size_t n, capacity, oldest;
};

/* Names what is compiled: kernel, parameters, accumulate type, mode, and the files of the kernel directory. False for
 * any candidate but a kernel with parameters, which is watched in every job. */
bool watched_key(const struct evaluation *e, char key[DIGEST_HEX]);

/* NULL: not tried yet. */
const struct watched_line *watched_find(const struct watched_lines *w, const char *key);
/* Out of memory it is not remembered. */
void watched_add(struct watched_lines *w, const char *key, bool seen);
void watched_free(struct watched_lines *w);

#endif
