/*
 * nvidia.c - what the cuBLAS plugins share: types from the ABI's words, versions and paths of the libraries that are
 * mapped. Relies on CUDA's headers. Linked into cublas.so and cublaslt.so.
 */
#include "nvidia.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mapped {
    char cublas[PATH_MAX], cublaslt[PATH_MAX];
    char second[PATH_MAX]; /* another file of the same name */
};

static void note(char *slot, struct mapped *m, const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        snprintf(real, sizeof real, "%s", path);
    if (slot[0] == '\0')
        memcpy(slot, real, strlen(real) + 1);
    else if (strcmp(slot, real) != 0)
        memcpy(m->second, real, strlen(real) + 1);
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    struct mapped *m = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (slash && strncmp(slash, "/libcublas.so", 13) == 0)
        note(m->cublas, m, info->dlpi_name);
    if (slash && strncmp(slash, "/libcublasLt.so", 15) == 0)
        note(m->cublaslt, m, info->dlpi_name);
    return 0;
}

static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

int nvidia_check_mapped(char *why)
{
    struct mapped m = {.cublas = ""};
    dl_iterate_phdr(visit, &m);
    const char *clash = m.second[0] ? m.second : NULL;
    size_t length = directory_length(m.cublas);
    if (m.cublas[0] && m.cublaslt[0] &&
        (length != directory_length(m.cublaslt) || strncmp(m.cublas, m.cublaslt, length) != 0))
        clash = m.cublaslt;
    if (!clash)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "two cuBLAS are mapped at once: %.90s and %.90s (set LD_LIBRARY_PATH to one)",
             m.cublas[0] ? m.cublas : m.cublaslt, clash);
    return CUDAL2_LIBRARY_ERROR;
}

void nvidia_mapped_path(const void *symbol, char *out, size_t capacity)
{
    Dl_info info;
    char real[PATH_MAX] = "";
    size_t length = 0;
    if (dladdr(symbol, &info) == 0 || !realpath(info.dli_fname, real))
        real[0] = '\0';
    for (const char *at = real; *at && length + 3 < capacity; at++) {
        if (*at == '"' || *at == '\\')
            out[length++] = '\\';
        out[length++] = *at;
    }
    out[length] = '\0';
}

/* Bits of a half: a value of `eighths` / 8 has its leading bit at 2^(n - 3), of exponent n - 3. */
static uint16_t half_of(unsigned eighths)
{
    unsigned n = 0;
    while (eighths >> (n + 1) != 0)
        n++;
    unsigned bits = (n - 3 + 15) << 10 | (eighths - (1u << n)) << (10 - n);
    return (uint16_t)(eighths == 0 ? 0 : bits);
}

union nvidia_scalar nvidia_scalar(double value, enum cudal2_accumulate accumulate)
{
    union nvidia_scalar scalar = {.single = (float)value};
    if (accumulate == CUDAL2_ACC_F16)
        scalar.half = (uint16_t)(half_of((unsigned)(value < 0 ? -8 * value : 8 * value)) | (value < 0 ? 0x8000 : 0));
    return scalar;
}

int nvidia_failed(char *why, const char *call, const char *status)
{
    snprintf(why, CUDAL2_WHY, "%s: %s", call, status);
    return CUDAL2_LIBRARY_ERROR;
}
