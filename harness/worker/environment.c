/*
 * environment.c - the `env` entry of a run: device, libraries with digests, host, build; and whether two workers'
 * entries are alike. Relies on base/digest.h. Called by worker.c; read by ledger.c and audit.c.
 */
#include "worker/environment.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text_diff.h"
#include "base/clock.h"
#include "base/file.h"

/* The Makefile passes these; a build by hand still works. */
#ifndef CUDAL2_CFLAGS
#define CUDAL2_CFLAGS "unrecorded"
#endif
#ifndef CUDAL2_COMMIT_DATE
#define CUDAL2_COMMIT_DATE "unrecorded"
#endif
#ifndef CUDAL2_COMMIT
#define CUDAL2_COMMIT "unrecorded"
#endif

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif
#define PROGRAM_MAX_BYTES (1u << 30)
#define VERSIONS_MAX_BYTES (1u << 20)
#define REFUSED "refused" /* names of plugins */
#define SETS_MAX 128
#define VALUE_BYTES 91 /* of each value in a line of 256 */

static int hash_program(char hex[DIGEST_HEX], struct error *err)
{
    int fd = -1;
    size_t length = 0;
    if (file_open("/proc/self/exe", PROGRAM_MAX_BYTES, &fd, &length, err))
        return error_wrap(err, "hash of the program");
    /* Nobody can cut a file short that is being run. */
    void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    int why = errno;
    close(fd);
    if (bytes == MAP_FAILED)
        return error_set(err, EXIT_CODE_IO, "hash of the program: mmap: %s", strerror(why));
    struct digest d;
    digest_start(&d);
    digest_add_bulk(&d, bytes, length);
    digest_finish(&d, hex);
    munmap(bytes, length);
    return 0;
}

/* A program that runs is not written to, and a server asks three times for each job. */
int environment_program_hash(char hex[DIGEST_HEX], struct error *err)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static char known[DIGEST_HEX];
    pthread_mutex_lock(&one_at_a_time);
    int code = known[0] ? 0 : hash_program(known, err);
    if (!code)
        memcpy(hex, known, sizeof known);
    pthread_mutex_unlock(&one_at_a_time);
    return code;
}

/* ---- host ---- */

/* The value after `key` and a separator on its line of a small text file, without quotes; "" when there is none. */
static void file_value(const char *path, const char *key, char *out, size_t capacity)
{
    char line[512];
    out[0] = '\0';
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    while (!out[0] && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        const char *value = line + strlen(key);
        value += strspn(value, " \t:=\"");
        snprintf(out, capacity, "%.*s", (int)strcspn(value, "\"\n"), value);
    }
    fclose(f);
}

cJSON *environment_host(void)
{
    struct utsname name;
    char os[128], cpu[128];
    file_value("/etc/os-release", "PRETTY_NAME", os, sizeof os);
    file_value("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "system", os);
    if (uname(&name) == 0) {
        cJSON_AddStringToObject(o, "kernel", name.release);
        cJSON_AddStringToObject(o, "machine", name.machine);
    }
    cJSON_AddStringToObject(o, "cpu", cpu);
    cJSON_AddNumberToObject(o, "cpus", (double)sysconf(_SC_NPROCESSORS_ONLN));
    cJSON_AddNumberToObject(o, "memory_bytes", (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
    return o;
}

void environment_add_build(struct text *out)
{
    text_add(out, "commit %s of %s\nbuilt by %s with %s\n", CUDAL2_COMMIT, CUDAL2_COMMIT_DATE, COMPILER, CUDAL2_CFLAGS);
}

int environment_build(cJSON **out, struct error *err)
{
    char hash[DIGEST_HEX];
    if (environment_program_hash(hash, err))
        return err->code;
    *out = cJSON_CreateObject();
    cJSON_AddStringToObject(*out, "program_hash", hash);
    cJSON_AddStringToObject(*out, "compiler", __VERSION__);
    cJSON_AddStringToObject(*out, "flags", CUDAL2_CFLAGS);
    cJSON_AddStringToObject(*out, "commit", CUDAL2_COMMIT);
    return *out ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory");
}

/* The variables that a worker's libraries read; set by the supervisor (run/process.c). */
static cJSON *environment_variables(void)
{
    static const char *const names[] = {"OMP_NUM_THREADS",         "OPENBLAS_NUM_THREADS", "OMP_WAIT_POLICY",
                                        "OPENBLAS_THREAD_TIMEOUT", "CUDA_DEVICE_ORDER",    "CUDA_VISIBLE_DEVICES",
                                        "LD_LIBRARY_PATH",         "LD_PRELOAD",           NULL};
    cJSON *o = cJSON_CreateObject();
    for (size_t i = 0; names[i]; i++)
        if (getenv(names[i]))
            cJSON_AddStringToObject(o, names[i], getenv(names[i]));
    return o;
}

/* "0-15,32-47": processors that this process may use; NULL where it may use all. */
static cJSON *environment_cores(void)
{
    cpu_set_t usable;
    struct text out = {0};
    if (sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) == (int)sysconf(_SC_NPROCESSORS_ONLN))
        return NULL;
    for (size_t from = 0, to; from < CPU_SETSIZE; from = to + 1) {
        to = from;
        while (to < CPU_SETSIZE && CPU_ISSET(to, &usable))
            to++;
        if (to > from)
            text_add(&out, "%s%zu", out.length > 0 ? "," : "", from);
        if (to > from + 1)
            text_add(&out, "-%zu", to - 1);
    }
    cJSON *cores = out.failed ? NULL : cJSON_CreateString(out.bytes);
    text_free(&out);
    return cores;
}

/* ---- device ---- */

static void put_or_null(cJSON *o, const char *key, double value)
{
    json_put_number(o, key, value > 0 ? value : (double)NAN);
}

static cJSON *device_to_json(const struct device_info *d)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "kind", d->kind);
    cJSON_AddStringToObject(o, "name", d->name);
    cJSON_AddStringToObject(o, "uuid", d->uuid);
    cJSON_AddStringToObject(o, "driver", d->driver);
    cJSON_AddNumberToObject(o, "ordinal", d->ordinal);
    put_or_null(o, "threads", d->threads);
    put_or_null(o, "cc", d->cc);
    put_or_null(o, "sm_count", d->sm_count);
    put_or_null(o, "max_sm_clock_mhz", d->max_sm_clock_mhz);
    put_or_null(o, "max_memory_clock_mhz", d->max_memory_clock_mhz);
    put_or_null(o, "memory_bus_bits", d->memory_bus_bits);
    put_or_null(o, "power_limit_mw", d->power_limit_mw);
    put_or_null(o, "l2_bytes", (double)d->l2_bytes);
    put_or_null(o, "memory_bytes", (double)d->memory_bytes);
    put_or_null(o, "peak_flops", d->peak_flops);
    if (d->peak_flops_f32 > 0)
        cJSON_AddNumberToObject(o, "peak_flops_f32", d->peak_flops_f32);
    put_or_null(o, "peak_bytes_per_s", d->peak_bytes_per_s);
    cJSON *timings = cJSON_AddArrayToObject(o, "timings");
    for (int t = 0; t < TIMING_COUNT; t++)
        if (d->timings & CUDAL2_BIT(t))
            cJSON_AddItemToArray(timings, cJSON_CreateString(timing_names[t]));
    return o;
}

static int libraries_to_json(const struct registry *registry, cJSON **out, struct error *err)
{
    char *text = registry_versions(registry);
    if (!text)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    int code = json_parse(text, strlen(text), VERSIONS_MAX_BYTES, "library versions", out, err);
    free(text);
    return code;
}

/* A plugin that could not be loaded is among no libraries: what became of it is told here. */
static void add_unavailable(cJSON *environment, const struct registry *registry)
{
    cJSON *names = NULL;
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct contender *c = registry_at(registry, i);
        if (!c->available && !names)
            names = cJSON_AddObjectToObject(environment, "unavailable");
        if (!c->available)
            cJSON_AddStringToObject(names, c->name, c->reason);
    }
}

cJSON *environment_named(const struct registry *registry)
{
    cJSON *named = cJSON_CreateObject();
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct contender *c = registry_at(registry, i);
        cJSON *names = cJSON_GetObjectItemCaseSensitive(named, c->asked);
        if (!names)
            names = cJSON_AddArrayToObject(named, c->asked);
        cJSON_AddItemToArray(names, cJSON_CreateString(c->name));
    }
    return named;
}

int environment_collect(const struct device *device, const struct registry *registry, int worker, cJSON **out,
                        struct error *err)
{
    char now[21];
    cJSON *libraries = NULL, *build = NULL;
    if (libraries_to_json(registry, &libraries, err) || environment_build(&build, err)) {
        cJSON_Delete(libraries);
        return err->code;
    }
    clock_utc(now);
    *out = cJSON_CreateObject();
    cJSON_AddStringToObject(*out, "time", now);
    cJSON_AddNumberToObject(*out, "worker", worker);
    cJSON_AddItemToObject(*out, "device", device_to_json(&device->info));
    cJSON_AddItemToObject(*out, "libraries", libraries);
    cJSON_AddItemToObject(*out, "named", environment_named(registry));
    add_unavailable(*out, registry);
    cJSON_AddItemToObject(*out, "host", environment_host());
    cJSON *cores = environment_cores();
    if (cores)
        cJSON_AddItemToObject(*out, "cores", cores);
    cJSON_AddItemToObject(*out, "build", build);
    cJSON_AddItemToObject(*out, "variables", environment_variables());
    return 0;
}

void environment_add_tuned(cJSON *environment, const struct tuned_tables *tables)
{
    cJSON *versions = tuned_tables_versions(tables);
    if (versions)
        cJSON_AddItemToObject(cJSON_GetObjectItemCaseSensitive(environment, "libraries"), "tuned", versions);
}

void environment_add_refused(cJSON *environment, const struct exclusion *refused, size_t n)
{
    cJSON *names = n > 0 ? cJSON_AddArrayToObject(environment, REFUSED) : NULL;
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(names, cJSON_CreateString(refused[i].name));
}

/* ---- comparison ---- */

static int refuse_difference(const char *name, const cJSON *then, const cJSON *now, struct error *err)
{
    char *a = then ? json_print(then, false) : NULL;
    char *b = now ? json_print(now, false) : NULL;
    char was[VALUE_BYTES], is[VALUE_BYTES];
    text_diff(a ? a : "absent", b ? b : "absent", VALUE_BYTES, was, is);
    free(a);
    free(b);
    return error_set(err, EXIT_CODE_DATA, "%.48s was %s, here it is %s", name, was, is);
}

static int check_member(const cJSON *then, const cJSON *now, const char *key, struct error *err)
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(then, key), *b = cJSON_GetObjectItemCaseSensitive(now, key);
    return (!a && !b) || cJSON_Compare(a, b, true) ? 0 : refuse_difference(key, a, b, err);
}

/* Whether the worker was told to leave out the plugin of this entry of libraries. */
static bool was_refused(const cJSON *environment, const cJSON *library)
{
    const cJSON *refused, *told = cJSON_GetObjectItemCaseSensitive(library, "plugin_name");
    const char *name = cJSON_IsString(told) ? told->valuestring : library->string;
    cJSON_ArrayForEach(refused, cJSON_GetObjectItemCaseSensitive(environment, REFUSED))
    {
        if (cJSON_IsString(refused) && strcmp(refused->valuestring, name) == 0)
            return true;
    }
    return false;
}

/* Those of `from` that `to` has otherwise, or has not. Library by library, so that the line names the one that
 * differs. */
static int check_libraries(const cJSON *from, const cJSON *to, struct error *err)
{
    const cJSON *a, *ours = cJSON_GetObjectItemCaseSensitive(from, "libraries"),
                    *theirs = cJSON_GetObjectItemCaseSensitive(to, "libraries");
    int code = 0;
    cJSON_ArrayForEach(a, ours)
    {
        bool there = cJSON_GetObjectItemCaseSensitive(theirs, a->string) != NULL;
        if (!code && (there || !was_refused(to, a)))
            code = check_member(ours, theirs, a->string, err);
    }
    return code;
}

int environment_check_same(const cJSON *then, const cJSON *now, struct error *err)
{
    static const char *const device_keys[] = {"kind", "name", "cc", "driver", "threads", NULL};
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(then, "device"),
                *b = cJSON_GetObjectItemCaseSensitive(now, "device");
    int code = 0;
    for (size_t i = 0; device_keys[i] && !code; i++)
        code = check_member(a, b, device_keys[i], err);
    if (!code)
        code = check_member(cJSON_GetObjectItemCaseSensitive(then, "build"),
                            cJSON_GetObjectItemCaseSensitive(now, "build"), "program_hash", err);
    code = code ? code : check_libraries(then, now, err);
    return code ? code : check_libraries(now, then, err);
}

static void digest_add_json(struct digest *d, const cJSON *node)
{
    char *text = node ? json_print(node, false) : NULL;
    digest_add_string(d, text ? text : "null");
    free(text);
}

/* Plugins come first and kernel sets behind them, whatever they call themselves. */
static void digest_add_plugins(struct digest *d, const cJSON *libraries, const struct registry *registry)
{
    const char *sets[SETS_MAX];
    int left = cJSON_GetArraySize(libraries) - (int)registry_sets(registry, sets, SETS_MAX);
    for (const cJSON *l = libraries ? libraries->child : NULL; l && left > 0; l = l->next, left--) {
        digest_add_string(d, l->string);
        digest_add_json(d, l);
    }
}

void environment_identity(const cJSON *environment, const struct registry *without_sets_of, char hex[DIGEST_HEX])
{
    static const char *const device_keys[] = {"kind", "name", "driver", "threads", NULL};
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(environment, "device");
    const cJSON *libraries = cJSON_GetObjectItemCaseSensitive(environment, "libraries");
    struct digest d;
    digest_start(&d);
    for (size_t i = 0; device_keys[i]; i++)
        digest_add_json(&d, cJSON_GetObjectItemCaseSensitive(device, device_keys[i]));
    if (without_sets_of)
        digest_add_plugins(&d, libraries, without_sets_of);
    else
        digest_add_json(&d, libraries);
    digest_finish(&d, hex);
}
