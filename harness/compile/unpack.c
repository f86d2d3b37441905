/*
 * unpack.c - calls ZSTD_decompress and LZ4_decompress_safe by dlopen, so that nothing needs them to build or to start.
 * Called by fatbin.c.
 */
#include "compile/unpack.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct {
    size_t (*zstd)(void *to, size_t capacity, const void *from, size_t length);
    int (*lz4)(const char *from, char *to, int length, int capacity);
} lib; /* written once by load_once, read-only afterwards */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void bind(const char *library, const char *name, void *to)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, name) : NULL;
    memcpy(to, &symbol, sizeof symbol);
}

static void load_once(void)
{
    bind("libzstd.so.1", "ZSTD_decompress", &lib.zstd);
    bind("liblz4.so.1", "LZ4_decompress_safe", &lib.lz4);
}

int unpack(const struct packed *from, void *to, size_t length, struct error *err)
{
    bool zstd = from->by == PACKING_ZSTD;
    pthread_once(&once, load_once);
    if (zstd ? !lib.zstd : !lib.lz4)
        return error_set(err, EXIT_CODE_UNAVAILABLE,
                         "the fat binary is packed, and %s is not here: install it, or build with nvcc "
                         "--compress-mode=none",
                         zstd ? "libzstd.so.1" : "liblz4.so.1");
    if (from->length > INT_MAX || length > INT_MAX)
        return error_set(err, EXIT_CODE_DATA, "the fat binary has a part of over 2 GiB");
    bool good = zstd ? lib.zstd(to, length, from->bytes, from->length) == length
                     : lib.lz4(from->bytes, to, (int)from->length, (int)length) == (int)length;
    return good ? 0 : error_set(err, EXIT_CODE_DATA, "the fat binary is cut off or damaged: a part cannot be unpacked");
}
