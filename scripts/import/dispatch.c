/*
 * dispatch.c - the plugin of an import: two contenders, for layout nn and tn, which open the shared object that
 * import.py built for a problem's shape (NAME.tsv beside the plugin lists them) and call it. Relies on imported.h.
 * Compiled by import.py, with the family's name, architecture and accumulate type as macros.
 */
#include "abi/contender.h"
#include "imported.h"
#ifdef IMPORT_TORCH /* built with this version of libtorch, of build ID IMPORT_TORCH_ID */
#include "real/torch_loaded.h"
#endif

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef IMPORT_DEVICES /* tests have kernels for the CPU */
#define IMPORT_DEVICES CUDAL2_ON_CUDA
#endif

#ifndef IMPORT_DTYPE
#define IMPORT_DTYPE CUDAL2_F16
#endif

#define PATH_BYTES 1024
#define LINE_BYTES 512

struct line {
    int64_t m, n, k, pad_m, pad_n, pad_k;
    char object[80], source[160];
};

struct state {
    const struct imported *kernel;
    const struct cudal2_operands *sets; /* valid until teardown */
    struct imported_call call;          /* all but the matrices */
    struct line line;
    struct imported_counts first, each; /* of the first call, and of the last in setup */
    bool columns;
};

static int say(char *why, int status, const char *text, const char *more)
{
    snprintf(why, CUDAL2_WHY, "%.120s%.120s", text, more);
    return status;
}

/* The directory that this plugin lies in. */
static bool own_directory(char out[PATH_BYTES])
{
    Dl_info info;
    if (dladdr((const void *)&cudal2_plugin_abi, &info) == 0 || !info.dli_fname || strlen(info.dli_fname) >= PATH_BYTES)
        return false;
    snprintf(out, PATH_BYTES, "%s", info.dli_fname);
    char *slash = strrchr(out, '/');
    snprintf(slash ? slash + 1 : out, slash ? PATH_BYTES - (size_t)(slash + 1 - out) : PATH_BYTES, "%s", "");
    return true;
}

static bool read_line(const char *text, struct line *out)
{
    return sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %79s %159s", &out->m,
                  &out->n, &out->k, &out->pad_m, &out->pad_n, &out->pad_k, out->object, out->source) == 8;
}

static bool is_for(const struct line *l, const struct cudal2_problem *p)
{
    return l->m == p->m && l->n == p->n && l->k == p->k;
}

static int find_line(const char *directory, const struct cudal2_problem *p, struct line *out, char *why)
{
    char path[PATH_BYTES + 80], text[LINE_BYTES];
    snprintf(path, sizeof path, "%s" IMPORT_NAME ".tsv", directory);
    FILE *file = fopen(path, "re");
    if (!file)
        return say(why, CUDAL2_LIBRARY_ERROR, "no index: ", path);
    bool found = false;
    while (!found && fgets(text, sizeof text, file))
        found = read_line(text, out) && is_for(out, p);
    fclose(file);
    return found ? CUDAL2_OK : say(why, CUDAL2_UNSUPPORTED, "no kernel of the set is for this shape", "");
}

#ifdef IMPORT_TORCH
/* Whether the process has the libtorch that the object was built with, as its name says, or as yet none. */
static int check_torch(const struct line *line, char *why)
{
    if (!strstr(line->object, "-torch.so"))
        return CUDAL2_OK;
    struct torch_loaded loaded = torch_loaded();
    if (!loaded.path[0] || strcmp(loaded.id, IMPORT_TORCH_ID) == 0)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY,
             "load_error: built with libtorch " IMPORT_TORCH ", and this process has another, %.80s: build with that "
             "one (LIBTORCH=), or run without who brings it (-b)",
             loaded.path);
    return CUDAL2_LIBRARY_ERROR;
}
#else
static int check_torch(const struct line *line, char *why)
{
    (void)line, (void)why;
    return CUDAL2_OK;
}
#endif

/* A libtorch is looked at before the object runs any code, and again when the loader has found one for it. */
static int open_kernel(const char *directory, const struct line *line, const struct imported **out, char *why)
{
    char path[PATH_BYTES + 80];
    if (check_torch(line, why) != CUDAL2_OK)
        return CUDAL2_LIBRARY_ERROR;
    snprintf(path, sizeof path, "%s%s", directory, line->object);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return say(why, CUDAL2_LIBRARY_ERROR, "load_error: ", dlerror());
    *out = dlsym(handle, "cudal2_imported");
    if (!*out || (*out)->abi != IMPORTED_ABI)
        return say(why, CUDAL2_LIBRARY_ERROR, "load_error: not built by this import.py: ", line->object);
    return check_torch(line, why);
}

static int call_set(struct state *s, size_t set, char *why)
{
    const struct cudal2_operands *o = &s->sets[set];
    struct imported_call call = s->call;
    call.a = o->a;
    call.c = o->c;
    *(s->columns ? &call.b_columns : &call.b_rows) = o->b;
    int status = s->kernel->call(&call, why);
    return status == IMPORTED_OK            ? CUDAL2_OK
           : status == IMPORTED_UNSUPPORTED ? CUDAL2_UNSUPPORTED
                                            : CUDAL2_LIBRARY_ERROR;
}

/* What a kernel does at its first call (it may tune itself, and allocate) is done here, on the harness's stream. */
static int warm_up(struct state *s, size_t n_sets, char *why)
{
    int status = CUDAL2_OK;
    s->kernel->counts(&s->first); /* what the teardown before has left: forgotten */
    for (size_t i = 0; i < n_sets && status == CUDAL2_OK; i++) {
        status = call_set(s, i, why);
        if (i == 0)
            s->kernel->counts(&s->first);
    }
    s->kernel->counts(&s->each); /* of all the others: forgotten */
    if (status == CUDAL2_OK)
        status = call_set(s, 0, why);
    s->kernel->counts(&s->each);
    return status;
}

static int prepare(struct state *s, const struct cudal2_setup *setup, char *why)
{
    char directory[PATH_BYTES];
    if (!own_directory(directory))
        return say(why, CUDAL2_LIBRARY_ERROR, "the plugin does not know where it lies", "");
    int status = find_line(directory, &setup->problem, &s->line, why);
    if (status == CUDAL2_OK)
        status = open_kernel(directory, &s->line, &s->kernel, why);
    if (status != CUDAL2_OK)
        return status;
    const struct cudal2_problem *p = &setup->problem;
    s->sets = setup->sets;
    s->columns = setup->layout == CUDAL2_TN;
    s->call = (struct imported_call){.m = p->m,
                                     .n = p->n,
                                     .k = p->k,
                                     .pad_m = s->line.pad_m,
                                     .pad_n = s->line.pad_n,
                                     .pad_k = s->line.pad_k,
                                     .stream = setup->stream};
    status = warm_up(s, setup->n_sets, why);
    if (status != CUDAL2_OK)
        s->kernel->release();
    return status;
}

static int import_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return say(why, CUDAL2_NO_MEMORY, "no memory for a state", "");
    int status = prepare(s, setup, why);
    if (status == CUDAL2_OK)
        *state = s;
    else
        free(s);
    return status;
}

static int import_launch(void *state, size_t set, char *why)
{
    return call_set(state, set, why);
}

static void import_teardown(void *state)
{
    struct state *s = state;
    s->kernel->release();
    free(s);
}

static int describe_counts(const struct imported_counts *c, const char *name, char *out, size_t capacity)
{
    return snprintf(out, capacity,
                    ",\"%s\":{\"launches\":%" PRIu64 ",\"allocations\":%" PRIu64 ",\"synchronisations\":%" PRIu64
                    ",\"streams\":%" PRIu64 ",\"events\":%" PRIu64 ",\"copies\":%" PRIu64 "}",
                    name, c->launches, c->allocations, c->synchronisations, c->streams, c->events, c->copies);
}

static int import_describe(void *state, char *out, size_t capacity)
{
    const struct state *s = state;
    const struct line *l = &s->line;
    int used = snprintf(out, capacity,
                        "{\"source\":\"%s\",\"object\":\"%s\",\"entry\":\"%.80s\",\"padding\":\"%" PRId64 "x%" PRId64
                        "x%" PRId64 "\"",
                        l->source, l->object, s->kernel->entry, l->pad_m, l->pad_n, l->pad_k);
    if (used > 0 && (size_t)used < capacity)
        used += describe_counts(&s->first, "first_call", out + used, capacity - (size_t)used);
    if (used > 0 && (size_t)used < capacity)
        used += describe_counts(&s->each, "each_call", out + used, capacity - (size_t)used);
    if (used > 0 && (size_t)used + 1 < capacity)
        used += snprintf(out + used, capacity - (size_t)used, "}");
    return used > 0 && (size_t)used < capacity ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}

#define CONTENDER(suffix, in)                                                                                          \
    {                                                                                                                  \
        .name = IMPORT_NAME suffix, .devices = IMPORT_DEVICES, .dtypes = CUDAL2_BIT(IMPORT_DTYPE),                     \
        .accumulates = CUDAL2_BIT(IMPORT_ACCUMULATE), .layout = in, .flags = CUDAL2_FIXED_SHAPE, .min_cc = IMPORT_CC,  \
        .max_cc = IMPORT_CC, .setup = import_setup, .launch = import_launch, .teardown = import_teardown,              \
        .describe = import_describe,                                                                                   \
    }

static const struct cudal2_contender contenders[] = {CONTENDER("-nn", CUDAL2_NN), CONTENDER("-tn", CUDAL2_TN)};

static const struct cudal2_plugin plugin = {.name = IMPORT_NAME, .contenders = contenders, .n_contenders = 2};

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
