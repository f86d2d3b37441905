/*
 * contender.h - the plugin ABI of cudal2-bench, and the vocabulary of the field.
 *
 * A plugin is a shared object that exports exactly two symbols:
 *
 *     const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
 *     const struct cudal2_plugin *cudal2_plugin(void);
 *
 * (both declared at the end of this file; build with -fvisibility=hidden).
 * `cudal2_plugin_abi` stands outside the struct so that a plugin built for another version is refused before any
 * of its structs is read. A plugin includes this header and nothing else of the project; docs/abi.md tells
 * the whole story and kernels/plugins/skeleton.c is a commented example.
 *
 * The matrices (paper 2.1 and Listing 6): C = A * B, C row-major M x N, A row-major M x K; with CUDAL2_SCALES
 * C = alpha * A * B + beta * C.
 * Layout NN: B row-major K x N. Layout TN: B column-major, that is N rows of K elements.
 *
 * Every hook that returns int returns CUDAL2_OK or one of enum cudal2_status, and then writes one line of
 * reason (NUL-terminated, what failed and with which status of the library) into `why` (CUDAL2_WHY bytes).
 */
#ifndef CUDAL2_CONTENDER_H
#define CUDAL2_CONTENDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUDAL2_ABI 2u
/* Plugins of ABI 1 are taken too: theirs is the same but for what struct cudal2_problem holds behind `accumulate`. */
#define CUDAL2_ABI_OLDEST 1u
#define CUDAL2_WHY 256u

enum cudal2_dtype { CUDAL2_F16 = 0, CUDAL2_BF16 = 1, CUDAL2_F32 = 2 };
enum cudal2_accumulate { CUDAL2_ACC_F16 = 0, CUDAL2_ACC_F32 = 1 };
enum cudal2_layout { CUDAL2_NN = 0, CUDAL2_TN = 1 };

/* Bits for the declared abilities below: 1u << the enum value. */
#define CUDAL2_BIT(value) (1u << (unsigned)(value))

enum cudal2_device_bits { CUDAL2_ON_CPU = 1u, CUDAL2_ON_CUDA = 2u };

enum cudal2_flags {
    CUDAL2_SYNCS = 1u,       /* launch synchronises the stream or the device itself: raw events only */
    CUDAL2_NO_CAPTURE = 2u,  /* launch cannot be captured into a CUDA graph */
    CUDAL2_ACC_WIDER = 4u,   /* may accumulate wider than billed (torch.matmul: fp32 in an f16 cell) */
    CUDAL2_FIXED_SHAPE = 8u, /* setup is expensive and for one shape only (informational) */
    CUDAL2_STRIDES = 16u,    /* minds lda, ldb and ldc: without it matrices are always packed */
    CUDAL2_SCALES = 32u      /* minds alpha and beta: without it they are always 1 and 0 */
};

enum cudal2_status {
    CUDAL2_OK = 0,
    CUDAL2_UNSUPPORTED = 1,   /* this problem cannot be done by this contender: skipped with the reason */
    CUDAL2_LIBRARY_ERROR = 2, /* a library or driver call returned a status; `why` names call and status */
    CUDAL2_NO_MEMORY = 3,
    CUDAL2_BAD_VARIANT = 4 /* variant index or key not known */
};

/* One GEMM: C = alpha * A * B + beta * C. m, n, k count elements and are never padded. lda, ldb and ldc are elements
 * from one row to the next (of B in layout TN: from one column to the next). Packed is lda = k, ldb = n (TN: k), ldc =
 * n, and so it always is for contenders without CUDAL2_STRIDES. What lies between two rows is nobody's: not to be
 * written, and it may be NaN. alpha is 1 and beta 0 for contenders without CUDAL2_SCALES. Both are multiples of 1/8
 * from -4 to 4, alpha never 0. With a beta of 0 C is not to be read: it may be NaN. With another one C is an input too,
 * with other values at each launch.
 */
struct cudal2_problem {
    int64_t m, n, k;
    enum cudal2_dtype dtype;
    enum cudal2_accumulate accumulate;
    int64_t lda, ldb, ldc; /* setup gets them set, packed or not; within the harness 0 stands for packed */
    double alpha, beta;    /* within the harness an alpha of 0 stands for 1 */
};

/* One set of operands, device pointers (host pointers on the CPU), 256-byte aligned.
 * `b` is already in the contender's layout. `c` holds garbage before each launch, unless beta makes it an input. */
struct cudal2_operands {
    const void *a;
    const void *b;
    void *c;
};

/* What setup receives. Everything stays valid until teardown. */
struct cudal2_setup {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    const struct cudal2_operands *sets; /* every set that launch may be asked for */
    size_t n_sets;
    void *workspace; /* device memory shared by all contenders, 256-byte aligned */
    size_t workspace_bytes;
    void *stream; /* CUstream every launch will use; NULL on the CPU */
    int device_ordinal;
    int threads;         /* CPU: threads to use */
    const char *variant; /* key from list_variants, or NULL for the contender's own choice */
};

/* A variant is an opaque algorithm of the contender (say one cuBLASLt algorithm). The harness verifies, races
 * and caches variants; a plugin never times itself. `key` must be stable for one library version and GPU:
 * the harness stores it on disk and passes it back in cudal2_setup.variant. */
struct cudal2_variant {
    char key[512];
};

/*
 * A contender: one implementation in one layout. The abilities are declared so that an impossible pairing
 * is skipped with a reason, never guessed. Zero in min_cc/max_cc or a multiple means "no limit".
 */
struct cudal2_contender {
    const char *name;     /* "cublas-nn": family, dash, layout; torch.matmul has no layout suffix */
    uint32_t devices;     /* CUDAL2_ON_CPU | CUDAL2_ON_CUDA */
    uint32_t dtypes;      /* CUDAL2_BIT(CUDAL2_F16) | ... */
    uint32_t accumulates; /* CUDAL2_BIT(CUDAL2_ACC_F32) | ... */
    enum cudal2_layout layout;
    uint32_t flags;     /* enum cudal2_flags */
    int min_cc, max_cc; /* CUDA compute capability, 80 for sm_80; inclusive */
    int64_t m_multiple, n_multiple, k_multiple;

    /* Number of variants for this problem written to out[0..capacity), or a negative enum cudal2_status.
     * NULL: the contender has no variants. Called with the same setup as setup() but variant NULL. */
    int (*list_variants)(const struct cudal2_setup *setup, struct cudal2_variant *out, size_t capacity, char *why);
    /* Everything expensive: handles, descriptors, algorithm choice, tensor maps, allocations. *state is owned by
     * the contender until teardown. On failure nothing is left behind and teardown is not called. */
    int (*setup)(const struct cudal2_setup *setup, void **state, char *why);
    /* The timed part: enqueue the product for operand set `set` on setup->stream and return. No allocation, no
     * synchronisation (unless CUDAL2_SYNCS), no other stream. May be called under stream capture. */
    int (*launch)(void *state, size_t set, char *why);
    /* Releases everything setup made. Never fails. */
    void (*teardown)(void *state);
    /* Optional: writes a JSON object (algorithm attributes, workspace used, what it really accumulates in:
     * key "accumulates") into out, NUL-terminated. Returns CUDAL2_OK or an error status. */
    int (*describe)(void *state, char *out, size_t capacity);
};

/* A plugin: a set of contenders over one library. All pointers live as long as the plugin is loaded. */
struct cudal2_plugin {
    const char *name; /* "cublas" */
    const struct cudal2_contender *contenders;
    size_t n_contenders;
    /* Writes a JSON object of library versions and the paths really mapped, for example
     * {"cublas":"13.1.0","path":"/usr/lib/libcublas.so.13"}; called after the device context exists. */
    int (*versions)(char *out, size_t capacity);
    /* NULL, or called once per process before any setup: returns CUDAL2_OK or why the plugin is unavailable
     * here (no such GPU, library too old). device_bits says which device the run uses. It may narrow what the plugin's
     * contenders declare (a dtype that the library of this machine lacks): they are read after it. */
    int (*probe)(uint32_t device_bits, int device_ordinal, char *why);
};

/* What a plugin defines. The harness looks the names up; it neither defines nor calls them directly. */
#define CUDAL2_EXPORT __attribute__((visibility("default")))
CUDAL2_EXPORT extern const uint32_t cudal2_plugin_abi;
CUDAL2_EXPORT const struct cudal2_plugin *cudal2_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
