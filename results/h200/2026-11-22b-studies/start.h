/* What the three start_*.c have in common: a check of every call, and the host's clock in ns. */
#define _GNU_SOURCE
#include <cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define CK(x)                                                                                                          \
    do {                                                                                                               \
        CUresult r_ = (x);                                                                                             \
        if (r_) {                                                                                                      \
            const char *s_;                                                                                            \
            cuGetErrorString(r_, &s_);                                                                                 \
            fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #x, s_);                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
