/*
 * counters_find.c - where NVIDIA's ncu is. Relies on the environment and on where its installers put it. Called by
 * counters.c.
 */
#include "run/counters.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_there(char *out, size_t capacity, const char *directory, int length)
{
    int made = snprintf(out, capacity, "%.*s/ncu", length, directory);
    return length > 0 && made > 0 && (size_t)made < capacity && access(out, X_OK) == 0;
}

static bool find_on_path(char *out, size_t capacity)
{
    for (const char *at = getenv("PATH"); at && *at;) {
        int length = (int)strcspn(at, ":");
        if (is_there(out, capacity, at, length))
            return true;
        at += length;
        at += *at == ':';
    }
    return false;
}

static bool find_in_toolkit(char *out, size_t capacity, const char *home)
{
    char directory[PATH_MAX];
    if (!home || !home[0] || snprintf(directory, sizeof directory, "%s/bin", home) >= (int)sizeof directory)
        return false;
    return is_there(out, capacity, directory, (int)strlen(directory));
}

static int is_version(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Nsight Compute's own packages have a directory for each version: the newest. */
static bool find_package(char *out, size_t capacity, const char *root)
{
    struct dirent **entries = NULL;
    int n = scandir(root, &entries, is_version, versionsort);
    bool found = false;
    for (int i = n - 1; i >= 0; i--) {
        char directory[PATH_MAX];
        int length = snprintf(directory, sizeof directory, "%s/%s", root, entries[i]->d_name);
        if (!found && length < (int)sizeof directory)
            found = is_there(out, capacity, directory, length);
        free(entries[i]);
    }
    free(entries);
    return found;
}

bool counters_find(char *out, size_t capacity)
{
    return find_on_path(out, capacity) || find_in_toolkit(out, capacity, getenv("CUDA_HOME")) ||
           find_in_toolkit(out, capacity, getenv("CUDA_PATH")) || find_in_toolkit(out, capacity, "/usr/local/cuda") ||
           find_package(out, capacity, "/opt/nvidia/nsight-compute");
}
