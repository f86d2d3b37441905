/*
 * nvrtc.h - NVIDIA's run-time compiler by dlopen: it needs no GPU and no toolkit headers. Looked for in
 * $CUDA_HOME/lib64, the loader's own path and /usr/local/cuda/lib64, newest major version first. All functions may be
 * called from several threads.
 */
#ifndef CUDAL2_COMPILE_NVRTC_H
#define CUDAL2_COMPILE_NVRTC_H

#include "compile/kernels.h"

#include <stdbool.h>

/* EXIT_CODE_UNAVAILABLE with what was tried when there is none. Loads once per process. */
int nvrtc_version(int *major, int *minor, struct error *err);
/* Path of the library really mapped; "" before a successful nvrtc_version. */
const char *nvrtc_path(void);
/* Whether it can compile for sm_<cc>. False when there is no NVRTC. */
bool nvrtc_supports(int cc);

struct nvrtc_output {
    char *cubin;
    size_t length;
    char *ptx; /* text; "" when the compiler keeps none */
    char *log; /* everything the compiler said, warnings and ptxas -v included; also set when compiling failed */
};

/* Compiles with the given options. EXIT_CODE_DATA: the source does not compile; the text is the first error line
 * ("tiny.cu(12): error: ..."). The caller frees cubin, ptx and log in either case. */
int nvrtc_compile(const struct kernel_source *source, const char *const *options, int n_options,
                  struct nvrtc_output *out, struct error *err);

#endif
