/*
 * cupti.c - binds libcupti by dlopen and keeps its kernel, copy and memset records, sorted by start. Its structs are
 * declared here. Called by cuda_watch.c and, to see whether it is there, by `doctor`.
 */
#include "device/cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define BUFFER_BYTES (1u << 20)
#define FLUSH_FORCED 1u

enum kinds { KIND_COPY = 1, KIND_MEMSET = 2, KIND_KERNEL = 10 };
static const int recorded[] = {KIND_KERNEL, KIND_COPY, KIND_MEMSET};
#define N_RECORDED (sizeof recorded / sizeof *recorded)

/* CUpti_ActivityKernel5 and later, CUpti_ActivityMemcpy5 and CUpti_ActivityMemset4 as far as they are read: members are
 * only ever added behind these. tests/gpu/gpu_clock.c holds cupti_activity.h against the same numbers. */
struct kernel_record {
    int kind;
    char configuration[12];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t shared[2];
    uint32_t local[2], correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    char launch[8];
    uint64_t graph_node;
};

struct copy_record {
    int kind;
    uint8_t what[4];
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime, pad;
    void *reserved;
    uint64_t graph_node;
};

struct memset_record {
    int kind;
    uint32_t value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
    uint32_t pad;
    void *reserved;
    uint64_t graph_node;
};

_Static_assert(offsetof(struct kernel_record, start) == 16 && offsetof(struct kernel_record, stream) == 48 &&
                   offsetof(struct kernel_record, name) == 104 && offsetof(struct kernel_record, graph_node) == 144,
               "CUpti_ActivityKernel5");
_Static_assert(offsetof(struct copy_record, bytes) == 8 && offsetof(struct copy_record, stream) == 40 &&
                   offsetof(struct copy_record, graph_node) == 64,
               "CUpti_ActivityMemcpy5");
_Static_assert(offsetof(struct memset_record, bytes) == 8 && offsetof(struct memset_record, stream) == 40 &&
                   offsetof(struct memset_record, graph_node) == 64,
               "CUpti_ActivityMemset4");

typedef void (*give_buffer_t)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*take_buffer_t)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* The calls of cupti_activity.h that are used here; a status is an int, 0 success. */
struct calls {
    int (*version)(uint32_t *version);
    int (*result_string)(int status, const char **text);
    int (*register_callbacks)(give_buffer_t give, take_buffer_t take);
    int (*enable)(int kind);
    int (*disable)(int kind);
    int (*flush)(uint32_t flag);
    int (*next_record)(uint8_t *buffer, size_t valid, void **record);
    int (*dropped)(void *context, uint32_t stream, size_t *dropped);
    int (*stream_id)(void *context, void *stream, uint8_t per_thread, uint32_t *id);
    int (*timestamp)(uint64_t *timestamp);
};

struct cupti {
    struct calls call;
    uint32_t version;
    char path[512];
};

/* CUPTI's callbacks carry no context, and it may call them from a thread of its own. */
static struct {
    pthread_mutex_t lock;
    struct cupti *owner;
    struct activity_log log;
} sink = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- records ---- */

static struct activity of_kernel(const struct kernel_record *k)
{
    struct activity a = {.kind = ACTIVITY_KERNEL,
                         .in_graph = k->graph_node != 0,
                         .stream = k->stream,
                         .start_ns = k->start,
                         .end_ns = k->end};
    memcpy(a.grid, k->grid, sizeof a.grid);
    memcpy(a.block, k->block, sizeof a.block);
    snprintf(a.name, sizeof a.name, "%s", k->name != NULL ? k->name : "?");
    return a;
}

static struct activity of_copy(const struct copy_record *c)
{
    return (struct activity){.kind = ACTIVITY_COPY,
                             .in_graph = c->graph_node != 0,
                             .stream = c->stream,
                             .bytes = c->bytes,
                             .start_ns = c->start,
                             .end_ns = c->end};
}

static struct activity of_memset(const struct memset_record *m)
{
    return (struct activity){.kind = ACTIVITY_MEMSET,
                             .in_graph = m->graph_node != 0,
                             .stream = m->stream,
                             .bytes = m->bytes,
                             .start_ns = m->start,
                             .end_ns = m->end};
}

static void note(const void *record)
{
    int kind;
    memcpy(&kind, record, sizeof kind);
    if (kind != KIND_KERNEL && kind != KIND_COPY && kind != KIND_MEMSET)
        return;
    if (sink.log.n == ACTIVITY_LOG_MAX) {
        sink.log.lost++;
        return;
    }
    sink.log.list[sink.log.n++] = kind == KIND_KERNEL ? of_kernel(record)
                                  : kind == KIND_COPY ? of_copy(record)
                                                      : of_memset(record);
}

static void give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer == NULL ? 0 : BUFFER_BYTES;
    *max_records = 0;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    void *record = NULL;
    (void)context;
    (void)stream;
    (void)size;
    pthread_mutex_lock(&sink.lock);
    while (sink.owner != NULL && valid > 0 && sink.owner->call.next_record(buffer, valid, &record) == 0)
        note(record);
    pthread_mutex_unlock(&sink.lock);
    free(buffer);
}

/* ---- the library ---- */

static void *find(void *library, const char *symbol)
{
    return dlsym(library, symbol);
}

static int bind_calls(struct calls *call, cupti_resolver resolve, void *library, struct error *err)
{
    const struct {
        const char *name;
        void *to;
    } symbols[] = {{"cuptiGetVersion", &call->version},
                   {"cuptiGetResultString", &call->result_string},
                   {"cuptiActivityRegisterCallbacks", &call->register_callbacks},
                   {"cuptiActivityEnable", &call->enable},
                   {"cuptiActivityDisable", &call->disable},
                   {"cuptiActivityFlushAll", &call->flush},
                   {"cuptiActivityGetNextRecord", &call->next_record},
                   {"cuptiActivityGetNumDroppedRecords", &call->dropped},
                   {"cuptiGetStreamIdEx", &call->stream_id},
                   {"cuptiGetTimestamp", &call->timestamp}};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = resolve(library, symbols[i].name);
        if (symbol == NULL)
            return error_set(err, EXIT_CODE_UNAVAILABLE, "libcupti has no %s", symbols[i].name);
        memcpy(symbols[i].to, &symbol, sizeof symbol);
    }
    return 0;
}

static int check(const struct cupti *c, int status, const char *call, struct error *err)
{
    const char *text = NULL;
    if (status == 0)
        return 0;
    if (c->call.result_string(status, &text) != 0 || text == NULL)
        text = "unknown CUPTI status";
    return error_set(err, EXIT_CODE_UNAVAILABLE, "%s: %s (%d)", call, text, status);
}

/* A name without a directory is looked for by the loader. */
static void *load_given(const char *name, struct error *err)
{
    int fd = -1;
    size_t ignored;
    if (strchr(name, '/') != NULL && file_open(name, SIZE_MAX, &fd, &ignored, err)) {
        err->code = EXIT_CODE_UNAVAILABLE;
        error_wrap(err, "no CUPTI");
        return NULL;
    }
    if (fd >= 0)
        close(fd);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        error_set(err, EXIT_CODE_UNAVAILABLE, "no CUPTI: %s", dlerror());
    return library;
}

/* The first of these names, in the first of these places. */
static void *load(struct error *err)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    const char *given = getenv(CUPTI_VARIABLE), *home = getenv("CUDA_HOME");
    const char *roots[] = {"", home != NULL ? home : "", "/usr/local/cuda"};
    static const char *const folders[] = {"", "/lib64/", "/extras/CUPTI/lib64/", "/lib/"};
    void *library = NULL;
    char path[512];
    if (given != NULL && given[0] != '\0')
        return load_given(given, err);
    for (size_t i = 0; i < 3 * 4 * 3 && library == NULL; i++) {
        const char *root = roots[i / 12], *folder = folders[i / 3 % 4];
        if ((root[0] == '\0') != (folder[0] == '\0'))
            continue;
        snprintf(path, sizeof path, "%s%s%s", root, folder, names[i % 3]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL)
        error_set(err, EXIT_CODE_UNAVAILABLE,
                  "no CUPTI: no libcupti.so.13 or .12 on the library path, in CUDA_HOME (%s) or /usr/local/cuda",
                  home != NULL && home[0] ? home : "not set");
    return library;
}

static int read_version(struct cupti *c, struct error *err)
{
    int code = check(c, c->call.version(&c->version), "cuptiGetVersion", err);
    if (code == 0 && c->version < CUPTI_OLDEST)
        code = error_set(err, EXIT_CODE_UNAVAILABLE, "CUPTI %u is older than %u (CUDA 12.0)", c->version, CUPTI_OLDEST);
    return code;
}

static void read_path(void *library, char path[512])
{
    struct link_map *map = NULL;
    path[0] = '\0';
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL)
        snprintf(path, 512, "%s", map->l_name);
}

/* ---- recording ---- */

static int enable(struct cupti *c, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < N_RECORDED && code == 0; i++)
        code = check(c, c->call.enable(recorded[i]), "cuptiActivityEnable", err);
    return code;
}

int cupti_open_with(cupti_resolver resolve, void *library, struct cupti **out, struct error *err)
{
    struct cupti *c = calloc(1, sizeof *c);
    *out = NULL;
    if (c == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for CUPTI");
    int code = bind_calls(&c->call, resolve, library, err);
    if (code == 0)
        code = read_version(c, err);
    if (code == 0)
        code = check(c, c->call.register_callbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks", err);
    if (code != 0) {
        free(c);
        return code;
    }
    sink.owner = c;
    code = enable(c, err);
    if (code != 0)
        cupti_close(c);
    else
        *out = c;
    return code;
}

int cupti_open(struct cupti **out, struct error *err)
{
    void *library = load(err);
    *out = NULL;
    if (library == NULL)
        return err->code;
    int code = cupti_open_with(find, library, out, err);
    if (code == 0)
        read_path(library, (*out)->path);
    return code;
}

void cupti_close(struct cupti *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < N_RECORDED; i++)
        (void)c->call.disable(recorded[i]);
    (void)c->call.flush(FLUSH_FORCED);
    pthread_mutex_lock(&sink.lock);
    sink.owner = NULL;
    sink.log.n = sink.log.lost = 0;
    pthread_mutex_unlock(&sink.lock);
    free(c);
}

int cupti_look(unsigned *version, char *path, struct error *err)
{
    struct cupti c = {.version = 0};
    void *library = load(err);
    if (library == NULL)
        return err->code;
    int code = bind_calls(&c.call, find, library, err);
    if (code == 0)
        code = read_version(&c, err);
    read_path(library, path);
    *version = c.version;
    return code;
}

int cupti_start(struct cupti *c, struct error *err)
{
    size_t ignored = 0;
    int code = enable(c, err); /* whoever has run since may have turned it off */
    if (code == 0)
        code = check(c, c->call.flush(FLUSH_FORCED), "cuptiActivityFlushAll", err);
    (void)c->call.dropped(NULL, 0, &ignored);
    pthread_mutex_lock(&sink.lock);
    sink.log.n = sink.log.lost = 0;
    pthread_mutex_unlock(&sink.lock);
    return code;
}

static int by_start(const void *a, const void *b)
{
    const struct activity *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

int cupti_take(struct cupti *c, struct activity_log *out, struct error *err)
{
    size_t dropped = 0;
    int code = check(c, c->call.flush(FLUSH_FORCED), "cuptiActivityFlushAll", err);
    bool known = c->call.dropped(NULL, 0, &dropped) == 0;
    pthread_mutex_lock(&sink.lock);
    out->n = sink.log.n;
    out->lost = sink.log.lost + (known ? dropped : 0);
    memcpy(out->list, sink.log.list, sink.log.n * sizeof *out->list);
    pthread_mutex_unlock(&sink.lock);
    qsort(out->list, out->n, sizeof *out->list, by_start);
    return code;
}

int cupti_stream(struct cupti *c, void *context, void *stream, uint32_t *out, struct error *err)
{
    return check(c, c->call.stream_id(context, stream, 0, out), "cuptiGetStreamIdEx", err);
}

uint64_t cupti_now(struct cupti *c)
{
    uint64_t now = 0;
    return c->call.timestamp(&now) == 0 ? now : 0;
}

unsigned cupti_version(const struct cupti *c)
{
    return c->version;
}

const char *cupti_path(const struct cupti *c)
{
    return c->path;
}
