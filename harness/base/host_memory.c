/*
 * host_memory.c - reads /proc/meminfo and the memory limits of every control group above this process, v1 and v2, and
 * takes the least room. Relies on files that may be missing, which then say nothing. Called by device/cpu.c and
 * run/memory.c.
 */
#include "base/host_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 1024
#define LINE_BYTES 2048
#define NO_LIMIT UINT64_MAX

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number behind `key` on its line of a small file; false when there is none. A key of "" takes the first word. */
static bool read_value(const char *path, const char *key, uint64_t *out)
{
    char line[LINE_BYTES];
    bool found = false;
    size_t length = strlen(key);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, key, length) == 0 && sscanf(line + length, "%*[: \t]%" SCNu64, out) == 1;
    if (file)
        fclose(file);
    return found;
}

/* A file that holds a number, or "max". */
static bool read_limit(const char *path, uint64_t *out)
{
    char line[64];
    FILE *file = fopen(path, "re");
    bool there = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    if (there && sscanf(line, "%" SCNu64, out) != 1)
        *out = NO_LIMIT;
    return there;
}

/* ---- the machine ---- */

/* Kernels before 3.14, and some sandboxes, do not say MemAvailable: what is free and what the page cache holds. */
static void read_machine(const char *root, struct host_memory *out)
{
    char path[PATH_BYTES];
    uint64_t kib = 0, cached = 0, total = 0;
    snprintf(path, sizeof path, "%.900s/proc/meminfo", root);
    if (!read_value(path, "MemAvailable", &kib) && read_value(path, "MemFree", &kib) &&
        read_value(path, "Cached", &cached))
        kib += cached;
    read_value(path, "MemTotal", &total);
    out->available = kib * 1024;
    out->total = total * 1024;
    snprintf(path, sizeof path, "%.900s/proc/vmstat", root);
    read_value(path, "oom_kill", &out->oom_kills);
}

/* ---- control groups ---- */

/* One hierarchy that limits memory, and what its files are called. */
struct hierarchy {
    bool v2;
    char mount[PATH_BYTES / 2], mount_root[PATH_BYTES / 4];
};

struct group_files {
    const char *limit, *usage, *cache, *kills_file;
};

static const struct group_files files_of[] = {
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "memory.oom_control"},
    {"memory.max", "memory.current", "inactive_file", "memory.events"},
};

/* A word of a comma-separated list. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == '\0' || at[length] == ',' || at[length] == '\n'))
            return true;
    return false;
}

/* "36 31 0:32 /root /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory" */
static bool find_mount(const char *root, bool v2, struct hierarchy *out)
{
    char path[PATH_BYTES], line[LINE_BYTES], type[32], options[512];
    bool found = false;
    snprintf(path, sizeof path, "%.900s/proc/self/mountinfo", root);
    FILE *file = fopen(path, "re");
    *out = (struct hierarchy){.v2 = v2};
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *tail = strstr(line, " - ");
        if (tail && sscanf(line, "%*s %*s %*s %255s %511s", out->mount_root, out->mount) == 2 &&
            sscanf(tail, " - %31s %*s %511s", type, options) == 2)
            found = v2 ? strcmp(type, "cgroup2") == 0 : strcmp(type, "cgroup") == 0 && has_word(options, "memory");
    }
    if (file)
        fclose(file);
    return found;
}

/* Where this process is in the hierarchy: "0::/a/b" (v2), "5:memory:/a/b" (v1). */
static bool find_place(const char *root, bool v2, char out[PATH_BYTES / 2])
{
    char path[PATH_BYTES], line[LINE_BYTES];
    bool found = false;
    snprintf(path, sizeof path, "%.900s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *place = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!place)
            continue;
        *place++ = '\0';
        place[strcspn(place, "\n")] = '\0';
        found = v2 ? controllers[1] == '\0' : has_word(controllers + 1, "memory");
        snprintf(out, PATH_BYTES / 2, "%.500s", place);
    }
    if (file)
        fclose(file);
    return found;
}

/* The place as seen below the mount: a container's mount shows a part of the hierarchy, or the process is outside. */
static void strip(const struct hierarchy *h, char place[PATH_BYTES / 2])
{
    size_t length = strlen(h->mount_root);
    if (length > 1 && strncmp(place, h->mount_root, length) == 0)
        memmove(place, place + length, strlen(place + length) + 1);
    if (strstr(place, "/..") || strcmp(place, "/") == 0)
        place[0] = '\0';
}

static void apply_level(const char *directory, const struct group_files *f, struct host_memory *out)
{
    char path[PATH_BYTES + 64];
    uint64_t limit = NO_LIMIT, high = NO_LIMIT, usage = 0, cache = 0;
    snprintf(path, sizeof path, "%s/%s", directory, f->limit);
    if (!read_limit(path, &limit))
        return;
    snprintf(path, sizeof path, "%s/memory.high", directory); /* of v2: beyond it the kernel only slows down */
    read_limit(path, &high);
    limit = least(limit, high);
    snprintf(path, sizeof path, "%s/%s", directory, f->usage);
    read_limit(path, &usage);
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    read_value(path, f->cache, &cache);
    if (limit >= NO_LIMIT / 4) /* v1 says no limit with a number near 2^63 */
        return;
    usage -= least(cache, usage);
    out->available = least(out->available, limit > usage ? limit - usage : 0);
    out->total = out->total ? least(out->total, limit) : limit;
}

static void apply_hierarchy(const char *root, bool v2, struct host_memory *out)
{
    struct hierarchy h;
    char place[PATH_BYTES / 2] = "", directory[PATH_BYTES], path[2 * PATH_BYTES];
    uint64_t kills;
    const struct group_files *f = &files_of[v2];
    if (!find_mount(root, v2, &h) || !find_place(root, v2, place))
        return;
    strip(&h, place);
    snprintf(path, sizeof path, "%.400s%s%s/%s", root, h.mount, place, f->kills_file);
    if (read_value(path, "oom_kill", &kills))
        out->oom_kills = kills;
    for (bool more = true; more;) {
        snprintf(directory, sizeof directory, "%.300s%.400s%.300s", root, h.mount, place);
        apply_level(directory, f, out);
        char *slash = strrchr(place, '/');
        more = slash != NULL;
        if (slash)
            *slash = '\0';
    }
}

void host_memory_read(const char *root, struct host_memory *out)
{
    *out = (struct host_memory){0};
    read_machine(root, out);
    if (out->available == 0)
        return;
    apply_hierarchy(root, false, out);
    apply_hierarchy(root, true, out);
}
