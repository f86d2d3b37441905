/*
 * jitlink.h - PTX to a cubin by nvJitLink, which comes with the CUDA toolkit beside NVRTC. Needs no GPU.
 */
#ifndef CUDAL2_COMPILE_JITLINK_H
#define CUDAL2_COMPILE_JITLINK_H

#include "base/error.h"

#include <stddef.h>

struct jitlink_output {
    char *cubin; /* owned, as is the log */
    size_t length;
    char *log; /* what ptxas says with -v */
};

/* "nvJitLink 13.0" into out: part of a cache's key. EXIT_CODE_UNAVAILABLE: it is not there. */
int jitlink_name(char *out, size_t capacity, struct error *err);

/* `arch` is "sm_90a". EXIT_CODE_DATA: it does not assemble (the first error of the log). EXIT_CODE_UNAVAILABLE: no
 * nvJitLink, or none that knows the architecture. Free the output in every case. May be called from several threads. */
int jitlink_assemble(const char *ptx, const char *arch, struct jitlink_output *out, struct error *err);

#endif
