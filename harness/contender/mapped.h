/*
 * mapped.h - the libraries of matrix products that are mapped in a process, by what its memory says: whose names are
 * exported there, whatever the file is called and whether it is still there. Code that a plugin has linked statically
 * exports nothing: it is known by words that it holds. What is copied elsewhere is not seen.
 */
#ifndef CUDAL2_CONTENDER_MAPPED_H
#define CUDAL2_CONTENDER_MAPPED_H

#include "model/borrowed.h"

#include <sys/types.h>

#define MAPPED_MOST 8

struct mapped {
    char list[MAPPED_MOST][BORROWED_TEXT]; /* "OpenBLAS: libopenblas.so.0" */
    size_t n;
};

/* Adds what is not in *out yet, each once, as far as so many bytes tell: a process cannot make it last. Of a process of
 * another user's, or one that has ended, nothing. */
void mapped_look(pid_t pid, struct mapped *out);

#endif
