/*
 * nvrtc.c - loads libnvrtc once, the newest there is, and calls it: compile, log, cubin, PTX. Relies on dlopen and a
 * lock. Called by compile.c, `doctor` and module_set.c.
 */
#include "compile/nvrtc.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvrtc_program *program;

/* The calls of nvrtc.h that are used here; a status is an int, 0 success. */
struct library {
    void *handle;
    int major, minor;
    char path[512];
    char tried[512];
    const char *(*error_string)(int);
    int (*version)(int *, int *);
    int (*count_archs)(int *);
    int (*list_archs)(int *);
    int (*create)(program *, const char *, const char *, int, const char *const *, const char *const *);
    int (*destroy)(program *);
    int (*compile)(program, int, const char *const *);
    int (*cubin_size)(program, size_t *);
    int (*cubin)(program, char *);
    int (*ptx_size)(program, size_t *);
    int (*ptx)(program, char *);
    int (*log_size)(program, size_t *);
    int (*log)(program, char *);
};

static struct library lib; /* written once by load_once, read-only afterwards */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define STATUS_COMPILATION 6

static bool open_candidate(const char *name)
{
    size_t used = strlen(lib.tried);
    lib.handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    snprintf(lib.tried + used, sizeof lib.tried - used, "%s%s", used ? ", " : "", name);
    return lib.handle != NULL;
}

static void open_library(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    char path[512];
    const char *home = getenv("CUDA_HOME");
    const char *directories[] = {home && *home ? home : NULL, "", "/usr/local/cuda"};
    for (size_t d = 0; d < 3; d++) {
        for (size_t i = 0; directories[d] && i < 3; i++) {
            bool bare = *directories[d] == 0;
            snprintf(path, sizeof path, "%s%s%s", directories[d], bare ? "" : "/lib64/", names[i]);
            if (open_candidate(path))
                return;
        }
    }
}

static bool bind_symbols(void)
{
    struct {
        const char *name;
        void *to;
    } symbols[] = {{"nvrtcGetErrorString", &lib.error_string},
                   {"nvrtcVersion", &lib.version},
                   {"nvrtcGetNumSupportedArchs", &lib.count_archs},
                   {"nvrtcGetSupportedArchs", &lib.list_archs},
                   {"nvrtcCreateProgram", &lib.create},
                   {"nvrtcDestroyProgram", &lib.destroy},
                   {"nvrtcCompileProgram", &lib.compile},
                   {"nvrtcGetCUBINSize", &lib.cubin_size},
                   {"nvrtcGetCUBIN", &lib.cubin},
                   {"nvrtcGetPTXSize", &lib.ptx_size},
                   {"nvrtcGetPTX", &lib.ptx},
                   {"nvrtcGetProgramLogSize", &lib.log_size},
                   {"nvrtcGetProgramLog", &lib.log}};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(lib.handle, symbols[i].name);
        if (!symbol) {
            snprintf(lib.tried, sizeof lib.tried, "NVRTC has no %s: older than 11.2", symbols[i].name);
            return false;
        }
        memcpy(symbols[i].to, &symbol, sizeof symbol);
    }
    return true;
}

static void load_once(void)
{
    struct link_map *map;
    open_library();
    if (!lib.handle)
        return;
    if (!bind_symbols() || lib.version(&lib.major, &lib.minor) != 0) {
        dlclose(lib.handle);
        lib.handle = NULL;
        return;
    }
    if (dlinfo(lib.handle, RTLD_DI_LINKMAP, &map) == 0)
        snprintf(lib.path, sizeof lib.path, "%s", map->l_name);
}

static int load(struct error *err)
{
    pthread_once(&once, load_once);
    return lib.handle ? 0 : error_set(err, EXIT_CODE_UNAVAILABLE, "no NVRTC (libnvrtc): tried %s", lib.tried);
}

int nvrtc_version(int *major, int *minor, struct error *err)
{
    if (load(err) != 0)
        return err->code;
    *major = lib.major;
    *minor = lib.minor;
    return 0;
}

const char *nvrtc_path(void)
{
    return lib.path;
}

bool nvrtc_supports(int cc)
{
    struct error err;
    int archs[128], count = 0;
    if (load(&err) != 0 || lib.count_archs(&count) != 0 || count > 128 || lib.list_archs(archs) != 0)
        return false;
    for (int i = 0; i < count; i++)
        if (archs[i] == cc)
            return true;
    return false;
}

/* The first line that says "error", else the first line at all. */
static int first_error(const char *log, struct error *err)
{
    const char *at = strstr(log, "error");
    const char *line = log;
    for (const char *p = log; at && (p = strchr(p, '\n')) != NULL && p < at; p++)
        line = p + 1;
    size_t length = strcspn(line, "\n");
    return error_set(err, EXIT_CODE_DATA, "%.*s", length > 600 ? 600 : (int)length, *log ? line : "no message");
}

static int call_failed(const char *call, int status, struct error *err)
{
    return error_set(err, EXIT_CODE_INTERNAL, "%s: %s", call, lib.error_string(status));
}

static int fetch_log(program p, struct nvrtc_output *out, struct error *err)
{
    size_t size = 0;
    int status = lib.log_size(p, &size);
    if (status != 0)
        return call_failed("nvrtcGetProgramLogSize", status, err);
    out->log = calloc(1, size + 1);
    if (!out->log)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a compiler log of %zu bytes", size);
    status = size ? lib.log(p, out->log) : 0;
    return status ? call_failed("nvrtcGetProgramLog", status, err) : 0;
}

static int fetch_cubin(program p, struct nvrtc_output *out, struct error *err)
{
    int status = lib.cubin_size(p, &out->length);
    if (status != 0 || out->length == 0)
        return error_set(err, EXIT_CODE_INTERNAL, "nvrtcGetCUBINSize: %s, %zu bytes", lib.error_string(status),
                         out->length);
    out->cubin = malloc(out->length);
    if (!out->cubin)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a cubin of %zu bytes", out->length);
    status = lib.cubin(p, out->cubin);
    return status ? call_failed("nvrtcGetCUBIN", status, err) : 0;
}

/* A witness, not a product: without it there is less to say about the kernel, and nothing is wrong. */
static int fetch_ptx(program p, struct nvrtc_output *out, struct error *err)
{
    size_t size = 0;
    bool there = lib.ptx_size(p, &size) == 0 && size > 0;
    out->ptx = calloc(1, size + 1);
    if (!out->ptx)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for PTX of %zu bytes", size);
    if (there && lib.ptx(p, out->ptx) != 0)
        out->ptx[0] = '\0';
    return 0;
}

int nvrtc_compile(const struct kernel_source *source, const char *const *options, int n_options,
                  struct nvrtc_output *out, struct error *err)
{
    program p = NULL;
    int rc = load(err);
    *out = (struct nvrtc_output){0};
    if (rc != 0)
        return rc;
    int status = lib.create(&p, source->text, source->name, (int)source->n_headers,
                            (const char *const *)source->header_texts, (const char *const *)source->header_names);
    if (status != 0)
        return call_failed("nvrtcCreateProgram", status, err);
    status = lib.compile(p, n_options, options);
    rc = fetch_log(p, out, err);
    if (rc == 0 && status == STATUS_COMPILATION)
        rc = first_error(out->log, err);
    else if (rc == 0 && status != 0)
        rc = error_set(err, EXIT_CODE_INTERNAL, "nvrtcCompileProgram: %s: %.400s", lib.error_string(status), out->log);
    if (rc == 0)
        rc = fetch_cubin(p, out, err);
    if (rc == 0)
        rc = fetch_ptx(p, out, err);
    lib.destroy(&p);
    return rc;
}
