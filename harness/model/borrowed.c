/*
 * borrowed.c - tables of what libraries of matrix products are known by. Pure. Called by contender/mapped.c,
 * measure/cell_loop.c, device/cuda_capture.c and result/borrowed_rows.c.
 */
#include "model/borrowed.h"

#include <string.h>
#include <strings.h>

struct known_by {
    const char *word, *library;
};

/* ---- kernels ---- */

/* In a name, anywhere. cuBLAS and cuDNN have kernels of CUTLASS too: the word of the library decides. */
static const struct known_by in_names[] = {
    {"cublas", "cuBLAS"},        {"cudnn", "cuDNN"},          {"_xmma_gemm_", "cuBLAS"},
    {"gemvx::kernel", "cuBLAS"}, {"5gemvx6kernel", "cuBLAS"}, {"gemvNSP_kernel", "cuBLAS"},
    {"gemv2T_kernel", "cuBLAS"}, {"gemv2N_kernel", "cuBLAS"}, {"cutlass", "CUTLASS"},
};

/* "ampere_h16816gemm_128x128_ldg8_stages_64x3_tn" */
static bool is_assembled(const char *name)
{
    static const char *const chips[] = {"maxwell_", "volta_", "turing_", "ampere_", "hopper_"};
    static const char *const layouts[] = {"_nn", "_nt", "_tn", "_tt"};
    bool chip = false, layout = false;
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        chip |= strncmp(name, chips[i], strlen(chips[i])) == 0;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts && length > 3; i++)
        layout |= strcmp(name + length - 3, layouts[i]) == 0;
    return chip && layout && strstr(name, "gemm_") != NULL;
}

const char *borrowed_kernel(const char *name)
{
    if (strncmp(name, "nvjet_", 6) == 0 || is_assembled(name))
        return "cuBLAS";
    for (size_t i = 0; i < sizeof in_names / sizeof *in_names; i++)
        if (strstr(name, in_names[i].word))
            return in_names[i].library;
    return NULL;
}

/* ---- exports ---- */

/* The common interface comes last: most of the others have it too. */
static const struct known_by exports[] = {
    {"openblas_get_config", "OpenBLAS"},
    {"openblas_set_num_threads", "OpenBLAS"},
    {"MKL_Get_Version_String", "MKL"},
    {"mkl_get_version_string", "MKL"},
    {"bli_gemm", "BLIS"},
    {"nvpl_blas_get_version", "NVPL"},
    {"armplversion", "ArmPL"},
    {"ATL_dgemm", "ATLAS"},
    {"dnnl_sgemm", "oneDNN"},
    {"libxsmm_dispatch_gemm", "LIBXSMM"},
    {"cublasCreate_v2", "cuBLAS"},
    {"cublasLtCreate", "cuBLAS"},
    {"cudnnCreate", "cuDNN"},
    {"cblas_sgemm", "BLAS"},
    {"sgemm_", "BLAS"},
};

/* Whole names alone: a NUL on either side. */
bool borrowed_has_name(const char *names, size_t bytes, const char *name)
{
    size_t length = strlen(name) + 1;
    const char *at = names, *end = names + bytes;
    bool found = false;
    while (!found && (at = memmem(at, (size_t)(end - at), name, length)) != NULL) {
        found = at == names || at[-1] == '\0';
        at++;
    }
    return found;
}

const char *borrowed_exports(const char *names, size_t bytes)
{
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
        if (borrowed_has_name(names, bytes, exports[i].word))
            return exports[i].library;
    return NULL;
}

/* ---- words ---- */

static const struct known_by words[] = {
    {"OPENBLAS_BLOCK_FACTOR", "OpenBLAS"},
    {"MKL_CBWR", "MKL"},
    {"BLIS_JC_NT", "BLIS"},
};

const char *borrowed_words(const char *bytes, size_t n)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(bytes, n, words[i].word, strlen(words[i].word) + 1))
            return words[i].library;
    return NULL;
}

/* ---- texts ---- */

static const char *begin_of(const struct known_by *list, size_t n, const char *text)
{
    const char *found = NULL;
    for (size_t i = 0; i < n && !found; i++) {
        size_t length = strlen(list[i].library);
        found = strncmp(text, list[i].library, length) == 0 && text[length] == ':' ? list[i].library : NULL;
    }
    return found;
}

const char *borrowed_library(const char *text)
{
    const char *found = begin_of(in_names, sizeof in_names / sizeof *in_names, text);
    return found ? found : begin_of(exports, sizeof exports / sizeof *exports, text);
}

bool borrowed_is_said(const char *text, const char *library)
{
    return strcasestr(text, library) != NULL;
}
