/*
 * asked.h - what is asked of NVRTC: its version, the source and the options. They and the source's text are a cubin's
 * key; as a text they lie beside a cubin of cubins.h, so that what it was made of can be looked up again.
 */
#ifndef CUDAL2_COMPILE_ASKED_H
#define CUDAL2_COMPILE_ASKED_H

#include "compile/compile.h"
#include "compile/kernels.h"

#define ASKED_OPTION_BYTES 96
#define ASKED_OPTIONS_MAX (4 + COMPILE_MAX_DEFINES)

struct asked {
    int nvrtc[2];      /* major and minor version */
    char source[4096]; /* path, within the kernel directory where it lies there */
    char text[ASKED_OPTIONS_MAX][ASKED_OPTION_BYTES];
    const char *options[ASKED_OPTIONS_MAX];
    int n_options;
};

/* EXIT_CODE_DATA: too many parameters, or too long a name. */
int asked_fill(const struct compile_request *request, const int nvrtc[2], struct asked *out, struct error *err);

/* The key of what this and the source make. */
void asked_key(const struct asked *a, const struct kernel_source *source, char key[DIGEST_HEX]);

/* Lines; owned by the caller, NULL out of memory. And back: EXIT_CODE_DATA for another text. */
char *asked_text(const struct asked *a);
int asked_read(const char *text, struct asked *out, struct error *err);

/* The key as the kernel directory's sources are now. */
int asked_key_now(const struct asked *a, const char *kernel_directory, char key[DIGEST_HEX], struct error *err);

#endif
