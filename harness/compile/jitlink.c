/*
 * jitlink.c - loads libnvJitLink once, the newest there is, and calls it. Relies on dlopen and a lock. Called by
 * binary.c.
 */
#include "compile/jitlink.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct jit_link *link;

#define INPUT_PTX 2
#define STATUS_ARCHITECTURES 16 /* and the one behind it */

/* The calls of nvJitLink.h that are used here; a status is an int, 0 success. */
static struct {
    void *handle;
    unsigned major, minor;
    int (*create)(link *, uint32_t, const char **);
    int (*destroy)(link *);
    int (*add)(link, int, const void *, size_t, const char *);
    int (*complete)(link);
    int (*cubin_size)(link, size_t *);
    int (*cubin)(link, void *);
    int (*error_size)(link, size_t *);
    int (*error_log)(link, char *);
    int (*info_size)(link, size_t *);
    int (*info_log)(link, char *);
    int (*version)(unsigned *, unsigned *);
} lib; /* written once by load_once, read-only afterwards */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    static const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
    const char *home = getenv("CUDA_HOME");
    const char *directories[] = {home && *home ? home : NULL, "", "/usr/local/cuda"};
    char path[512];
    for (size_t d = 0; d < 3; d++)
        for (size_t i = 0; directories[d] && i < 2 && !lib.handle; i++) {
            snprintf(path, sizeof path, "%s%s%s", directories[d], *directories[d] ? "/lib64/" : "", names[i]);
            lib.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
}

/* Before 13 the plain names are in the header alone. */
static bool bind(const char *name, void *to)
{
    char old[64];
    void *symbol = dlsym(lib.handle, name);
    snprintf(old, sizeof old, "__%s_12_0", name);
    if (!symbol)
        symbol = dlsym(lib.handle, old);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load_once(void)
{
    open_library();
    if (!lib.handle)
        return;
    bool all = bind("nvJitLinkCreate", &lib.create) && bind("nvJitLinkDestroy", &lib.destroy) &&
               bind("nvJitLinkAddData", &lib.add) && bind("nvJitLinkComplete", &lib.complete) &&
               bind("nvJitLinkGetLinkedCubinSize", &lib.cubin_size) && bind("nvJitLinkGetLinkedCubin", &lib.cubin) &&
               bind("nvJitLinkGetErrorLogSize", &lib.error_size) && bind("nvJitLinkGetErrorLog", &lib.error_log) &&
               bind("nvJitLinkGetInfoLogSize", &lib.info_size) && bind("nvJitLinkGetInfoLog", &lib.info_log);
    if (all && bind("nvJitLinkVersion", &lib.version))
        (void)lib.version(&lib.major, &lib.minor);
    if (all)
        return;
    dlclose(lib.handle);
    lib.handle = NULL;
}

static int load(struct error *err)
{
    pthread_once(&once, load_once);
    return lib.handle ? 0
                      : error_set(err, EXIT_CODE_UNAVAILABLE,
                                  "no nvJitLink, which assembles PTX (libnvJitLink.so.13 or .12 of the CUDA toolkit); "
                                  "a cubin needs none");
}

int jitlink_name(char *out, size_t capacity, struct error *err)
{
    if (load(err))
        return err->code;
    snprintf(out, capacity, "nvJitLink %u.%u", lib.major, lib.minor);
    return 0;
}

/* "" where there is none. NULL: no memory. */
static char *fetch_log(link l, int (*size_of)(link, size_t *), int (*read)(link, char *))
{
    size_t size = 0;
    bool there = size_of(l, &size) == 0 && size > 0;
    char *log = calloc(1, size + 1);
    if (log && there && read(l, log) != 0)
        log[0] = '\0';
    return log;
}

static int fetch_cubin(link l, struct jitlink_output *out, struct error *err)
{
    bool there = lib.cubin_size(l, &out->length) == 0 && out->length > 0;
    out->cubin = there ? malloc(out->length) : NULL;
    if (out->cubin && lib.cubin(l, out->cubin) == 0)
        return 0;
    return error_set(err, EXIT_CODE_INTERNAL, "nvJitLink gave no cubin");
}

/* The first line of the log that says "error", else its first. */
static int tell(const char *log, int status, struct error *err)
{
    const char *at = log ? strstr(log, "error") : NULL, *line = log;
    if (status == STATUS_ARCHITECTURES || status == STATUS_ARCHITECTURES + 1)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "nvJitLink %u.%u does not know the architecture", lib.major,
                         lib.minor);
    for (const char *p = log; at && p && (p = strchr(p, '\n')) != NULL && p < at; p++)
        line = p + 1;
    int length = line ? (int)strcspn(line, "\n") : 0;
    return error_set(err, EXIT_CODE_DATA, "%.*s", length > 0 ? length : 40,
                     length > 0 ? line : "the PTX does not assemble, and no log says why");
}

int jitlink_assemble(const char *ptx, const char *arch, struct jitlink_output *out, struct error *err)
{
    char option[32];
    const char *options[] = {option, "-verbose", "-O3"};
    link l = NULL;
    *out = (struct jitlink_output){0};
    if (load(err))
        return err->code;
    snprintf(option, sizeof option, "-arch=%s", arch);
    int status = lib.create(&l, 3, options);
    if (status == 0)
        status = lib.add(l, INPUT_PTX, ptx, strlen(ptx) + 1, "kernel.ptx");
    if (status == 0)
        status = lib.complete(l);
    int rc = 0;
    if (status != 0) {
        char *log = l ? fetch_log(l, lib.error_size, lib.error_log) : NULL;
        rc = tell(log, status, err);
        free(log);
    }
    if (rc == 0)
        rc = fetch_cubin(l, out, err);
    out->log = l ? fetch_log(l, lib.info_size, lib.info_log) : NULL;
    if (rc == 0 && !out->log)
        rc = error_set(err, EXIT_CODE_INTERNAL, "no memory for a log");
    if (l)
        lib.destroy(&l);
    return rc;
}
