/*
 * includes.h - every place of a kernel's source that reads another file, however it is spelled: spliced lines, comments
 * and digraphs in between, macros, <name>, __has_include. NVRTC opens whatever file a source names, so what is not
 * #include "name" of a header that kernels.c reads itself is refused, and what a cubin depends on is in its key.
 */
#ifndef CUDAL2_COMPILE_INCLUDES_H
#define CUDAL2_COMPILE_INCLUDES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Called for every #include "name", with its line; a code other than 0 ends the walk. */
struct include_visitor {
    int (*visit)(void *context, const char *name, int line, struct error *err);
    void *context;
};

#define INCLUDE_NAME_MAX 256

/* Walks a text. Directives in comments, strings and under #if count too: a header too many only costs a compilation.
 * EXIT_CODE_DATA with "source(line): ..." for one that is refused; else the visitor's first code, or 0. */
int includes_walk(const char *source, const char *text, const struct include_visitor *visitor, struct error *err);

/* Whether the text pastes tokens (##), or that is not known. A macro of one file may serve another. */
bool includes_paste(const char *text);
/* Of sources that paste: refuses each word that begins one which asks for files. */
int includes_no_pieces(const char *source, const char *text, struct error *err);

#endif
