/*
 * caches.c - finds out whether plugins of strangers are to run in this process, and names a cache for those that do.
 * Relies on base/file.h, which reads the variables that are set here. Called by worker.c and plugin_sandbox.c.
 */
#include "worker/caches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"

#define PLUGIN_MOST ((size_t)1 << 30)
#define PATH_MOST 4096
#define COMPILED "cubin" /* how kinds of compiled kernels begin */

/* A file that the user named, or any of a directory that the user named. Manifests have no code on the host. */
static bool is_strangers(const char *plugin_directory, const char *name)
{
    return text_ends_with(name, ".so") || (plugin_directory && !text_ends_with(name, ".json"));
}

static void add_file(struct digest *d, const char *path)
{
    char *bytes = NULL;
    size_t length = 0;
    struct error ignored;
    digest_add_string(d, path);
    if (file_read(path, PLUGIN_MOST, &bytes, &length, &ignored) == 0)
        digest_add_bulk(d, bytes, length);
    free(bytes);
}

/* Returns how many of them are strangers'. */
static unsigned add_names(struct digest *d, const char *plugin_directory, char *const *names)
{
    unsigned n = 0;
    for (size_t i = 0; names[i]; i++) {
        if (!is_strangers(plugin_directory, names[i]))
            continue;
        add_file(d, names[i]);
        n++;
    }
    return n;
}

static bool any_stranger(const char *plugin_directory, char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (is_strangers(plugin_directory, names[i]))
            return true;
    return false;
}

bool caches_strangers(const struct config *config, const char *plugin_directory)
{
    return any_stranger(plugin_directory, config->baselines) || any_stranger(plugin_directory, config->candidates);
}

static void have_own(const char *name)
{
    char cache[PATH_MOST - 64], own[PATH_MOST];
    struct error ignored;
    if (file_cache_directory(cache, sizeof cache, &ignored) != 0)
        return;
    snprintf(own, sizeof own, "%s/strangers/%s", cache, name);
    (void)file_make_directories(own, &ignored); /* one that is not there keeps nothing, which costs time alone */
    setenv(FILE_CACHE_OWN, own, 1);
}

void caches_choose(const struct config *config, const char *plugin_directory, struct confinement *c)
{
    struct digest d;
    char name[DIGEST_HEX];
    digest_start(&d);
    digest_add_string(&d, plugin_directory ? plugin_directory : "");
    unsigned n = add_names(&d, plugin_directory, config->baselines);
    n += add_names(&d, plugin_directory, config->candidates);
    if (n == 0)
        return;
    digest_finish(&d, name);
    have_own(name);
    c->caches = CONFINE_CACHES_OWN;
}

void caches_believe(const struct confinement *c)
{
    if (!c->in_force[CONFINE_FILES])
        setenv(FILE_CACHE_ONLY, COMPILED, 1);
}
